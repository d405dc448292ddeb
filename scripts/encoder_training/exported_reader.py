"""The way back from the exported graph of a joint reader to weights that can be trained further."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from encoder_training.joint_reader import UNIT, JointReader, ReaderSize
from forestalign.errors import GrammarError


def load_exported_reader(path: Path) -> JointReader:
    """The reader of a graph that scripts/export_joint.py wrote; matrices of 8 bits are multiplied out."""
    graph = onnx.load(path).graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    try:
        weights = {**constants, **dict(_renamed(graph, constants))}
        reader = JointReader(_size(weights))
        found = {name: torch.from_numpy(np.array(weights[name])) for name in reader.state_dict()}
        reader.load_state_dict(found)
    except (LookupError, RuntimeError) as error:
        raise GrammarError(path, None, f"not the graph of a joint reader: {error}") from error
    return reader


def _renamed(graph: onnx.GraphProto, constants: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """What the exporter folded or gave other names; the names of its nodes say where it stands."""
    scale = constants.get("scale_of_pieces", np.float32(1))
    yield "pieces.weight", constants["table"].astype(np.float32) * scale
    for node in graph.node:
        name, place = (*node.input, "", "")[1], node.output[0].strip("/").split("/")
        if node.op_type == "MatMulIntegerToFloat":
            value = constants[name].astype(np.float32) * constants[node.input[3]]
            yield ("projection", value) if name.startswith("projection") else (".".join(place[:2]) + ".weight", value.T)
        elif node.op_type == "MatMul" and name in constants and constants[name].ndim == 4:
            yield f"{place[1]}.other", constants[name][0, :, :, 0]
        elif node.op_type == "MatMul" and name in constants:
            yield (".".join(place[:-1]) or name) + ".weight", constants[name].T
        elif node.op_type == "Add" and name in constants and name.startswith("onnx::"):
            yield f"{place[1]}.far", constants[name].ravel() / UNIT
        elif node.op_type == "Split" and node.input[0] in constants:
            yield "mix", np.log(constants[node.input[0]]) / UNIT


def _size(weights: dict[str, np.ndarray]) -> ReaderSize:
    layers = sum(name.endswith(".far") for name in weights)
    pieces, hidden = weights["pieces.weight"].shape
    heads, inner = len(weights["crossings.0.far"]), len(weights["layers.0.inner.bias"])
    return ReaderSize(
        pieces, hidden, layers, heads, inner, len(weights["positions.weight"]), len(weights["shapes.weight"])
    )
