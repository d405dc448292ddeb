"""Chunk alignments of the SemEval tasks on interpretable similarity (`.wa` files).

A chunk is a set of tokens that need not be adjacent, so it is a tuple of indices here. Files count tokens from 1 and
write 0 for no chunk; that is turned into indices from 0 and an empty tuple at this border.

Chunked pairs of sentences in, aligned chunks out: `.wa` of the SemEval tasks, or JSON lines.

Chunks are sets of adjacent words that together cover the sentence. In JSON they are spans, numbered as they stand in
the line. In a `.wa` file they are what its alignment part names: a line may join several chunks, so that a chunk ends
wherever the lines that name two adjacent words differ; they are numbered by their place in the sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import NoReturn

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import AnnotationError, InputError, UsageError
from forestalign.formats.fields import Fields, checked_sentence, refuse_harmful
from forestalign.formats.lines import Line, Unread, read_lines
from forestalign.formats.pairs import BadRecord
from forestalign.phrases.chunk_alignment import UNALIGNED, AlignedChunks
from forestalign.tokens import Sentence, Span

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


SIDES = ("source", "target")


@dataclass(frozen=True, slots=True)
class ChunkedPair:
    """Two sentences and their chunks; `number` is the line where the pair begins."""

    number: int
    id: str
    source: Sentence
    target: Sentence
    source_chunks: tuple[Span, ...]
    target_chunks: tuple[Span, ...]


def read_chunked(path: str | Path, max_words: int = DEFAULT_CONFIG.max_words) -> Iterator[ChunkedPair | BadRecord]:
    """The pairs of a file, `-` for standard input; what is not a pair becomes a bad record."""
    for unread in unread_chunked(path, max_words):
        yield unread.read()


def unread_chunked(
    path: str | Path, max_words: int = DEFAULT_CONFIG.max_words
) -> Iterator[Unread[ChunkedPair | BadRecord]]:
    """As `read_chunked`, but nothing is looked into before it is asked for. The first line tells the format."""
    lines = read_lines(path)
    opening = list(_up_to_text(lines))
    rest = chain(opening, lines)
    if opening and opening[-1].text.lstrip().startswith("<"):
        for number, unread in unread_ists(path, rest):
            yield Unread(unread.text, partial(_wa_pair, number, unread, max_words))
        return
    for line in rest:
        if line.error or line.text.strip():
            yield Unread(line.text or line.error, partial(_json_pair, path, line, max_words))


def _up_to_text(lines: Iterator[Line]) -> Iterator[Line]:
    """Lines up to the first that says anything."""
    for line in lines:
        yield line
        if line.error or line.text.strip():
            return


def _wa_pair(number: int, unread: Unread[ChunkAlignment], max_words: int) -> ChunkedPair | BadRecord:
    id = str(number)
    try:
        alignment = unread.read()
        id = alignment.id
        source, target = chunks_of(alignment)
        return _check_pair(number, id, (alignment.source, alignment.target), (source, target), max_words)
    except InputError as error:
        return BadRecord(number, id, f"{error.path}:{error.line}: {error.message}")
    except ValueError as error:
        return BadRecord(number, id, str(error))


def chunks_of(alignment: ChunkAlignment) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The chunks that the alignment part of a pair names, by their places; ValueError where they are none."""
    source = _spans("source", [pair.source for pair in alignment.pairs], alignment.source)
    return source, _spans("target", [pair.target for pair in alignment.pairs], alignment.target)


def _spans(side: str, named: Sequence[tuple[int, ...]], words: Sequence[str]) -> tuple[Span, ...]:
    groups = sorted({tuple(sorted(set(group))) for group in named if group})
    for k, group in enumerate(groups):
        for other in groups[k + 1 :]:
            shared = set(group) & set(other)
            if shared and len(shared) < min(len(group), len(other)):
                texts = [repr(" ".join(words[i] for i in each)) for each in (group, other)]
                raise ValueError(f"chunks of the {side} overlap: {texts[0]} and {texts[1]}; expected no word in both")
    members = [tuple(k for k, group in enumerate(groups) if i in group) for i in range(len(words))]
    for i, member in enumerate(members):
        if not member:
            raise ValueError(f"word {i + 1} of the {side}, {words[i]!r}, is in no chunk; expected every word in one")
    spans, begin = [], 0
    for _, run in groupby(members):
        end = begin + len(list(run))
        spans.append(Span(begin, end))
        begin = end
    return tuple(spans)


