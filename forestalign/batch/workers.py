"""Where tasks run: in this process, or in worker processes beside it. `cluster` adds other machines."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from dataclasses import replace
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Protocol, Self

from forestalign.batch.spawning import start_process
from forestalign.batch.worker import Worker
from forestalign.batch.worker_program import START, Crashed, Done, Message, Raised, Reply

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
