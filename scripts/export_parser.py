#!/usr/bin/env python
"""Write a trained parser as one 8-bit ONNX file with its vocabulary, labels and tags: what the package ships.

    python scripts/export_parser.py runs/parser/model -o grammar/parser

Needs the extra `train`. The forward pass is written out in plain tensor operations, with two changes that keep its
numbers: the first layer of the label scorer is linear, so it is applied at the fence posts before they are subtracted;
and spans are asked for by the positions of their fence posts, so that a padded batch costs no padded spans.
The card is written by scripts/score_parser.py --card, which measures.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import benepar
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

INPUTS = ("pieces", "piece_mask", "word_ends", "word_mask", "words", "span_begins", "span_ends")
OUTPUTS = ("span_scores", "tag_scores", "vectors")


class PlainParser(nn.Module):
    """benepar's chart parser over BERT in plain tensor operations.

    pieces, piece_mask [batch, pieces]: word pieces with the start and stop marks
    word_ends, word_mask [batch, words + 2]: last piece of each word, the marks counted as words
    words [W]: positions of the real words in the flattened [batch * (words + 2)]
    span_begins, span_ends [S]: fence posts in the flattened [batch * (words + 1)]
    gives span_scores [S, labels] with the empty label first, tag_scores [W, tags], vectors [W, hidden]
    """

    def __init__(self, parser: nn.Module, eight_bit: bool):
        super().__init__()
        self.parser = parser
        self.half = parser.d_model // 2
        scale, table = None, parser.pretrained_model.embeddings.word_embeddings.weight.detach()
        if eight_bit:  # half of all weights; one scale a word piece, which the library's own quantiser does not offer
            scale = table.abs().amax(1, keepdim=True).clamp(min=1e-9) / 127
            table = (table / scale).round().to(torch.int8)
        self.register_buffer("scale", scale)
        self.register_buffer("table", table)
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

    def forward(self, pieces, piece_mask, word_ends, word_mask, words, span_begins, span_ends):  # type: ignore[no-untyped-def]
        hidden = self.encode(pieces, piece_mask)
        index = word_ends[:, :, None].expand(-1, -1, hidden.shape[-1])
        vectors = torch.gather(hidden, 1, index) * word_mask[:, :, None]
        annotations = self.annotate(self.parser.project_pretrained(vectors), word_mask)
        posts = torch.cat([annotations[:, :-1, : self.half], annotations[:, 1:, self.half :]], -1)
        first, norm, relu, last = self.parser.f_label
        posts = torch.matmul(posts, first.weight.T).flatten(0, 1)
        labels = last(relu(norm(posts[span_ends] - posts[span_begins] + first.bias)))
        labels = torch.cat([torch.zeros_like(labels[:, :1]), labels], -1)
        return labels, self.parser.f_tag(annotations.flatten(0, 1)[words]), vectors.flatten(0, 1)[words]

    def encode(self, pieces: torch.Tensor, piece_mask: torch.Tensor) -> torch.Tensor:
        """The last hidden states of BERT."""
        bert = self.parser.pretrained_model
        table = bert.embeddings
        positions = table.position_embeddings.weight[: pieces.shape[1]]
        hidden = self.embed(pieces) + table.token_type_embeddings.weight[0] + positions
        hidden = table.LayerNorm(hidden)
        bias = (1.0 - piece_mask)[:, None, None, :] * -1e4
        for layer in bert.encoder.layer:
            hidden = self.bert_layer(layer, hidden, bias)
        return hidden

    def bert_layer(self, layer: nn.Module, hidden: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        attention = layer.attention.self
        heads, width = attention.num_attention_heads, attention.attention_head_size
        shape = (hidden.shape[0], hidden.shape[1], heads, width)
        query, key, value = (
            project(hidden).reshape(shape).transpose(1, 2)
            for project in (attention.query, attention.key, attention.value)
        )
        weights = torch.softmax(torch.matmul(query, key.transpose(2, 3)) * width**-0.5 + bias, -1)
        context = torch.matmul(weights, value).transpose(1, 2).flatten(2)
        hidden = layer.attention.output.LayerNorm(layer.attention.output.dense(context) + hidden)
        return layer.output.LayerNorm(layer.output.dense(torch.nn.functional.gelu(layer.intermediate.dense(hidden))) + hidden)

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


def example_inputs() -> tuple[torch.Tensor, ...]:
    """Two sentences of three and one words; the exporter only needs the shapes to differ from one."""
    return (
        torch.tensor([[1, 2, 3, 4, 5], [1, 2, 5, 0, 0]]),
        torch.tensor([[1.0, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
        torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 0, 0]]),
        torch.tensor([[1.0, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
        torch.tensor([1, 2, 3, 6]),
        torch.tensor([0, 0, 0, 1, 1, 2, 4]),
        torch.tensor([1, 2, 3, 2, 3, 3, 5]),
    )


def export_graph(parser: nn.Module, path: Path, eight_bit: bool) -> None:
    """The graph with its matrices in 32 bits, with batch, lengths and numbers of words and spans free."""
    axes = {name: {0: "batch", 1: name[:5] + "_length"} for name in INPUTS[:4]}
    axes |= {"words": {0: "words"}, "span_begins": {0: "spans"}, "span_ends": {0: "spans"}}
    axes |= {"span_scores": {0: "spans"}, "tag_scores": {0: "words"}, "vectors": {0: "words"}}
    torch.onnx.export(
        PlainParser(parser, eight_bit).eval(), example_inputs(), str(path), input_names=list(INPUTS), output_names=list(OUTPUTS),
        dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip


def quantise(source: Path, target: Path) -> None:
    """8-bit weights for all matrices, one scale a column.

    Seven of the eight bits are used: processors without dot-product instructions add pairs of products in 16 bits,
    which overflow with all eight.
    """
    quantize_dynamic(
        source, target, op_types_to_quantize=["MatMul", "Gemm"], per_channel=True, reduce_range=True,
        weight_type=QuantType.QInt8,
    )  # fmt: skip


def export(model: Path, output: Path, keep_float: bool = False) -> None:
    """All files that forestalign.parsers.embedded loads, except the card."""
    parser = benepar.Parser(str(model))._parser.eval()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.onnx"
        export_graph(parser, path, eight_bit=True)
        quantise(path, output / "parser.onnx")
    if keep_float:
        export_graph(parser, output / "parser.float.onnx", eight_bit=False)
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
    parser.add_argument("model", type=Path, help="folder that scripts/train_parser.py wrote")
    parser.add_argument("-o", "--output", type=Path, default=Path("grammar/parser"))
    parser.add_argument("--keep-float", action="store_true", help="write the 32-bit graph too, to measure the loss")
    args = parser.parse_args()
    export(args.model, args.output, args.keep_float)


if __name__ == "__main__":
    main()