def _json_pair(path: str | Path, line: Line, max_words: int) -> ChunkedPair | BadRecord:
    id = str(line.number)
    if line.error:
        return BadRecord(line.number, id, f"{path}:{line.number}: {line.error}")
    try:
        fields = Fields.parse(line.text)
        id = fields.identity("id") if fields.has("id") else id
        refuse_harmful("id", id)
        words = fields.words("source"), fields.words("target")
        chunks = tuple(_json_spans(fields, side, side_words) for side, side_words in zip(SIDES, words, strict=True))
        return _check_pair(line.number, id, words, (chunks[0], chunks[1]), max_words)
    except ValueError as error:
        return BadRecord(line.number, id, f"{path}:{line.number}: {error}")


def _json_spans(fields: Fields, side: str, words: Sequence[str]) -> tuple[Span, ...]:
    name = f"{side}_chunks"
    spans, at = fields.spans(name, len(words)), 0
    for span in sorted(spans):
        if span.begin < at:
            fields.complain(name, f"{list(span)} overlaps the chunk before it; expected no word in two chunks")
        if span.begin > at:
            break
        at = span.end
    if at < len(words):
        fields.complain(name, f"word {at}, {words[at]!r}, is in no chunk; expected every word in one")
    return spans


def _check_pair(
    number: int,
    id: str,
    words: tuple[tuple[str, ...], tuple[str, ...]],
    chunks: tuple[tuple[Span, ...], tuple[Span, ...]],
    max_words: int,
) -> ChunkedPair:
    sentences = [checked_sentence(side, each, max_words) for side, each in zip(SIDES, words, strict=True)]
    for side, sentence in zip(SIDES, sentences, strict=True):
        if not sentence.tokens:
            raise ValueError(f"the {side} is empty; expected a sentence")
    return ChunkedPair(number, id, sentences[0], sentences[1], *chunks)


# ---- results ----


def chunks_to_json(id: str, aligned: Sequence[AlignedChunks]) -> str:
    """One line of JSON, with the numbers of the chunks from 0."""
    rows = [
        {
            "source": list(each.source),
            "target": list(each.target),
            "type": each.relation,
            "score": int(each.score) if float(each.score).is_integer() else each.score,
            "posterior": each.posterior,
        }
        for each in aligned
    ]
    return json.dumps({"id": id, "chunks": rows}, ensure_ascii=False)


def chunks_to_ists(pair: ChunkedPair, aligned: Sequence[AlignedChunks]) -> str:
    """The lines of a `.wa` file; UsageError for an id that the format cannot hold."""
    if '"' in pair.id or not pair.id.isprintable():
        raise UsageError(f"id {pair.id!r} cannot stand in a .wa file; --json can hold it")
    return format_ists(chunk_alignment(pair, aligned)) + "\n"


def chunk_alignment(pair: ChunkedPair, aligned: Sequence[AlignedChunks]) -> ChunkAlignment:
    """Aligned chunks as the pairs of words that `.wa` files hold."""
    rows = tuple(
        ChunkPair(
            _words(each.source, pair.source_chunks),
            _words(each.target, pair.target_chunks),
            each.relation,
            None if each.relation == UNALIGNED else each.score,
        )
        for each in aligned
    )
    return ChunkAlignment(
        pair.id,
        "",
        " ".join(pair.source.written_words),
        " ".join(pair.target.written_words),
        pair.source.written_words,
        pair.target.written_words,
        rows,
    )


def _words(numbers: Sequence[int], chunks: Sequence[Span]) -> tuple[int, ...]:
    return tuple(sorted(i for k in numbers for i in range(*chunks[k])))
