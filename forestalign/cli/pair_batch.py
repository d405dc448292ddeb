"""Aligning a batch of pairs as the options of `align` and `rerank` say."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from forestalign.aligner import AlignerParts, LoadAligner
from forestalign.batch import Job, Layout, StartWork
from forestalign.cli.align_options import config_of, count_of, given_file, read_jobs
from forestalign.cli.batch_options import run_batch
from forestalign.phrases.result.alignment import Alignment


def align_batch(args: argparse.Namespace, show: Callable[[Job, Alignment], str], layout: Layout) -> int:
    """Align all pairs, write what `show` makes of each, and return the exit code."""
    config, given = config_of(args), given_file(args)
    start = StartWork(LoadAligner(config, AlignerParts(given_file=given)), show)
    return run_batch(args, read_jobs(args, config), start, layout, lambda: count_of(args))
