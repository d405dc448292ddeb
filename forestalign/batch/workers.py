"""Where tasks run: in this process, or in worker processes beside it. `cluster` adds other machines.

A worker process loads what the work needs, once, then does task after task; replies are given in the order of the
tasks, with a bound on how far reading runs ahead of the oldest unfinished one. Processes are started by a thread that
lives as long as this process does: Linux ends a worker when the thread that started it ends, if the worker asked to be
ended with its parent, and the threads of a program come and go.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from multiprocessing.connection import Connection, Pipe, wait
from queue import SimpleQueue
from typing import Any, Generic, Protocol, Self, TypeVar

from forestalign.batch.worker_program import NOT_SENT, START, Crashed, Done, Message, Raised, Reply
from forestalign.errors import ForestAlignError, UsageError

Value = TypeVar("Value")


class Layout(StrEnum):
    """How a result stands in the output file."""

    JSON = "json"  # one JSON object with an "id" per line; failed jobs leave no line
    LINES = "lines"  # exactly one line per job, in order; failed jobs leave an empty line
    BLOCKS = "blocks"  # any number of lines per job; failed jobs leave none


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: its number in the input (from 1), its key (the `id` of its result) and what to work on."""

    number: int
    key: str
    payload: Any


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Value]):
    """What became of one job: a value (for output files its text, without the last newline), or an error."""

    number: int
    key: str
    value: Value | None = None
    error: str = ""

    @classmethod
    def of(cls, job: Job, value: Value) -> Outcome[Value]:
        """The value that a job gave."""
        return cls(job.number, job.key, value)

    @classmethod
    def failed(cls, job: Job, error: str | BaseException) -> Outcome[Value]:
        """A failure; an exception without a message gives its class, so that no error is ever empty."""
        if isinstance(error, BaseException):
            error = describe(error)
        return cls(job.number, job.key, None, error)


Handler = Callable[[Sequence[Job]], Iterable[Outcome[Value]]]  # one outcome per job, in order


@dataclass(frozen=True, slots=True)
class Tally:
    """How many jobs were done, failed (bad lines included), and were skipped because the output held them."""

    done: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def exit_code(self) -> int:
        """That of a command: 1 if anything failed."""
        return 1 if self.failed else 0


