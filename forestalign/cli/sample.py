"""Print a small file to try the other commands with: pairs of sentences, or gold for them.

    forestalign sample > pairs.tsv
    forestalign sample --gold > gold.jsonl

The twelve pairs were written for this purpose: idioms, passives, numbers, a negation, an opposite, other roles. The
gold has their word links, checked by hand, for the commands that learn or score.
"""

from __future__ import annotations

import argparse
from importlib import resources


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--gold", action="store_true", help="print the pairs with word links, as JSON lines")


def run(args: argparse.Namespace) -> int:
    """Print the file."""
    name = "gold.jsonl" if args.gold else "pairs.tsv"
    place = resources.files("forestalign.cli").joinpath("samples", name)
    print(place.read_text(encoding="utf-8"), end="")
    return 0
