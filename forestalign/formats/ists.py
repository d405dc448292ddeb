"""Chunk alignments of the SemEval tasks on interpretable similarity (`.wa` files).

A chunk is a set of tokens that need not be adjacent, so it is a tuple of indices here. Files count tokens from 1 and
write 0 for no chunk; that is turned into indices from 0 and an empty tuple at this border.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from forestalign.errors import AnnotationError
from forestalign.formats.lines import Line, Unread, read_lines

RELATIONS = frozenset({"EQUI", "OPPO", "SPE1", "SPE2", "SIMI", "REL", "ALIC", "NOALI"})
_ADDED_TYPES = frozenset({"FACT", "POL"})
_UNALIGNED = "-not aligned-"
_SENTENCE = re.compile(r'\s*<sentence id="([^"]*)" status="([^"]*)">\s*')
_OPENING = re.compile(r"\s*<sentence\b")
_CLOSING = "</sentence>"
_NO_SCORE = "NIL"
_LONGEST_NUMBER = 9  # digits; Python refuses to read thousands of them


@dataclass(frozen=True, slots=True)
class ChunkPair:
    """Two chunks, the type of their relation (`SPE1_FACT`), and a score from 0 to 5, None where the file says NIL."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    relation: str
    score: float | None


@dataclass(frozen=True, slots=True)
class ChunkAlignment:
    """One sentence pair of a `.wa` file."""

    id: str
    status: str
    source_text: str
    target_text: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    pairs: tuple[ChunkPair, ...]


def read_ists(path: str | Path) -> Iterator[ChunkAlignment]:
    """The sentence pairs of a file, in order."""
    for _, unread in unread_ists(path):
        yield unread.read()


def unread_ists(path: str | Path, lines: Iterable[Line] | None = None) -> Iterator[tuple[int, Unread[ChunkAlignment]]]:
    """The line where each pair begins, and the pair, which raises AnnotationError once it is read, if it has to.

    `lines` are those of the file where someone has begun to read it.
    """
    block: list[Line] = []
    for line in read_lines(path) if lines is None else lines:
        if block and _OPENING.match(line.text):
            yield _unread(path, block)
            block = []
        if line.error or line.text.strip():
            block.append(line)
        if line.text.strip() == _CLOSING:
            yield _unread(path, block)
            block = []
    if block:
        yield _unread(path, block)


def _unread(path: str | Path, block: list[Line]) -> tuple[int, Unread[ChunkAlignment]]:
    text = "\n".join(line.text or line.error for line in block)
    return block[0].number, Unread(text, partial(_read_block, path, tuple(block)))


def _read_block(path: str | Path, block: Sequence[Line]) -> ChunkAlignment:
    for line in block:
        if line.error:
            raise AnnotationError(path, line.number, line.error)
    return _Reader(path, block).sentence()


def format_ists(alignment: ChunkAlignment) -> str:
    """One sentence pair, as many lines, in the layout of the published files."""
    lines = [f'<sentence id="{alignment.id}" status="{alignment.status}">']
    lines += [f"// {alignment.source_text}", f"// {alignment.target_text}"]
    for name, words in (("source", alignment.source), ("translation", alignment.target)):
        lines += [f"<{name}>", *(f"{index} {word} : " for index, word in enumerate(words, start=1)), f"</{name}>"]
    lines += ["<alignment>", *(_format_pair(pair, alignment) for pair in alignment.pairs), "</alignment>"]
    return "\n".join((*lines, "</sentence>"))


def _format_pair(pair: ChunkPair, alignment: ChunkAlignment) -> str:
    score = _NO_SCORE if pair.score is None else f"{pair.score:g}"
    indices = f"{_numbers(pair.source)} <==> {_numbers(pair.target)}"
    texts = f"{_text(pair.source, alignment.source)} <==> {_text(pair.target, alignment.target)}"
    return f"{indices} // {pair.relation} // {score} // {texts} "


def _numbers(chunk: tuple[int, ...]) -> str:
    return " ".join(str(index + 1) for index in chunk) or "0"


def _text(chunk: tuple[int, ...], words: tuple[str, ...]) -> str:
    return " ".join(words[index] for index in chunk) or _UNALIGNED


class _Reader:
    """The lines of one pair and where we are in them."""

    def __init__(self, path: str | Path, lines: Sequence[Line]):
        self._path, self._lines, self._number = path, iter(lines), 0

    def sentence(self) -> ChunkAlignment:
        opening = self._next("a sentence")
        match = _SENTENCE.fullmatch(opening)
        if match is None:
            self._fail(opening, '<sentence id="..." status="...">')
        source_text, target_text = self._comment(), self._comment()
        source, target = self._tokens("source"), self._tokens("translation")
        self._expect("<alignment>")
        pairs = tuple(self._pair(line, source, target) for line in self._until("</alignment>"))
        self._expect(_CLOSING)
        return ChunkAlignment(match[1], match[2], source_text, target_text, source, target, pairs)

    def _next(self, expectation: str) -> str:
        line = next(self._lines, None)
        if line is None:
            raise AnnotationError(self._path, self._number, f"the pair ends where {expectation} was expected")
        self._number = line.number
        return line.text.strip()

    def _expect(self, tag: str) -> None:
        text = self._next(tag)
        if text != tag:
            self._fail(text, tag)

    def _comment(self) -> str:
        text = self._next("// and a sentence")
        if not text.startswith("//"):
            self._fail(text, "// and a sentence")
        return text.removeprefix("//").strip()

    def _until(self, tag: str) -> Iterator[str]:
        while (text := self._next(tag)) != tag:
            yield text

    def _tokens(self, tag: str) -> tuple[str, ...]:
        self._expect(f"<{tag}>")
        words: list[str] = []
        for text in self._until(f"</{tag}>"):
            number, _, rest = text.partition(" ")
            word = rest.strip().removesuffix(" :").rstrip()
            if number != str(len(words) + 1) or not word:
                self._fail(text, f"{len(words) + 1} token :")
            words.append(word)
        return tuple(words)

    def _pair(self, text: str, source: tuple[str, ...], target: tuple[str, ...]) -> ChunkPair:
        parts = [part.strip() for part in text.split("//", 3)]
        sides = parts[0].split("<==>")
        if len(parts) < 3 or len(sides) != 2:
            self._fail(text, "tokens <==> tokens // TYPE // score // text <==> text")
        first, *added = parts[1].split("_")
        if first not in RELATIONS or not _ADDED_TYPES.issuperset(added):
            self._fail(parts[1], f"one of {', '.join(sorted(RELATIONS))}, with _FACT or _POL where it applies")
        return ChunkPair(self._chunk(sides[0], source), self._chunk(sides[1], target), parts[1], self._score(parts[2]))

    def _chunk(self, text: str, words: tuple[str, ...]) -> tuple[int, ...]:
        numbers = text.split()
        if numbers == ["0"]:
            return ()
        for number in numbers:
            if not number.isdecimal() or len(number) > _LONGEST_NUMBER or not 1 <= int(number) <= len(words):
                self._fail(number, f"a token from 1 to {len(words)}, or 0 alone for no chunk")
        if not numbers:
            self._fail(text, "token numbers")
        return tuple(int(number) - 1 for number in numbers)

    def _score(self, text: str) -> float | None:
        if text == _NO_SCORE:
            return None
        try:
            score = float(text)
        except ValueError:
            score = -1.0
        if not 0 <= score <= 5:
            self._fail(text, "a score from 0 to 5, or NIL")
        return score

    def _fail(self, found: str, expectation: str) -> NoReturn:
        raise AnnotationError(self._path, self._number, f"found {found!r}; expected {expectation}")
