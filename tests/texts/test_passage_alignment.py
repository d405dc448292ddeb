"""Chunks shared with other processes: results in order, whoever was faster; errors; and an end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pytest

from forestalign.errors import ForestAlignError
from forestalign.texts import comparison as passage_alignment
from forestalign.texts.comparison import CHUNK, align_passages
from tests.builders.work import wait_until

Ready = Callable[["Aligns"], bool]
PAIRS = [(str(n), str(n)) for n in range(5 * CHUNK - 1)]


class Aligns:
    """An aligner that notes who did what. Before a chunk, this process waits for `here`, the others for `there`."""

    def __init__(self, here: Ready = lambda aligner: True, there: Ready = lambda aligner: True):
        self.here, self.there, self.processes, self.has_ended = here, there, 0, False
        self.places: dict[str, str] = {}

    def prepare(self, rows: Sequence[tuple[str, str, str, None]]) -> list[str]:
        wait_until(lambda: self.here(self))
        return [row[1] for row in rows]

    def align_prepared(self, name: str) -> str:
        self.places[name] = "here"
        return name

    def align_elsewhere(self, pairs: Iterable[tuple[str, str]], jobs: int, batch_size: int) -> Iterator[str]:
        self.processes = jobs
        try:
            rows = iter(pairs)
            while chunk := list(islice(rows, batch_size)):
                wait_until(lambda: self.there(self))
                for name, _ in chunk:
                    self.places[name] = "there"
                    yield name
        finally:
            self.has_ended = True


def others_have_begun(aligner: Aligns) -> bool:
    return aligner.processes > 0


def others_have_aligned(aligner: Aligns) -> bool:
    return "there" in aligner.places.values()


def this_has_aligned(aligner: Aligns) -> bool:
    return "here" in aligner.places.values()


def others_have_done_the_rest(aligner: Aligns) -> bool:
    """All but one chunk, with which this process is busy."""
    return len(aligner.places) >= len(PAIRS) - CHUNK


@pytest.mark.parametrize(
    "ready",
    [(others_have_begun,), (others_have_begun, this_has_aligned), (others_have_aligned,)],
    ids=["nobody waits", "this process is first", "the others are first"],
)
def test_results_come_in_order_whoever_is_faster(ready: tuple[Ready, ...]) -> None:
    aligner: Any = Aligns(*ready)
    assert list(align_passages(PAIRS, aligner, jobs=3)) == [source for source, _ in PAIRS]
    assert set(aligner.places) == {source for source, _ in PAIRS}
    assert aligner.processes == 2
    assert aligner.has_ended


def test_who_is_free_takes_the_next_chunk() -> None:
    slow: Any = Aligns(others_have_done_the_rest)
    list(align_passages(PAIRS, slow, jobs=2))
    assert list(slow.places.values()).count("here") <= CHUNK
    alone: Any = Aligns()
    list(align_passages(PAIRS, alone, jobs=1))
    assert set(alone.places.values()) == {"here"}


@pytest.mark.parametrize("taken", [0, 1, CHUNK + 1])
def test_nobody_works_on_when_nobody_reads(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    is_waited_for = threading.Event()

    class Helper(threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            is_waited_for.set()
            super().join(timeout)

    class Stops(Aligns):
        """The other processes do one chunk, and go on when this one waits for them."""

        def align_elsewhere(self, pairs: Iterable[tuple[str, str]], jobs: int, batch_size: int) -> Iterator[str]:
            for number, name in enumerate(super().align_elsewhere(pairs, jobs, batch_size), start=1):
                yield name
                if number == batch_size:
                    is_waited_for.wait()

    monkeypatch.setattr(passage_alignment, "Thread", Helper)
    before = set(threading.enumerate())
    aligner: Any = Stops()
    many = [(str(n), str(n)) for n in range(100 * CHUNK)]
    begun = align_passages(many, aligner, jobs=2)
    list(islice(begun, taken))
    begun.close()  # type: ignore[attr-defined]
    assert set(threading.enumerate()) <= before
    assert len(aligner.places) < len(many)


def test_what_goes_wrong_elsewhere_is_raised_here() -> None:
    has_begun = threading.Event()

    class Fails(Aligns):
        def prepare(self, rows: Sequence[tuple[str, str, str, None]]) -> list[str]:
            has_begun.wait()  # this process cannot do everything before the other one has begun
            return super().prepare(rows)

        def align_elsewhere(self, pairs: Iterable[tuple[str, str]], jobs: int, batch_size: int) -> Iterator[str]:
            next(iter(pairs))
            has_begun.set()
            raise ForestAlignError("no process could be started")
            yield ""

    aligner: Any = Fails()
    with pytest.raises(ForestAlignError, match="no process could be started"):
        list(align_passages(PAIRS, aligner, jobs=2))
