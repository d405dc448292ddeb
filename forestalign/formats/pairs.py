"""Pairs of sentences: `source<TAB>target`, `source ||| target`, CSV, JSON lines, or two parallel files.

Names of columns in the first line (*source* and *target*, *sentence1* and *sentence2* ...) say where the sentences are.

Readers stream, and never stop at a line they cannot use: it becomes a BadRecord with its number, so that a batch can
report it and go on.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import UsageError, counted
from forestalign.formats.fields import LONGEST_TEXT, Fields, checked_sentence, refuse_harmful, shorten
from forestalign.formats.lines import Line, Unread, read_lines
from forestalign.tokens import Sentence

STDIN = "-"
_BARS = re.compile(r"\s*\|\|\|\s*")
_LONGEST_CELLS = 4 * LONGEST_TEXT  # characters of a row of CSV, which may have line breaks in its cells
_HEADERS = tuple(
    tuple(names.split())
    for names in (
        "source target",
        "sentence1 sentence2",
        "sentence_1 sentence_2",
        "sentence_a sentence_b",
        "text1 text2",
        "question1 question2",
        "premise hypothesis",
        "original paraphrase",
        "before after",
        "old new",
        "s1 s2",
    )
)


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


@dataclass(frozen=True, slots=True)
class _Sides:
    """What a line says before it is checked; a side is raw text or the user's list of tokens."""

    id: str
    source: str | tuple[str, ...]
    target: str | tuple[str, ...]


def read_pairs(
    path: str | Path, tokenized: bool = False, max_words: int = DEFAULT_CONFIG.max_words
) -> Iterator[PairRecord | BadRecord]:
    """The pairs of one file, `-` for standard input.

    `tokenized` takes words as they stand between spaces. A sentence of more than `max_words` words is refused. A line
    is CSV by the name of the file, JSON if it starts with a brace, else it is split at a tab or bars.
    """
    for unread in unread_pairs(path, tokenized, max_words):
        yield unread.read()


def unread_pairs(
    path: str | Path, tokenized: bool = False, max_words: int = DEFAULT_CONFIG.max_words
) -> Iterator[Unread[PairRecord | BadRecord]]:
    """As `read_pairs`, but nothing is tokenized before it is asked for."""
    is_csv = str(path).lower().removesuffix(".gz").endswith(".csv")
    places: tuple[int, int] | None = None
    for line in _csv_rows(read_lines(path)) if is_csv else read_lines(path):
        if line.number == 1 and (places := _header(line, is_csv)):
            continue
        yield Unread(line.text or line.error, partial(_record, line, tokenized, max_words, is_csv, places))


def _csv_rows(lines: Iterator[Line]) -> Iterator[Line]:
    """Rows of CSV as RFC 4180 has them: a line break inside quotes is part of a cell."""
    for line in lines:
        parts, size, error = [line.text], len(line.text), line.error
        is_open = line.text.count('"') % 2 == 1
        while is_open and not error:
            if (further := next(lines, None)) is None or size > _LONGEST_CELLS:
                error = "a quotation mark is not closed; expected cells as in RFC 4180"
                break
            parts.append(further.text)
            size, error, is_open = size + len(further.text), further.error, further.text.count('"') % 2 == 0
        yield Line(line.number, "\n".join(parts), error)


def _header(line: Line, is_csv: bool) -> tuple[int, int] | None:
    """The columns of source and target by their names, if a line names them."""
    if line.error or _looks_like_json(line.text):
        return None
    try:
        names = [name.strip().lower() for name in _columns(line.text, is_csv)]
    except ValueError:
        return None
    return next(((names.index(one), names.index(two)) for one, two in _HEADERS if {one, two} <= set(names)), None)


def unread_parallel(
    source_path: str | Path,
    target_path: str | Path,
    tokenized: bool = False,
    max_words: int = DEFAULT_CONFIG.max_words,
) -> Iterator[Unread[PairRecord | BadRecord]]:
    """The pairs of two files, line by line; where one is longer, its further lines are bad records.

    Nothing is tokenized before it is asked for.
    """
    for number, sides in enumerate(zip_longest(read_lines(source_path), read_lines(target_path)), start=1):
        source, target = sides
        if number == 1 and source and target and "\t" in source.text and "\t" in target.text:
            raise UsageError(
                f"{source_path} and {target_path} both hold pairs; expected one file of pairs, or a file of sources "
                "and one of targets"
            )
        if source is None or target is None:
            path = source_path if source is None else target_path
            message = f"{path} ends before line {number}; expected as many lines as in its partner"
            yield Unread(message, partial(BadRecord, number, str(number), message))
        else:
            text = f"{source.text or source.error}\t{target.text or target.error}"
            yield Unread(text, partial(_parallel_record, source, target, tokenized, max_words))


