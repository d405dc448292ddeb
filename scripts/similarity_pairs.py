"""The pairs that the similarity of sentences is learned from: aligned once, with features and vectors, in a cache."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import forestalign
from forestalign.aligner import load
from forestalign.arrays import FloatArray
from forestalign.config import AlignConfig
from forestalign.errors import ForestAlignError
from forestalign.formats.codec import from_json
from forestalign.lexicon import load_vectors
from forestalign.mining.edits import edits_of
from forestalign.mining.sentence_vectors import pooled_vector
from forestalign.mining.similarity_features import alignment_features
from forestalign.outputs import whole_file
from forestalign.parsers import load_parser
from forestalign.tokens import tokenize

TOGETHER = 1024  # sentences that the parser gets at once
LINES = 50  # results that a process gets at once
# the code that makes features of results
MAKERS = ("phrases/result/*.py", "mining/edits.py", "mining/edit_[mus]*.py", "mining/*_features.py")


@dataclass(frozen=True, slots=True)
class PairCache:
    """Where results, features and vectors are kept; `again` makes them anew; `most` pairs of a set, evenly taken."""

    folder: Path
    jobs: int = 1
    again: bool = False
    most: int = 0


@dataclass(frozen=True, slots=True)
class PairSet:
    """Features and pooled vectors of the pairs of one set that could be aligned, and what people said about them."""

    features: FloatArray  # [pairs, features without sentence vectors]
    names: tuple[str, ...]
    pooled: FloatArray  # [pairs, 2, size]
    gold: FloatArray


def read_records(path: Path) -> list[dict[str, Any]]:
    """The lines of a set."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_set(path: Path, cache: PairCache, part: slice = slice(None), name: str = "") -> PairSet:
    """The pairs of a part of a file, aligned now or earlier; ids are their positions in the file."""
    name = name or path.name.removesuffix(".jsonl.gz")
    results, records = cache.folder / f"{name}.results.jsonl", read_records(path)
    if cache.again or not results.is_file():
        numbers = list(range(len(records)))[part]
        step = max(1, len(numbers) // cache.most) if cache.most else 1
        _align(records, numbers[::step], results, cache.jobs)
    names, ids, features = _features(results, cache)
    pooled = cache.folder / f"{name}.pooled.npy"
    if not pooled.is_file() or len(np.load(pooled, mmap_mode="r")) != len(ids):
        texts = [records[id][side] for id in ids for side in ("source", "target")]
        np.save(pooled, pooled_vectors(texts)[0].astype(np.float16).reshape(len(ids), 2, -1))
    gold = [float(records[id].get("score", records[id].get("paraphrase", 0))) for id in ids]
    return PairSet(features, names, np.load(pooled).astype(np.float64), np.array(gold))


def _align(records: Sequence[dict[str, Any]], numbers: Sequence[int], results: Path, jobs: int) -> None:
    pairs = [(records[number]["source"], records[number]["target"]) for number in numbers]
    with whole_file(results) as file:
        for number, found in zip(numbers, load().align_many(pairs, jobs, errors="yield"), strict=True):
            if isinstance(found, ForestAlignError):
                print(found)
            else:
                file.write(replace(found, id=str(number)).to_json().encode() + b"\n")


def _features(results: Path, cache: PairCache) -> tuple[tuple[str, ...], list[int], FloatArray]:
    """Names, ids and rows of all results; kept for as long as the results and the code that makes them are the same."""
    kept, state = results.with_suffix(".features.npz"), _state(results)
    if kept.is_file():
        with np.load(kept) as arrays:
            if str(arrays["state"]) == state:
                return tuple(map(str, arrays["names"])), arrays["ids"].tolist(), arrays["rows"].astype(np.float64)
    lines = results.read_text(encoding="utf-8").splitlines()
    with ProcessPoolExecutor(cache.jobs) as processes:
        found = list(processes.map(_row, lines, chunksize=LINES))
    names, ids = tuple(found[0][1]), [id for id, _ in found]
    rows = np.array([list(features.values()) for _, features in found])
    np.savez(kept, names=np.array(names), ids=np.array(ids), rows=rows, state=np.array(state))
    return names, ids, rows


def _row(line: str) -> tuple[int, dict[str, float]]:
    result = from_json(line)
    return int(result.id), alignment_features(result, edits_of(result), load_vectors())


def _state(results: Path) -> str:
    root = Path(forestalign.__file__).parent
    code = [path.read_bytes() for pattern in MAKERS for path in sorted(root.glob(pattern))]
    return hashlib.sha256(b"\n".join([results.read_bytes(), *code])).hexdigest()


def pooled_vectors(texts: Sequence[str]) -> tuple[FloatArray, list[str]]:
    """The pooled vectors of sentences, and those sentences that have one."""
    parser, vectors, rows, kept = load_parser(AlignConfig(nbest=1)), load_vectors(), [], []
    for begin in range(0, len(texts), TOGETHER):
        some = texts[begin : begin + TOGETHER]
        parses = parser.parse([tokenize(text) for text in some], forests=False)
        for text, parse in zip(some, parses, strict=True):
            row = pooled_vector(parse.sentence, vectors)
            if row is not None:
                rows.append(row)
                kept.append(text)
    return np.array(rows), kept
