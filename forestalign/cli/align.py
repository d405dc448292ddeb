"""Align the phrases of pairs of sentences.

    forestalign align "He bought a car." "A car was bought by him."
    forestalign align pairs.tsv
    forestalign align pairs.tsv --json -o results.jsonl --jobs 2
    printf 'He died.\\tHe kicked the bucket.\\n' | forestalign align
    forestalign align --chunks chunks.wa -o aligned.wa

Prints the tree of phrase pairs, indented; with --json one line per pair, for the commands view and evaluate; with
--tsv one row per phrase pair and per null phrase. A pair that fails is reported on stderr with its line, the rest is
done, and the exit code is 1. With --chunks it aligns the chunks of a file instead, many to many, with type and score:
prints `.wa`, or with --json the numbers of the chunks.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from forestalign.aligner import Alignment
from forestalign.batch import Job, Layout
from forestalign.cli.align_options import add_align_options
from forestalign.cli.batch_options import add_batch_options
from forestalign.cli.chunk_batch import chunk_batch
from forestalign.cli.idle_options import Idle
from forestalign.cli.pair_batch import align_batch
from forestalign.formats import to_json
from forestalign.formats.phrase_rows import to_tsv
from forestalign.view.text import render_text

IDLE = (
    Idle("--kbest", lambda args: not args.json, "without --json"),
    Idle("--with-forests", lambda args: not args.json, "without --json"),
    Idle("--bars", lambda args: args.json, "with --json, which has them all, marked"),
    Idle("--profile", lambda args: args.links not in ("sultan", "union"), "with --links {links}"),
    Idle("--nbest", lambda args: args.trees or args.forests, "beside parses of your own"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_align_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON lines")
    form.add_argument("--tsv", action="store_true", help="print phrase pairs as a table (columns: see docs/formats.md)")
    parser.add_argument("--kbest", type=int, metavar="K", help="with --json, include the K best alignments")
    parser.add_argument(
        "--with-forests", action="store_true", help="with --json, include the constituents that were not chosen"
    )
    parser.add_argument("--bars", action="store_true", help="show phrases that exist only in the binarised trees")
    parser.add_argument(
        "--chunks", metavar="FILE", help="align the chunks of this file, `.wa` or JSON lines, instead of phrases"
    )
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Align the pairs and print them."""
    if args.chunks is not None:
        return chunk_batch(args)
    form = "json" if args.json else "tsv" if args.tsv else "text"
    show = AlignmentText(form, args.with_forests, args.bars, args.output == "-" and sys.stdout.isatty())
    return align_batch(args, show, Layout.JSON if args.json else Layout.BLOCKS)


@dataclass(frozen=True, slots=True)
class AlignmentText:
    """An alignment as JSON, as rows of a table, or as an indented tree."""

    form: str
    forests: bool
    bars: bool
    colour: bool

    def __call__(self, job: Job, alignment: Alignment) -> str:
        """What is printed of one alignment."""
        if self.form == "json":
            return to_json(alignment.record(self.forests))
        if self.form == "tsv":
            return to_tsv(alignment.record(), self.bars)
        return render_text(alignment.record(), self.colour, self.bars) + "\n"
