"""Long work: many jobs, several processes, output in input order, and nothing lost when something dies."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

from forestalign.batch.jobs import BadLine, Job, Layout, Outcome, StartWorker, Tally, Value
from forestalign.batch.limits import GuardedStart
from forestalign.batch.ordered import ordered_replies, value_of
from forestalign.batch.output import Held, LineOutput
from forestalign.batch.progress import Progress
from forestalign.batch.worker import Crashed
from forestalign.batch.workers import Processes, Program, ThisProcess, Workers
from forestalign.errors import InputError, UsageError

Item = TypeVar("Item")

CHUNK_SIZE = 16  # pairs: enough for the encoder's batches, small enough for an early first line


def run_jobs(
    jobs: Iterable[Job | BadLine],
    start_worker: StartWorker[str],
    *,
    output: str = "-",
    layout: Layout = Layout.JSON,
    resume: bool = False,
    processes: int = 1,
    workers: Workers | None = None,
    chunk_size: int = CHUNK_SIZE,
    time_limit: float = 0.0,
    total: int | None = None,
    quiet: bool = False,
    errors: TextIO | None = None,
) -> Tally:
    """Run every job and write its text to `output` ("-": stdout) in input order; failures go to `errors` (stderr).

    `workers` overrides `processes`, for a cluster. Chunks depend on the input alone, not on the number of
    processes, so that every way of running gives the same bytes.
    """
    if resume and output == "-":
        raise UsageError("--resume needs an output file (-o FILE): it looks there for what is done")
    held = Held(Path(output), layout) if resume else None
    counts = {"done": 0, "failed": 0, "skipped": 0}
    broken: list[InputError] = []  # what ended the input too early; what came before it is done first

    def remaining() -> Iterator[Job | Outcome[str]]:
        try:
            for job in jobs:
                item = _item(job)
                if held and held.takes(item):
                    counts["skipped"] += 1
                    progress.skip()
                else:
                    yield item
        except InputError as error:
            broken.append(error)

    with (
        LineOutput(output, append=resume) as lines,
        Progress(total, errors or sys.stderr, quiet=quiet) as progress,
        _opened(workers, processes, time_limit) as opened,
    ):
        for outcome in _outcomes(remaining(), start_worker, opened, chunk_size, time_limit):
            if outcome.error:
                progress.report(f"line {outcome.number} ({outcome.key}): {outcome.error}")
            if not outcome.error or layout is Layout.LINES:
                lines.write_line(outcome.value or "")
            counts["failed" if outcome.error else "done"] += 1
            progress.step()
    if broken:
        raise broken[0]
    return Tally(**counts)


def outcomes(
    jobs: Iterable[Job | BadLine],
    start_worker: StartWorker[Value],
    *,
    processes: int = 1,
    workers: Workers | None = None,
    chunk_size: int = CHUNK_SIZE,
    time_limit: float = 0.0,
) -> Iterator[Outcome[Value]]:
    """The outcome of every job in input order, while the input is still being read; bad lines become failures."""
    with _opened(workers, processes, time_limit) as opened:
        yield from _outcomes(map(_item, jobs), start_worker, opened, chunk_size, time_limit)


@contextmanager
def _opened(workers: Workers | None, processes: int, time_limit: float) -> Iterator[Workers]:
    """The caller's workers, or our own for the time of the run.

    With a time limit even a single worker is a process of its own: it can end itself when compiled code is stuck.
    """
    if workers is not None:
        yield workers
        return
    own: Workers = Processes(processes) if processes > 1 or time_limit else ThisProcess()
    try:
        yield own
    finally:
        own.close()


def _outcomes(
    items: Iterable[Job | Outcome[Value]],
    start_worker: StartWorker[Value],
    workers: Workers,
    chunk_size: int,
    time_limit: float,
) -> Iterator[Outcome[Value]]:
    program = Program(GuardedStart(start_worker, time_limit))
    for replies in ordered_replies(program, _chunks(items, chunk_size), workers, split=_singles):
        for chunk, reply in replies:
            if isinstance(reply, Crashed):
                yield from (
                    item if isinstance(item, Outcome) else Outcome.failed(item, reply.message) for item in chunk
                )
            else:
                yield from value_of(reply)


def _item(job: Job | BadLine) -> Job | Outcome[Any]:
    return job if isinstance(job, Job) else Outcome(job.number, job.id, error=job.message)


def _chunks(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _singles(chunk: Sequence[Item]) -> Sequence[Sequence[Item]]:
    return [[item] for item in chunk]
