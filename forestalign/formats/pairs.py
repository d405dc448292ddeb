"""Pairs of sentences: `source<TAB>target`, `source ||| target`, JSON lines, or two parallel files.

Readers stream, and never stop at a line they cannot use: it becomes a BadRecord with its number, so that a batch can
report it and go on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path

from forestalign.config import DEFAULT_CONFIG
from forestalign.formats.fields import Fields, shorten
from forestalign.formats.lines import Line, read_lines
from forestalign.tokens import Sentence, Token, tokenize

# Control characters other than tab, newline and return, and halves of surrogate pairs: no text has them, terminals obey
# the former, and the latter cannot be written.
_HARMFUL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_BREAKS = re.compile("[\t\r\n]")
_BARS = re.compile(r"\s*\|\|\|\s*")


@dataclass(frozen=True, slots=True)
class PairRecord:
    """One pair of sentences; `number` is its line, from 1, and its id where the input gives none."""

    number: int
    id: str
    source: Sentence
    target: Sentence


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A line that holds no pair, and why."""

    number: int
    id: str
    message: str


class PairFormat(StrEnum):
    """How a line is read. AUTO: a JSON object if it starts with a brace, else by its tab or its bars."""

    AUTO = "auto"
    TAB = "tab"
    BARS = "bars"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class _Sides:
    """What a line says before it is checked; a side is raw text or the user's list of tokens."""

    id: str
    source: str | tuple[str, ...]
    target: str | tuple[str, ...]


def read_pairs(
    path: str | Path,
    tokenized: bool = False,
    max_words: int = DEFAULT_CONFIG.max_words,
    form: PairFormat = PairFormat.AUTO,
) -> Iterator[PairRecord | BadRecord]:
    """The pairs of one file, `-` for standard input.

    `tokenized` takes words as they stand between spaces. A sentence of more than `max_words` words is refused.
    """
    for line in read_lines(path):
        yield _record(line, tokenized, max_words, form)


def read_parallel(
    source_path: str | Path,
    target_path: str | Path,
    tokenized: bool = False,
    max_words: int = DEFAULT_CONFIG.max_words,
) -> Iterator[PairRecord | BadRecord]:
    """The pairs of two files, line by line; where one is longer, its further lines are bad records."""
    for number, sides in enumerate(zip_longest(read_lines(source_path), read_lines(target_path)), start=1):
        source, target = sides
        if source is None or target is None:
            path = source_path if source is None else target_path
            message = f"{path} ends before line {number}; expected as many lines as in its partner"
            yield BadRecord(number, str(number), message)
        elif source.error or target.error:
            side, message = ("source", source.error) if source.error else ("target", target.error)
            yield BadRecord(number, str(number), f"{side}: {message}")
        else:
            yield _checked(number, _Sides(str(number), source.text, target.text), tokenized, max_words)


def format_pair(record: PairRecord, form: PairFormat = PairFormat.TAB) -> str:
    """A record as a line. Only JSON keeps the id and tokens that spaces do not show."""
    if form in (PairFormat.TAB, PairFormat.AUTO):
        return f"{record.source.text}\t{record.target.text}"
    if form is PairFormat.BARS:
        return f"{record.source.text} ||| {record.target.text}"
    fields = {"id": record.id, "source": list(record.source.words), "target": list(record.target.words)}
    return json.dumps(fields, ensure_ascii=False)


def _record(line: Line, tokenized: bool, max_words: int, form: PairFormat) -> PairRecord | BadRecord:
    if line.error:
        return BadRecord(line.number, str(line.number), line.error)
    try:
        sides = _split(line, form)
    except ValueError as error:
        return BadRecord(line.number, str(line.number), str(error))
    return _checked(line.number, sides, tokenized, max_words)


def _split(line: Line, form: PairFormat) -> _Sides:
    """The two sides of a line; ValueError says what was expected."""
    text, number = line.text, str(line.number)
    if not text.strip():
        raise ValueError("the line is empty; expected a pair of sentences")
    if form is PairFormat.JSON or (form is PairFormat.AUTO and _looks_like_json(text)):
        return _json_sides(Fields.parse(text), number)
    if form is PairFormat.TAB or (form is PairFormat.AUTO and "\t" in text):
        columns = text.split("\t")
    elif form is PairFormat.BARS or "|||" in text:
        columns = _BARS.split(text.strip())
    else:
        raise ValueError(
            f"one column: {shorten(text)}; expected source<TAB>target, source ||| target, "
            'or {"id": ..., "source": ..., "target": ...}'
        )
    if len(columns) != 2:
        raise ValueError(f"{len(columns)} columns in {shorten(text)}; expected 2, a source and a target")
    return _Sides(number, columns[0], columns[1])


def _looks_like_json(text: str) -> bool:
    """An opening brace, unless the line has a separator and is no JSON: sentences may start with a brace."""
    if not text.lstrip().startswith("{"):
        return False
    if "\t" not in text and "|||" not in text:
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _json_sides(fields: Fields, number: str) -> _Sides:
    identity = fields.identity("id") if fields.has("id") else number
    _refuse_harmful("id", identity)
    return _Sides(identity, _json_side(fields, "source"), _json_side(fields, "target"))


def _json_side(fields: Fields, name: str) -> str | tuple[str, ...]:
    return fields.words(name) if isinstance(fields.values.get(name), list) else fields.text(name)


def _checked(number: int, sides: _Sides, tokenized: bool, max_words: int) -> PairRecord | BadRecord:
    try:
        source = _sentence("source", sides.source, tokenized, max_words)
        target = _sentence("target", sides.target, tokenized, max_words)
    except ValueError as error:
        return BadRecord(number, sides.id, str(error))
    return PairRecord(number, sides.id, source, target)


def _sentence(side: str, value: str | tuple[str, ...], tokenized: bool, max_words: int) -> Sentence:
    # a line break, which only JSON can bring, counts as a space, so that a sentence always fits on one line
    text = _LINE_BREAKS.sub(" ", value) if isinstance(value, str) else " ".join(value)
    _refuse_harmful(side, text)
    # counted before the tokenizer runs, whose time grows with the text
    _refuse_length(side, len(text.split()), max_words)
    if isinstance(value, tuple):
        sentence = _from_tokens(side, value)
    else:
        sentence = split_on_spaces(text) if tokenized else tokenize(text.strip())
    if not sentence.tokens:
        raise ValueError(f"the {side} is empty; expected a sentence")
    _refuse_length(side, len(sentence), max_words)
    return sentence


def split_on_spaces(text: str) -> Sentence:
    """The user's own tokens: what stands between spaces, offsets into the text as it is."""
    return Sentence(text, tuple(Token(match.group(), *match.span()) for match in re.finditer(r"\S+", text)))


def _from_tokens(side: str, words: tuple[str, ...]) -> Sentence:
    for index, word in enumerate(words):
        if not word or word != "".join(word.split()):
            raise ValueError(f"token {index} of the {side} is {word!r}; expected one word without white space")
    return Sentence.from_words(words)


def _refuse_harmful(side: str, text: str) -> None:
    found = _HARMFUL.search(text)
    if found:
        code = ord(found.group())
        raise ValueError(f"the {side} has the control character U+{code:04X} at character {found.start() + 1}")


def _refuse_length(side: str, count: int, max_words: int) -> None:
    if count > max_words:
        raise ValueError(f"the {side} has {count} words; the limit is {max_words} (setting max_words)")
