"""A progress line with rate and time left, on a terminal only; reports of failures go past it."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self, TextIO


class Progress:
    """Counts steps. Without a terminal, or when told to be quiet, it only passes reports on."""

    def __init__(self, total: int | None, errors: TextIO, *, quiet: bool = False):
        self._errors = errors
        self._bar: Any = None
        if not quiet and errors.isatty():
            from tqdm import tqdm  # not needed elsewhere, and it takes a moment to import

            self._bar = tqdm(total=total, file=errors, unit=" pairs", dynamic_ncols=True, smoothing=0.05)

    def step(self) -> None:
        """One more job is done."""
        if self._bar is not None:
            self._bar.update()

    def skip(self) -> None:
        """A job that was done before: it counts as progress, and not for the rate."""
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
