"""The one way in which a worker process begins: load what the work needs, once, then do chunk after chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from forestalign.batch.jobs import Handler, Job, Outcome
from forestalign.errors import ForestAlignError

Result = TypeVar("Result")
Value = TypeVar("Value")
Work = Callable[[Sequence[Job]], Iterable[Result | ForestAlignError]]  # one result per job, in order


@dataclass(frozen=True, slots=True)
class StartWork(Generic[Result, Value]):
    """`load` gives the work of a process, `show` makes of each result what the process sends back; both are pickled.

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
