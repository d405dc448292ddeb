"""The program of a worker process: receives tasks on a socket, runs them, sends the replies back.

It is started as `python -P -c` and not by `multiprocessing`, which would import the user's main script again and so
demand an `if __name__ == "__main__"` from everybody who aligns in parallel.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from forestalign.batch.run_journal import RunFacts
from forestalign.errors import ForestAlignError, UsageError
from forestalign.machine import is_out_of_memory

# What `python -P -c` runs. Modules come from where the parent takes them: without -P, Python puts the current folder
# first, and a `numpy.py` that lies beside the data would be run. Before anything else is imported, Linux is asked to
# kill the process when its parent dies (PR_SET_PDEATHSIG, SIGKILL): compiled code may keep the interpreter from looking
# itself.
START = """
import sys
sys.path[:] = {path!r}
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)
from forestalign.batch.worker_program import main
main({descriptor}, {parent})
"""
NOT_SENT = (
    "a parser, model or scorer of your own cannot go to worker processes; "
    "its class has to stand in a module that can be imported, and not in the script that is run"
)
_LOOK_SECONDS = 0.5
_KEPT_PROGRAMS = 2  # loaded programs a worker keeps: the one at work and the one before


@dataclass(frozen=True, slots=True)
class Done:
    """The task's value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The task, or loading what it needs, raised an error."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process that ran the task died."""

    message: str
    status: int | None = None  # its exit status; negative: the signal


Reply = Done | Raised | Crashed


@dataclass(frozen=True, slots=True)
class Message:
    """A task for the program `key`; `program` is its pickled start function when the worker has not seen it yet.

    `facts` are those of the run, where the process may run on another machine.
    """

    key: str
    program: bytes | None
    task: bytes
    facts: RunFacts | None = None


class Programs:
    """The functions this process has started, by key: models are loaded once per process."""

    def __init__(self) -> None:
        self._started: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()
        self._agreed: RunFacts | None = None

    def run(self, message: Message) -> Reply:
        """Run a task; whatever it raises is the reply."""
        try:
            if message.facts is not None and message.facts != self._agreed:
                message.facts.refuse_differences()
                self._agreed = message.facts
            return Done(self._function(message)(pickle.loads(message.task)))
        except Exception as error:
            return Raised(MemoryError(str(error)) if is_out_of_memory(error) else portable(error))

    def _function(self, message: Message) -> Callable[[Any], Any]:
        if message.key not in self._started:
            if message.program is None:
                raise RuntimeError("a task came before its program")
            self._started[message.key] = _load_program(message.program)()
            while len(self._started) > _KEPT_PROGRAMS:
                self._started.popitem(last=False)
        self._started.move_to_end(message.key)
        return self._started[message.key]


def _load_program(program: bytes) -> Callable[[], Callable[[Any], Any]]:
    """What a program was pickled from; classes and functions are found by the names of their modules."""
    try:
        start: Callable[[], Callable[[Any], Any]] = pickle.loads(program)
    except (AttributeError, ImportError) as error:
        raise UsageError(f"{NOT_SENT} ({error})") from error
    return start


def portable(error: Exception) -> Exception:
    """The error itself where it survives pickling, else one of the same kind with its message."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        text = str(error)
    else:
        return error
    if isinstance(error, ForestAlignError):
        return ForestAlignError(text)
    return RuntimeError("".join(traceback.format_exception(error)))


def main(descriptor: int, parent: int) -> None:
    """Serve tasks until the other end closes. The keyboard's interrupt is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    connection: Connection[Any, Any] = Connection(descriptor)
    programs = Programs()
    try:
        while True:
            connection.send(_picklable(programs.run(connection.recv())))
    except (EOFError, ConnectionError):
        return


def end_with_parent(parent: int) -> None:
    """End when the parent is gone, also where the kernel does not see to it (`START` asks Linux to)."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _picklable(reply: Reply) -> Reply:
    try:
        pickle.dumps(reply)
    except Exception as error:
        return Raised(RuntimeError(f"the result cannot be sent back: {error}"))
    return reply
