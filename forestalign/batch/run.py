"""Long work: many jobs, several processes, output in input order, and nothing lost when something dies.

One bad job must not take its chunk along. A chunk is handled as a whole first, because parsing is quicker in batches.
When something goes wrong in it, the jobs that have no outcome yet are handled again one by one, and what goes wrong
then belongs to the one job.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Generic, NamedTuple, Self, TextIO, TypeVar

from forestalign.batch.output import Output, has_journal, open_output, side_files
from forestalign.batch.run_journal import PairState, digest_of, settings_of
from forestalign.batch.worker_program import Crashed, Reply
from forestalign.batch.workers import (
    Handler,
    Job,
    Layout,
    Load,
    Outcome,
    Processes,
    Tally,
    ThisProcess,
    Value,
    Worker,
    Workers,
    cut_into_chunks,
    ordered_replies,
    value_of,
)
from forestalign.errors import ForestAlignError, InputError, line_of
from forestalign.formats.lines import Unread
from forestalign.formats.pairs import BadRecord
from forestalign.machine import give_back
from forestalign.outputs import check_output, check_sides

CHUNK_SIZE = 16  # pairs: enough for the encoder's batches, small enough for an early first line


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Where results go ("-": stdout), how they are laid out, and what becomes of a file that is there.

    `inputs` are files that must not be the output, whatever their names. An output that holds something is refused,
    unless `force` replaces it or `resume` continues it. `settings` are what results depend on besides the function
    that starts the workers, such as how the input was read: a run is resumed with the same ones or not at all.
    """

    path: str = "-"
    layout: Layout = Layout.JSON
    inputs: tuple[str, ...] = ()
    force: bool = False
    resume: bool = False
    settings: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How many processes, how many pairs at a time, and how many seconds for a pair (0: as long as it takes)."""

    processes: int = 1
    chunk_size: int = CHUNK_SIZE
    time_limit: float = 0.0


TO_STDOUT = OutputOptions()
NO_LIMITS = RunLimits()


# Compiled code cannot be interrupted by an exception. After this many limits (and seconds) the process ends itself.
_HARD_FACTOR, _HARD_SECONDS = 2.0, 1.0
HARD_LIMIT_STATUS = 1  # the exit status of such a process, which is faulthandler's


class TimeLimit(BaseException):
    """Raised by the timer. Not an `Exception`, so that no handler takes it for a failure of its own."""


@dataclass(frozen=True, slots=True)
class LoadGuarded(Generic[Value]):
    """Loads a worker whose handler never raises: see the module docstring."""

    load: Load[Sequence[Job], Iterable[Outcome[Value]]]
    time_limit: float  # seconds per job; 0: none

    def __call__(self) -> Callable[[Sequence[Job | Outcome[Value]]], list[Outcome[Value]]]:
        handle = self.load()

        def handle_items(items: Sequence[Job | Outcome[Value]]) -> list[Outcome[Value]]:
            """Items that are outcomes already (bad lines) keep their place."""
            fresh = iter(run_chunk(handle, [item for item in items if isinstance(item, Job)], self.time_limit))
            done = [item if isinstance(item, Outcome) else next(fresh) for item in items]
            give_back()
            return done

        return handle_items


def run_chunk(handle: Handler[Value], jobs: Sequence[Job], time_limit: float = 0.0) -> list[Outcome[Value]]:
    """One outcome for each job, in order, whatever the handler does."""
    outcomes: list[Outcome[Value]] = []
    if not jobs:
        return outcomes
    try:
        for outcome in _run_limited(handle, jobs, time_limit):
            expected = jobs[len(outcomes)]
            if outcome.number != expected.number:
                raise RuntimeError(f"the handler gave an outcome for job {outcome.number}, not {expected.number}")
            outcomes.append(outcome)
        if len(outcomes) < len(jobs):
            raise RuntimeError("the handler gave no outcome")
    except (Exception, TimeLimit) as error:
        return outcomes + _one_by_one(handle, jobs[len(outcomes) :], len(jobs) == 1, error, time_limit)
    return outcomes


def _one_by_one(
    handle: Handler[Value], jobs: Sequence[Job], was_alone: bool, error: BaseException, time_limit: float
) -> list[Outcome[Value]]:
    if not was_alone:
        return [outcome for job in jobs for outcome in run_chunk(handle, [job], time_limit)]
    message = f"took longer than {time_limit:g} s" if isinstance(error, TimeLimit) else error
    return [Outcome.failed(job, message) for job in jobs]


def _run_limited(handle: Handler[Value], jobs: Sequence[Job], time_limit: float) -> Iterator[Outcome[Value]]:
    """The handler's outcomes, each within the limit."""
    iterator: Iterator[Outcome[Value]] | None = None
    for _ in jobs:
        with _alarm(time_limit):
            if iterator is None:
                iterator = iter(handle(jobs))
            outcome = next(iterator, None)
        if outcome is None:
            return
        yield outcome


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `TimeLimit` after so many seconds; works in the main thread, which is where workers run.

    Windows has no such signal; pairs take there as long as they take.
    """
    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return
    previous = signal.signal(signal.SIGALRM, _raise_time_limit)
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds * _HARD_FACTOR + _HARD_SECONDS, exit=True, file=nowhere)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            try:  # a signal that came in the last moment is raised after this call
                signal.setitimer(signal.ITIMER_REAL, 0)
            finally:
                faulthandler.cancel_dump_traceback_later()
                signal.signal(signal.SIGALRM, previous)


def _raise_time_limit(_signal: int, _frame: FrameType | None) -> None:
    raise TimeLimit


Item = TypeVar("Item")
InputItem = Job | BadRecord | Unread[Any]

SECONDS_BETWEEN_LINES = 30.0  # of progress where no terminal is
MOST_DEATHS = 4  # pairs in a row whose worker dies before a run gives up


def run_jobs(
    jobs: Iterable[InputItem],
    load: Load[Sequence[Job], Iterable[Outcome[str]]],
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
    check_sides(output.path, side_files(output.path), output.inputs)
    counts = {"done": 0, "failed": 0, "skipped": 0}
    with Progress(total, errors or sys.stderr, quiet=quiet) as progress:
        settings = {**settings_of(load), **dict(output.settings)} if has_journal(output.path) else {}
        file = open_output(output.path, settings, output.resume)
        feed = _Feed(jobs, file, progress, counts)
        is_whole = False
        try:
            with _open_workers(workers, limits.processes) as opened:
                for outcome in _outcomes(feed, load, opened, limits):
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
        """A pair that the output holds; one that failed there for good is reported again."""
        self.copies += 1
        self._progress.step(is_new=False)
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


def _read(unread: InputItem) -> Job | BadRecord:
    return unread.read() if isinstance(unread, Unread) else unread


def _text_of(unread: InputItem) -> str:
    """What tells a pair from another one."""
    if isinstance(unread, Unread):
        return unread.text
    return repr((unread.key, unread.payload) if isinstance(unread, Job) else (unread.id, unread.message))


def outcomes(
    jobs: Iterable[Job | BadRecord],
    load: Load[Sequence[Job], Iterable[Outcome[Value]]],
    *,
    limits: RunLimits = NO_LIMITS,
    workers: Workers | None = None,
) -> Iterator[Outcome[Value]]:
    """The outcome of every job in input order, while the input is still being read; bad lines become failures."""
    with _open_workers(workers, limits.processes if limits.processes > 1 or limits.time_limit else 0) as opened:
        yield from _outcomes(map(_item, jobs), load, opened, limits)


@contextmanager
def _open_workers(workers: Workers | None, processes: int) -> Iterator[Workers]:
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
    load: Load[Sequence[Job], Iterable[Outcome[Value]]],
    workers: Workers,
    limits: RunLimits,
) -> Iterator[Outcome[Value]]:
    worker = Worker(LoadGuarded(load, limits.time_limit))
    deaths = _Deaths(limits.time_limit)
    for replies in ordered_replies(worker, cut_into_chunks(items, limits.chunk_size), workers, split=_singles):
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
                f"{self._count} pairs in a row failed because memory ran out or a process crashed, the last with: "
                f"{outcome.error}; giving up here (fewer --jobs need less memory; --resume continues)"
            )


def _item(job: Job | BadRecord) -> Job | Outcome[Any]:
    return job if isinstance(job, Job) else Outcome(job.number, job.id, error=job.message)


def _singles(chunk: Sequence[Item]) -> Sequence[Sequence[Item]]:
    return [[item] for item in chunk]


# ---- progress ----


class Progress:
    """A bar on a terminal, elsewhere a line now and then; reports of failures go past it. If quiet, only reports."""

    def __init__(self, total: int | None, errors: TextIO, *, quiet: bool = False):
        self._errors, self._total, self._quiet, self._done = errors, total, quiet, 0
        self._begin = self._told = time.monotonic()
        self._bar: Any = None
        if not quiet and errors.isatty():
            from tqdm import tqdm  # not needed elsewhere, and it takes a moment to import

            self._bar = tqdm(total=total, file=errors, unit=" pairs", dynamic_ncols=True, smoothing=0.05)

    def step(self, *, is_new: bool = True) -> None:
        """One more job is done; one that was done before counts as progress, and not for the rate."""
        self._done += 1
        if self._bar is not None:
            self._bar.initial += not is_new
            self._bar.update()
        elif not self._quiet and time.monotonic() - self._told >= SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            of = "" if self._total is None else f" of {self._total:,}"
            print(f"{self._done:,}{of} pairs in {self._told - self._begin:.0f} s", file=self._errors, flush=True)

    def report(self, message: str) -> None:
        """Print a line above the bar."""
        if self._bar is None:
            print(message, file=self._errors, flush=True)
        else:
            self._bar.write(message, file=self._errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
