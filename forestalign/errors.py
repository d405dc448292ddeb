"""What can go wrong that a user can fix, one class each. Messages name the place, the value and what was expected."""

from __future__ import annotations

from pathlib import Path


class ForestAlignError(Exception):
    """Root of every error that forestalign raises on purpose."""


class UsageError(ForestAlignError, ValueError):
    """A setting, an option or an argument has a value that cannot work."""


class WrongTypeError(UsageError, TypeError):
    """An argument is of a type that cannot work, such as `None` for a sentence."""


class OutputError(ForestAlignError):
    """A file cannot be written."""


class InputError(ForestAlignError):
    """A file or a line does not hold what its format asks for."""

    def __init__(self, path: str | Path, line: int | None, message: str):
        self.path, self.line, self.message = str(path), line, message
        super().__init__(f"{self.path}:{line}: {message}" if line is not None else f"{self.path}: {message}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, int | None, str]]:
        """Errors of worker processes arrive as what they are."""
        return type(self), (self.path, self.line, self.message)


class GrammarError(InputError):
    """A file of grammar/ is missing or malformed."""


class AnnotationError(InputError):
    """An alignment or annotation contradicts its sentences or trees."""


class AnnotationConflict(ForestAlignError):
    """An annotation would overwrite what somebody else holds; `reason` is `taken` (file) or `changed` (sentences)."""

    def __init__(self, reason: str, message: str):
        self.reason = reason
        super().__init__(message)


class NoParseError(ForestAlignError, ValueError):
    """A sentence cannot be parsed: empty, too long, or its trees do not fit its words."""


class PairError(ForestAlignError, ValueError):
    """One of many pairs could not be aligned; the message names it."""


class MissingExtraError(ForestAlignError, ImportError):
    """An optional part was asked for and is not installed."""

    def __init__(self, what: str, extra: str):
        self.what, self.extra = what, extra
        super().__init__(f"{what} needs an optional part: pip install 'forestalign[{extra}]'")

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.extra)


def shown(value: object, limit: int = 60) -> str:
    """Any value of a user's, cut to fit a message.

    >>> shown(b"x"), len(shown("x" * 1000))
    ("b'x'", 60)
    """
    try:
        text = ascii(value)
    except ValueError:  # numbers of more digits than Python writes down
        text = "a number of very many digits"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def line_of(number: int, id: str) -> str:
    """The line of a pair, with its id where that is another name than the number.

    >>> line_of(3, "3"), line_of(3, "dev-003")
    ('line 3', 'line 3 (dev-003)')
    """
    return f"line {number}" if id == str(number) else f"line {number} ({id})"


def counted(number: int, noun: str) -> str:
    """A number with its noun, for messages.

    >>> counted(1, "pair"), counted(2, "pair"), counted(0, "process")
    ('1 pair', '2 pairs', '0 processes')
    """
    plural = noun if number == 1 else f"{noun}es" if noun.endswith(("s", "ch")) else f"{noun}s"
    return f"{number} {plural}"
