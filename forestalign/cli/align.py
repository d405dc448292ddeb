r"""Align the phrases of pairs of sentences.

    forestalign align pairs.tsv
    forestalign align pairs.tsv --short
    forestalign align "He bought a car." "A car was bought by him."
    forestalign align pairs.tsv --json -o results.jsonl --jobs 2
    printf 'He died.\tHe kicked the bucket.\n' | forestalign align
    forestalign align --chunks chunks.wa -o aligned.wa

Prints the tree of phrase pairs, indented, each with its confidence, and what was replaced, removed and added;
--verbose tells more, --short prints the two sentences with numbered brackets. --json prints one line per pair, for the
commands view and evaluate; --tsv one row per phrase pair and per null phrase. A pair that fails is reported on stderr
with its line, the rest is done, and the exit code is 1. With --chunks it aligns the chunks of a file instead, many to
many, with type and score: prints `.wa`, or with --json the numbers of the chunks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from forestalign.aligner import AlignerParts, LoadAligner
from forestalign.batch.workers import Job, Layout, StartWork
from forestalign.cli.align_options import (
    METHODS,
    add_align_options,
    add_bars_option,
    config_of,
    count_of,
    given_file,
    read_jobs,
)
from forestalign.cli.options import Unused, add_batch_options, run_batch, share
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.formats.chunk_files import ChunkedPair, chunks_to_ists, chunks_to_json, unread_chunked
from forestalign.formats.codec import to_json, to_tsv
from forestalign.formats.lines import Unread
from forestalign.formats.pairs import BadRecord
from forestalign.phrases.chunk_alignment import AlignedChunks
from forestalign.phrases.result.alignment import Alignment
from forestalign.terminal import wants_colour
from forestalign.view.text import MIN_CONFIDENCE, render_short, render_text

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


def align_batch(args: argparse.Namespace, show: Callable[[Job, Alignment], str], layout: Layout) -> int:
    """Align all pairs, write what `show` makes of each, and return the exit code."""
    config, given = config_of(args), given_file(args)
    start = StartWork(LoadAligner(config, AlignerParts(given_file=given)), show)
    return run_batch(args, read_jobs(args, config), start, layout, lambda: count_of(args))


def chunk_batch(args: argparse.Namespace) -> int:
    """Align the chunks of all pairs and return the exit code."""
    from forestalign.chunk_aligner import LoadChunkAligner  # slow to import, and most calls align phrases

    _check(args)
    config = config_of(args)
    start = StartWork(LoadChunkAligner(config), ChunkText(args.json))
    return run_batch(args, _jobs(args.chunks, config), start, Layout.JSON if args.json else Layout.BLOCKS)


def _check(args: argparse.Namespace) -> None:
    if args.pairs != "-" or args.target is not None:
        raise UsageError(f"--chunks {args.chunks} holds the pairs; expected no other file, not {args.pairs!r}")
    if given_file(args):
        raise UsageError(f"--chunks takes no parses; expected no {given_file(args)!r}")
    if args.links not in METHODS:
        raise UsageError(f"--links is {args.links!r}; with --chunks expected one of {', '.join(METHODS)}")


def _jobs(path: str, config: AlignConfig) -> Iterator[Unread[Job | BadRecord]]:
    for unread in unread_chunked(path, config.max_words):
        yield unread.then(_job)


def _job(pair: ChunkedPair | BadRecord) -> Job | BadRecord:
    return pair if isinstance(pair, BadRecord) else Job(pair.number, pair.id, pair)


@dataclass(frozen=True, slots=True)
class ChunkText:
    """Aligned chunks as JSON or as `.wa`."""

    json: bool

    def __call__(self, job: Job, aligned: Sequence[AlignedChunks]) -> str:
        """What is printed of one pair."""
        return chunks_to_json(job.key, aligned) if self.json else chunks_to_ists(job.payload, aligned)
