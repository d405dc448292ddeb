"""Checked access to the fields of a JSON object.

Every complaint is a ValueError that names field, value and expectation; the reader of the file adds file and line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from forestalign.inputs import finite_number
from forestalign.tokens import Span

_ABSENT = object()
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object; `place` says where it sits in the record (`phrases[3]`), for messages."""

    values: dict[str, object]
    place: str = ""

    @classmethod
    def parse(cls, text: str) -> Fields:
        """A JSON object whose keys are all different."""
        try:
            value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise ValueError(f"invalid JSON: {error.msg} at column {error.colno}") from error
        except RecursionError as error:
            raise ValueError("invalid JSON: nested too deeply") from error
        if not isinstance(value, dict):
            raise ValueError(f"expected a JSON object, found {shorten(value)}")
        if "\\u" in text or not text.isascii():
            _refuse_halves(value)
        return cls(value)

    def has(self, name: str) -> bool:
        """Whether there is a field of this name."""
        return name in self.values

    def text(self, name: str) -> str:
        """A string."""
        value = self._value(name, "a string")
        return value if isinstance(value, str) else self._refuse(name, value, "a string")

    def identity(self, name: str) -> str:
        """A string, or a whole number, which counts as its digits."""
        value = self._value(name, "a string or a whole number")
        if not isinstance(value, str) and not _is_whole(value):
            self._refuse(name, value, "a string or a whole number")
        return str(value)

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._value(name, "true or false")
        return value if isinstance(value, bool) else self._refuse(name, value, "true or false")

    def whole(self, name: str) -> int:
        """A whole number."""
        value = self._value(name, "a whole number")
        return value if _is_whole(value) else self._refuse(name, value, "a whole number")  # type: ignore[return-value]

    def number(self, name: str) -> float:
        """A finite number; null stands for minus infinity, which JSON cannot say."""
        return self._number(name, self._value(name, "a number"))

    def words(self, name: str) -> tuple[str, ...]:
        """A list of strings."""
        values = self.items(name, "a list of strings")
        if not all(isinstance(value, str) for value in values):
            self._refuse(name, values, "a list of strings")
        return tuple(str(value) for value in values)

    def wholes(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        values = self.items(name, "a list of whole numbers")
        if not all(_is_whole(value) for value in values):
            self._refuse(name, values, "a list of whole numbers")
        return tuple(value for value in values if isinstance(value, int))

    def pairs(self, name: str) -> tuple[tuple[int, int], ...]:
        """A list of pairs of whole numbers."""
        return tuple(
            self._pair(name, value, "a list of pairs of whole numbers") for value in self.items(name, "a list")
        )

    def span(self, name: str, word_count: int) -> Span:
        """A half-open span of at least one word inside a sentence."""
        expectation = f"a span [begin, end] with 0 <= begin < end <= {word_count}"
        return self._checked_span(name, self._value(name, expectation), word_count, expectation)

    def spans(self, name: str, word_count: int) -> tuple[Span, ...]:
        """A list of half-open spans."""
        expectation = f"a list of spans [begin, end] with 0 <= begin < end <= {word_count}"
        return tuple(
            self._checked_span(name, value, word_count, expectation) for value in self.items(name, expectation)
        )

    def child(self, name: str) -> Fields:
        """An object."""
        value = self._value(name, "an object")
        return Fields(value, self._at(name)) if isinstance(value, dict) else self._refuse(name, value, "an object")

    def children(self, name: str) -> tuple[Fields, ...]:
        """A list of objects."""
        found = []
        for index, value in enumerate(self.items(name, "a list of objects")):
            if not isinstance(value, dict):
                self._refuse(name, value, "a list of objects")
            found.append(Fields(value, f"{self._at(name)}[{index}]"))
        return tuple(found)

    def rows(self, name: str, width: int, expectation: str) -> tuple[tuple[object, ...], ...]:
        """A list of lists of one width; the caller checks what is in them."""
        rows = []
        for value in self.items(name, expectation):
            if not isinstance(value, list) or len(value) != width:
                self._refuse(name, value, expectation)
            rows.append(tuple(value))
        return tuple(rows)

    def items(self, name: str, expectation: str) -> Sequence[object]:
        """A list of anything."""
        value = self._value(name, expectation)
        return value if isinstance(value, list) else self._refuse(name, value, expectation)

    def complain(self, name: str, message: str) -> NoReturn:
        """Raise an error that names the field; the reader adds file and line."""
        raise ValueError(f"{self._at(name)}: {message}")

    def _number(self, name: str, value: object) -> float:
        if value is None:
            return -math.inf
        number = finite_number(value)
        return number if number is not None else self._refuse(name, value, "a number")

    def _pair(self, name: str, value: object, expectation: str) -> tuple[int, int]:
        if not isinstance(value, list) or len(value) != 2 or not all(_is_whole(part) for part in value):
            self._refuse(name, value, expectation)
        return value[0], value[1]

    def _checked_span(self, name: str, value: object, word_count: int, expectation: str) -> Span:
        begin, end = self._pair(name, value, expectation)
        if not 0 <= begin < end <= word_count:
            self._refuse(name, value, expectation)
        return Span(begin, end)

    def _value(self, name: str, expectation: str) -> object:
        value = self.values.get(name, _ABSENT)
        if value is _ABSENT:
            raise ValueError(f"no field {self._at(name)!r}; expected {expectation}")
        return value

    def _at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def _refuse(self, name: str, value: object, expectation: str) -> NoReturn:
        raise ValueError(f"{self._at(name)} is {shorten(value)}; expected {expectation}")


def shorten(value: object, limit: int = 60) -> str:
    """A value as JSON, cut to fit a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def finite(value: float) -> float | None:
    """A number for JSON, which knows no infinity."""
    return value if math.isfinite(value) else None


def _refuse_halves(values: dict[str, object]) -> None:
    """No halves of surrogate pairs, which JSON can say by an escape and no file can hold."""
    for name, value in values.items():
        found = _HALF.search(name) or _HALF.search(json.dumps(value, ensure_ascii=False))
        if found:
            raise ValueError(f"field {name!a} has half of a surrogate pair, U+{ord(found.group()):04X}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"invalid JSON: found {name}, which JSON does not know; expected a number or null")


def _without_repeats(items: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(items)
    if len(fields) < len(items):
        names = [name for name, _ in items]
        repeated = next(name for index, name in enumerate(names) if name in names[:index])
        raise ValueError(f"field {repeated!r} stands there twice")
    return fields
