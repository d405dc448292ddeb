"""One bad job must not take its chunk along: time limits and failures, pinned to the job that caused them.

A chunk is handled as a whole first, because parsing is quicker in batches. When something goes wrong in it, the jobs
that have no outcome yet are handled again one by one, and what goes wrong then belongs to the one job.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Generic

from forestalign.batch.jobs import Handler, Job, Outcome, Value
from forestalign.batch.worker import Load
from forestalign.process_memory import give_back

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
        for outcome in _limited(handle, jobs, time_limit):
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


def _limited(handle: Handler[Value], jobs: Sequence[Job], time_limit: float) -> Iterator[Outcome[Value]]:
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
