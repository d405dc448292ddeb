"""The M step: the weights that make the aligned pairs of the E step most likely.

    L(w) = sum over aligned pairs of log Pr(τt | τs) + sum over null phrases of log Pr(τ∅ | τ) - λ |w|²

An event is one phrase with what it was aligned to; its candidates are rows of features, and the normaliser is the same
as in decoding: candidates of one group count once, by the best of them. The gradient is observed minus expected
features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from forestalign.arrays import Float32Array, FloatArray, Int32Array, IntArray
from forestalign.machine import with_one_thread
from forestalign.phrases.evidence.logistic import minimise
from forestalign.phrases.scoring.model import PhraseModel
from forestalign.phrases.scoring.pair_features import CATEGORY_PAIRS, DENSE, PairFeatures
from forestalign.phrases.search.hypotheses import Derivation

Number = TypeVar("Number", np.int32, np.int64)
CATEGORY_COUNT = len(CATEGORY_PAIRS)
# where the weights of each kind stand in one vector
DENSE_PART = slice(0, len(DENSE))
CATEGORY_PART = slice(DENSE_PART.stop, DENSE_PART.stop + CATEGORY_COUNT)
LEXICAL_PART = slice(CATEGORY_PART.stop, None)


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Candidates of all events, rows sorted by event and group; `groups` and `starts` mark where each begins."""

    dense: Float32Array  # [rows, len(DENSE)]
    category: Int32Array
    lexical: Int32Array  # -1 where there is none
    groups: IntArray  # first row of each group
    starts: IntArray  # first group of each event
    observed: IntArray  # row of each event's aligned candidate

    def __len__(self) -> int:
        return len(self.observed)


def collect_events(
    pairs: PairFeatures,
    alignment: Derivation,
    direction: str = "directional",
) -> Events:
    """The events of one aligned pair: source phrases with their targets or null, target phrases with null.

    With direction "symmetric", where log Pr is the mean of both directions, also target phrases with their sources.
    """
    source_count, target_count = pairs.source.count, pairs.target.count
    forward = {pair.source: pair.target for pair in alignment.pairs}
    sources = [*forward, *alignment.source_nulls]
    answers = [*forward.values(), *[target_count] * len(alignment.source_nulls)]
    targets = list(alignment.target_nulls)
    parts = []
    if sources:
        cells = np.stack(np.meshgrid(sources, np.arange(target_count + 1), indexing="ij"), -1)
        parts.append(_block(pairs, cells, np.array(answers), _candidate_keys(pairs.target.group)))
    if targets:
        cells = np.stack(np.meshgrid(np.arange(source_count + 1), targets, indexing="ij"), -1).swapaxes(0, 1)
        keys = _candidate_keys(pairs.source.group)
        parts.append(_block(pairs, cells, np.full(len(targets), source_count), keys))
    if forward and direction == "symmetric":
        back = list(forward.values())
        cells = np.stack(np.meshgrid(np.arange(source_count + 1), back, indexing="ij"), -1).swapaxes(0, 1)
        parts.append(_block(pairs, cells, np.array(list(forward)), _candidate_keys(pairs.source.group)))
    return join_events(parts)


def _candidate_keys(group: Int32Array) -> IntArray:
    """Candidates with the same key count once; the null phrase is the last."""
    return np.append(group, group.max(initial=-1) + 1).astype(np.int64)


def _block(pairs: PairFeatures, cells: IntArray, answers: IntArray, keys: IntArray) -> Events:
    """Events with the same candidates: cells is [events, candidates, 2], answers are positions among candidates."""
    event_count, width = cells.shape[:2]
    order = np.argsort(keys, kind="stable")
    firsts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    flat = cells[:, order].reshape(-1, 2)
    position = np.empty(width, np.int64)
    position[order] = np.arange(width)
    bases = np.arange(event_count) * width
    return Events(
        dense=pairs.dense[flat[:, 0], flat[:, 1]],
        category=pairs.category[flat[:, 0], flat[:, 1]],
        lexical=pairs.lexical[flat[:, 0], flat[:, 1]],
        groups=(bases[:, None] + firsts[None, :]).ravel(),
        starts=np.arange(event_count) * len(firsts),
        observed=bases + position[answers],
    )