def describe(error: BaseException) -> str:
    """One line about an exception: our own errors explain themselves, for others the class says what happened."""
    text = " ".join(str(error).split())
    if isinstance(error, ForestAlignError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


Task = TypeVar("Task")
Result = TypeVar("Result")
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


Request = tuple[Callable[[], subprocess.Popen[bytes]], "Future[subprocess.Popen[bytes]]"]


class _Spawner:
    """One thread that starts processes for all others; a forked process begins with one of its own."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Threads do not come along into a forked process."""
        self._lock = threading.Lock()
        self._requests: SimpleQueue[Request] | None = None

    def start(self, function: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Have the thread call a function that starts a process."""
        with self._lock:
            if self._requests is None:
                self._requests = SimpleQueue()
                threading.Thread(target=_start_requested, args=(self._requests,), daemon=True, name="spawner").start()
        answer: Future[subprocess.Popen[bytes]] = Future()
        self._requests.put((function, answer))
        return answer.result()


def _start_requested(requests: SimpleQueue[Request]) -> None:
    while True:
        function, answer = requests.get()
        try:
            answer.set_result(function())
        except BaseException as error:
            answer.set_exception(error)


_SPAWNER = _Spawner()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SPAWNER.forget)


def start_process(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """`subprocess.Popen`, in the thread that lasts."""
    return _SPAWNER.start(lambda: subprocess.Popen(command, **options))


KILLED = 9  # the number of SIGKILL, which not every system has


class Workers(Protocol):
    """Takes up to `capacity` tasks at a time and gives their replies back in any order."""

    @property
    def capacity(self) -> int:
        """How many tasks can be under way."""

    def submit(self, ticket: int, worker: Worker[Any, Any], task: Any) -> None:
        """Begin a task; its reply comes with the ticket."""

    def next_reply(self) -> tuple[int, Reply]:
        """Wait for a reply; whose it is, the ticket tells."""

    def abandon(self) -> None:
        """End what still runs, so that the workers can be used again."""

    def close(self) -> None:
        """End the workers."""


class ThisProcess:
    """Runs each task here, at once."""

    capacity = 1

    def __init__(self) -> None:
        self._replies: deque[tuple[int, Reply]] = deque()

    def submit(self, ticket: int, worker: Worker[Any, Any], task: Any) -> None:
        """Run the task now."""
        try:
            self._replies.append((ticket, Done(worker.function(task))))
        except Exception as error:
            self._replies.append((ticket, Raised(error)))

    def next_reply(self) -> tuple[int, Reply]:
        """The oldest reply that was not taken."""
        return self._replies.popleft()

    def abandon(self) -> None:
        """Forget the replies."""
        self._replies.clear()

    def close(self) -> None:
        """There is nothing to end."""
        self.abandon()


class WorkerProcess:
    """One worker process and our end of its socket. A process that died is replaced at the next task."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._known: str = ""
        self.connection: Connection[Any, Any]

    def send(self, message: Message) -> None:
        """Send a task; its program goes along only when the process has not seen it last."""
        if self._process is None:
            self._start()
        try:
            self.connection.send(replace(message, program=None) if message.key == self._known else message)
        except OSError:  # it died while idle: the task has not begun, so this is no crash of the task
            self.stop()
            self._start()
            self.connection.send(message)
        self._known = message.key

    def receive(self) -> Reply:
        """The reply, waited for; a process that died gives `Crashed`."""
        try:
            reply: Reply = self.connection.recv()
        except (EOFError, OSError):
            return self._crash()
        return reply

    def _start(self) -> None:
        self.connection, theirs = Pipe()
        path = [folder for folder in sys.path if isinstance(folder, str)]
        program = START.format(path=path, descriptor=theirs.fileno(), parent=os.getpid())
        self._process = start_process(
            [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=2,  # results go through the socket; whatever else is printed is a message
            pass_fds=[theirs.fileno()],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # the processes are the threads
        )
        theirs.close()
        self._known = ""

    def _crash(self) -> Crashed:
        assert self._process is not None
        try:
            status: int | None = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            status = None
        self.stop()
        if status is None or status >= 0:
            return Crashed(f"the worker process died (exit status {status})", status)
        name = signal.Signals(-status).name
        hint = ", often a sign of too little memory" if status == -KILLED else ""
        return Crashed(f"the worker process died ({name}{hint})", status)

    def stop(self) -> None:
        """Kill the process; the next task starts another."""
        if self._process is not None:
            self.connection.close()
            self._process.kill()
            self._process.wait()
            self._process = None


class Processes:
    """A number of worker processes on this machine, started when first needed."""

    def __init__(self, count: int):
        self.capacity = count
        self._idle = [WorkerProcess() for _ in range(count)]
        self._busy: dict[Connection[Any, Any], tuple[int, WorkerProcess]] = {}

    def submit(self, ticket: int, worker: Worker[Any, Any], task: Any) -> None:
        """Send the task to an idle process."""
        process = self._idle.pop()
        process.send(worker.message(task))
        self._busy[process.connection] = (ticket, process)

    def next_reply(self) -> tuple[int, Reply]:
        """Wait for the first process that answers or dies."""
        ready = wait(list(self._busy))
        ticket, worker = self._busy.pop(next(connection for connection in self._busy if connection in ready))
        reply = worker.receive()
        self._idle.append(worker)
        return ticket, reply

    def abandon(self) -> None:
        """Kill the processes that are at work."""
        for _, worker in self._busy.values():
            worker.stop()
            self._idle.append(worker)
        self._busy.clear()

    def close(self) -> None:
        """Kill all processes."""
        self.abandon()
        for worker in self._idle:
            worker.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Tasks read ahead of the oldest unfinished one, for each that can run at a time: room for one that takes long,
# and a bound on memory.
_LOOK_AHEAD = 8


@dataclass(slots=True)
class _Turn(Generic[Task]):
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
        self._places: deque[_Turn[Task]] = deque()
        self._waiting: deque[tuple[_Turn[Task], int]] = deque()
        self._running: dict[int, tuple[_Turn[Task], int]] = {}
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
            place = _Turn([task])
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

    def take_finished(self) -> Iterator[_Turn[Task]]:
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
            for place in queue.take_finished():
                yield [(task, place.replies[index]) for index, task in enumerate(place.parts)]
    finally:
        workers.abandon()


def cut_into_chunks(items: Iterable[Task], size: int) -> Iterator[list[Task]]:
    """The items in lists of a size, the last perhaps shorter."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


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
