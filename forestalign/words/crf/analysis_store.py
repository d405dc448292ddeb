"""Analyses for training: from a parser, once, kept in a file of JSON lines so that no run parses twice.

A line is {"words": [...], "tags": [...], "lemmas": [...]}. Where the encoder's vectors are asked for it goes on with
"encoder", which says whose they are, and "middle", the vectors in 16 bits (about 1 kB a word), or null where the
parser gave none. A sentence whose line has no vectors, or those of another encoder, is parsed again, and the new line
is added at the end. Where vectors are not asked for they are neither read nor written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from forestalign.arrays import Float16Array
from forestalign.errors import InputError
from forestalign.inputs import parse_json, reading
from forestalign.outputs import followed, naming
from forestalign.own_files import open_regular
from forestalign.parsers import Parse
from forestalign.tokens import Sentence
from forestalign.words.word_vectors import packed, unpacked

Words = tuple[str, ...]
BATCH = 64
LONGEST_LINE = 1 << 24  # bytes; a sentence of 300 words with vectors has some hundred thousand
LARGEST = 1 << 32  # bytes of a file; a hundred thousand sentences of 30 words with vectors
BEGIN = b'{"words": '  # of a line


class SentenceParser(Protocol):
    """What is needed of a parser."""

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence, in order."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The analysis of a sentence."""

    tags: Words
    lemmas: Words
    encoder: str = ""  # whose vectors; empty: they were not asked for
    context_vectors: Float16Array | None = None


class AnalysisStore:
    """Analyses by the words of the sentence; grows its file as it learns new ones.

    `encoder` is a name for the encoder whose vectors are kept, such as `parser_hash()`; without it none are.
    """

    def __init__(self, path: str | Path | None = None, encoder: str = ""):
        self._path = followed(path) if path else None
        self._encoder = encoder
        self._known: dict[Words, _Known] = {}
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def analyse(self, sentences: Iterable[Words], parser: SentenceParser) -> None:
        """Parse what is not known yet, short sentences first so that batches are even; failures keep no tags."""
        complete = {words for words, known in self._known.items() if known.encoder == self._encoder}
        missing = sorted(set(sentences) - complete, key=lambda words: (len(words), words))
        for begin in range(0, len(missing), BATCH):
            batch = missing[begin : begin + BATCH]
            parses = parser.parse([Sentence.from_words(words) for words in batch])
            for words, parse in zip(batch, parses, strict=True):
                self._known[words] = self._analysis(parse.sentence)
            self._append(batch)

    def sentence(self, words: Words) -> Sentence:
        """The sentence with its analysis, or plain where there is none."""
        sentence = Sentence.from_words(words)
        known = self._known.get(words)
        if known is None:
            return sentence
        middle = None if known.context_vectors is None else known.context_vectors.astype(np.float32)
        return replace(sentence.with_analysis(known.tags, known.lemmas), context_vectors=middle)

    def _analysis(self, sentence: Sentence) -> _Known:
        rows = sentence.context_vectors if self._encoder else None
        middle = None if rows is None or not rows.size else rows.astype(np.float16)
        return _Known(sentence.tags, sentence.lemmas, self._encoder, middle)

    def _append(self, batch: list[Words]) -> None:
        if self._path is None:
            return
        with naming(self._path):
            descriptor = open_regular(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.writelines(_line(words, self._known[words]) for words in batch)

    def _read(self, path: Path) -> None:
        with reading(path, "file of analyses"), path.open("rb") as file:
            if (size := os.fstat(file.fileno()).st_size) > LARGEST:
                raise InputError(path, None, f"it has {size:,} bytes; expected analyses of at most {LARGEST:,}")
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), start=1):
                if len(line) > LONGEST_LINE:
                    raise InputError(path, number, f"the line has more than {LONGEST_LINE:,} bytes; expected analyses")
                if not line.endswith(b"\n") and (line.startswith(BEGIN) or BEGIN.startswith(line)):
                    break  # torn by a run that was killed; it is parsed again
                words, known = self._parsed(path, number, line)
                # a line with vectors of our encoder counts more than any other
                if known.encoder == self._encoder or words not in self._known:
                    self._known[words] = known
            else:
                return
        with naming(path):
            os.truncate(path, path.stat().st_size - len(line))

    def _parsed(self, path: Path, number: int, line: bytes) -> tuple[Words, _Known]:
        try:
            fields = parse_json(line)
            words, tags, lemmas = (tuple(map(str, fields[name])) for name in ("words", "tags", "lemmas"))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(path, number, f"expected an object with words, tags and lemmas: {error}") from error
        if not len(words) == len(tags) == len(lemmas):
            raise InputError(
                path,
                number,
                f"words: {len(words)}, tags: {len(tags)}, lemmas: {len(lemmas)}; expected as many of each",
            )
        if not self._encoder or fields.get("encoder") != self._encoder:
            return words, _Known(tags, lemmas)
        try:
            return words, _Known(tags, lemmas, self._encoder, _vectors(fields["middle"], len(words)))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(path, number, f"expected vectors of {len(words)} words in 16 bits: {error}") from error


def _vectors(text: str | None, word_count: int) -> Float16Array | None:
    return None if text is None else unpacked(text, word_count)


def _line(words: Words, known: _Known) -> str:
    line: dict[str, Any] = {"words": words, "tags": known.tags, "lemmas": known.lemmas}
    if known.encoder:
        line |= {
            "encoder": known.encoder,
            "middle": None if known.context_vectors is None else packed(known.context_vectors),
        }
    return json.dumps(line, ensure_ascii=False) + "\n"