def join_events(parts: Sequence[Events]) -> Events:
    """All events of several pairs as one."""
    rows = np.cumsum([0, *(len(part.category) for part in parts)])
    groups = np.cumsum([0, *(len(part.groups) for part in parts)])
    return Events(
        dense=np.concatenate([part.dense for part in parts]) if parts else np.zeros((0, len(DENSE)), np.float32),
        category=_join_arrays([part.category for part in parts], np.int32),
        lexical=_join_arrays([part.lexical for part in parts], np.int32),
        groups=_join_arrays([part.groups + row for part, row in zip(parts, rows, strict=False)], np.int64),
        starts=_join_arrays([part.starts + first for part, first in zip(parts, groups, strict=False)], np.int64),
        observed=_join_arrays([part.observed + row for part, row in zip(parts, rows, strict=False)], np.int64),
    )


def _join_arrays(arrays: Sequence[npt.NDArray[Number]], kind: type[Number]) -> npt.NDArray[Number]:
    return np.concatenate(arrays) if arrays else np.zeros(0, kind)


def weights_of(model: PhraseModel) -> FloatArray:
    """All weights in one vector: dense, category, lexical."""
    return np.concatenate([model.dense, model.category, model.lexical])


def with_weights(model: PhraseModel, weights: FloatArray) -> PhraseModel:
    """The model with other weights, from one vector: dense, category, lexical."""
    return PhraseModel(
        model.features,
        weights[DENSE_PART].copy(),
        weights[CATEGORY_PART].copy(),
        model.lexical_keys,
        weights[LEXICAL_PART].copy(),
    )


@with_one_thread
def objective(weights: FloatArray, events: Events, l2: float) -> tuple[float, FloatArray]:
    """L(w) and its gradient."""
    lexical = np.append(weights[LEXICAL_PART], 0.0)
    potentials = events.dense @ weights[DENSE_PART] + weights[CATEGORY_PART][events.category]
    potentials += lexical[events.lexical]
    best = np.maximum.reduceat(potentials, events.groups)
    rows = _best_rows(potentials, best, events.groups)
    tops = np.maximum.reduceat(best, events.starts)
    sizes = np.diff(np.append(events.starts, len(best)))
    masses = np.exp(best - np.repeat(tops, sizes))
    totals = np.add.reduceat(masses, events.starts)
    value = float(potentials[events.observed].sum() - (tops + np.log(totals)).sum()) - l2 * float(weights @ weights)
    expected = masses / np.repeat(totals, sizes)
    chosen = np.concatenate([events.observed, rows])
    shares = np.concatenate([np.ones(len(events)), -expected])
    gradient = -2.0 * l2 * weights
    gradient[DENSE_PART] += shares @ events.dense[chosen]
    gradient[CATEGORY_PART] += np.bincount(events.category[chosen], shares, CATEGORY_COUNT)
    if len(weights[LEXICAL_PART]):
        # index -1 (no lexical feature) falls into the extra last place
        slots = events.lexical[chosen] % len(lexical)
        gradient[LEXICAL_PART] += np.bincount(slots, shares, len(lexical))[:-1]
    return value, gradient


def _best_rows(potentials: FloatArray, best: FloatArray, groups: IntArray) -> IntArray:
    """The first row of each group that has the group's best potential."""
    sizes = np.diff(np.append(groups, len(potentials)))
    is_best = np.flatnonzero(potentials == np.repeat(best, sizes))
    owner = np.repeat(np.arange(len(groups)), sizes)[is_best]
    _, first = np.unique(owner, return_index=True)
    rows: IntArray = is_best[first]
    return rows


@with_one_thread
def maximise(weights: FloatArray, events: Events, l2: float, iterations: int) -> FloatArray:
    """The maximising weights, by L-BFGS from where they are."""

    def negated(w: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = objective(w, events, l2)
        return -value, -gradient

    return minimise(negated, weights, iterations)
