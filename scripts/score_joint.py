#!/usr/bin/env python
"""Score joint readers by themselves: micro precision, recall and F1 of the links that are more probable than not.

    python scripts/score_joint.py grammar/joint runs/joint/model \\
        --every msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --whole runs/annotated.dev.jsonl

Of the files of `--every` each `--leave`-th pair is asked about, which scripts/train_joint.py kept out; of those of
`--whole` all. A reader is a folder that scripts/export_joint.py or scripts/train_joint.py wrote.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from encoder_training.exported_reader import load_exported_reader
from encoder_training.gold_links import LinkedPair, read_links, split
from encoder_training.joint_reader import JointReader, link_tables, load_reader

from forestalign.grammar import grammar_root
from forestalign.parsers.word_pieces import WordPieces
from forestalign.words.joint.joint_reader import GRAPH, PIECES


def open_reader(folder: Path) -> JointReader:
    """An exported reader, its weights multiplied out, or one as it was trained."""
    return load_exported_reader(folder / GRAPH).eval() if (folder / GRAPH).exists() else load_reader(folder)


def open_pieces(folder: Path) -> WordPieces:
    """Those of the reader, or of the parser that ships, from which readers are trained."""
    own = folder / PIECES
    return WordPieces(own if own.exists() else grammar_root() / "parser" / PIECES)


def asked(args: argparse.Namespace) -> Iterator[tuple[str, list[LinkedPair]]]:
    """The pairs of each file."""
    for path in args.every:
        yield path.name.split(".jsonl")[0], split(read_links(path), args.leave)[1]
    for path in args.whole:
        yield path.name.split(".jsonl")[0], read_links(path)


def scores(gold: Sequence[LinkedPair], tables: Sequence[np.ndarray], least: float) -> tuple[float, float, float]:
    """P, R and F1 in per cent; open cells count neither way."""
    right = guessed = wanted = 0
    for pair, table in zip(gold, tables, strict=True):
        found, links = table >= least, pair.links > 0.5
        right += int((found & links).sum())
        guessed += int((found & ~pair.is_open).sum())
        wanted += int(links.sum())
    return 100 * right / max(1, guessed), 100 * right / max(1, wanted), 200 * right / max(1, guessed + wanted)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--every", type=Path, nargs="*", default=[], metavar="FILE", help="gold, every Nth pair of it")
    parser.add_argument("--leave", type=int, default=4, metavar="N")
    parser.add_argument("--whole", type=Path, nargs="*", default=[], metavar="FILE", help="gold, all of it")
    parser.add_argument("--least", type=float, default=0.5, help="probability of a link")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    sets = list(asked(args))
    for folder in args.readers:
        reader, pieces = open_reader(folder), open_pieces(folder)
        for name, pairs in sets:
            line = "  ".join(f"{value:6.2f}" for value in scores(pairs, link_tables(reader, pieces, pairs), args.least))
            print(f"{folder}  {name:<18}{line}", flush=True)


if __name__ == "__main__":
    main()
