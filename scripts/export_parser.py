#!/usr/bin/env python
"""Write a trained parser as one 8-bit ONNX file with its vocabulary, labels and tags: what the package ships.

    python scripts/export_parser.py runs/parser/model -o grammar/parser --temperature 1.2

What a model was trained with beyond benepar's own (additions.npz beside it) goes into the graph: the shapes of words
are one more input, `shapes`, and `middle` is made of the layers and by the projection that were learned. The graph's
metadata say which. Only encoders of the BERT kind can be written.

Needs the extra `train`. The forward pass is written out in plain tensor operations, with two changes that keep its
numbers: the first layer of the label scorer is linear, so it is applied at the fence posts before they are subtracted;
and spans are asked for by the positions of their fence posts, so that a padded batch costs no padded spans.
The card is written by `score.py parser --card`, which measures.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from encoder_training.shaped_parser import load_model
from onnx import helper, numpy_helper
from torch import nn

from forestalign.parsers.benepar import EncoderAdditions, read_additions

INPUTS = ("pieces", "piece_mask", "word_ends", "word_mask", "words", "span_begins", "span_ends")
OUTPUTS = ("span_scores", "tag_scores", "vectors")
SHAPES = "shapes"  # one more input of a graph that knows them
MIDDLE = "middle"  # one more output: [W, hidden], or [W, size] behind a projection
FLOAT = onnx.TensorProto.FLOAT
LEAST_MATRIX = 30_000  # weights


class PlainParser(nn.Module):
    """benepar's chart parser over BERT in plain tensor operations.

    pieces, piece_mask [batch, pieces]: word pieces with the start and stop marks
    word_ends, word_mask [batch, words + 2]: last piece of each word, the marks counted as words
    words [W]: positions of the real words in the flattened [batch * (words + 2)]
    shapes [batch, pieces], where the parser knows them: forestalign.parsers.encoder_words of the words of the pieces
    span_begins, span_ends [S]: fence posts in the flattened [batch * (words + 1)]
    gives span_scores [S, labels] with the empty label first, tag_scores [W, tags], vectors [W, hidden];
    `add_middle` adds middle [W, hidden], the mean of the pieces of a word over the layers in their shares
    """

    def __init__(self, parser: nn.Module, eight_bit: bool):
        super().__init__()
        self.parser = parser
        self.half = parser.d_model // 2
        scale, table = None, parser.pretrained_model.embeddings.word_embeddings.weight.detach()
        if eight_bit:  # half of all weights; one scale per word piece, which the library's own quantiser does not offer
            scale = table.abs().amax(1, keepdim=True).clamp(min=1e-9) / 127
            table = (table / scale).round().to(torch.int8)
        self.register_buffer("scale", scale)
        self.register_buffer("table", table)
        shapes = parser.shape_table
        self.register_buffer("shape_table", None if shapes is None else shapes.weight.detach())
        for number, layer in enumerate(parser.encoder.layers):
            attention = layer.self_attn
            for part, weight in (("c", attention.w_qkv_c), ("p", attention.w_qkv_p)):
                matrix = weight.detach().permute(1, 2, 0, 3).flatten(1)  # [features, 3 * heads * width]
                self.register_buffer(f"qkv_{part}_{number}", matrix.contiguous())
            for part, weight in (("c", attention.w_o_c), ("p", attention.w_o_p)):
                self.register_buffer(f"out_{part}_{number}", weight.detach().flatten(0, 1))

    def embed(self, pieces: torch.Tensor) -> torch.Tensor:
        rows = self.table[pieces]
        return rows if self.scale is None else rows.float() * self.scale[pieces]

    def forward(self, pieces, piece_mask, word_ends, word_mask, words, span_begins, span_ends, shapes=None):  # type: ignore[no-untyped-def]
        hidden = self.encode(
            self.embed(pieces) if shapes is None else self.embed(pieces) + self.shape_table[shapes], piece_mask
        )
        index = word_ends[:, :, None].expand(-1, -1, hidden.shape[-1])
        vectors = torch.gather(hidden, 1, index) * word_mask[:, :, None]
        annotations = self.annotate(self.parser.project_pretrained(vectors), word_mask)
        posts = torch.cat([annotations[:, :-1, : self.half], annotations[:, 1:, self.half :]], -1)
        first, norm, relu, last = self.parser.f_label
        posts = torch.matmul(posts, first.weight.T).flatten(0, 1)
        labels = last(relu(norm(posts[span_ends] - posts[span_begins] + first.bias)))
        labels = torch.cat([torch.zeros_like(labels[:, :1]), labels], -1)
        return labels, self.parser.f_tag(annotations.flatten(0, 1)[words]), vectors.flatten(0, 1)[words]

    def encode(self, embedded: torch.Tensor, piece_mask: torch.Tensor) -> torch.Tensor:
        """The last hidden states of BERT."""
        bert = self.parser.pretrained_model
        table = bert.embeddings
        positions = table.position_embeddings.weight[: piece_mask.shape[1]]
        hidden = embedded + table.token_type_embeddings.weight[0] + positions
        hidden = table.LayerNorm(hidden)
        bias = (1.0 - piece_mask)[:, None, None, :] * -1e4
        for layer in bert.encoder.layer:
            hidden = self.bert_layer(layer, hidden, bias)
        return hidden

    def bert_layer(self, layer: nn.Module, hidden: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        attention = layer.attention.self
        heads, width = attention.num_attention_heads, attention.attention_head_size
        projections = (attention.query, attention.key, attention.value)
        weight = torch.cat([projection.weight.detach() for projection in projections]).T
        bias_sum = torch.cat([projection.bias.detach() for projection in projections])
        joined = (torch.matmul(hidden, weight) + bias_sum).reshape(hidden.shape[0], hidden.shape[1], 3, heads, width)
        query, key, value = joined.permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(torch.matmul(query, key.transpose(2, 3)) * width**-0.5 + bias, -1)
        context = torch.matmul(weights, value).transpose(1, 2).flatten(2)
        hidden = layer.attention.output.LayerNorm(layer.attention.output.dense(context) + hidden)
        return layer.output.LayerNorm(
            layer.output.dense(torch.nn.functional.gelu(layer.intermediate.dense(hidden))) + hidden
        )

    def annotate(self, content: torch.Tensor, word_mask: torch.Tensor) -> torch.Tensor:
        """benepar's own attention layers, content and position apart; the halves re-ordered for the fence posts."""
        timing = self.parser.add_timing
        positions = timing.timing_table[: content.shape[1]].expand(content.shape[0], -1, -1)
        states = timing.norm(torch.cat([content, positions], -1))
        bias = (1.0 - word_mask)[:, None, None, :] * -1e4
        for number, layer in enumerate(self.parser.encoder.layers):
            states = layer.norm_attn(states + self.attend(number, layer.self_attn, states, bias))
            inner, outer = layer.linear1, layer.linear2
            change = [
                out(torch.relu(inside(states[..., part])))
                for inside, out, part in (
                    (inner.linear_c, outer.linear_c, slice(0, self.half)),
                    (inner.linear_p, outer.linear_p, slice(self.half, None)),
                )
            ]
            states = layer.norm_ff(states + torch.cat(change, -1))
        return torch.cat([states[..., 0::2], states[..., 1::2]], -1)

    def attend(self, number: int, attention: nn.Module, states: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """Queries and keys see content and position together, values stay apart."""
        size = (states.shape[0], states.shape[1], 3, attention.w_qkv_c.shape[0], -1)
        content = torch.matmul(states[..., : self.half], getattr(self, f"qkv_c_{number}")).reshape(size)
        position = torch.matmul(states[..., self.half :], getattr(self, f"qkv_p_{number}")).reshape(size)
        query, key, value = torch.cat([content, position], -1).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(torch.matmul(query, key.transpose(2, 3)) * attention.scaling_factor + bias, -1)
        context = torch.matmul(weights, value).transpose(1, 2)  # [batch, words, heads, width]
        half = context.shape[-1] // 2
        content = torch.matmul(context[..., :half].flatten(2), getattr(self, f"out_c_{number}"))
        position = torch.matmul(context[..., half:].flatten(2), getattr(self, f"out_p_{number}"))
        return torch.cat([content, position], -1)


def example_inputs(shaped: bool) -> tuple[torch.Tensor, ...]:
    """Two sentences of three and one words; the exporter only needs the sizes to differ from one."""
    shapes = (torch.tensor([[0, 1, 0, 2, 0], [0, 1, 0, 0, 0]]),)
    return (
        torch.tensor([[1, 2, 3, 4, 5], [1, 2, 5, 0, 0]]),
        torch.tensor([[1.0, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
        torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 0, 0]]),
        torch.tensor([[1.0, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
        torch.tensor([1, 2, 3, 6]),
        torch.tensor([0, 0, 0, 1, 1, 2, 4]),
        torch.tensor([1, 2, 3, 2, 3, 3, 5]),
        *(shapes if shaped else ()),
    )


def export_graph(parser: nn.Module, path: Path, eight_bit: bool) -> None:
    """The graph with its matrices in 32 bits, with batch, lengths and numbers of words and spans free."""
    shaped = [SHAPES] if parser.shape_table is not None else []
    axes = {name: {0: "batch", 1: name[:5] + "_length"} for name in INPUTS[:4]}
    axes |= {name: {0: "batch", 1: "piece_length"} for name in shaped}
    axes |= {"words": {0: "words"}, "span_begins": {0: "spans"}, "span_ends": {0: "spans"}}
    axes |= {"span_scores": {0: "spans"}, "tag_scores": {0: "words"}, "vectors": {0: "words"}}
    torch.onnx.export(
        PlainParser(parser, eight_bit).eval(), example_inputs(bool(shaped)), str(path), input_names=[*INPUTS, *shaped],
        output_names=list(OUTPUTS), dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip


def quantise(source: Path, target: Path) -> None:
    """8-bit matrices, one scale a column; what they multiply is brought to 8 bits with one scale a row, as it comes.

    The library's own dynamic quantisation takes one scale for a whole batch, and then the scores of a sentence depend
    on its neighbours. Products are exact here, so a sentence has the same chart in every batch.
    """
    model = onnx.load(source)
    graph = model.graph
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    nodes: list[onnx.NodeProto] = []
    add_constants(graph)
    rows: dict[str, tuple[str, str]] = {}
    replaced: set[str] = set()
    for node in graph.node:
        # the last layers stay as they are: small, and rounding their many rows would cost more than it saves
        if node.op_type == "MatMul" and node.input[1] in weights and weights[node.input[1]].size > LEAST_MATRIX:
            values, name = node.input
            if values not in rows:
                rows[values] = f"{values}_rows", f"{values}_scale"
                nodes += quantised_rows(values, *rows[values])
            if name not in replaced:
                add_matrix(graph, name, weights[name])
                replaced.add(name)
            nodes += product(*rows[values], name, node.output[0])
        else:
            nodes.append(node)
    kept = [tensor for tensor in graph.initializer if tensor.name not in replaced]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, target)


def add_constants(graph: onnx.GraphProto) -> None:
    for name, value in (("one", 1.0), ("steps", 127.0), ("least", 1e-12)):
        graph.initializer.append(numpy_helper.from_array(np.array(value, dtype=np.float32), name))
    graph.initializer.append(numpy_helper.from_array(np.array(128, dtype=np.uint8), "zero_point"))


def quantised_rows(values: str, rows: str, scale: str) -> list[onnx.NodeProto]:
    """rows = round(values / scale) + 128 in bytes, with scale = greatest absolute value of the row / 127."""
    make = helper.make_node
    return [
        make("ReduceMax", [values], [f"{values}_top"], axes=[-1], keepdims=1),
        make("ReduceMin", [values], [f"{values}_bottom"], axes=[-1], keepdims=1),
        make("Neg", [f"{values}_bottom"], [f"{values}_depth"]),
        make("Max", [f"{values}_top", f"{values}_depth", "least"], [f"{values}_most"]),
        make("Div", [f"{values}_most", "steps"], [scale]),
        make("Div", [values, scale], [f"{values}_steps"]),
        make("QuantizeLinear", [f"{values}_steps", "one", "zero_point"], [rows]),
    ]


def add_matrix(graph: onnx.GraphProto, name: str, weight: np.ndarray) -> None:
    """Seven bits of the eight: processors without dot-product instructions add pairs of products in 16 bits."""
    scale = np.maximum(np.abs(weight).max(0), 1e-12) / 63
    graph.initializer.append(numpy_helper.from_array(np.round(weight / scale).astype(np.int8), f"{name}_bytes"))
    graph.initializer.append(numpy_helper.from_array(scale.astype(np.float32), f"{name}_scale"))


def product(rows: str, row_scale: str, weight: str, output: str) -> list[onnx.NodeProto]:
    return [
        helper.make_node(
            "MatMulIntegerToFloat",
            [rows, f"{weight}_bytes", "one", f"{weight}_scale", "zero_point"],
            [f"{output}_columns"],
            domain="com.microsoft",  # onnxruntime's own: one pass over the products instead of three
        ),
        helper.make_node("Mul", [f"{output}_columns", row_scale], [output]),
    ]


# ---- words by the layers half way ----


def add_middle(path: Path, additions: EncoderAdditions) -> None:
    """Give the words by the layers of the additions out of a graph too; what it gave before stays as it was."""
    model = onnx.load(path)
    graph = model.graph
    norms = [node.output[0] for node in graph.node if node.op_type == "LayerNormalization"]
    states = [name for name in norms if name.startswith("/LayerNorm")][::2]  # of the embeddings, then of each layer
    shares = {
        name: float(share) for name, share in zip(states, additions.shares(len(states) - 1), strict=True) if share
    }
    constants = []
    for name, value in (("zero", 0), ("one", 1), ("last", [2]), ("shift", [0, 1, 0, 0, -1, 0])):
        constants.append(numpy_helper.from_array(np.array(value, dtype=np.int64), f"{MIDDLE}_{name}"))
    if additions.projection is not None:
        constants.append(numpy_helper.from_array(additions.projection, f"{MIDDLE}_projection"))
    mixed, weights = mix_layers(shares)
    graph.initializer.extend([*constants, *weights])
    graph.node.extend([*mixed, *word_means(projected=additions.projection is not None)])
    graph.output.append(helper.make_tensor_value_info(MIDDLE, FLOAT, ["words", "middle_size"]))
    record_middle(model, {states.index(name): share for name, share in shares.items()}, additions.projection)
    onnx.save(model, path)


def record_middle(model: onnx.ModelProto, shares: dict[int, float], projection: np.ndarray | None) -> None:
    """Write into the metadata of a graph what `middle` is made of."""
    size = None if projection is None else list(projection.shape)
    kept = {prop.key: prop.value for prop in model.metadata_props if prop.key != MIDDLE}
    kept[MIDDLE] = json.dumps({"layers": shares, "projection": size})
    helper.set_model_props(model, kept)


def mix_layers(shares: dict[str, float]) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """The states of the layers in their shares: nodes and constants."""
    output = f"{MIDDLE}_states"
    if len(set(shares.values())) == 1:
        return [helper.make_node("Mean", list(shares), [output], output)], []
    nodes, constants, parts = [], [], []
    for number, (name, share) in enumerate(shares.items()):
        constants.append(numpy_helper.from_array(np.array(share, dtype=np.float32), f"{MIDDLE}_share_{number}"))
        parts.append(f"{MIDDLE}_part_{number}")
        nodes.append(helper.make_node("Mul", [name, constants[-1].name], [parts[-1]], parts[-1]))
    return [*nodes, helper.make_node("Sum", parts, [output], output)], constants


def word_means(projected: bool) -> Iterator[onnx.NodeProto]:
    """The mean over the pieces of a word, for the words asked for, rounded to 16 bits.

    Pieces of word w are those up to its end but not up to the end of word w - 1; their sum is a product with this mask.
    """
    words = "projected" if projected else "chosen"
    projection: list[tuple[str, list[str], str, dict[str, int]]] = (
        [("MatMul", ["chosen", "projection"], "projected", {})] if projected else []
    )
    steps: list[tuple[str, list[str], str, dict[str, int]]] = [
        ("Shape", ["pieces"], "length", {"start": 1}),
        ("Squeeze", ["length"], "count", {}),
        ("Range", ["zero", "count", "one"], "places", {}),
        ("Unsqueeze", ["word_ends", "last"], "ends", {}),
        ("LessOrEqual", ["places", "ends"], "is_passed", {}),
        ("Cast", ["is_passed"], "passed", {"to": FLOAT}),
        ("Pad", ["passed", "shift"], "before", {}),
        ("Sub", ["passed", "before"], "mask", {}),
        ("MatMul", ["mask", "states"], "sums", {}),
        ("ReduceSum", ["mask", "last"], "counts", {}),
        ("Div", ["sums", "counts"], "means", {}),  # 0 / 0 in the padding, of which no word is asked for
        ("Flatten", ["means"], "rows", {"axis": 2}),
        ("Gather", ["rows", "words"], "chosen", {}),
        *projection,
        ("Cast", [words], "half", {"to": onnx.TensorProto.FLOAT16}),
    ]
    made = {output for _, _, output, _ in steps} | {"states", "projection", "zero", "one", "last", "shift"}
    for kind, inputs, output, attributes in steps:
        names = [f"{MIDDLE}_{name}" if name in made else name for name in inputs]
        yield helper.make_node(kind, names, [f"{MIDDLE}_{output}"], f"{MIDDLE}_{output}", **attributes)
    yield helper.make_node("Cast", [f"{MIDDLE}_half"], [MIDDLE], MIDDLE, to=FLOAT)


# ---- files ----


def export(
    model: Path,
    output: Path,
    keep_float: Path | None = None,
    temperature: float = 1.0,
) -> None:
    """All files that forestalign.parsers.embedded loads, except the card. The temperature divides all span scores.

    keep_float: a folder for the same in 32 bits
    """
    parser, additions = load_model(model).eval(), read_additions(model)
    if parser.pretrained_model.config.model_type != "bert":
        raise SystemExit(
            f"{model}: an encoder of the kind {parser.pretrained_model.config.model_type!r}; expected 'bert'"
        )
    with torch.no_grad():
        for weight in parser.f_label[-1].parameters():
            weight /= temperature
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.onnx"
        export_graph(parser, path, eight_bit=True)
        quantise(path, output / "parser.onnx")
    add_middle(output / "parser.onnx", additions)
    write_names(parser, output)
    if keep_float:
        keep_float.mkdir(parents=True, exist_ok=True)
        export_graph(parser, keep_float / "parser.onnx", eight_bit=False)
        add_middle(keep_float / "parser.onnx", additions)
        write_names(parser, keep_float)


def write_names(parser: nn.Module, output: Path) -> None:
    """Labels, tags and word pieces, each in the order of their numbers."""
    labels = [label for label, _ in sorted(parser.label_vocab.items(), key=lambda item: item[1])]
    tags = [tag for tag, _ in sorted(parser.tag_vocab.items(), key=lambda item: item[1])]
    write_lines(output / "labels.txt", labels)
    write_lines(output / "tags.txt", tags)
    vocabulary = parser.retokenizer.tokenizer.get_vocab()
    write_lines(output / "pieces.txt", sorted(vocabulary, key=vocabulary.__getitem__))


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder that train_parser.py wrote")
    parser.add_argument("-o", "--output", type=Path, default=Path("grammar/parser"))
    parser.add_argument(
        "--keep-float", type=Path, metavar="FOLDER", help="write the parser in 32 bits too, to measure the loss"
    )
    parser.add_argument(
        "--temperature", type=float, default=1.0, help="of the calibration; tune it with `score.py parser`"
    )
    args = parser.parse_args()
    export(args.model, args.output, args.keep_float, args.temperature)


if __name__ == "__main__":
    main()
