"""Aligning a batch of chunked pairs, as the options of `align --chunks` say."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestalign.batch import BadLine, Job, Layout, StartWork
from forestalign.cli.align_options import METHODS, config_of, given_file
from forestalign.cli.batch_options import run_batch
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.formats import BadRecord, Unread
from forestalign.formats.chunk_files import ChunkedPair, chunks_to_ists, chunks_to_json, unread_chunked
from forestalign.phrases.chunk_alignment import AlignedChunks


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


def _jobs(path: str, config: AlignConfig) -> Iterator[Unread[Job | BadLine]]:
    for unread in unread_chunked(path, config.max_words):
        yield unread.then(_job)


def _job(pair: ChunkedPair | BadRecord) -> Job | BadLine:
    return pair if isinstance(pair, BadRecord) else Job(pair.number, pair.id, pair)


@dataclass(frozen=True, slots=True)
class ChunkText:
    """Aligned chunks as JSON or as `.wa`."""

    json: bool

    def __call__(self, job: Job, aligned: Sequence[AlignedChunks]) -> str:
        """What is printed of one pair."""
        return chunks_to_json(job.key, aligned) if self.json else chunks_to_ists(job.payload, aligned)
