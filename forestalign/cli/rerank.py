"""Choose parses by aligning: the trees that the best phrase alignment uses, next to the parser's 1-best.

    forestalign rerank pairs.tsv
    forestalign rerank pairs.tsv --tokenized --trees nbest.txt
    forestalign rerank pairs.tsv --forests forests.jsonl --json

Prints two lines per pair, for source and target, tab-separated: id, side, log probability and tree of the 1-best, log
probability and tree of the chosen parse. With --json one object per pair.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from forestalign.aligner import Alignment
from forestalign.batch import Job, Layout
from forestalign.cli.align_options import add_align_options
from forestalign.cli.batch_options import add_batch_options
from forestalign.cli.pair_batch import align_batch
from forestalign.formats.reranked import format_reranked


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_align_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Align the pairs and print the trees that their alignments chose."""
    return align_batch(args, RerankedText(args.json), Layout.JSON if args.json else Layout.BLOCKS)


@dataclass(frozen=True, slots=True)
class RerankedText:
    """The two parses of a pair as JSON or as two lines."""

    json: bool

    def __call__(self, job: Job, alignment: Alignment) -> str:
        """What is printed of one alignment."""
        return format_reranked(alignment, self.json)
