"""Gold word links with analysed sentences, to score, ablate and train the word aligner.

Parsing takes longer than everything else, so analyses may be kept in a file between runs. The file knows which parser
made them, and starts anew when the shipped one has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.arrays import AnyArray, Float32Array
from forestalign.config import DEFAULT_CONFIG
from forestalign.dependencies import Dependencies
from forestalign.errors import UsageError
from forestalign.evaluation.word_scores import GoldLinks, score_words
from forestalign.formats import read_gold_links
from forestalign.grammar import grammar_root
from forestalign.inputs import parse_json, read_arrays, reading
from forestalign.own_files import replaced
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
from forestalign.words import Analysis, Entity, analyse_parse

Words = tuple[str, ...]
Links = frozenset[tuple[int, int]]
PARSED_TOGETHER = 256  # sentences
HAS = ("has_vectors", "has_middle")
LARGEST_KEPT = 1 << 34  # bytes of all arrays; a sentence has some ten thousand


@dataclass(frozen=True, slots=True)
class GoldSet:
    """A file of gold links, analysed."""

    name: str
    weight: float
    pairs: tuple[tuple[Analysis, Analysis], ...]
    gold: tuple[GoldLinks, ...]


def read_sets(files: Sequence[str], cache: Path | None) -> list[GoldSet]:
    """All files (FILE[:WEIGHT[:PART]]), their sentences parsed; the tokens of the majority vote where they differ."""
    named, golds = [], []
    for text in files:
        path, weight, part = _file_weight_part(text)
        named.append((path, weight))
        golds.append([pair.gold for pair in read_gold_links(path)][part])
    words = {words for gold in golds for pair in gold for words in (pair.source, pair.target)}
    analyses = analyse_all(sorted(words), cache)
    return [
        GoldSet(
            path.name.split(".jsonl")[0],
            weight,
            tuple((analyses[pair.source], analyses[pair.target]) for pair in gold),
            tuple(
                GoldLinks(str(number), pair.source, pair.target, frozenset(pair.sure), frozenset(pair.possible))
                for number, pair in enumerate(gold)
            ),
        )
        for (path, weight), gold in zip(named, golds, strict=True)
    ]


def every(gold_set: GoldSet, step: int, are_left_out: bool) -> GoldSet:
    """Every so many-th pair of a set, or all the others."""
    numbers = [number for number in range(len(gold_set.pairs)) if (number % step == step - 1) == are_left_out]
    return replace(
        gold_set,
        pairs=tuple(gold_set.pairs[number] for number in numbers),
        gold=tuple(gold_set.gold[number] for number in numbers),
    )


def _file_weight_part(text: str) -> tuple[Path, float, slice]:
    name, weight, part, *more = [*text.split(":"), "", ""]
    begin, _, end = part.rpartition("-")
    try:
        if any(more):
            raise ValueError(text)
        return Path(name), float(weight or 1), slice(int(begin or 0), int(end) if end else None)
    except ValueError as error:
        raise UsageError(
            f"gold {text!r}; expected FILE, FILE:WEIGHT, FILE:WEIGHT:N or FILE:WEIGHT:BEGIN-END"
        ) from error


def macro_line(gold: Sequence[GoldLinks], system: Sequence[Links]) -> str:
    """P, R, F1 and E in per cent, macro-averaged over pairs, sure links."""
    scores = {score.name: score.value for score in score_words(gold, system).scores()}
    return "  ".join(f"{name} {100 * scores[name]:5.2f}" for name in ("P", "R", "F1", "E"))


# ---- analyses, and the file that keeps them ----


def analyse_all(sentences: Sequence[Words], cache: Path | None) -> dict[Words, Analysis]:
    """The analysis of every sentence (and of others in the file); what is not in the file yet is parsed and added."""
    known = read_analyses(cache) if cache is not None and cache.exists() else {}
    missing = [words for words in sentences if words not in known]
    if missing:
        parser = load_parser(DEFAULT_CONFIG.replace(nbest=1))
        for begin in range(0, len(missing), PARSED_TOGETHER):
            block = missing[begin : begin + PARSED_TOGETHER]
            for words, parse in zip(block, parser.parse([Sentence.from_words(w) for w in block]), strict=True):
                known[words] = analyse_parse(parse)
        if cache is not None:
            write_analyses(cache, known)
    return known


def write_analyses(path: Path, known: dict[Words, Analysis]) -> None:
    """Write a .npz file: the sentences as JSON, vectors of all their words below each other, `middle` in 16 bits."""
    records = [_record(words, analysis) for words, analysis in known.items()]
    sentences = [each.sentence for each in known.values()]
    with replaced(path) as file:
        np.savez(
            file,
            parser=np.array(parser_hash()),
            records=np.frombuffer(json.dumps(records).encode(), dtype=np.uint8),
            vectors=_below([each.vectors for each in sentences], np.float32),
            middle=_below([each.context_vectors for each in sentences], np.float16),
        )


def _below(parts: Sequence[Float32Array | None], kind: type[np.floating[Any]]) -> AnyArray:
    rows = [part for part in parts if part is not None]
    return np.concatenate(rows).astype(kind, copy=False) if rows else np.zeros((0, 0), dtype=kind)


def read_analyses(path: Path) -> dict[Words, Analysis]:
    """What is kept of the present parser; nothing of an earlier one."""
    with reading(path, "file of kept analyses (remove it to start anew)"):
        arrays = read_arrays(path, LARGEST_KEPT)
        if str(arrays["parser"]) != parser_hash():
            return {}
        records = parse_json(arrays["records"].tobytes())
        return _known(records, _Rows(arrays["vectors"]), _Rows(arrays["middle"]))


def _known(records: Sequence[dict[str, Any]], vectors: _Rows, middle: _Rows) -> dict[Words, Analysis]:
    known = {}
    for record in records:
        count = len(record["words"])
        taken = (rows.take(count) if record[has] else None for has, rows in zip(HAS, (vectors, middle), strict=True))
        known[tuple(record["words"])] = _analysis(record, *taken)
    return known


@dataclass(slots=True)
class _Rows:
    """Rows that are taken from the top, a sentence at a time."""

    rows: AnyArray
    begin: int = 0

    def take(self, count: int) -> Float32Array:
        self.begin += count
        taken: Float32Array = self.rows[self.begin - count : self.begin].astype(np.float32, copy=False)
        return taken


def _record(words: Words, analysis: Analysis) -> dict[str, Any]:
    return {
        "words": words,
        "tags": analysis.sentence.tags,
        "lemmas": analysis.sentence.lemmas,
        "heads": analysis.dependencies.heads,
        "relations": analysis.dependencies.relations,
        "entities": [(entity.begin, entity.end, entity.type) for entity in analysis.entities],
        **{
            has: rows is not None
            for has, rows in zip(HAS, (analysis.sentence.vectors, analysis.sentence.context_vectors), strict=True)
        },
    }


def _analysis(record: dict[str, Any], vectors: Float32Array | None, middle: Float32Array | None) -> Analysis:
    sentence = Sentence.from_words(record["words"]).with_analysis(record["tags"], record["lemmas"])
    dependencies = Dependencies(tuple(record["heads"]), tuple(record["relations"]))
    entities = tuple(Entity(*each) for each in record["entities"])
    return Analysis(replace(sentence, vectors=vectors, context_vectors=middle), dependencies, entities)


def parser_hash() -> str:
    """A hash of the shipped parser's weights."""
    digest = hashlib.sha256()
    for path in sorted((grammar_root() / "parser").glob("*.onnx")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
