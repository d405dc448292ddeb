"""Align the phrases of pairs of sentences.

    forestalign align pairs.tsv
    forestalign align pairs.tsv --json -o results.jsonl --jobs 2
    printf 'He died.\\tHe kicked the bucket.\\n' | forestalign align

Prints the tree of phrase pairs, indented; with --json one line a pair, for the commands view and evaluate. A pair that
fails is reported on stderr with its line, the rest is done, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestalign.aligner import Aligner, Alignment
from forestalign.batch import Handler, Job, Layout, Outcome
from forestalign.cli.align_options import add_align_options, config_of, count_of, given_file, read_jobs
from forestalign.cli.batch_options import add_batch_options, run_batch
from forestalign.cli.compilation import ALIGNING, SEARCHING
from forestalign.config import AlignConfig
from forestalign.errors import ForestAlignError, NoParseError
from forestalign.formats import to_json
from forestalign.formats.given import read_given
from forestalign.view.text import render_text


def configure(parser: argparse.ArgumentParser) -> None:
    add_align_options(parser)
    parser.add_argument("--json", action="store_true", help="JSON lines")
    parser.add_argument("--kbest", type=int, metavar="K", help="the K best alignments (in the JSON)")
    parser.add_argument("--with-forests", action="store_true", help="in the JSON also the constituents not chosen")
    parser.add_argument("--bars", action="store_true", help="show phrases that only the binarisation has")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    config = config_of(args)
    colour = args.output == "-" and sys.stdout.isatty()
    start = StartAligner(config, given_file(args), args.json, args.with_forests, args.bars, colour)
    layout = Layout.JSON if args.json else Layout.BLOCKS
    kernels = SEARCHING if given_file(args) else ALIGNING
    return run_batch(args, read_jobs(args, config), start, layout, lambda: count_of(args), kernels)


def align_jobs(aligner: Aligner, jobs: Sequence[Job]) -> Iterator[tuple[Job, Alignment | ForestAlignError]]:
    """Align a chunk; the sentences are parsed together."""
    prepared = aligner.prepare([(job.key, job.payload.source, job.payload.target, job.payload.links) for job in jobs])
    for job, pair in zip(jobs, prepared, strict=True):
        yield job, pair if isinstance(pair, NoParseError) else aligner.align_prepared(pair)


@dataclass(frozen=True, slots=True)
class StartAligner:
    """What a process needs to align: loaded once, then a chunk of pairs at a time."""

    config: AlignConfig
    given: str
    json: bool
    forests: bool
    bars: bool
    colour: bool

    def __call__(self) -> Handler[str]:
        aligner = Aligner(self.config, given=read_given(self.given) if self.given else None)
        aligner.load_parts()

        def handle(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
            for job, result in align_jobs(aligner, jobs):
                if isinstance(result, ForestAlignError):
                    yield Outcome.failed(job, result)
                else:
                    yield Outcome.of(job, self.text(result))

        return handle

    def text(self, alignment: Alignment) -> str:
        if self.json:
            return to_json(alignment.record(self.forests))
        return render_text(alignment.record(), self.colour, self.bars) + "\n"
