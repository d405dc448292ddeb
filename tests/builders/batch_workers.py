"""Workers for the tests of batches, in a module that worker processes import quickly."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from forestalign.batch.run import OutputOptions, RunLimits, run_jobs
from forestalign.batch.workers import Handler, Job, Outcome
from forestalign.errors import InputError

# lines longer than a page, so that a kill can fall into the middle of one
JOBS = [Job(number, f"p{number}", "word" * 2000) for number in range(1, 401)]


@dataclass(frozen=True, slots=True)
class StartUpper:
    """Upper-cases payloads; some words make trouble, in the ways that real work does."""

    flag: str = ""  # a file: trouble only while it does not exist; or a folder for the numbers of processes

    def __call__(self) -> Handler[str]:
        return self._handle

    def _handle(self, jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
        for job in jobs:
            match job.payload:
                case "raise":
                    raise ValueError("a bad word")
                case "late":  # its time is over at once
                    signal.setitimer(signal.ITIMER_REAL, 0.01)
                    while True:
                        pass
                case "late in compiled code":
                    with open(os.devnull, "w") as nowhere:
                        faulthandler.dump_traceback_later(0.01, exit=True, file=nowhere)
                        _loop_in_compiled_code()
                case "compiled loop":
                    Path(self.flag, str(os.getpid())).touch()
                    _loop_in_compiled_code()
                case "memory":
                    raise MemoryError
                case "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "die once":
                    if not os.path.exists(self.flag):
                        Path(self.flag).touch()
                        os.kill(os.getpid(), signal.SIGKILL)
            yield Outcome.of(job, json.dumps({"id": job.key, "text": job.payload.upper()}))


def _loop_in_compiled_code() -> None:
    sum(repeat(1, 10**12))  # one call into C, which no exception interrupts


@dataclass(frozen=True, slots=True)
class StartClock:
    """Says of each job whether the clock of the time limit ran while the worker loaded, and whether it runs now."""

    def __call__(self) -> Handler[str]:
        while_loading = _clock_runs()

        def handle(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
            for job in jobs:
                yield Outcome.of(job, json.dumps({"id": job.key, "text": [while_loading, _clock_runs()]}))

        return handle


def _clock_runs() -> bool:
    return signal.getitimer(signal.ITIMER_REAL)[0] > 0


@dataclass(frozen=True, slots=True)
class StartBroken:
    """A worker whose models cannot be loaded."""

    def __call__(self) -> Handler[str]:
        raise InputError("model.bin", 3, "expected a number")


def square(number: int) -> int:
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number * number


def start_slowly() -> Handler[str]:
    return handle_slowly


def handle_slowly(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
    for job in jobs:
        time.sleep(0.001)
        yield Outcome.of(job, json.dumps({"id": job.key, "text": job.payload}))


@dataclass(frozen=True, slots=True)
class StartPausing:
    """A worker that does twelve jobs and then, while a file exists, waits for its end."""

    flag: str

    def __call__(self) -> Handler[str]:
        left = iter(range(12)) if os.path.exists(self.flag) else repeat(0)

        def handle(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
            for job in jobs:
                if next(left, None) is None:
                    signal.pause()
                yield from handle_slowly([job])

        return handle


def run_until_killed(output: str, flag: str, processes: int) -> None:
    """A run that is alive when it is killed, and has got further."""
    run_jobs(
        JOBS,
        StartPausing(flag),
        output=OutputOptions(output, resume=True),
        limits=RunLimits(processes=processes, chunk_size=4),
    )


def jobs_of(words: Sequence[str]) -> list[Job]:
    return [Job(number, f"p{number}", word) for number, word in enumerate(words, start=1)]


@dataclass(frozen=True, slots=True)
class Flaky:
    """Fails at some words as long as `fails` says so."""

    fails: bool

    def __call__(self) -> Handler[str]:
        def handle(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
            for job in jobs:
                if job.payload == "flaky" and self.fails:
                    yield Outcome.failed(job, "not now")
                else:
                    yield Outcome.of(job, f"{job.number} {job.payload}\nsecond" if job.payload == "b" else job.payload)

        return handle


def process_id(task: object) -> int:
    """The process that does a task."""
    return os.getpid()
