"""Where tasks run: in this process, or in worker processes beside it. `forestalign.cluster` adds other machines."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Generic, Protocol, Self, TypeVar

from forestalign.batch.worker import Crashed, Done, Message, Raised, Reply

Task = TypeVar("Task")
Value = TypeVar("Value")


class Program(Generic[Task, Value]):
    """What workers run: `start()` is called once a process and returns the function for the tasks."""

    def __init__(self, start: Callable[[], Callable[[Task], Value]]):
        self.start = start

    @cached_property
    def function(self) -> Callable[[Task], Value]:
        """The function, started in this process."""
        return self.start()

    @cached_property
    def pickled(self) -> bytes:
        return pickle.dumps(self.start)

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(self.pickled).hexdigest()

    def message(self, task: Task) -> Message:
        return Message(self.key, self.pickled, pickle.dumps(task))


class Workers(Protocol):
    """Takes up to `capacity` tasks at a time and gives their replies back in any order."""

    @property
    def capacity(self) -> int: ...
    def submit(self, ticket: int, program: Program[Any, Any], task: Any) -> None: ...
    def next_reply(self) -> tuple[int, Reply]: ...
    def abandon(self) -> None: ...  # end what still runs, so that the workers can be used again
    def close(self) -> None: ...


class ThisProcess:
    """Runs each task here, at once."""

    capacity = 1

    def __init__(self) -> None:
        self._replies: deque[tuple[int, Reply]] = deque()

    def submit(self, ticket: int, program: Program[Any, Any], task: Any) -> None:
        try:
            self._replies.append((ticket, Done(program.function(task))))
        except Exception as error:
            self._replies.append((ticket, Raised(error)))

    def next_reply(self) -> tuple[int, Reply]:
        return self._replies.popleft()

    def abandon(self) -> None:
        self._replies.clear()

    def close(self) -> None:
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
            return Crashed(f"the worker process died ({self._cause_of_death()})")
        return reply

    def _start(self) -> None:
        self.connection, theirs = Pipe()
        program = f"from forestalign.batch.worker import main; main({theirs.fileno()})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=2,  # results go through the socket; whatever else is printed is a message
            pass_fds=[theirs.fileno()],
            env={"OPENBLAS_NUM_THREADS": "1", **os.environ},  # the processes are the threads
        )
        theirs.close()
        self._known = ""
        self.connection.send(sys.path)

    def _cause_of_death(self) -> str:
        assert self._process is not None
        try:
            status = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            status = None
        self.stop()
        if status is None or status >= 0:
            return f"exit status {status}; it ends itself when compiled code runs far past the time limit"
        name = signal.Signals(-status).name
        return f"{name}, often a sign of too little memory" if status == -signal.SIGKILL else name

    def stop(self) -> None:
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

    def submit(self, ticket: int, program: Program[Any, Any], task: Any) -> None:
        worker = self._idle.pop()
        worker.send(program.message(task))
        self._busy[worker.connection] = (ticket, worker)

    def next_reply(self) -> tuple[int, Reply]:
        ready = wait(list(self._busy))
        ticket, worker = self._busy.pop(next(connection for connection in self._busy if connection in ready))
        reply = worker.receive()
        self._idle.append(worker)
        return ticket, reply

    def abandon(self) -> None:
        for _, worker in self._busy.values():
            worker.stop()
            self._idle.append(worker)
        self._busy.clear()

    def close(self) -> None:
        self.abandon()
        for worker in self._idle:
            worker.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
