#!/usr/bin/env python
"""Write a trained joint reader as one 8-bit ONNX file with its word pieces: what the package ships.

    python scripts/export_joint.py runs/joint/model --pieces grammar/parser/pieces.txt -o grammar/joint

Needs the extra `train`. Matrices and word pieces are brought to 8 bits as those of the parser are
(scripts/export_parser.py), row by row, so that a pair has the same result in every batch.
`--card FILE` writes a card beside the graph: the given JSON with the sizes of the graph.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import torch
from encoder_training.joint_reader import JointReader, load_reader
from export_parser import quantise

from forestalign.words.joint.joint_reader import GRAPH, INPUTS, OUTPUTS, PIECES


class PlainReader(JointReader):
    """A reader whose word pieces are bytes, with one scale for each."""

    def __init__(self, reader: JointReader, eight_bit: bool):
        super().__init__(reader.size)
        self.load_state_dict(reader.state_dict())
        table, scale = reader.pieces.weight.detach(), None
        if eight_bit:
            scale = table.abs().amax(1, keepdim=True).clamp(min=1e-9) / 127
            table = (table / scale).round().to(torch.int8)
        self.register_buffer("scale_of_pieces", scale)
        self.register_buffer("table", table)

    def embed(self, pieces: torch.Tensor, shapes: torch.Tensor) -> torch.Tensor:
        rows = self.table[pieces]
        rows = rows if self.scale_of_pieces is None else rows.float() * self.scale_of_pieces[pieces]
        return rows + self.shapes.weight[shapes]


def example_inputs() -> tuple[torch.Tensor, ...]:
    """Two pairs of two and one words with three and one; the exporter only needs the sizes to differ from one."""
    return (
        torch.tensor([[1, 2, 3, 4, 1, 2, 3, 4, 5], [1, 2, 3, 1, 2, 3, 0, 0, 0]]),
        torch.zeros((2, 9), dtype=torch.int64),
        torch.tensor([[1, 1, 1, 1, 2, 2, 2, 2, 2], [1, 1, 1, 2, 2, 2, 0, 0, 0]]),
        torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4], [0, 1, 2, 0, 1, 2, 0, 0, 0]]),
        torch.tensor([[-1, 0, 1, -1, -1, 2, 3, 4, -1], [-1, 0, -1, -1, 2, -1, -1, -1, -1]]),
        torch.tensor([0, 1]),
        torch.tensor([2, 3, 4]),
    )


def export_graph(reader: JointReader, path: Path, eight_bit: bool) -> None:
    """The graph with its matrices in 32 bits, with batch, lengths and numbers of words free."""
    axes = {name: {0: "batch", 1: "length"} for name in INPUTS[:5]}
    axes |= {"source_words": {0: "sources"}, "target_words": {0: "targets"}}
    axes |= {"links": {0: "batch", 1: "sources", 2: "targets"}}
    axes |= {"source_none": {0: "batch", 1: "sources"}, "target_none": {0: "batch", 1: "targets"}}
    torch.onnx.export(
        PlainReader(reader, eight_bit).eval(), example_inputs(), str(path), input_names=list(INPUTS),
        output_names=list(OUTPUTS), dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip


def export(reader: JointReader, pieces: Path, output: Path, keep_float: Path | None = None) -> None:
    """All files that forestalign.words.joint loads, except the weights of its layers; keep_float: also in 32 bits."""
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / GRAPH
        export_graph(reader, graph, eight_bit=True)
        quantise(graph, output / GRAPH)
    if pieces.resolve() != (output / PIECES).resolve():
        shutil.copyfile(pieces, output / PIECES)
    if keep_float is not None:
        keep_float.mkdir(parents=True, exist_ok=True)
        export_graph(reader, keep_float / GRAPH, eight_bit=False)
        shutil.copyfile(pieces, keep_float / PIECES)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the folder model/ of scripts/train_joint.py")
    parser.add_argument("--pieces", type=Path, required=True, metavar="FILE", help="word pieces, one a line")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--keep-float", type=Path, metavar="FOLDER", help="write the same in 32 bits")
    parser.add_argument("--card", type=Path, metavar="FILE", help="JSON that describes the training")
    args = parser.parse_args(arguments)
    reader = load_reader(args.model)
    export(reader, args.pieces, args.output, args.keep_float)
    if args.card is not None:
        card = json.loads(args.card.read_text(encoding="utf-8"))
        card["encoder layers"], card["weights"] = reader.size.layers, "8 bit"
        text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
        (args.output / "card.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
