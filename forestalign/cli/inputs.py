"""What commands that look at results take: results, files of pairs, or two sentences; the latter are aligned first."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from forestalign.batch import BadLine, Job, Layout, OutputOptions, RunLimits, StartWork, run_jobs
from forestalign.cli.batch_options import report_empty, watched
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import UsageError
from forestalign.formats import (
    BadRecord,
    PairRecord,
    Unread,
    are_sentences,
    to_json,
    unread_pairs,
    unread_parallel,
    unread_sentences,
)
from forestalign.formats.fields import shorten
from forestalign.formats.lines import read_text_lines
from forestalign.own_files import scratch_folder
from forestalign.phrases.result.alignment import Alignment


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


INPUT_HELP = "results of `align --json`; or pairs of sentences, in files or as two sentences, which are aligned first"
_RESULT_FIELDS = ('"phrases"', '"version"')


@dataclass(slots=True)
class ResultFiles:
    """The files of results that some arguments came to, and how many pairs could not be aligned."""

    paths: list[str] = field(default_factory=list)
    failed_count: int = 0


@contextmanager
def result_files(inputs: Sequence[str], args: argparse.Namespace, command: str) -> Iterator[ResultFiles]:
    """The results that arguments name. Pairs are aligned into files that are gone afterwards, and a line says so.

    `args` may have `jobs` and `quiet`.
    """
    found = ResultFiles()
    if len(inputs) == 2 and are_sentences(*inputs):
        with _folder() as folder:
            _align("-", unread_sentences(inputs[0], inputs[1]), folder / "sentences.jsonl", args, found)
            yield found
        return
    for path in inputs:
        _refuse_sentence(path)
    are_all = all(map(is_results, inputs))
    with nullcontext(Path()) if are_all else _folder() as folder:  # results need no folder that can be written
        for number, path in enumerate(inputs):
            if are_all or is_results(path):
                found.paths.append(path)
            elif first_line(path):
                if not getattr(args, "quiet", False):
                    message = f"forestalign {command}: {path} holds pairs of sentences; aligning them first"
                    print(message, file=sys.stderr)
                (folder / str(number)).mkdir()
                _align(path, unread_pairs(path), folder / str(number) / f"{Path(path).stem}.jsonl", args, found)
            elif not getattr(args, "quiet", False):
                report_empty(path)
        yield found


def is_results(path: str) -> bool:
    """Whether a file has results and not pairs, by its first line."""
    if path == "-":  # cannot be looked at twice; pairs from there go to `align`
        return True
    first = first_line(path)
    return first.startswith("{") and any(name in first for name in _RESULT_FIELDS)


def first_line(path: str) -> str:
    """The first line that is not blank, without the blanks around it; empty if there is none."""
    return next((text.strip() for _, text in read_text_lines(path) if text.strip()), "")


def _refuse_sentence(path: str) -> None:
    if " " in path and not Path(path).exists():
        raise UsageError(f"{shorten(path)} is not a file; expected a file of results or of pairs, or two sentences")


@contextmanager
def _folder() -> Iterator[Path]:
    with scratch_folder(Path(tempfile.gettempdir()), "forestalign-aligned-") as folder:
        yield folder


def _align(
    name: str,
    records: Iterator[Unread[PairRecord | BadRecord]],
    path: Path,
    args: argparse.Namespace,
    found: ResultFiles,
) -> None:
    from forestalign.aligner import LoadAligner  # models are slow to import, and results need none
    from forestalign.config import DEFAULT_CONFIG

    is_quiet = bool(getattr(args, "quiet", False))
    jobs = (record.then(_job) for record in records)
    tally = run_jobs(
        jobs if is_quiet else watched(jobs, name),
        StartWork(LoadAligner(DEFAULT_CONFIG), _line),
        output=OutputOptions(str(path), Layout.JSON),
        limits=RunLimits(getattr(args, "jobs", 1)),
        quiet=is_quiet,
    )
    found.failed_count += tally.failed
    found.paths.append(str(path))


def _job(record: PairRecord | BadRecord) -> Job | BadLine:
    from forestalign.aligner import PairToAlign

    if not isinstance(record, PairRecord):
        return record
    return Job(record.number, record.id, PairToAlign(record.source, record.target))


def _line(job: Job, alignment: Alignment) -> str:
    return to_json(alignment)
