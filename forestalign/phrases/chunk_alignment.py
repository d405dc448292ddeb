"""Chunks of two sentences aligned many to many: probabilities of all pairs, the best assignment, then groups.

A first model looks at two chunks alone (`span_pairs`), a second one also at how likely the pairs around them are. Pairs
are chosen so that the expected weight of right links is greatest, as the scorer of the task weighs them: a block of
a x b links counts min(a, b), so that a pair is worth min(a, b) (p - threshold). The best one-to-one assignment comes
first; then groups take in chunks that are left over, or each other, where that makes the whole worth more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.inputs import as_record, read_json, reading
from forestalign.machine import assignment_solver
from forestalign.phrases.evidence.logistic import (
    NamedWeights,
    Weighting,
    logistic,
    softmax,
)
from forestalign.phrases.evidence.span_pairs import NAMES, SYMMETRIC, SYMMETRIC_PART, SpanContext, Words, span_features

TYPES = ("EQUI", "OPPO", "SPE1", "SPE2", "SIMI", "REL")
UNALIGNED = "NOALI"
AROUND = (
    "log odds", "p", "best other, lesser", "best other, greater", "others, lesser", "others, greater",
    "pairs before and after", "pairs crossing", "pairs beside",
)  # fmt: skip
LOWEST_SCORE, HIGHEST_SCORE = 1.0, 5.0


@dataclass(frozen=True, slots=True)
class AlignedChunks:
    """Chunks of the source and of the target by their numbers; one side is empty for a chunk without a partner."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    relation: str
    score: float
    posterior: float


@dataclass(frozen=True, slots=True, eq=False)
class ChunkModel:
    """Learned weights: `pair` of two chunks, `around` with what surrounds them, `types` and `score` of aligned ones."""

    pair: Weighting
    around: Weighting
    types: tuple[Weighting, ...]  # in the order of TYPES
    score: Weighting  # of pairs that are not EQUI
    threshold: float

    def probabilities(self, features: FloatArray) -> FloatArray:
        """How likely each pair of chunks, in the order of the sentences, is aligned: [source, target]."""
        return logistic(self.around(around_features(self.pair(features[..., SYMMETRIC_PART]))))


def align_chunks(
    context: SpanContext, source: Sequence[Words], target: Sequence[Words], model: ChunkModel
) -> tuple[AlignedChunks, ...]:
    """The aligned groups of chunks and the chunks without a partner, by source, the target's own last."""
    order, other_order = _by_place(source), _by_place(target)
    chunks, others = [source[k] for k in order], [target[k] for k in other_order]
    p = model.probabilities(span_features(context, chunks, others))
    sizes = [_sizes(side.weight, spans) for side, spans in ((context.source, chunks), (context.target, others))]
    found = []
    for group in best_groups(p, sizes[0], sizes[1], model.threshold):
        left, right = (
            sorted(i for k in group.source for i in chunks[k]),
            sorted(j for k in group.target for j in others[k]),
        )
        relation, score = type_and_score(span_features(context, [left], [right])[0, 0], model)
        posterior = _posterior(group, p, sizes[0], sizes[1])
        numbers = tuple(sorted(order[k] for k in group.source)), tuple(sorted(other_order[k] for k in group.target))
        found.append(AlignedChunks(*numbers, relation, score, posterior))
    found += _unaligned(found, p, order, other_order)
    return tuple(sorted(found, key=lambda each: (not each.source, each.source, each.target)))


def around_features(log_odds: FloatArray) -> FloatArray:
    """The features `AROUND` of each cell: what the first model says of it, its row and column, and its neighbours."""
    p = logistic(log_odds)
    rows, columns = p.sum(axis=1, keepdims=True) - p, p.sum(axis=0, keepdims=True) - p
    best_row, best_column = _best_other(p), _best_other(p.T).T
    padded = np.pad(p, 1)
    layers = [
        log_odds,
        p,
        np.minimum(best_row, best_column),
        np.maximum(best_row, best_column),
        np.minimum(rows, columns),
        np.maximum(rows, columns),
        padded[:-2, :-2] + padded[2:, 2:],
        padded[:-2, 2:] + padded[2:, :-2],
        padded[1:-1, :-2] + padded[1:-1, 2:] + padded[:-2, 1:-1] + padded[2:, 1:-1],
    ]
    return np.stack(layers, axis=-1)


def _best_other(p: FloatArray) -> FloatArray:
    """The greatest other value of each cell's row."""
    if p.shape[1] < 2:
        return np.zeros_like(p)
    ordered = np.sort(p, axis=1)
    return np.where(p >= ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])


def _by_place(spans: Sequence[Words]) -> list[int]:
    return sorted(range(len(spans)), key=lambda k: spans[k][0])


def _sizes(weight: FloatArray, spans: Sequence[Words]) -> FloatArray:
    """Words of each chunk, punctuation left out; at least one, so that no chunk is worth nothing."""
    return np.array([max(1, sum(weight[i] > 0 for i in words)) for words in spans], np.float64)


# ---- from probabilities to groups ----


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """Numbers of chunks that are aligned all with all."""

    source: tuple[int, ...]
    target: tuple[int, ...]

    def __add__(self, other: Group) -> Group:
        return Group(tuple(sorted(self.source + other.source)), tuple(sorted(self.target + other.target)))


