"""Align the phrases of pairs of sentences.

    forestalign align pairs.tsv
    forestalign align pairs.tsv --short
    forestalign align "He bought a car." "A car was bought by him."
    forestalign align pairs.tsv --json -o results.jsonl --jobs 2
    printf 'He died.\\tHe kicked the bucket.\\n' | forestalign align
    forestalign align --chunks chunks.wa -o aligned.wa

Prints the tree of phrase pairs, indented, each with its confidence, and what was replaced, dropped and added;
--verbose tells more, --short prints the two sentences with numbered brackets. --json prints one line per pair, for the
commands view and evaluate; --tsv one row per phrase pair and per null phrase. A pair that fails is reported on stderr
with its line, the rest is done, and the exit code is 1. With --chunks it aligns the chunks of a file instead, many to
many, with type and score: prints `.wa`, or with --json the numbers of the chunks.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from forestalign.batch import Job, Layout
from forestalign.cli.align_options import add_align_options, add_bars_option
from forestalign.cli.batch_options import add_batch_options, share
from forestalign.cli.chunk_batch import chunk_batch
from forestalign.cli.pair_batch import align_batch
from forestalign.cli.unused_options import Unused
from forestalign.formats import to_json
from forestalign.formats.codec import to_tsv
from forestalign.phrases.result.alignment import Alignment
from forestalign.terminal import wants_colour
from forestalign.view.short_text import render_short
from forestalign.view.text import MIN_CONFIDENCE, render_text

UNUSED = (
    Unused("--kbest", lambda args: not args.json, "without --json"),
    Unused("--with-forests", lambda args: not args.json, "without --json"),
    Unused("--verbose", lambda args: args.json or args.tsv or args.short, "with --json, --tsv or --short"),
    Unused("--min-confidence", lambda args: args.json or args.tsv or args.short, "with --json, --tsv or --short"),
    Unused("--bars", lambda args: args.short, "with --short"),
    Unused("--bars", lambda args: args.json, "with --json, which has them all, marked"),
    Unused("--profile", lambda args: args.links not in ("sultan", "union"), "with --links {links}"),
    Unused("--nbest", lambda args: args.trees or args.forests, "beside parses of your own"),
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
    add_bars_option(parser)
    form.add_argument("--short", action="store_true", help="print the two sentences with numbered brackets")
    parser.add_argument(
        "--min-confidence",
        type=share,
        metavar="P",
        help=f"as text, print pairs with a confidence of P or more (default: {MIN_CONFIDENCE}; 0 prints all)",
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print labels, evidence, scores and words linked outside pairs, too",
    )
    parser.add_argument(
        "--chunks", metavar="FILE", help="align the chunks of this file, `.wa` or JSON lines, instead of phrases"
    )
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Align the pairs and print them."""
    if args.chunks is not None:
        return chunk_batch(args)
    form = next((name for name in ("json", "tsv", "short") if getattr(args, name)), "text")
    colour = args.output == "-" and wants_colour(sys.stdout)
    show = AlignmentText(form, args.with_forests, args.bars, colour, args.verbose, args.min_confidence)
    return align_batch(args, show, Layout.JSON if args.json else Layout.BLOCKS)


@dataclass(frozen=True, slots=True)
class AlignmentText:
    """An alignment as JSON, as rows of a table, or as an indented tree."""

    form: str
    forests: bool
    bars: bool | None
    colour: bool
    verbose: bool = False
    min_confidence: float | None = None

    def __call__(self, job: Job, alignment: Alignment) -> str:
        """What is printed of one alignment."""
        if self.form == "json":
            return to_json(alignment.with_unchosen() if self.forests else alignment)
        if self.form == "tsv":
            return to_tsv(alignment, self.bars)
        if self.form == "short":
            return render_short(alignment, self.colour) + "\n"
        least = self.min_confidence
        return render_text(alignment, self.colour, self.bars, verbose=self.verbose, min_confidence=least) + "\n"
