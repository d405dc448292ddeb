"""Long work: many jobs, several processes, output in input order, and nothing lost when something dies."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple, TextIO, TypeVar

from forestalign.batch.jobs import BadLine, Job, Layout, Outcome, StartWorker, Tally, Value
from forestalign.batch.limits import HARD_LIMIT_STATUS, GuardedStart
from forestalign.batch.options import NO_LIMITS, TO_STDOUT, OutputOptions, RunLimits
from forestalign.batch.ordered import ordered_replies, value_of
from forestalign.batch.output import Output, open_output
from forestalign.batch.progress import Progress
from forestalign.batch.run_journal import PairState, digest_of, settings_of
from forestalign.batch.worker_program import Crashed, Reply
from forestalign.batch.workers import Processes, Program, ThisProcess, Workers
from forestalign.errors import ForestAlignError, InputError, line_of
from forestalign.formats.lines import Unread
from forestalign.outputs import check_output

Item = TypeVar("Item")
InputItem = Job | BadLine | Unread[Any]

MOST_DEATHS = 4  # pairs in a row whose worker dies before a run gives up


def run_jobs(
    jobs: Iterable[InputItem],
    start_worker: StartWorker[str],
    *,
    output: OutputOptions = TO_STDOUT,
    limits: RunLimits = NO_LIMITS,
    workers: Workers | None = None,
    total: int | None = None,
    quiet: bool = False,
    errors: TextIO | None = None,
) -> Tally:
    """Run every job and write its text to the output in input order; failures go to `errors` (stderr).

    `workers` overrides the number of processes, for a cluster. Chunks depend on the input alone, not on the number of
    processes, so that every way of running gives the same bytes.
    """
    check_output(output.path, output.inputs, force=output.force, resume=output.resume, can_resume=True)
    counts = {"done": 0, "failed": 0, "skipped": 0}
    with Progress(total, errors or sys.stderr, quiet=quiet) as progress:
        file = open_output(output.path, {**settings_of(start_worker), **dict(output.settings)}, output.resume)
        feed = _Feed(jobs, file, progress, counts)
        is_whole = False
        try:
            with _opened(workers, limits.processes) as opened:
                for outcome in _outcomes(feed, start_worker, opened, limits):
                    _settle(outcome, feed.places.popleft(), file, output.layout)
                    if outcome.error:
                        progress.report(f"{line_of(outcome.number, outcome.key)}: {outcome.error}")
                    counts["failed" if outcome.error else "done"] += 1
                    progress.step()
            file.copy(feed.copies)
            is_whole = feed.broken is None
        finally:
            file.close(is_whole)
    if feed.broken is not None:  # what came before it is done
        raise feed.broken
    return Tally(**counts)


class _Place(NamedTuple):
    """The place of a pair that has to be done: behind how many that are as they were."""

    copies: int
    digest: int
    is_bad: bool


class _Feed:
    """What has to be done of the input, in step with what the output holds."""

    def __init__(self, jobs: Iterable[InputItem], output: Output, progress: Progress, counts: dict[str, int]):
        self._jobs, self._output, self._progress, self._counts = jobs, output, progress, counts
        self.places: deque[_Place] = deque()
        self.copies = 0  # since the last place
        self.broken: InputError | None = None  # what ended the input too early

    def __iter__(self) -> Iterator[Job | Outcome[str]]:
        try:
            for unread in self._jobs:
                digest = digest_of(_text_of(unread))
                state = self._output.known(digest)
                if state is None:
                    item = _item(_read(unread))
                    self.places.append(_Place(self.copies, digest, isinstance(item, Outcome)))
                    self.copies = 0
                    yield item
                else:
                    self._pass(unread, state)
            self._output.end_of_input()
        except InputError as error:
            self.broken = error

    def _pass(self, unread: InputItem, state: PairState) -> None:
        """A pair that the output holds; one that failed there for good is told again."""
        self.copies += 1
        self._progress.skip()
        if state is PairState.DONE:
            self._counts["skipped"] += 1
            return
        self._counts["failed"] += 1
        item = _item(_read(unread))
        why = item.error if isinstance(item, Outcome) else "failed again when the run was resumed; --resume tries anew"
        self._progress.report(f"{line_of(item.number, item.key)}: {why}")


def _settle(outcome: Outcome[str], place: _Place, output: Output, layout: Layout) -> None:
    output.copy(place.copies)
    if not outcome.error:
        output.write(place.digest, PairState.DONE, outcome.value or "")
    else:
        state = PairState.BAD if place.is_bad else PairState.FAILED
        output.write(place.digest, state, "" if layout is Layout.LINES else None)


def _read(unread: InputItem) -> Job | BadLine:
    return unread.read() if isinstance(unread, Unread) else unread


def _text_of(unread: InputItem) -> str:
    """What tells a pair from another one."""
    if isinstance(unread, Unread):
        return unread.text
    return repr((unread.key, unread.payload) if isinstance(unread, Job) else (unread.id, unread.message))


def outcomes(
    jobs: Iterable[Job | BadLine],
    start_worker: StartWorker[Value],
    *,
    limits: RunLimits = NO_LIMITS,
    workers: Workers | None = None,
) -> Iterator[Outcome[Value]]:
    """The outcome of every job in input order, while the input is still being read; bad lines become failures."""
    with _opened(workers, limits.processes if limits.processes > 1 or limits.time_limit else 0) as opened:
        yield from _outcomes(map(_item, jobs), start_worker, opened, limits)


@contextmanager
def _opened(workers: Workers | None, processes: int) -> Iterator[Workers]:
    """The caller's workers, or our own for the time of the run.

    Even a single worker is a process of its own: a crash of compiled code costs one pair and not the run. With no
    processes the work is done here, for callers whose functions cannot be sent to another process.
    """
    if workers is not None:
        yield workers
        return
    own: Workers = Processes(processes) if processes else ThisProcess()
    try:
        yield own
    finally:
        own.close()


def _outcomes(
    items: Iterable[Job | Outcome[Value]],
    start_worker: StartWorker[Value],
    workers: Workers,
    limits: RunLimits,
) -> Iterator[Outcome[Value]]:
    program = Program(GuardedStart(start_worker, limits.time_limit))
    deaths = _Deaths(limits.time_limit)
    for replies in ordered_replies(program, _chunks(items, limits.chunk_size), workers, split=_singles):
        for chunk, reply in replies:
            if isinstance(reply, Crashed):
                message = deaths.message(reply)
                done = [item if isinstance(item, Outcome) else Outcome.failed(item, message) for item in chunk]
            else:
                done = value_of(reply)
            for outcome in done:
                deaths.count(outcome, reply)
                yield outcome


class _Deaths:
    """Workers that die or lack memory at one pair after the other: nothing will come of the others either."""

    def __init__(self, time_limit: float):
        self._time_limit, self._count = time_limit, 0

    def message(self, crash: Crashed) -> str:
        if self._is_limit(crash):
            return f"took longer than {self._time_limit:g} s in compiled code; its process was ended"
        return crash.message

    def _is_limit(self, crash: Crashed) -> bool:
        return bool(self._time_limit) and crash.status == HARD_LIMIT_STATUS

    def count(self, outcome: Outcome[Any], reply: Reply) -> None:
        is_death = isinstance(reply, Crashed) and not self._is_limit(reply)
        if is_death or outcome.error.startswith("MemoryError"):
            self._count += 1
        elif not outcome.error:
            self._count = 0
        if self._count >= MOST_DEATHS:
            raise ForestAlignError(
                f"{self._count} pairs one after the other failed for want of memory or by a crash, the last with: "
                f"{outcome.error}; give up here (fewer --jobs need less memory; --resume continues)"
            )


def _item(job: Job | BadLine) -> Job | Outcome[Any]:
    return job if isinstance(job, Job) else Outcome(job.number, job.id, error=job.message)


def _chunks(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _singles(chunk: Sequence[Item]) -> Sequence[Sequence[Item]]:
    return [[item] for item in chunk]