def unread_sentences(
    source: str, target: str, tokenized: bool = False, max_words: int = DEFAULT_CONFIG.max_words
) -> Iterator[Unread[PairRecord | BadRecord]]:
    """One pair whose sentences are given by themselves, not in a file."""
    yield Unread(f"{source}\t{target}", partial(_check_sides, 1, _Sides("1", source, target), tokenized, max_words))


def are_sentences(source: str, target: str | None) -> bool:
    """Whether two arguments are sentences and not names of files: there are no such files, and one has a space."""
    if target is None or STDIN in (source, target):
        return False
    try:
        is_named = Path(source).exists() or Path(target).exists()
    except (OSError, ValueError):  # longer than a name can be
        return True
    return not is_named and any(" " in side.strip() for side in (source, target))


def _parallel_record(source: Line, target: Line, tokenized: bool, max_words: int) -> PairRecord | BadRecord:
    number = source.number
    if source.error or target.error:
        side, message = ("source", source.error) if source.error else ("target", target.error)
        return BadRecord(number, str(number), f"{side}: {message}")
    return _check_sides(number, _Sides(str(number), source.text, target.text), tokenized, max_words)


def format_pair(record: PairRecord) -> str:
    """A record as a line of JSON, which keeps the id and tokens that spaces do not show."""
    fields = {"id": record.id, "source": record.source.written_words, "target": record.target.written_words}
    return json.dumps(fields, ensure_ascii=False)


def _record(
    line: Line, tokenized: bool, max_words: int, is_csv: bool, places: tuple[int, int] | None
) -> PairRecord | BadRecord:
    if line.error:
        return BadRecord(line.number, str(line.number), line.error)
    try:
        sides = _split(line, is_csv, places)
    except ValueError as error:
        return BadRecord(line.number, str(line.number), str(error))
    return _check_sides(line.number, sides, tokenized, max_words)


def _split(line: Line, is_csv: bool, places: tuple[int, int] | None) -> _Sides:
    """The two sides of a line; ValueError says what was expected."""
    text, number = line.text, str(line.number)
    if not text.strip():
        raise ValueError("the line is empty; expected a pair of sentences")
    if not is_csv and _looks_like_json(text):
        return _json_sides(Fields.parse(text), number)
    columns = _columns(text, is_csv)
    if places and max(places) < len(columns):
        return _Sides(number, columns[places[0]], columns[places[1]])
    if len(columns) == 1 and not is_csv:
        raise ValueError(
            f"one column: {shorten(text)}; expected source<TAB>target, source ||| target, "
            'or {"id": ..., "source": ..., "target": ...}'
        )
    if len(columns) != 2:
        raise ValueError(f"{counted(len(columns), 'column')} in {shorten(text)}; expected 2, a source and a target")
    return _Sides(number, columns[0], columns[1])


def _columns(text: str, is_csv: bool) -> list[str]:
    if is_csv:
        try:
            return next(csv.reader(io.StringIO(text, newline="")), [])
        except csv.Error as error:
            raise ValueError(f"{shorten(text)} is no row of CSV: {error}") from None
    return text.split("\t") if "\t" in text else _BARS.split(text.strip())


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
    refuse_harmful("id", identity)
    return _Sides(identity, _json_side(fields, "source"), _json_side(fields, "target"))


def _json_side(fields: Fields, name: str) -> str | tuple[str, ...]:
    return fields.words(name) if isinstance(fields.values.get(name), list) else fields.text(name)


def _check_sides(number: int, sides: _Sides, tokenized: bool, max_words: int) -> PairRecord | BadRecord:
    try:
        source = _sentence("source", sides.source, tokenized, max_words)
        target = _sentence("target", sides.target, tokenized, max_words)
    except ValueError as error:
        return BadRecord(number, sides.id, str(error))
    return PairRecord(number, sides.id, source, target)


def _sentence(side: str, value: str | tuple[str, ...], tokenized: bool, max_words: int) -> Sentence:
    sentence = checked_sentence(side, value, max_words, tokenized=tokenized)
    if not sentence.tokens:
        raise ValueError(f"the {side} is empty; expected a sentence")
    return sentence
