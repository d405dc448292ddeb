"""Softmax-margin loss of the CRF and its gradient (section 3.1; Gimpel and Smith's cost-augmented likelihood).

    loss = log sum over all a of exp(score(a) + cost(a)) - log sum over right a of exp(score(a))
    gradient = expected features under the first sum - expected features under the second

`score(a)` is the sum of weight times feature value along the path; the cost is the Hamming cost of `gold`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray, IntArray
from forestalign.words.crf import lattice_kernels as kernels
from forestalign.words.crf.feature_space import FeatureSpace
from forestalign.words.crf.gold import Gold
from forestalign.words.crf.lattice import Marginals
from forestalign.words.crf.pair_features import DirectionFeatures, feature_counts, lattice_of


@dataclass(frozen=True, slots=True)
class RightPath:
    """The features of the only right path that a pair has: they are the same whatever the weights."""

    places: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class Example:
    """One training pair in one direction; `right_path` saves the second sum where it has one term."""

    features: DirectionFeatures
    gold: Gold
    weight: float = 1.0
    right_path: RightPath | None = None


def example_of(features: DirectionFeatures, gold: Gold, space: FeatureSpace, weight: float = 1.0) -> Example:
    """A pair with its features and gold, ready for the objective."""
    if not _has_one_path(gold):
        return Example(features, gold, weight)
    target_count = gold.right_segments.shape[2]
    steps = np.zeros((target_count + 2, target_count + 2))
    counts = feature_counts(features, space, _right(gold, np.zeros(1), np.zeros(1), steps))
    places = np.flatnonzero(counts)
    return Example(features, gold, weight, RightPath(places, counts[places]))


def _has_one_path(gold: Gold) -> bool:
    """Whether every source word lies in exactly one right segment or NULL."""
    covered = gold.right_nulls.astype(np.int64)
    per_length = gold.right_segments.sum(axis=(2, 3))
    for s in range(per_length.shape[1]):
        for k in range(s + 1):
            covered[k:] += per_length[: len(covered) - k, s]
    return bool((covered == 1).all())


def _right(gold: Gold, segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> Marginals:
    """The sum over the right paths."""
    return Marginals(
        *kernels.marginals(
            np.where(gold.right_segments, segments, -np.inf), np.where(gold.right_nulls, nulls, -np.inf), transitions
        )
    )


def loss_and_gradient(example: Example, space: FeatureSpace, weights: FloatArray) -> tuple[float, FloatArray]:
    """The softmax-margin loss of one example, and its gradient."""
    lattice = lattice_of(example.features, space, weights)
    gold, right_path = example.gold, example.right_path
    free = Marginals(
        *kernels.marginals(lattice.segments + gold.cost_segments, lattice.nulls + gold.cost_nulls, lattice.transitions)
    )
    if right_path is not None:
        gradient = feature_counts(example.features, space, free)
        gradient[right_path.places] -= right_path.values
        return free.log_partition - float(right_path.values @ weights[right_path.places]), gradient
    right = _right(gold, lattice.segments, lattice.nulls, lattice.transitions)
    difference = Marginals(
        free.log_partition - right.log_partition,
        free.segments - right.segments,
        free.nulls - right.nulls,
        free.transitions - right.transitions,
    )
    return difference.log_partition, feature_counts(example.features, space, difference)
