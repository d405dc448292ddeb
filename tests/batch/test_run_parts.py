"""The parts that a run is made of, each alone: outcomes, limits, order, replies, journals, stores, progress."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from forestalign.batch.output import Stream
from forestalign.batch.run import LoadGuarded, Progress, run_chunk
from forestalign.batch.run_journal import PairState
from forestalign.batch.worker_program import Crashed, Done, Reply
from forestalign.batch.workers import (
    Job,
    Outcome,
    StartWork,
    ThisProcess,
    Worker,
    describe,
    map_ordered,
    ordered_replies,
)
from forestalign.errors import ForestAlignError, InputError, NoParseError
from tests.builders.batch_workers import jobs_of

# ---- jobs and outcomes ----


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InputError("a.txt", 3, "expected a number"), "a.txt:3: expected a number"),
        (NoParseError("too\nlong"), "too long"),
        (ValueError("a bad\n  word"), "ValueError: a bad word"),
        (MemoryError(), "MemoryError"),
        (ForestAlignError(), "ForestAlignError"),
    ],
)
def test_an_error_is_one_line_and_never_empty(error: BaseException, told: str) -> None:
    assert describe(error) == told


# ---- how work starts, and what one bad job costs ----


def load_upper() -> Callable[[Sequence[Job]], list[str | ForestAlignError]]:
    return lambda jobs: [NoParseError("no tree") if job.payload == "bad" else job.payload.upper() for job in jobs]


def with_key(job: Job, result: str) -> str:
    return f"{job.key} {result}"


def test_results_are_shown_and_errors_of_ours_become_failures() -> None:
    handle = StartWork(load_upper, with_key)()
    found = list(handle(jobs_of(["one", "bad", "two"])))
    assert [(outcome.value, outcome.error) for outcome in found] == [
        ("p1 ONE", ""),
        (None, "no tree"),
        ("p3 TWO", ""),
    ]


def test_work_that_gives_too_few_results_is_noticed() -> None:
    handle = StartWork(lambda: lambda jobs: ["only one"], with_key)()
    with pytest.raises(ValueError, match="shorter"):
        list(handle(jobs_of(["one", "two"])))


def stumbling(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
    for job in jobs:
        if job.payload == "bad":
            raise ValueError("stumbled")
        yield Outcome.of(job, job.payload)


def test_the_jobs_around_a_bad_one_are_done() -> None:
    found = run_chunk(stumbling, jobs_of(["a", "bad", "b", "bad", "c"]))
    assert [outcome.value for outcome in found] == ["a", None, "b", None, "c"]
    assert [outcome.error for outcome in found if outcome.error] == ["ValueError: stumbled"] * 2


def test_lines_that_were_bad_already_keep_their_place() -> None:
    handle = LoadGuarded(lambda: stumbling, 0.0)()
    first, last = jobs_of(["a", "b"])
    bad: Outcome[str] = Outcome(7, "line", None, "no pair")
    assert handle([first, bad, last]) == [Outcome.of(first, "a"), bad, Outcome.of(last, "b")]


def test_a_job_that_does_not_end_is_given_up_after_its_time_limit() -> None:
    def stay(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
        while True:
            pass
        yield Outcome.of(jobs[0], "")

    (outcome,) = run_chunk(stay, jobs_of(["endless"]), time_limit=0.05)
    assert outcome.error == "took longer than 0.05 s"


# ---- order ----


class Shuffled:
    """Workers that answer in the opposite order, as far as they can."""

    def __init__(self, capacity: int, crash_on: frozenset[object] = frozenset()) -> None:
        self.capacity, self.crash_on = capacity, crash_on
        self.waiting: list[tuple[int, Reply]] = []
        self.most = self.abandoned = 0

    def submit(self, ticket: int, worker: Worker[Any, Any], task: Any) -> None:
        self.waiting.append((ticket, Crashed("died", -9) if task in self.crash_on else Done(worker.function(task))))
        self.most = max(self.most, len(self.waiting))

    def next_reply(self) -> tuple[int, Reply]:
        return self.waiting.pop()

    def abandon(self) -> None:
        self.abandoned += 1

    def close(self) -> None:
        self.abandon()


def double(number: int) -> int:
    return 2 * number


@pytest.mark.parametrize("capacity", [1, 2, 5])
def test_replies_come_in_the_order_of_their_tasks(capacity: int) -> None:
    workers = Shuffled(capacity)
    assert list(map_ordered(Worker.of(double), range(40), workers)) == [2 * k for k in range(40)]
    assert workers.most == capacity


def test_reading_does_not_run_far_ahead() -> None:
    read: list[int] = []

    def tasks() -> Iterator[int]:
        for k in range(1000):
            read.append(k)
            yield k

    replies = map_ordered(Worker.of(double), tasks(), ThisProcess())
    next(replies)
    assert len(read) <= 10


def test_a_task_whose_worker_died_is_tried_again_in_parts() -> None:
    worker: Worker[tuple[int, ...], int] = Worker(lambda: sum)
    workers = Shuffled(1, frozenset({(1, 2, 3), (2,)}))
    ((replies),) = ordered_replies(worker, [(1, 2, 3)], workers, lambda task: [(each,) for each in task])
    assert [task for task, _ in replies] == [(1,), (2,), (3,)]
    assert [type(reply) for _, reply in replies] == [Done, Crashed, Done]


def test_workers_are_left_free_when_the_reader_stops() -> None:
    workers = Shuffled(2)
    replies = map_ordered(Worker.of(double), range(10), workers)
    next(replies)
    replies.close()  # type: ignore[attr-defined]
    assert workers.abandoned == 1


# ---- what is shown ----


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    errors, now = io.StringIO(), iter(range(0, 1000, 10))
    monkeypatch.setattr("forestalign.batch.run.time", SimpleNamespace(monotonic=lambda: next(now)))
    with Progress(100, errors) as progress:
        progress.step(is_new=False)
        progress.report("line 3: no pair")
        for _ in range(4):
            progress.step()
    lines = errors.getvalue().splitlines()
    assert lines[0] == "line 3: no pair"
    assert [line.partition(" in ")[0] for line in lines[1:]] == ["3 of 100 pairs"]


# ---- what is kept ----


def test_a_stream_writes_what_has_a_line_and_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    stream = Stream("-")
    stream.write(1, PairState.DONE, "first")
    stream.write(2, PairState.FAILED, None)
    stream.write(3, PairState.FAILED, "")
    assert stream.known(1) is None
    stream.end_of_input()
    stream.close(True)
    assert capfd.readouterr().out == "first\n\n"
