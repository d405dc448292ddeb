"""Where pairs of sentences come from: a file, two parallel files, standard input, or two sentences as arguments."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import UsageError
from forestalign.formats import (
    BadRecord,
    PairRecord,
    Unread,
    are_sentences,
    unread_pairs,
    unread_parallel,
    unread_sentences,
)
from forestalign.formats.fields import shorten


def add_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """Add PAIRS and TARGET."""
    parser.add_argument(
        "pairs",
        nargs="?",
        default="-",
        help="file of pairs: tab-separated, ' ||| ' or JSON lines (default: stdin); or a sentence",
    )
    parser.add_argument(
        "target", nargs="?", help="file of targets; PAIRS then holds the sources, line by line; or a second sentence"
    )


def read_pair_input(
    args: argparse.Namespace, max_words: int = DEFAULT_CONFIG.max_words
) -> Iterator[Unread[PairRecord | BadRecord]]:
    """The pairs that the arguments name."""
    if args.target is None:
        if " " in args.pairs and not Path(args.pairs).exists():
            raise UsageError(f"{shorten(args.pairs)} is not a file; expected a file of pairs, or two sentences")
        return unread_pairs(args.pairs, args.tokenized, max_words)
    read = unread_sentences if are_sentences(args.pairs, args.target) else unread_parallel
    return read(args.pairs, args.target, args.tokenized, max_words)
