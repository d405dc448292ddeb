"""The way back from an exported graph to weights that can be trained: the shipped parser as a start.

Matrices of 8 bits are multiplied out; exporting them again finds the same bytes. What the graph does not hold (the
second token type, the pooler) is left as a new model has it, and nothing asks for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from benepar import nkutil
from onnx import numpy_helper
from transformers import BertConfig, BertModel, BertTokenizerFast

from encoder_training.shaped_parser import ShapedParser
from forestalign.errors import GrammarError

POSITIONS = 512
HEADS = 8  # of the attention layers above the encoder
HEAD_SIZE = 32  # of the encoder: that of all small encoders of this kind; the graph has it in its reshapes only
PREFIX = "parser."
ENCODER = "pretrained_model"


class Graph:
    """The constants of a graph by name, and its matrices in the order in which they are used."""

    def __init__(self, path: Path):
        graph = onnx.load(path).graph
        self.path = path
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        self.matrices = list(self._matrices(graph))
        added = [name for node in graph.node if node.op_type == "Add" for name in node.input if name in self.constants]
        joined = [self.constants[name] for name in added if name.startswith("onnx::Add")]
        self.token_type, self.joined_biases = joined[0], joined[1:]

    def _matrices(self, graph: onnx.GraphProto) -> Iterator[np.ndarray]:
        for node in graph.node:
            name = node.input[1] if len(node.input) > 1 else ""
            if node.op_type == "MatMulIntegerToFloat":
                yield self.constants[name].astype(np.float32) * self.constants[node.input[3]]
            elif node.op_type == "MatMul" and name in self.constants and not name.startswith("middle"):
                yield self.constants[name]

    def named(self) -> dict[str, np.ndarray]:
        """The weights that kept their names."""
        return {name.removeprefix(PREFIX): value for name, value in self.constants.items() if name.startswith(PREFIX)}


def load_exported(folder: Path) -> ShapedParser:
    """The parser of a folder that scripts/export_parser.py wrote."""
    graph = Graph(folder / "parser.onnx")
    weights = _all_weights(graph)
    labels, tags, pieces = (
        (folder / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
        for name in ("labels", "tags", "pieces")
    )
    with tempfile.TemporaryDirectory() as temporary:
        _save_encoder(Path(temporary), pieces, weights)
        parser = ShapedParser(_numbers(tags), _numbers(labels), None, _hparams(temporary, weights))
    shapes = weights.pop("shape_table.weight", None)
    missing, unknown = parser.load_state_dict({n: torch.from_numpy(v.copy()) for n, v in weights.items()}, strict=False)
    lost = [name for name in missing if "pooler" not in name and "token_type" not in name]
    if lost or unknown:
        raise GrammarError(graph.path, None, f"not a graph of this parser: {', '.join([*lost, *unknown])}")
    if shapes is not None:
        parser.add_shapes(torch.from_numpy(shapes.copy()))
    return parser


def _all_weights(graph: Graph) -> dict[str, np.ndarray]:
    """By the names of ShapedParser.state_dict."""
    weights = graph.named()
    embeddings = f"{ENCODER}.embeddings"
    table = graph.constants["table"].astype(np.float32)
    weights[f"{embeddings}.word_embeddings.weight"] = table * graph.constants.get("scale", np.float32(1))
    types = np.stack([graph.token_type, np.zeros_like(graph.token_type)])
    weights[f"{embeddings}.token_type_embeddings.weight"] = types
    if "shape_table" in graph.constants:
        weights["shape_table.weight"] = graph.constants["shape_table"]
    matrices = iter(graph.matrices)
    for number, bias in enumerate(graph.joined_biases):
        weights |= _encoder_layer(f"{ENCODER}.encoder.layer.{number}", bias, matrices)
    weights["project_pretrained.weight"] = next(matrices).T
    number = 0
    while f"encoder.layers.{number}.norm_attn.weight" in weights:
        weights |= _attention_layer(f"encoder.layers.{number}", matrices)
        number += 1
    weights["f_label.0.weight"] = next(matrices).T
    return weights


def _encoder_layer(name: str, bias: np.ndarray, matrices: Iterator[np.ndarray]) -> dict[str, np.ndarray]:
    """Queries, keys and values were joined."""
    found = {}
    parts = zip(np.split(next(matrices).T, 3), np.split(bias, 3), ("query", "key", "value"), strict=True)
    for weight, values, part in parts:
        found[f"{name}.attention.self.{part}.weight"], found[f"{name}.attention.self.{part}.bias"] = weight, values
    for part in ("attention.output.dense", "intermediate.dense", "output.dense"):
        found[f"{name}.{part}.weight"] = next(matrices).T
    return found


def _attention_layer(name: str, matrices: Iterator[np.ndarray]) -> dict[str, np.ndarray]:
    """benepar's own layers keep content and position apart and their heads in front."""
    found: dict[str, np.ndarray] = {}
    for part in ("c", "p"):
        matrix = next(matrices)
        found[f"{name}.self_attn.w_qkv_{part}"] = matrix.reshape(len(matrix), 3, HEADS, -1).transpose(2, 0, 1, 3)
    for part in ("c", "p"):
        matrix = next(matrices)
        found[f"{name}.self_attn.w_o_{part}"] = matrix.reshape(HEADS, -1, matrix.shape[1])
    for part in ("c", "p"):
        for linear in ("linear1", "linear2"):
            found[f"{name}.{linear}.linear_{part}.weight"] = next(matrices).T
    return found


def _hparams(encoder: str, weights: dict[str, np.ndarray]) -> nkutil.HParams:
    layers = sum(name.endswith("norm_attn.weight") for name in weights)
    width = len(weights["add_timing.norm.weight"])
    return nkutil.HParams(
        use_pretrained=True, pretrained_model=encoder, use_encoder=True, use_chars_lstm=False, predict_tags=True,
        d_model=width, num_layers=layers, num_heads=HEADS,
        d_kv=2 * weights["encoder.layers.0.self_attn.w_o_c"].shape[1],
        d_ff=2 * len(weights["encoder.layers.0.linear1.linear_c.bias"]), d_label_hidden=len(weights["f_label.0.bias"]),
        d_tag_hidden=len(weights["f_tag.0.bias"]), encoder_max_len=len(weights["add_timing.timing_table"]),
        force_root_constituent=True, tag_loss_scale=5.0, attention_dropout=0.2, relu_dropout=0.1, residual_dropout=0.2,
        morpho_emb_dropout=0.2,
    )  # fmt: skip


def _save_encoder(folder: Path, pieces: list[str], weights: dict[str, np.ndarray]) -> None:
    """A BERT of the right size and its tokenizer, where benepar looks for them; the weights come later."""
    layers = sum(name.endswith("attention.self.query.weight") for name in weights)
    hidden = weights[f"{ENCODER}.embeddings.LayerNorm.weight"].shape[0]
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=hidden // HEAD_SIZE,
        intermediate_size=len(weights[f"{ENCODER}.encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=len(weights[f"{ENCODER}.embeddings.position_embeddings.weight"]),
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=POSITIONS).save_pretrained(folder)


def _numbers(names: list[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}
