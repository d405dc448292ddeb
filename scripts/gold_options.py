"""The options of the scripts that read gold word links."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_gold_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "gold", nargs="+", metavar="FILE[:WEIGHT[:N]]", help="gold links, their weight, how many of them"
    )
    parser.add_argument("--ppdb", default="", metavar="FILE", help="a PPDB-format list, to measure with and without it")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep analyses in FILE (.npz) and reuse them")
