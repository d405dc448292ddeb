"""Long work: many jobs, several processes, output in input order, and nothing lost when something dies."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple, Self, TextIO, TypeVar

from forestalign.batch.jobs import BadLine, Job, Layout, Outcome, Tally, Value
from forestalign.batch.limits import HARD_LIMIT_STATUS, LoadGuarded
from forestalign.batch.options import CHUNK_SIZE, NO_LIMITS, TO_STDOUT, OutputOptions, RunLimits
from forestalign.batch.ordered import ordered_replies, value_of
from forestalign.batch.output import Output, open_output, side_files
from forestalign.batch.run_journal import PairState, digest_of, settings_of
from forestalign.batch.worker import Load, Worker
from forestalign.batch.worker_program import Crashed, Reply
from forestalign.batch.workers import Processes, ThisProcess, Workers
from forestalign.errors import ForestAlignError, InputError, line_of
from forestalign.formats.lines import Unread
from forestalign.outputs import check_output, check_sides

Item = TypeVar("Item")
InputItem = Job | BadLine | Unread[Any]

SECONDS_BETWEEN_LINES = 30.0  # of progress where no terminal is
_NO_ESTIMATE = "{desc}{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}]"
MOST_DEATHS = 4  # pairs in a row whose worker dies before a run gives up


def run_jobs(
    jobs: Iterable[InputItem],
    load: Load[Sequence[Job], Iterable[Outcome[str]]],
    *,
    output: OutputOptions = TO_STDOUT,
    limits: RunLimits = NO_LIMITS,
    workers: Workers | None = None,
    total: int | None = None,
    quiet: bool = False,
    errors: TextIO | None = None,
) -> Tally:
    """Run every job and write its text to the output in input order; failures go to `errors` (stderr).

    `workers` overrides the number of processes, for a cluster. Chunks depend on the input alone, not on the number of
    processes, so that every way of running gives the same bytes.
    """
    check_output(output.path, output.inputs, force=output.force, resume=output.resume, can_resume=True)
    check_sides(output.path, side_files(output.path), output.inputs)
    counts = {"done": 0, "failed": 0, "skipped": 0}
    with Progress(total, errors or sys.stderr, quiet=quiet, chunk_size=limits.chunk_size) as progress:
        file = open_output(output.path, {**settings_of(load), **dict(output.settings)}, output.resume)
        feed = _Feed(jobs, file, progress, counts)
        is_whole = False
        try:
            with _opened(workers, limits.processes) as opened:
                for outcome in _outcomes(feed, load, opened, limits):
                    _settle(outcome, feed.places.popleft(), file, output.layout)
                    if outcome.error:
                        progress.report(f"{line_of(outcome.number, outcome.key)}: {outcome.error}")
                    counts["failed" if outcome.error else "done"] += 1
                    progress.step()
            file.copy(feed.copies)
            is_whole = feed.broken is None
        finally:
            file.close(is_whole)
    if feed.broken is not None:  # what came before it is done
        raise feed.broken
    return Tally(**counts)


class _Place(NamedTuple):
    """The place of a pair that has to be done: behind how many that are as they were."""

    copies: int
    digest: int
    is_bad: bool


class _Feed:
    """What has to be done of the input, in step with what the output holds."""

    def __init__(self, jobs: Iterable[InputItem], output: Output, progress: Progress, counts: dict[str, int]):
        self._jobs, self._output, self._progress, self._counts = jobs, output, progress, counts
        self.places: deque[_Place] = deque()
        self.copies = 0  # since the last place
        self.broken: InputError | None = None  # what ended the input too early

    def __iter__(self) -> Iterator[Job | Outcome[str]]:
        try:
            for unread in self._jobs:
                digest = digest_of(_text_of(unread))
                state = self._output.known(digest)
                if state is None:
                    item = _item(_read(unread))
                    self.places.append(_Place(self.copies, digest, isinstance(item, Outcome)))
                    self.copies = 0
                    yield item
                else:
                    self._pass(unread, state)
            self._output.end_of_input()
        except InputError as error:
            self.broken = error

    def _pass(self, unread: InputItem, state: PairState) -> None:
        """A pair that the output holds; one that failed there for good is reported again."""
        self.copies += 1
        self._progress.skip()
        if state is PairState.DONE:
            self._counts["skipped"] += 1
            return
        self._counts["failed"] += 1
        item = _item(_read(unread))
        why = item.error if isinstance(item, Outcome) else "failed again when the run was resumed; --resume tries anew"
        self._progress.report(f"{line_of(item.number, item.key)}: {why}")


def _settle(outcome: Outcome[str], place: _Place, output: Output, layout: Layout) -> None:
    output.copy(place.copies)
    if not outcome.error:
        output.write(place.digest, PairState.DONE, outcome.value or "")
    else:
        state = PairState.BAD if place.is_bad else PairState.FAILED
        output.write(place.digest, state, "" if layout is Layout.LINES else None)


def _read(unread: InputItem) -> Job | BadLine:
    return unread.read() if isinstance(unread, Unread) else unread


def _text_of(unread: InputItem) -> str:
    """What tells a pair from another one."""
    if isinstance(unread, Unread):
        return unread.text
    return repr((unread.key, unread.payload) if isinstance(unread, Job) else (unread.id, unread.message))


def outcomes(
    jobs: Iterable[Job | BadLine],
    load: Load[Sequence[Job], Iterable[Outcome[Value]]],
    *,
    limits: RunLimits = NO_LIMITS,
    workers: Workers | None = None,
) -> Iterator[Outcome[Value]]:
    """The outcome of every job in input order, while the input is still being read; bad lines become failures."""
    with _opened(workers, limits.processes if limits.processes > 1 or limits.time_limit else 0) as opened:
        yield from _outcomes(map(_item, jobs), load, opened, limits)


@contextmanager
def _opened(workers: Workers | None, processes: int) -> Iterator[Workers]:
    """The caller's workers, or our own for the time of the run.

    Even a single worker is a process of its own: a crash of compiled code costs one pair and not the run. With no
    processes the work is done here, for callers whose functions cannot be sent to another process.
    """
    if workers is not None:
        yield workers
        return
    own: Workers = Processes(processes) if processes else ThisProcess()
    try:
        yield own
    finally:
        own.close()


def _outcomes(
    items: Iterable[Job | Outcome[Value]],
    load: Load[Sequence[Job], Iterable[Outcome[Value]]],
    workers: Workers,
    limits: RunLimits,
) -> Iterator[Outcome[Value]]:
    worker = Worker(LoadGuarded(load, limits.time_limit))
    deaths = _Deaths(limits.time_limit)
    for replies in ordered_replies(worker, _chunks(items, limits.chunk_size), workers, split=_singles):
        for chunk, reply in replies:
            if isinstance(reply, Crashed):
                message = deaths.message(reply)
                done = [item if isinstance(item, Outcome) else Outcome.failed(item, message) for item in chunk]
            else:
                done = value_of(reply)
            for outcome in done:
                deaths.count(outcome, reply)
                yield outcome


class _Deaths:
    """Workers that die or lack memory at one pair after the other: nothing will come of the others either."""

    def __init__(self, time_limit: float):
        self._time_limit, self._count = time_limit, 0

    def message(self, crash: Crashed) -> str:
        if self._is_limit(crash):
            return f"took longer than {self._time_limit:g} s in compiled code; its process was ended"
        return crash.message

    def _is_limit(self, crash: Crashed) -> bool:
        return bool(self._time_limit) and crash.status == HARD_LIMIT_STATUS

    def count(self, outcome: Outcome[Any], reply: Reply) -> None:
        is_death = isinstance(reply, Crashed) and not self._is_limit(reply)
        if is_death or outcome.error.startswith("MemoryError"):
            self._count += 1
        elif not outcome.error:
            self._count = 0
        if self._count >= MOST_DEATHS:
            raise ForestAlignError(
                f"{self._count} pairs in a row failed because memory ran out or a process crashed, the last with: "
                f"{outcome.error}; giving up here (fewer --jobs need less memory; --resume continues)"
            )


def _item(job: Job | BadLine) -> Job | Outcome[Any]:
    return job if isinstance(job, Job) else Outcome(job.number, job.id, error=job.message)


def _chunks(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _singles(chunk: Sequence[Item]) -> Sequence[Sequence[Item]]:
    return [[item] for item in chunk]


# ---- progress ----


class Progress:
    """A line with rate and, from the third chunk on, time left; reports of failures go past it.

    Without a terminal there is a line now and then, and a summary at the end if there was one. When told to be quiet,
    it only passes reports on. Models are loaded in the time of the first chunk, so nothing is foretold from it.
    """

    def __init__(self, total: int | None, errors: TextIO, *, quiet: bool = False, chunk_size: int = CHUNK_SIZE):
        self._errors, self._total, self._quiet = errors, total, quiet
        self._least = 2 * chunk_size  # done before anything is foretold
        self._done = self._skipped = 0
        self._begin = self._first = self._told = time.monotonic()
        self._has_told = False
        self._bar: Any = None
        if not quiet and errors.isatty():
            from tqdm import tqdm  # not needed elsewhere, and it takes a moment to import

            settings = {"unit": " pairs", "dynamic_ncols": True, "smoothing": 0.05, "bar_format": _NO_ESTIMATE}
            self._bar = tqdm(total=total, file=errors, **settings)

    def step(self) -> None:
        """One more job is done."""
        self._done += 1
        if self._done == self._least:
            self._first = self._told = time.monotonic()
        elif self._done == self._least + 1 and self._bar is not None:
            self._bar.bar_format = None
        if self._bar is not None:
            self._bar.update()
        elif not self._quiet and self._done > self._least and time.monotonic() - self._told >= SECONDS_BETWEEN_LINES:
            self._tell()

    def _tell(self) -> None:
        self._told, self._has_told = time.monotonic(), True
        rate = (self._done - self._least) / max(self._told - self._first, 1e-9)
        whole = self._done + self._skipped
        left = "" if self._total is None else f", {_duration((self._total - whole) / rate)} left"
        of = "" if self._total is None else f" of {self._total:,}"
        print(f"{whole:,}{of} pairs, {rate:.1f} a second{left}", file=self._errors, flush=True)

    def _sum_up(self) -> None:
        seconds = time.monotonic() - self._begin
        rate = self._done / max(seconds, 1e-9)
        print(f"{self._done:,} pairs in {_duration(seconds)}, {rate:.1f} a second", file=self._errors, flush=True)

    def skip(self) -> None:
        """A job that was done before: it counts as progress, and not for the rate."""
        self._skipped += 1
        if self._bar is not None:
            self._bar.initial += 1
            self._bar.update()

    def report(self, message: str) -> None:
        """Print a line above the progress line."""
        if self._bar is None:
            print(message, file=self._errors, flush=True)
        else:
            self._bar.write(message, file=self._errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._has_told:
            self._sum_up()


def _duration(seconds: float) -> str:
    """A time in the largest units that say something.

    >>> _duration(42.4), _duration(100), _duration(7300)
    ('42 s', '1 min 40 s', '2 h 2 min')
    """
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
