"""Unlabelled sentences and pairs from all kinds of files: treebanks, gold links, paraphrases."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from encoder_training.treebank import FINAL_PUNCTUATION, read_trees
from forestalign.parsers.encoder_words import plain_words
from forestalign.tokens import tokenize

Words = tuple[str, ...]
BARE = 8  # of so many sentences one loses its final punctuation


class Source(NamedTuple):
    """A file, and how many of its trees or lines are taken; none for all."""

    path: Path
    most: int | None = None

    @classmethod
    def parse(cls, text: str) -> Source:
        """FILE or FILE:N."""
        name, _, number = text.rpartition(":")
        return cls(Path(name), int(number)) if name and number.isdigit() else cls(Path(text))


def read_pairs(
    sources: Iterable[Source], max_words: int, is_wanted: Callable[[dict[str, Any]], bool] = lambda record: True
) -> list[tuple[Words, Words]]:
    """The pairs of JSON lines with `source` and `target`, as words or as text, each pair once."""
    pairs = dict.fromkeys(
        (_words(record["source"]), _words(record["target"]))
        for path, most in sources
        for record in islice(_lines(path), most)
        if is_wanted(record)
    )
    return [pair for pair in pairs if all(0 < len(side) <= max_words for side in pair)]


def read_sentences(sources: Iterable[Source], max_words: int) -> list[Words]:
    """The sentences of treebanks (`.mrg`) and of both sides of pairs, each once, some without final punctuation."""
    found: dict[Words, None] = {}
    for source in sources:
        if ".mrg" in source.path.name:
            trees = read_trees(str(source.path))[: source.most]
            found |= dict.fromkeys(tuple(plain_words(tree.leaves())) for tree in trees)
        else:
            found |= dict.fromkeys(side for pair in read_pairs([source], max_words) for side in pair)
    bare = (_bare(words) if number % BARE == 0 else words for number, words in enumerate(found))
    return [words for words in dict.fromkeys(bare) if len(words) <= max_words]


def _bare(words: Words) -> Words:
    return words[:-1] if len(words) > 2 and words[-1] in FINAL_PUNCTUATION else words


def _words(text: Any) -> Words:
    return tuple(plain_words(tokenize(text).words if isinstance(text, str) else text))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _record(line, f"{path}:{number}")


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise SystemExit(f"{place}: {error}; expected JSON") from error
    if not isinstance(record, dict) or not {"source", "target"} <= record.keys():
        raise SystemExit(f"{place}: {line.strip()[:60]!r}; expected `source` and `target`")
    return record
