"""What a worker process does: load what the work needs, once, then do task after task."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from forestalign.batch.jobs import Handler, Job, Outcome
from forestalign.batch.worker_program import NOT_SENT, Message
from forestalign.errors import ForestAlignError, UsageError

Task = TypeVar("Task")
Result = TypeVar("Result")
Value = TypeVar("Value")
Load = Callable[[], Callable[[Task], Value]]  # called once in each process; gives the function for its tasks
Work = Callable[[Sequence[Job]], Iterable[Result | ForestAlignError]]  # one result per job, in order


class Worker(Generic[Task, Value]):
    """What is done with tasks, here or in other processes, which get `load` and never what was loaded."""

    def __init__(self, load: Load[Task, Value]):
        self.load = load

    @classmethod
    def of(cls, function: Callable[[Task], Value]) -> Worker[Task, Value]:
        """A worker that has nothing to load."""
        return cls(_Nothing(function))

    @cached_property
    def function(self) -> Callable[[Task], Value]:
        """The function for the tasks of this process; it keeps what it has loaded as long as the worker is kept."""
        return self.load()

    @cached_property
    def pickled(self) -> bytes:
        """What loads it, to be sent."""
        try:
            return pickle.dumps(self.load)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(f"{NOT_SENT} ({error})") from error

    @cached_property
    def key(self) -> str:
        """A digest by which worker processes know it."""
        return hashlib.sha256(self.pickled).hexdigest()

    def message(self, task: Task) -> Message:
        """A task as it is sent to a worker process."""
        return Message(self.key, self.pickled, pickle.dumps(task))


@dataclass(frozen=True, slots=True)
class _Nothing(Generic[Task, Value]):
    """Loads nothing."""

    function: Callable[[Task], Value]

    def __call__(self) -> Callable[[Task], Value]:
        return self.function


@dataclass(frozen=True, slots=True)
class StartWork(Generic[Result, Value]):
    """Loads a worker for jobs: `load` gives the work, `show` makes of each result what the process sends back.

    A result that is an error of ours becomes the failure of its job; whatever else is raised ends the chunk, and the
    batch finds out whose fault it was.
    """

    load: Callable[[], Work[Result]]
    show: Callable[[Job, Result], Value]

    def __call__(self) -> Handler[Value]:
        """Called once in each process."""
        work = self.load()

        def handle(jobs: Sequence[Job]) -> Iterator[Outcome[Value]]:
            for job, result in zip(jobs, work(jobs), strict=True):
                if isinstance(result, ForestAlignError):
                    yield Outcome.failed(job, result)
                else:
                    yield Outcome.of(job, self.show(job, result))

        return handle
