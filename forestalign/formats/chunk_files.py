"""Chunked pairs of sentences in, aligned chunks out: `.wa` of the SemEval tasks, or JSON lines.

Chunks are sets of adjacent words that together cover the sentence. In JSON they are spans, numbered as they stand in
the line. In a `.wa` file they are what its alignment part names: a line may join several chunks, so that a chunk ends
wherever the lines that name two adjacent words differ; they are numbered by their place in the sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from pathlib import Path

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import InputError, UsageError
from forestalign.formats.fields import Fields
from forestalign.formats.input_checks import checked_sentence, refuse_harmful
from forestalign.formats.ists import ChunkAlignment, ChunkPair, format_ists, unread_ists
from forestalign.formats.lines import Line, Unread, read_lines
from forestalign.formats.pairs import BadRecord
from forestalign.phrases.chunk_alignment import UNALIGNED, AlignedChunks
from forestalign.tokens import Sentence, Span

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
        return _checked(number, id, (alignment.source, alignment.target), (source, target), max_words)
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
        return _checked(line.number, id, words, (chunks[0], chunks[1]), max_words)
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


def _checked(
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
