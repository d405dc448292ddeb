"""Running a command in this process, and what it gave back."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import NamedTuple

import pytest

from forestalign import Alignment
from forestalign.cli import main
from forestalign.formats.codec import from_json


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def records(self) -> list[Alignment]:
        """The results that `align --json` printed."""
        return [from_json(line) for line in self.out.splitlines()]


Run = Callable[..., Answer]


def runner(capfd: pytest.CaptureFixture[str]) -> Run:
    """A function that runs a command; what was printed before does not count."""

    def call(*arguments: str) -> Answer:
        capfd.readouterr()
        try:
            code = main(arguments)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return Answer(code, *capfd.readouterr())

    return call


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True
