"""More than one machine: the same chunks on a Dask cluster that somebody has started.

A Dask worker runs tasks in threads, where a time limit cannot interrupt anything and a crash takes all threads along.
So it passes them on to worker processes of ours, one for each thread, which are the same as on one machine: models
are loaded once per process, limits and crashes are treated alike, and the results are the same bytes.
A task whose Dask worker dies is given to another one by the scheduler.

Before the first pair every Dask worker has to have the same version, grammar and files as the run; one that joins later
is asked before its first pair. Lost workers are reported, and so are those whose kind of processor is another: the last
digits of scores may depend on it.
"""

from __future__ import annotations

import importlib
import logging
import re
import secrets
import sys
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Self

from forestalign.batch.run_journal import OtherRunError, RunFacts
from forestalign.batch.worker_program import Crashed, Message, Raised, Reply
from forestalign.batch.workers import Worker, WorkerProcess
from forestalign.errors import ForestAlignError, InputError, MissingExtraError, UsageError, counted
from forestalign.machine import processor_kind

_CONNECT_SECONDS = 5
_WORKER_SECONDS = 5
_CLOSE_SECONDS = 2
_IDLE_SECONDS = 60.0  # a process without work for so long belongs to a run that was killed
_LOST = "the cluster's scheduler has gone; --resume continues this run"
_REFRESH_SECONDS = 2.0  # how often workers are asked for: machines may join and leave
_LOST_SECONDS = 8.0  # a worker that has been gone for so long is reported
_GIVE_UP_SECONDS = 60.0  # a run ends after so long without any worker
_TASKS_PER_THREAD = 2  # one at work, one on its way
_POOL = "forestalign_processes"  # the attribute of a Dask worker that holds its idle worker processes


