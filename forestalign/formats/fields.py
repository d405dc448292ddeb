"""Checked access to the fields of a JSON object.

Every complaint is a ValueError that names field, value and expectation; the reader of the file adds file and line.

What a sentence has to be before any work is done on it, the same for files, for the command and for the library.

Every complaint is a ValueError that names the side, the value and the expectation. Lengths are looked at first: the
time of the tokenizer grows with the text, and no limit that is looked at afterwards would help.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol, TypeVar, cast

import msgspec

from forestalign.errors import UsageError, counted, shown
from forestalign.inputs import finite_number
from forestalign.tokens import Sentence, Span, Token, tokenize
from forestalign.words.alignment import WordAlignment, WordLink, link_score

Row = TypeVar("Row")
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
        return self._as(name, str, "a string")

    def identity(self, name: str) -> str:
        """A string, or a whole number, which counts as its digits."""
        return str(self._as(name, cast(type, str | int), "a string or a whole number"))

    def flag(self, name: str) -> bool:
        """True or false."""
        return self._as(name, bool, "true or false")

    def whole(self, name: str) -> int:
        """A whole number."""
        return self._as(name, int, "a whole number")

    def number(self, name: str) -> float:
        """A finite number; null stands for minus infinity, which JSON cannot say."""
        value = self._value(name, "a number")
        number = -math.inf if value is None else finite_number(value)
        return number if number is not None else self._refuse(name, value, "a number")

    def words(self, name: str) -> tuple[str, ...]:
        """A list of strings."""
        return self._as(name, tuple[str, ...], "a list of strings")

    def wholes(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        return self._as(name, tuple[int, ...], "a list of whole numbers")

    def pairs(self, name: str) -> tuple[tuple[int, int], ...]:
        """A list of pairs of whole numbers."""
        return self.rows(name, tuple[int, int], "a list of pairs of whole numbers")

    def span(self, name: str, word_count: int) -> Span:
        """A half-open span of at least one word inside a sentence."""
        expectation = f"a span [begin, end] with 0 <= begin < end <= {word_count}"
        span = self._as(name, Span, expectation)
        return span if 0 <= span.begin < span.end <= word_count else self._refuse(name, span, expectation)

    def spans(self, name: str, word_count: int) -> tuple[Span, ...]:
        """A list of half-open spans."""
        expectation = f"a list of spans [begin, end] with 0 <= begin < end <= {word_count}"
        spans = self.rows(name, Span, expectation)
        wrong = next((span for span in spans if not 0 <= span.begin < span.end <= word_count), None)
        return spans if wrong is None else self._refuse(name, wrong, expectation)

    def child(self, name: str) -> Fields:
        """An object."""
        return Fields(self._as(name, dict[str, object], "an object"), self._at(name))

    def children(self, name: str) -> tuple[Fields, ...]:
        """A list of objects."""
        rows = self.rows(name, dict[str, object], "a list of objects")
        return tuple(Fields(row, f"{self._at(name)}[{index}]") for index, row in enumerate(rows))

    def rows(self, name: str, kind: type[Row], expectation: str) -> tuple[Row, ...]:
        """A list whose parts are all of one kind."""
        return tuple(self._convert(name, value, kind, expectation) for value in self.items(name, expectation))

    def items(self, name: str, expectation: str) -> Sequence[object]:
        """A list of anything."""
        return self._as(name, list[object], expectation)

    def complain(self, name: str, message: str) -> NoReturn:
        """Raise an error that names the field; the reader adds file and line."""
        raise ValueError(f"{self._at(name)}: {message}")

    def _as(self, name: str, kind: type[Row], expectation: str) -> Row:
        return self._convert(name, self._value(name, expectation), kind, expectation)

    def _convert(self, name: str, value: object, kind: type[Row], expectation: str) -> Row:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            return self._refuse(name, value, expectation)

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


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"invalid JSON: found {name}, which JSON does not know; expected a number or null")


def _without_repeats(items: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(items)
    if len(fields) < len(items):
        names = [name for name, _ in items]
        repeated = next(name for index, name in enumerate(names) if name in names[:index])
        raise ValueError(f"field {repeated!r} stands there twice")
    return fields


LONGEST_TEXT = 50_000  # characters of a sentence; 300 long words have about 5,000
LONGEST_WORD = 1_000  # characters; web addresses are the longest words that text has

# Control characters other than tab, newline and return, and halves of surrogate pairs: no text has them, terminals obey
# the former, and the latter cannot be written.
_HARMFUL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_BREAKS = re.compile("[\t\r\n]")


class TooLongError(ValueError):
    """A sentence of more words or characters than the limits allow."""


class TokenLike(Protocol):
    """A token of spaCy: its text and where that begins."""

    @property
    def text(self) -> str:
        """Its characters."""

    @property
    def idx(self) -> int:
        """Where it begins in the document."""


class DocLike(Protocol):
    """A `Doc` or `Span` of spaCy, or whatever has a text and tokens with their places in it."""

    @property
    def text(self) -> str:
        """The whole text."""

    def __iter__(self) -> Iterator[TokenLike]: ...


def checked_sentence(side: str, value: object, max_words: int, *, tokenized: bool = False) -> Sentence:
    """The sentence of a text, of a list of words, of a spaCy `Doc`, or as it is.

    `tokenized` texts are split at white space alone.
    """
    if isinstance(value, Sentence):
        _check_words(side, value.words, max_words)
        refuse_harmful(side, value.text)
        return value
    if isinstance(value, str):
        return _of_text(side, value, max_words, tokenized)
    if isinstance(getattr(value, "text", None), str) and isinstance(value, Iterable):
        return _of_doc(side, cast(DocLike, value), max_words)
    if isinstance(value, bytes | bytearray) or not isinstance(value, Sequence):
        expected = "expected a string, a list of words, a Sentence or a spaCy Doc"
        raise ValueError(f"the {side} is {shown(value)}; {expected}")
    for index, word in enumerate(value):
        if not isinstance(word, str):
            raise ValueError(f"word {index} of the {side} is {shown(word)}; expected a string")
    return _of_words(side, tuple(value), max_words)


def _of_text(side: str, value: str, max_words: int, tokenized: bool) -> Sentence:
    if len(value) > LONGEST_TEXT:
        raise TooLongError(f"the {side} has {len(value):,} characters; the limit is {LONGEST_TEXT:,}")
    # a line break, which only JSON or a program can bring, counts as a space: a sentence always fits on one line
    text = _LINE_BREAKS.sub(" ", value)
    refuse_harmful(side, text)
    _check_words(side, text.split(), max_words)
    sentence = split_on_spaces(text) if tokenized else tokenize(text.strip())
    _check_words(side, sentence.words, max_words)
    return sentence


def _of_doc(side: str, doc: DocLike, max_words: int) -> Sentence:
    """The tokens of a spaCy document, or of a sentence of one, without those of white space."""
    if len(doc.text) > LONGEST_TEXT:
        raise TooLongError(f"the {side} has {len(doc.text):,} characters; the limit is {LONGEST_TEXT:,}")
    text, listed = _LINE_BREAKS.sub(" ", doc.text), list(doc)
    refuse_harmful(side, text)
    first = _place(side, listed[0]) if listed else 0  # a part of a document counts from the document's begin
    tokens = []
    for token in listed:
        begin = _place(side, token) - first
        if text[begin : begin + len(token.text)].strip():
            tokens.append(Token(token.text, begin, begin + len(token.text)))
    for index, made in enumerate(tokens):
        if text[made.start : made.end] != made.text or made.text != "".join(made.text.split()):
            raise ValueError(f"token {index} of the {side} is {made.text!r}; expected one word of its text")
    _check_words(side, [token.text for token in tokens], max_words)
    return Sentence(text, tuple(tokens))


def _place(side: str, token: object) -> int:
    place = getattr(token, "idx", None)
    if type(place) is not int or not isinstance(getattr(token, "text", None), str):
        raise ValueError(f"the {side} has the token {shown(token)}; expected one of spaCy, with text and idx")
    return place


def _of_words(side: str, words: tuple[str, ...], max_words: int) -> Sentence:
    _check_words(side, words, max_words)
    for index, word in enumerate(words):
        refuse_harmful(side, word)
        if not word or word != "".join(word.split()):
            raise ValueError(f"token {index} of the {side} is {word!r}; expected one word without white space")
    return Sentence.from_words(words)


def split_on_spaces(text: str) -> Sentence:
    """The user's own tokens: what stands between spaces, offsets into the text as it is."""
    return Sentence(text, tuple(Token(match.group(), *match.span()) for match in re.finditer(r"\S+", text)))


