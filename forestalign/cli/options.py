"""The options that all batch commands share, and the way from them to `run_jobs`.

What commands that look at results take: results, files of pairs, or two sentences; the latter are aligned first.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from forestalign.batch.run import OutputOptions, RunLimits, run_jobs
from forestalign.batch.workers import Job, Layout, Load, Outcome, Processes, StartWork, ThisProcess, Workers
from forestalign.config import CHOICES, DEFAULT_CONFIG
from forestalign.errors import UsageError
from forestalign.formats.codec import to_json
from forestalign.formats.fields import shorten
from forestalign.formats.lines import Unread, first_text
from forestalign.formats.pairs import (
    BadRecord,
    PairRecord,
    are_sentences,
    unread_pairs,
    unread_parallel,
    unread_sentences,
)
from forestalign.outputs import check_different, check_output, is_stream
from forestalign.own_files import scratch_folder
from forestalign.phrases.result.alignment import Alignment
from forestalign.tokens import Sentence


class Unused(NamedTuple):
    """An option, when it does nothing, and how to say that: "without --json", "with --links {links}"."""

    option: str
    is_unused: Callable[[argparse.Namespace], bool]
    beside: str


def warn_of_unused(parser: argparse.ArgumentParser, args: argparse.Namespace, rules: Sequence[Unused]) -> None:
    """Tell which of the options that were changed from their defaults do nothing."""
    dests = {option: action.dest for action in parser._actions for option in action.option_strings}
    for option, is_unused, beside in rules:
        dest = dests[option]
        if getattr(args, dest) != parser.get_default(dest) and is_unused(args):
            print(f"{parser.prog}: {option} does nothing {beside.format_map(vars(args))}", file=sys.stderr)


_MOST_LOOKED_AT = 10  # pairs, to tell the language


def add_batch_options(parser: argparse.ArgumentParser) -> None:
    """Add --output, --jobs, --cluster, --resume, --time-limit and --quiet."""
    group = parser.add_argument_group("long work")
    group.add_argument("-o", "--output", default="-", metavar="FILE", help="write results to FILE (default: stdout)")
    add_worker_options(group)
    group.add_argument(
        "--resume", action="store_true", help="keep what FILE holds from the same input and settings, and do the rest"
    )
    group.add_argument("--force", action="store_true", help="replace FILE if it exists")
    group.add_argument(
        "--time-limit", type=_seconds, default=0.0, metavar="SECONDS", help="give up on a pair after this time"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="print no progress line and no summary")


def add_jobs_option(group: argparse._ActionsContainer, verb: str) -> None:
    """Add --jobs; `verb` says what the processes do."""
    group.add_argument(
        "-j", "--jobs", type=process_count, default=1, metavar="N", help=f"{verb} in N processes (default: 1)"
    )


def add_worker_options(group: argparse._ActionsContainer) -> None:
    """Add --jobs and --cluster alone, for commands whose work is not one line per pair (training, tuning)."""
    add_jobs_option(group, "work")
    group.add_argument(
        "--cluster", default="", metavar="ADDRESS", help="work on a Dask cluster, e.g. tcp://10.0.0.1:8786"
    )


@contextmanager
def open_workers(args: argparse.Namespace) -> Iterator[Workers | None]:
    """The workers that --cluster or --jobs ask for; None for one process, which needs none.

    A single pair is worked on here: another process would have to load everything again.
    """
    workers: Workers | None = None
    if args.cluster:
        from forestalign.batch.cluster import Cluster  # an optional part

        workers = Cluster(args.cluster)
    elif args.jobs > 1:
        workers = Processes(args.jobs)
    elif getattr(args, "target", None) is not None and not args.time_limit:
        workers = ThisProcess()  # a single pair: nothing is left that a crash could cost
    try:
        yield workers
    finally:
        if workers is not None:
            workers.close()


def run_batch(
    args: argparse.Namespace,
    jobs: Iterable[Job | BadRecord | Unread[Job | BadRecord]],
    load: Load[Sequence[Job], Iterable[Outcome[str]]],
    layout: Layout,
    count: Callable[[], int | None] = lambda: None,
) -> int:
    """Run the jobs as the options say; returns the exit code. `count` is asked unless nothing is to be told."""
    reading = (("tokenized", bool(getattr(args, "tokenized", False))),)
    output = OutputOptions(args.output, layout, tuple(named_files(args)), args.force, args.resume, reading)
    with open_workers(args) as workers:
        tally = run_jobs(
            jobs if args.quiet else watch_jobs(jobs, getattr(args, "pairs", getattr(args, "file", "-"))),
            load,
            output=output,
            limits=RunLimits(args.jobs, time_limit=args.time_limit),
            workers=workers,
            total=None if args.quiet else count(),
            quiet=args.quiet,
        )
    if not args.quiet and (tally.failed or tally.skipped):
        print(f"{tally.done} done, {tally.failed} failed, {tally.skipped} skipped", file=sys.stderr)
    return tally.exit_code


def watch_jobs(
    jobs: Iterable[Job | BadRecord | Unread[Job | BadRecord]], name: str
) -> Iterator[Job | BadRecord | Unread[Job | BadRecord]]:
    """The jobs of a file; one line says that there are none, or that the first sentences are not English."""
    seen: list[Job] = []

    def watch(job: Job | BadRecord) -> Job | BadRecord:
        if isinstance(job, Job) and len(seen) < _MOST_LOOKED_AT:
            seen.append(job)
            if len(seen) == _MOST_LOOKED_AT:
                warn_of_language(seen)
        return job

    is_empty = True
    for job in jobs:
        is_empty = False
        yield job.then(watch) if isinstance(job, Unread) else watch(job)
    if 0 < len(seen) < _MOST_LOOKED_AT:
        warn_of_language(seen)
    if is_empty:
        report_empty(name)


def report_empty(name: str) -> None:
    """Say on stderr that a file is empty."""
    print(f"{'stdin' if name == '-' else name} is empty; nothing to do", file=sys.stderr)


def warn_of_language(jobs: Sequence[Job]) -> None:
    """Say on stderr if most of some sentences, with their words, are not English."""
    from forestalign.lexicon.wordnet import looks_english  # loads WordNet

    sentences = [each for job in jobs for each in _sentences_of(job.payload)]
    foreign = sum(not looks_english(each.words) for each in sentences)
    if 2 * foreign > len(sentences):
        print(
            f"pair {jobs[0].number}: this does not look like English, the only language that forestalign knows",
            file=sys.stderr,
        )


def _sentences_of(payload: object) -> Iterator[Sentence]:
    parts = payload if isinstance(payload, tuple) else [getattr(payload, name, None) for name in ("source", "target")]
    yield from (part for part in (payload, *parts) if isinstance(part, Sentence))


def add_force_option(parser: argparse._ActionsContainer) -> None:
    """Add --force alone, for commands that write a file of their own kind."""
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")


def add_cache_option(parser: argparse._ActionsContainer) -> None:
    """Add --cache."""
    from forestalign.pair_cache import cache_folder  # slow to import, and most commands have no cache

    parser.add_argument(
        "--cache",
        default=str(cache_folder()),
        metavar="DIR",
        help="keep parsed pairs in this folder (default: %(default)s)",
    )


def check_outputs(args: argparse.Namespace, *names: str) -> None:
    """Before any work: the files that these arguments name can be written, and nothing is lost by it."""
    resume = getattr(args, "resume", False)
    check_different(path for name in names if (path := getattr(args, name)) and not _is_device(path))
    for name in names:
        if path := getattr(args, name):
            inputs = named_files(args, names)
            check_output(path, inputs, force=args.force, resume=resume, can_resume=hasattr(args, "resume"))


def _is_device(path: str) -> bool:
    return path != "-" and is_stream(path)


def named_files(args: argparse.Namespace, outputs: Sequence[str] = ("output",)) -> Iterator[str]:
    """All files that the arguments name, but for the outputs: what must not be written to."""
    for name, value in vars(args).items():
        for each in value if isinstance(value, list) else [value]:
            path = each.partition("=")[2] if name == "set" else each
            if name not in outputs and isinstance(path, str) and not _is_word(name, path) and _is_input(path):
                yield path


def _is_input(path: str) -> bool:
    return path == "-" or os.path.isfile(path)  # false also where the folder cannot be looked into


def _is_word(name: str, value: str) -> bool:
    """Whether an argument is the name of a method or the like, also where a file has the same name."""
    return name == "method" or value in CHOICES.get(name, ())


def is_file(path: str) -> bool:
    """Whether there is such a file or folder; a long sentence is no name of one."""
    try:
        return os.path.exists(path)
    except ValueError:
        return False


def line_count(path: str) -> int | None:
    """Lines of a plain file, quickly; None where that cannot be known without reading a stream."""
    if path == "-" or path.endswith(".gz") or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def process_count(text: str) -> int:
    """The number of processes that --jobs asks for."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of processes; expected a whole number of at least 1"
        )
    return int(text)


def _number_to(most: float, what: str, expected: str) -> Callable[[str], float]:
    """What reads a number from 0 to a bound that an option gives."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a {what}; expected {expected}")
        return value

    return read


share = _number_to(1.0, "share", "a number from 0 to 1")  # a confidence or posterior
_seconds = _number_to(1e6, "number of seconds", "0 to a million")


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
            elif first_text(path):
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
    first = first_text(path)
    return first.startswith("{") and any(name in first for name in _RESULT_FIELDS)


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
        jobs if is_quiet else watch_jobs(jobs, name),
        StartWork(LoadAligner(DEFAULT_CONFIG), _line),
        output=OutputOptions(str(path), Layout.JSON),
        limits=RunLimits(getattr(args, "jobs", 1)),
        quiet=is_quiet,
    )
    found.failed_count += tally.failed
    found.paths.append(str(path))


def _job(record: PairRecord | BadRecord) -> Job | BadRecord:
    from forestalign.aligner import PairToAlign

    if not isinstance(record, PairRecord):
        return record
    return Job(record.number, record.id, PairToAlign(record.source, record.target))


def _line(job: Job, alignment: Alignment) -> str:
    return to_json(alignment)