class Cluster:
    """The workers behind a scheduler's address. `forestalign.batch.Workers` says what they can do."""

    def __init__(self, address: str):
        _refuse_address(address)
        self._distributed = _import_distributed()
        _silence_distributed()
        try:
            self._client = self._distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {address!r}: {error}") from None
        self._address, self._run = address, secrets.token_hex(8)
        self._futures: dict[int, Any] = {}
        self._finished: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self._capacity, self._asked = 0, float("-inf")
        self._seen: dict[str, float] = {}  # when each worker was there last
        self._known: set[str] = set()  # workers whose processors were asked for
        self._last_worker = time.monotonic()  # when any was there
        self._agreed: set[RunFacts | None] = set()
        try:
            self._wait_for_workers()
            self._refuse_versions()
        except BaseException:
            self._client.close()
            raise

    def _wait_for_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError:
            raise UsageError(
                f"the Dask scheduler at {self._address} has no workers; start some with: dask worker {self._address}"
            ) from None

    @property
    def capacity(self) -> int:
        """Tasks that the threads of the cluster can take at a time."""
        self._look_at_workers()
        return self._capacity

    def _look_at_workers(self) -> None:
        """Count threads, and tell of workers that have been gone for some time."""
        now = time.monotonic()
        if now - self._asked <= _REFRESH_SECONDS:
            return
        with _losing_scheduler():
            threads: dict[str, int] = self._client.nthreads()
        self._capacity, self._asked = _TASKS_PER_THREAD * max(sum(threads.values()), 1), now
        lost = [worker for worker, seen in self._seen.items() if worker not in threads and now - seen > _LOST_SECONDS]
        for worker in sorted(lost):
            del self._seen[worker]
            _say(f"the cluster's worker {worker} is lost; {counted(len(threads), 'worker')} left")
        self._tell_unlike_processors([worker for worker in threads if worker not in self._known])
        self._seen |= dict.fromkeys(threads, now)
        if threads:
            self._last_worker = now
        elif now - self._last_worker > _GIVE_UP_SECONDS:
            raise ForestAlignError("the cluster has lost all its workers; --resume continues this run")

    def _refuse_versions(self) -> None:
        """Asked in a way that any version understands."""
        with _losing_scheduler():
            found = self._client.run(version, "forestalign", on_error="return")
        own = version("forestalign")
        for worker, other in sorted(found.items()):
            if other != own:
                told = f"has forestalign {other}" if isinstance(other, str) else "has no forestalign"
                raise UsageError(f"the cluster's worker {worker} {told}; this is version {own}")

    def _tell_unlike_processors(self, workers: Sequence[str]) -> None:
        """Say which workers have another kind of processor than this one."""
        if not workers:
            return
        self._known.update(workers)
        with _losing_scheduler():
            found = self._client.run(processor_kind, workers=list(workers), on_error="ignore")
        for worker, kind in sorted(found.items()):
            if kind != _own_processor():
                _say(f"the cluster's worker {worker} has another kind of processor: last digits of scores may differ")

    def _agree(self, facts: RunFacts) -> None:
        """Every worker has the run's grammar and files, before anybody is given a pair."""
        message = replace(Worker(_nothing_to_do).message(None), facts=facts)
        with _losing_scheduler():
            asked = {
                worker: self._client.submit(run_task, self._run, message, workers=[worker], pure=False)
                for worker in sorted(self._client.nthreads())
            }
        for worker, future in asked.items():
            while not future.done() and worker in self._client.nthreads():
                with suppress(Exception):  # files may be large, and what else is wrong the reply tells
                    future.result(timeout=_REFRESH_SECONDS)
            reply = self._reply(future) if future.done() else None
            if isinstance(reply, Raised):
                raise reply.error

    def submit(self, ticket: int, worker: Worker[Any, Any], task: Any) -> None:
        """Send a task to the scheduler."""
        facts = RunFacts.of(worker.load, task)
        if facts not in self._agreed:
            self._agree(facts)
            self._agreed.add(facts)
        message = replace(worker.message(task), facts=facts)
        with _losing_scheduler():
            future = self._client.submit(run_task, self._run, message, pure=False)
        self._futures[ticket] = future
        future.add_done_callback(lambda done: self._finished.put((ticket, done)))

    def next_reply(self) -> tuple[int, Reply]:
        """Wait for the next task that ends."""
        while True:
            self._look_at_workers()
            try:
                ticket, future = self._finished.get(timeout=_REFRESH_SECONDS)
            except Empty:
                continue
            if self._futures.get(ticket) is future:  # else it was abandoned
                del self._futures[ticket]
                return ticket, self._reply(future)

    def _reply(self, future: Any) -> Reply:
        """What a task gave. It lies on its worker, and where that is lost, the task is done again elsewhere."""
        while True:
            try:
                return _explain_missing_file(future.result(timeout=_REFRESH_SECONDS))
            except TimeoutError:
                self._look_at_workers()
            except self._distributed.scheduler.KilledWorker:
                return Crashed("the machines that tried it died")
            except (OSError, CancelledError):  # of the connection: errors of tasks come as replies
                return Raised(ForestAlignError(_LOST))
            except Exception as error:
                return Raised(ForestAlignError(_LOST) if future.cancelled() else error)

    def abandon(self) -> None:
        """Cancel what still runs."""
        futures = list(self._futures.values())
        self._futures.clear()
        with suppress(Exception):  # a scheduler that has gone has nothing to cancel
            self._client.cancel(futures)

    def close(self) -> None:
        """End the run's processes on all machines, and the connection."""
        self.abandon()
        with suppress(Exception):  # and no workers to be told
            if self._client.scheduler is not None and self._client.status == "running":
                self._client.run(end_run, self._run, on_error="ignore")
        with suppress(Exception):
            self._client.close(timeout=_CLOSE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _losing_scheduler() -> Iterator[None]:
    """The connection may break in any call to Dask."""
    try:
        yield
    except (OSError, TimeoutError, CancelledError):
        raise ForestAlignError(_LOST) from None


def _silence_distributed() -> None:
    """We report what goes wrong, in one line. Dask gives its loggers levels of their own when it is imported."""
    for name in ("distributed", *sorted(logging.root.manager.loggerDict)):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _explain_missing_file(reply: Reply) -> Reply:
    """A file that only the other machine lacks: say what is missing there."""
    if isinstance(reply, Raised) and isinstance(reply.error, InputError) and Path(reply.error.path).exists():
        message = f"{reply.error} (on a machine of the cluster: files that settings name have to lie on a file system "
        return Raised(ForestAlignError(message + "which all machines share)"))
    return reply


def run_task(run: str, message: Message) -> Reply:
    """On a Dask worker: run a task in an idle worker process of this run, or in a new one."""
    worker = _import_distributed().get_worker()
    pool = _pool(worker)
    process = pool.take(run)
    try:
        process.send(message)
        reply = process.receive()
    except BaseException:
        process.stop()
        raise
    finally:
        pool.give_back(run, process)
    if isinstance(reply, Raised) and isinstance(reply.error, OtherRunError):
        return Raised(UsageError(f"the cluster's worker {worker.address} cannot take part: {reply.error}"))
    return reply


def _nothing_to_do() -> Callable[[Any], None]:
    """A program whose tasks only find out whether a process can take part."""
    return _nothing


def _nothing(task: Any) -> None:
    return None


def _say(message: str) -> None:
    print(f"forestalign: {message}", file=sys.stderr, flush=True)


def end_run(run: str, dask_worker: Any) -> None:
    """On a Dask worker: end the processes of a run. Dask fills in the last argument by its name."""
    _pool(dask_worker).end(run)


class _Pool:
    """The worker processes of a Dask worker, by run. Those of a run whose end nobody told are ended when idle."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[tuple[float, WorkerProcess]]] = {}
        self._ended: set[str] = set()
        threading.Thread(target=self._watch, daemon=True).start()

    def take(self, run: str) -> WorkerProcess:
        with self._lock:
            idle = self._idle.get(run)
            return idle.pop()[1] if idle else WorkerProcess()

    def give_back(self, run: str, process: WorkerProcess) -> None:
        with self._lock:
            if run not in self._ended:
                self._idle.setdefault(run, []).append((time.monotonic(), process))
                return
        process.stop()

    def end(self, run: str) -> None:
        with self._lock:
            self._ended.add(run)
            processes = self._idle.pop(run, [])
        for _, process in processes:
            process.stop()

    def _watch(self) -> None:
        while True:
            time.sleep(_REFRESH_SECONDS)
            oldest = time.monotonic() - _IDLE_SECONDS
            with self._lock:
                stale = [each for idle in self._idle.values() for each in idle if each[0] < oldest]
                self._idle = {run: [each for each in idle if each[0] >= oldest] for run, idle in self._idle.items()}
            for _, process in stale:
                process.stop()


_making_pool = threading.Lock()


def _pool(worker: Any) -> _Pool:
    with _making_pool:
        pool: _Pool = worker.__dict__.get(_POOL) or _Pool()
        worker.__dict__[_POOL] = pool
    return pool


_own_processor = processor_kind  # a name of its own, as workers are asked for theirs by the name of the function


def _refuse_address(address: str) -> None:
    """Dask would look for a host of any name; what is not an address is refused at once."""
    if not re.fullmatch(r"(?:\w+://)?[^/\s]+:\d+", address):
        raise UsageError(f"--cluster is {address!r}; expected the address of a scheduler, as tcp://10.0.0.1:8786")


def _import_distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise MissingExtraError("a cluster", "cluster") from None
