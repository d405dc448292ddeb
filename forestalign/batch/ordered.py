"""Results in the order of their tasks, with a bound on how far reading runs ahead of the oldest unfinished task."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from forestalign.batch.worker import Worker
from forestalign.batch.worker_program import Crashed, Done, Raised, Reply
from forestalign.batch.workers import ThisProcess, Workers
from forestalign.errors import ForestAlignError

Task = TypeVar("Task")
Value = TypeVar("Value")

# Tasks read ahead of the oldest unfinished one, for each that can run at a time: room for one that takes long,
# and a bound on memory.
_LOOK_AHEAD = 8


@dataclass(slots=True)
class _Place(Generic[Task]):
    """One task's place in the order. After a crash its parts run again on their own, once."""

    parts: list[Task]
    replies: dict[int, Reply] = field(default_factory=dict)
    is_retry: bool = False

    @property
    def is_complete(self) -> bool:
        return len(self.replies) == len(self.parts)


class _Queue(Generic[Task, Value]):
    """Tasks between being read and being answered, in the order of reading."""

    def __init__(
        self,
        worker: Worker[Task, Value],
        tasks: Iterable[Task],
        workers: Workers,
        split: Callable[[Task], Sequence[Task]],
    ):
        self._worker, self._tasks, self._workers, self._split = worker, iter(tasks), workers, split
        self._is_exhausted = False
        self._places: deque[_Place[Task]] = deque()
        self._waiting: deque[tuple[_Place[Task], int]] = deque()
        self._running: dict[int, tuple[_Place[Task], int]] = {}
        self._ticket = 0

    def fill(self) -> bool:
        """Give the workers all they can take; false when nothing is left to wait for."""
        while len(self._running) < self._workers.capacity and (self._waiting or self._read()):
            self._ticket += 1
            place, part = self._running[self._ticket] = self._waiting.popleft()
            self._workers.submit(self._ticket, self._worker, place.parts[part])
        return bool(self._places)

    def _read(self) -> bool:
        if self._is_exhausted or len(self._places) >= self._workers.capacity * _LOOK_AHEAD:
            return False
        for task in self._tasks:
            place = _Place([task])
            self._places.append(place)
            self._waiting.append((place, 0))
            return True
        self._is_exhausted = True
        return False

    def settle(self) -> None:
        """Wait for one reply. After a first crash the parts of the task go to the front."""
        ticket, reply = self._workers.next_reply()
        place, part = self._running.pop(ticket)
        if isinstance(reply, Crashed) and not place.is_retry:
            place.parts, place.is_retry = list(self._split(place.parts[0])), True
            self._waiting.extendleft((place, index) for index in reversed(range(len(place.parts))))
        else:
            place.replies[part] = reply

    def finished(self) -> Iterator[_Place[Task]]:
        while self._places and self._places[0].is_complete:
            yield self._places.popleft()


def ordered_replies(
    worker: Worker[Task, Value],
    tasks: Iterable[Task],
    workers: Workers,
    split: Callable[[Task], Sequence[Task]] = lambda task: [task],
) -> Iterator[list[tuple[Task, Reply]]]:
    """For each task in order its reply, or, when its worker died, the replies of the parts that were tried again."""
    queue = _Queue(worker, tasks, workers, split)
    try:
        while queue.fill():
            queue.settle()
            for place in queue.finished():
                yield [(task, place.replies[index]) for index, task in enumerate(place.parts)]
    finally:
        workers.abandon()


def map_ordered(worker: Worker[Task, Value], tasks: Iterable[Task], workers: Workers | None = None) -> Iterator[Value]:
    """`map`, on any workers. An error in the function is raised here; a task whose worker died is tried twice."""
    for replies in ordered_replies(worker, tasks, workers or ThisProcess()):
        yield value_of(replies[0][1])


def value_of(reply: Reply) -> Any:
    """The value of a reply; errors are raised."""
    match reply:
        case Done(value):
            return value
        case Raised(error):
            raise error
        case Crashed(message):
            raise ForestAlignError(message)