def refuse_harmful(side: str, text: str) -> None:
    """No control characters, no halves of surrogate pairs."""
    found = _HARMFUL.search(text)
    if found:
        code = ord(found.group())
        kind = "half of a surrogate pair" if 0xD800 <= code <= 0xDFFF else "a control character"
        raise ValueError(f"the {side} has {kind}, U+{code:04X} at character {found.start() + 1}")


def check_id(id: object) -> None:
    """UsageError, unless it is a string that can be written."""
    if not isinstance(id, str):
        raise UsageError(f"id is {shown(id)}; expected a string")
    try:
        refuse_harmful("id", id)
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_rows(pairs: object) -> None:
    """UsageError, unless they are rows of (id, source, target, links)."""
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Sequence):
        raise UsageError(f"pairs is {shown(pairs)}; expected a list of (id, source, target, links)")
    for row in pairs:
        if not isinstance(row, tuple | list) or len(row) != 4:
            raise UsageError(f"{shown(row)} is not a pair; expected (id, source, target, links)")


def checked_links(links: WordAlignment, source_count: int, target_count: int) -> WordAlignment:
    """Links that a user gave, if they fit the sentences."""
    for link in links if isinstance(links.links, tuple) else (links.links,):
        if not isinstance(link, WordLink) or type(link.source) is not int or type(link.target) is not int:
            raise UsageError(f"links has {shown(link)}; expected a WordLink of two whole numbers")
        if link_score(link.score) is None:
            raise UsageError(f"link {link.source}-{link.target} has the score {shown(link.score)}; expected a number")
        if not (0 <= link.source < source_count and 0 <= link.target < target_count):
            raise UsageError(
                f"link {link.source}-{link.target} runs past the sentences of {source_count} and "
                f"{counted(target_count, 'word')}"
            )
    return links


def _check_words(side: str, words: Sequence[str], max_words: int) -> None:
    if len(words) > max_words:
        raise TooLongError(
            f"the {side} has {counted(len(words), 'word')}; the limit is {max_words} (setting max_words)"
        )
    longest = max(map(len, words), default=0)
    if longest > LONGEST_WORD:
        raise TooLongError(f"the {side} has a word of {longest:,} characters; the limit is {LONGEST_WORD:,}")