def best_groups(p: FloatArray, sizes: FloatArray, other_sizes: FloatArray, threshold: float) -> list[Group]:
    """Groups of chunks that are worth something, sorted; no chunk is in two."""
    worth = np.minimum.outer(sizes, other_sizes) * (p - threshold)
    rows, columns = assignment_solver()(-np.maximum(worth, 0.0))
    groups = [Group((int(i),), (int(j),)) for i, j in zip(rows, columns, strict=True) if worth[i, j] > 0]
    gains = p - threshold
    while True:
        best, change = 0.0, None
        for first, second in _mergers(groups, p.shape):
            value = group_worth(first + second, gains, sizes, other_sizes)
            gain = value - sum(group_worth(each, gains, sizes, other_sizes) for each in (first, second))
            if gain > best + 1e-9:
                best, change = gain, (first, second)
        if change is None:
            return sorted(groups)
        groups = [each for each in groups if each not in change] + [change[0] + change[1]]


def _mergers(groups: Sequence[Group], shape: tuple[int, ...]) -> list[tuple[Group, Group]]:
    """Every group with every chunk that has none, and with every other group."""
    taken = {i for group in groups for i in group.source}, {j for group in groups for j in group.target}
    single = [Group((i,), ()) for i in range(shape[0]) if i not in taken[0]]
    single += [Group((), (j,)) for j in range(shape[1]) if j not in taken[1]]
    pairs = [(group, other) for group in groups for other in single]
    return pairs + [(one, other) for k, one in enumerate(groups) for other in groups[k + 1 :]]


def group_worth(group: Group, gains: FloatArray, sizes: FloatArray, other_sizes: FloatArray) -> float:
    """Expected weight of the links of a block, less the threshold; a link weighs 1 / max(words, words)."""
    if not group.source or not group.target:
        return 0.0
    left, right = sizes[list(group.source)], other_sizes[list(group.target)]
    block = gains[np.ix_(group.source, group.target)]
    return float(left @ block @ right / max(left.sum(), right.sum()))


def _posterior(group: Group, p: FloatArray, sizes: FloatArray, other_sizes: FloatArray) -> float:
    left, right = sizes[list(group.source)], other_sizes[list(group.target)]
    return round(float(left @ p[np.ix_(group.source, group.target)] @ right / (left.sum() * right.sum())), 4)


def _unaligned(
    aligned: Sequence[AlignedChunks], p: FloatArray, order: Sequence[int], other_order: Sequence[int]
) -> list[AlignedChunks]:
    """Chunks without a partner; their posterior is that of having none."""
    taken = {i for each in aligned for i in each.source}, {j for each in aligned for j in each.target}
    alone = [
        AlignedChunks((k,), (), UNALIGNED, 0.0, round(1.0 - float(p[i].max(initial=0.0)), 4))
        for i, k in enumerate(order)
        if k not in taken[0]
    ]
    return alone + [
        AlignedChunks((), (k,), UNALIGNED, 0.0, round(1.0 - float(p[:, j].max(initial=0.0)), 4))
        for j, k in enumerate(other_order)
        if k not in taken[1]
    ]


# ---- types and scores ----


def type_and_score(features: FloatArray, model: ChunkModel) -> tuple[str, float]:
    """The likeliest type of two aligned spans, and their similarity from 1 to 5, a whole number."""
    shares = softmax(np.array([float(weighting(features)) for weighting in model.types]))
    relation = TYPES[int(shares.argmax())]
    if relation == "EQUI":
        return relation, HIGHEST_SCORE
    score = float(model.score(features[SYMMETRIC_PART]))
    return relation, float(np.clip(np.rint(score), LOWEST_SCORE, HIGHEST_SCORE - 1.0))


# ---- the file of weights ----


@lru_cache(maxsize=1)
def load_chunk_model() -> ChunkModel:
    """The shipped weights."""
    return read_chunk_model(grammar_root() / "chunk_model.json")


class _ChunkFile(msgspec.Struct):
    threshold: Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)]
    pair: NamedWeights
    around: NamedWeights
    types: dict[str, NamedWeights]
    score: NamedWeights


def read_chunk_model(path: Path) -> ChunkModel:
    """A file written by scripts/train_chunks.py."""
    with reading(path, "file of weights", GrammarError):
        own = as_record(read_json(path), _ChunkFile)
        if tuple(own.types) != TYPES:
            raise ValueError(f"types are {', '.join(own.types)}; expected weights of {', '.join(TYPES)}")
        types = tuple(own.types[name].over(NAMES) for name in TYPES)
        return ChunkModel(
            own.pair.over(SYMMETRIC), own.around.over(AROUND), types, own.score.over(SYMMETRIC), own.threshold
        )


def model_record(model: ChunkModel) -> dict[str, object]:
    """The model as its file holds it."""
    return {
        "version": 1,
        "threshold": model.threshold,
        "pair": model.pair.record(SYMMETRIC),
        "around": model.around.record(AROUND),
        "types": {name: weighting.record(NAMES) for name, weighting in zip(TYPES, model.types, strict=True)},
        "score": model.score.record(SYMMETRIC),
    }
