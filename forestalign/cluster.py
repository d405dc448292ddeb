"""More than one machine: the same chunks on a Dask cluster that somebody has started.

A Dask worker runs tasks in threads, where a time limit cannot interrupt anything and a crash takes all threads along.
So it passes them on to worker processes of ours, one for each thread, which are the same as on one machine: models
are loaded once a process, limits and crashes are treated alike, and the results are the same bytes.
A task whose Dask worker dies is given to another one by the scheduler.
"""

from __future__ import annotations

import importlib
import time
from queue import SimpleQueue
from typing import Any, Self

from forestalign.batch.worker import Crashed, Message, Raised, Reply
from forestalign.batch.workers import Program, WorkerProcess
from forestalign.errors import ForestAlignError, MissingExtraError, UsageError

_CONNECT_SECONDS = 15
_REFRESH_SECONDS = 5.0  # how often the number of threads is asked for: machines may join and leave
_TASKS_PER_THREAD = 2  # one at work, one on its way
_POOL = "forestalign_processes"  # the attribute of a Dask worker that holds its idle worker processes


class Cluster:
    """The workers behind a scheduler's address. `forestalign.batch.Workers` says what they can do."""

    def __init__(self, address: str):
        self._distributed = _import_distributed()
        try:
            self._client = self._distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {address!r}: {error}") from None
        self._futures: dict[int, Any] = {}
        self._finished: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self._capacity, self._asked = 0, float("-inf")

    @property
    def capacity(self) -> int:
        if time.monotonic() - self._asked > _REFRESH_SECONDS:
            threads = sum(self._client.nthreads().values())
            self._capacity, self._asked = _TASKS_PER_THREAD * max(threads, 1), time.monotonic()
        return self._capacity

    def submit(self, ticket: int, program: Program[Any, Any], task: Any) -> None:
        future = self._client.submit(run_here, program.message(task), pure=False)
        self._futures[ticket] = future
        future.add_done_callback(lambda done: self._finished.put((ticket, done)))

    def next_reply(self) -> tuple[int, Reply]:
        while True:
            ticket, future = self._finished.get()
            if self._futures.get(ticket) is future:  # else it was abandoned
                del self._futures[ticket]
                return ticket, self._reply(future)

    def _reply(self, future: Any) -> Reply:
        if future.status == "finished":
            reply: Reply = future.result()
            return reply
        if future.cancelled():
            return Raised(ForestAlignError("the cluster's scheduler has gone; --resume continues this run"))
        error = future.exception()
        if isinstance(error, self._distributed.scheduler.KilledWorker):
            return Crashed("the machines that tried it died")
        return Raised(error if isinstance(error, Exception) else RuntimeError(str(error)))

    def abandon(self) -> None:
        futures = list(self._futures.values())
        self._futures.clear()
        self._client.cancel(futures)

    def close(self) -> None:
        self.abandon()
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_here(message: Message) -> Reply:
    """On a Dask worker: run a task in an idle worker process, or in a new one."""
    worker = _import_distributed().get_worker()
    idle: list[WorkerProcess] = worker.__dict__.setdefault(_POOL, [])
    try:
        process = idle.pop()
    except IndexError:
        process = WorkerProcess()
    try:
        process.send(message)
        reply = process.receive()
    except BaseException:
        process.stop()
        raise
    idle.append(process)
    return reply


def _import_distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise MissingExtraError("a cluster", "cluster") from None
