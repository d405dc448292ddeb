"""What can go wrong that a user can fix, one class each. Messages name the place, the value and what was expected."""

from __future__ import annotations

from pathlib import Path


class ForestAlignError(Exception):
    """Root of every error that forestalign raises on purpose."""


class UsageError(ForestAlignError):
    """A setting, an option or an argument has a value that cannot work."""


class InputError(ForestAlignError):
    """A file or a line does not hold what its format asks for."""

    def __init__(self, path: str | Path, line: int | None, message: str):
        self.path, self.line, self.message = str(path), line, message
        super().__init__(f"{self.path}:{line}: {message}" if line is not None else f"{self.path}: {message}")


class GrammarError(InputError):
    """A file of grammar/ is missing or malformed."""


class AnnotationError(InputError):
    """An alignment or annotation contradicts its sentences or trees."""


class NoParseError(ForestAlignError):
    """A sentence cannot be parsed: empty, too long, or its trees do not fit its words."""


class MissingExtraError(ForestAlignError):
    """An optional part was asked for and is not installed."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} needs an optional part: pip install 'forestalign[{extra}]'")
