"""One more output of an exported graph: words by the layers half way up, for comparing them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from forestalign.parsers.encoder_additions import EncoderAdditions, layer_shares

MIDDLE = "middle"  # [W, hidden], or [W, size] behind a projection
FLOAT = onnx.TensorProto.FLOAT


def add_middle(path: Path, additions: EncoderAdditions, layers: Sequence[int] | None = None) -> None:
    """Give the words half way out of a graph too; what it gave before stays as it was, bit for bit.

    They are those of the given layers (from 1), else of the layers of the additions; the metadata record which.
    """
    model = onnx.load(path)
    graph = model.graph
    norms = [node.output[0] for node in graph.node if node.op_type == "LayerNormalization"]
    states = [name for name in norms if name.startswith("/LayerNorm")][::2]  # of the embeddings, then of each layer
    if layers:
        check_layers(layers, len(states) - 1)
        additions = replace(additions, layers=layer_shares(tuple(layers), len(states) - 1))
    shares = {
        name: float(share) for name, share in zip(states, additions.shares(len(states) - 1), strict=True) if share
    }
    nodes = [node for node in graph.node if not node.name.startswith(MIDDLE)]
    constants = [tensor for tensor in graph.initializer if not tensor.name.startswith(MIDDLE)]
    outputs = [output for output in graph.output if output.name != MIDDLE]
    del graph.node[:], graph.initializer[:], graph.output[:]
    for name, value in (("zero", 0), ("one", 1), ("last", [2]), ("shift", [0, 1, 0, 0, -1, 0])):
        constants.append(numpy_helper.from_array(np.array(value, dtype=np.int64), f"{MIDDLE}_{name}"))
    if additions.projection is not None:
        constants.append(numpy_helper.from_array(additions.projection, f"{MIDDLE}_projection"))
    mixed, weights = mixture(shares)
    constants += weights
    graph.initializer.extend(constants)
    graph.node.extend([*nodes, *mixed, *word_means(projected=additions.projection is not None)])
    graph.output.extend([*outputs, helper.make_tensor_value_info(MIDDLE, FLOAT, ["words", "middle_size"])])
    record_middle(model, {states.index(name): share for name, share in shares.items()}, additions.projection)
    onnx.save(model, path)


def check_layers(layers: Sequence[int], count: int) -> None:
    """Stop at a layer that an encoder does not have."""
    for layer in layers:
        if not 1 <= layer <= count:
            raise SystemExit(f"--middle {layer}; expected layers from 1 to {count}")


def has_middle(path: Path) -> bool:
    """Whether a graph gives the words half way out."""
    return any(output.name == MIDDLE for output in onnx.load(path).graph.output)


def record_middle(model: onnx.ModelProto, shares: dict[int, float], projection: np.ndarray | None) -> None:
    """Write into the metadata of a graph what `middle` is made of."""
    size = None if projection is None else list(projection.shape)
    kept = {prop.key: prop.value for prop in model.metadata_props if prop.key != MIDDLE}
    kept[MIDDLE] = json.dumps({"layers": shares, "projection": size})
    helper.set_model_props(model, kept)


def mixture(shares: dict[str, float]) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
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
