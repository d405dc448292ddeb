"""Tags and lemmas for training: from a parser, once, kept in a file of JSON lines so that no run parses twice.

A line is {"words": [...], "tags": [...], "lemmas": [...]}.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from forestalign.errors import InputError
from forestalign.outputs import naming
from forestalign.parsers import Parse
from forestalign.tokens import Sentence

Words = tuple[str, ...]
BATCH = 64
BEGIN = b'{"words": '  # of a line


class SentenceParser(Protocol):
    """What is needed of a parser."""

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence, in order."""
        ...


class AnalysisStore:
    """Analyses by the words of the sentence; grows its file as it learns new ones."""

    def __init__(self, path: str | Path | None = None):
        self._path = Path(path) if path else None
        self._known: dict[Words, tuple[Words, Words]] = {}
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def analyse(self, sentences: Iterable[Words], parser: SentenceParser) -> None:
        """Parse what is not known yet, short sentences first so that batches are even; failures keep no tags."""
        missing = sorted(set(sentences) - set(self._known), key=lambda words: (len(words), words))
        for begin in range(0, len(missing), BATCH):
            batch = missing[begin : begin + BATCH]
            parses = parser.parse([Sentence.from_words(words) for words in batch])
            for words, parse in zip(batch, parses, strict=True):
                self._known[words] = (parse.sentence.tags, parse.sentence.lemmas)
            self._append(batch)

    def sentence(self, words: Words) -> Sentence:
        """The sentence with its analysis, or plain where there is none."""
        sentence = Sentence.from_words(words)
        known = self._known.get(words)
        return sentence.with_analysis(*known) if known else sentence

    def _append(self, batch: list[Words]) -> None:
        if self._path is None:
            return
        with naming(self._path), self._path.open("a", encoding="utf-8") as file:
            for words in batch:
                tags, lemmas = self._known[words]
                line = {"words": words, "tags": tags, "lemmas": lemmas}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _read(self, path: Path) -> None:
        *lines, last = path.read_bytes().split(b"\n")
        is_torn = last.startswith(BEGIN) or BEGIN.startswith(last)  # by a run that was killed; it is parsed again
        for number, line in enumerate(lines if is_torn else [*lines, last], start=1):
            try:
                fields = json.loads(line)
                words, tags, lemmas = (tuple(map(str, fields[name])) for name in ("words", "tags", "lemmas"))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise InputError(path, number, f"expected an object with words, tags and lemmas: {error}") from error
            if not len(words) == len(tags) == len(lemmas):
                raise InputError(
                    path,
                    number,
                    f"words: {len(words)}, tags: {len(tags)}, lemmas: {len(lemmas)}; expected as many of each",
                )
            self._known[words] = (tags, lemmas)
        if is_torn and last:
            with naming(path):
                os.truncate(path, path.stat().st_size - len(last))
