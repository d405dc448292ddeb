"""What goes into a batch and what comes out: jobs, bad lines, outcomes, the tally."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from forestalign.errors import ForestAlignError

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


class BadLine(Protocol):
    """An input line that could not be read; `forestalign.formats.BadRecord` is one."""

    @property
    def number(self) -> int:
        """Its line, from 1."""

    @property
    def id(self) -> str:
        """Its id, or its line as text."""

    @property
    def message(self) -> str:
        """What is wrong with it."""


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
