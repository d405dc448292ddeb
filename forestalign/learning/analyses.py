"""Analyses of sentences, kept in a file so that no run parses twice.

A file of arrays: the sentences with tags, lemmas, dependencies and names as JSON, and the vectors of all their words
below each other, those by the middle layers in 16 bits. It knows which parser made it, and starts anew when the shipped
one has changed. A sentence that has no parse has no analysis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from forestalign.arrays import AnyArray, Float32Array
from forestalign.config import DEFAULT_CONFIG
from forestalign.dependencies import Dependencies
from forestalign.errors import UsageError
from forestalign.grammar import parser_hash
from forestalign.inputs import read_arrays, reading
from forestalign.outputs import followed, naming
from forestalign.own_files import replaced
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
from forestalign.words import Analysis, Entity, analyse_parse

Words = tuple[str, ...]
TOGETHER = 1024  # sentences that are parsed until the file is written again
LARGEST = 1 << 34  # bytes of all arrays; a sentence has some ten thousand


class _Record(msgspec.Struct, frozen=True):
    """What is kept of a sentence besides its vectors."""

    words: Words
    tags: Words
    lemmas: Words
    heads: tuple[int, ...]
    relations: Words
    entities: tuple[tuple[int, int, str], ...]
    has_vectors: bool
    has_middle: bool


def analyse_all(sentences: Iterable[Words], path: Path | None) -> dict[Words, Analysis]:
    """The analysis of every sentence (and of others in the file); what is not in the file yet is parsed and added."""
    known = read_analyses(path) if path is not None and path.exists() else {}
    missing = sorted(set(sentences) - known.keys(), key=lambda words: (len(words), words))
    parser = load_parser(DEFAULT_CONFIG.replace(nbest=1)) if missing else None
    for begin in range(0, len(missing), TOGETHER):
        assert parser is not None
        for parse in parser.parse([Sentence.from_words(words) for words in missing[begin : begin + TOGETHER]]):
            if not parse.error:
                middle = _as(np.float16, parse.sentence.context_vectors)
                sentence = replace(parse.sentence, context_vectors=_as(np.float32, middle))
                known[sentence.words] = replace(analyse_parse(parse), sentence=sentence)
        if path is not None:
            write_analyses(path, known)
    return known


def _as(kind: type[np.floating], rows: AnyArray | None) -> AnyArray | None:
    return None if rows is None or not rows.size else rows.astype(kind)


def write_analyses(path: Path, known: dict[Words, Analysis]) -> None:
    """The file with all that is known takes the place of the one before."""
    records = [_record(words, analysis) for words, analysis in known.items()]
    sentences = [each.sentence for each in known.values()]
    with naming(path), replaced(followed(path)) as file:
        np.savez(
            file,
            parser=np.array(parser_hash()),
            records=np.frombuffer(msgspec.json.encode(records), dtype=np.uint8),
            vectors=_below([each.vectors for each in sentences], np.float32),
            middle=_below([each.context_vectors for each in sentences], np.float16),
        )


def _record(words: Words, analysis: Analysis) -> _Record:
    sentence, dependencies = analysis.sentence, analysis.dependencies
    return _Record(
        words,
        sentence.tags,
        sentence.lemmas,
        dependencies.heads,
        dependencies.relations,
        tuple((entity.begin, entity.end, entity.type) for entity in analysis.entities),
        sentence.vectors is not None,
        sentence.context_vectors is not None,
    )


def _below(parts: Sequence[Float32Array | None], kind: type[np.floating]) -> AnyArray:
    rows = [part for part in parts if part is not None]
    return np.concatenate(rows).astype(kind, copy=False) if rows else np.zeros((0, 0), dtype=kind)


def read_analyses(path: Path) -> dict[Words, Analysis]:
    """What is kept of the present parser; nothing of an earlier one."""
    with reading(path, "file of kept analyses (remove it to start anew)"):
        with path.open("rb") as file:  # a device would be read up to the bound
            if file.read(2) != b"PK":
                raise ValueError("it holds no named arrays")
        arrays = read_arrays(path, LARGEST)
        if str(arrays["parser"]) != parser_hash():
            return {}
        records = msgspec.json.decode(arrays["records"].tobytes(), type=tuple[_Record, ...])
        vectors, middle = _Rows(arrays["vectors"]), _Rows(arrays["middle"])
        try:
            return {each.words: _analysis(each, vectors, middle) for each in records}
        except UsageError as error:
            raise ValueError(str(error)) from error


def _analysis(record: _Record, vectors: _Rows, middle: _Rows) -> Analysis:
    sentence, count = Sentence.from_words(record.words).with_analysis(record.tags, record.lemmas), len(record.words)
    sentence = replace(
        sentence,
        vectors=vectors.take(count) if record.has_vectors else None,
        context_vectors=middle.take(count) if record.has_middle else None,
    )
    entities = tuple(Entity(*each) for each in record.entities)
    return Analysis(sentence, Dependencies(record.heads, record.relations), entities)


@dataclass(slots=True)
class _Rows:
    """Rows that are taken from the top, a sentence at a time."""

    rows: AnyArray
    begin: int = 0

    def take(self, count: int) -> Float32Array:
        self.begin += count
        if self.begin > len(self.rows):
            raise ValueError(f"there are vectors of {len(self.rows)} words; expected more")
        taken: Float32Array = self.rows[self.begin - count : self.begin].astype(np.float32, copy=False)
        return taken
