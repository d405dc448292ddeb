"""Softmax-margin loss of the CRF and its gradient (section 3.1; Gimpel and Smith's cost-augmented likelihood).

    loss = log sum over all a of exp(score(a) + cost(a)) - log sum over right a of exp(score(a))
    gradient = expected features under the first sum - expected features under the second

`score(a)` is the sum of weight times feature value along the path; the cost is the Hamming cost of `gold`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestalign.crf import _kernels
from forestalign.crf.gold import Gold
from forestalign.crf.lattice import Array, Marginals
from forestalign.crf.pair_features import PairFeatures, feature_counts, lattice_of
from forestalign.crf.space import FeatureSpace


@dataclass(frozen=True, slots=True)
class Example:
    """One training pair in one direction."""

    features: PairFeatures
    gold: Gold
    weight: float = 1.0


def loss_and_gradient(example: Example, space: FeatureSpace, weights: Array) -> tuple[float, Array]:
    lattice = lattice_of(example.features, space, weights)
    gold = example.gold
    free = Marginals(
        *_kernels.marginals(lattice.segments + gold.cost_segments, lattice.nulls + gold.cost_nulls, lattice.transitions)
    )
    right = Marginals(
        *_kernels.marginals(
            np.where(gold.right_segments, lattice.segments, -np.inf),
            np.where(gold.right_nulls, lattice.nulls, -np.inf),
            lattice.transitions,
        )
    )
    difference = Marginals(
        free.log_partition - right.log_partition,
        free.segments - right.segments,
        free.nulls - right.nulls,
        free.transitions - right.transitions,
    )
    return difference.log_partition, feature_counts(example.features, space, difference)
