"""Learning the weights of `rerank`: the least risk of trees, over the forests that it chooses from.

A tree gains one for each bracket of the gold tree and loses one for each other. The objective is the expected gain of a
tree drawn by exp(score), which is a sum over edges:

    G(w) = sum over e of p(e) g(e)        dG/dw = cov(g(T), f(T)) = d/dt E[f] under scores + t g, at t = 0

so that two more passes of inside and outside give the gradient by all weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from forestalign.arrays import FloatArray
from forestalign.forest import Forest, edge_marginals
from forestalign.reranking.rerank import ParsedPair, weighed_sides
from forestalign.reranking.tree_features import Weights
from forestalign.trees import Tree, preorder

STEP = 1e-3  # t of the difference


@dataclass(frozen=True, slots=True, eq=False)
class TreeChoice:
    """The trees of a sentence as a forest, features and gains of its edges, and what the sentence counts."""

    forest: Forest
    features: FloatArray
    gains: FloatArray
    weight: float

    def marginals(self, weights: Weights, push: float = 0.0) -> FloatArray:
        """Probabilities of the edges, with the scores pushed along the gains."""
        arrays = self.forest.arrays
        scores = arrays.log_prob + self.features @ weights + push * self.gains
        return edge_marginals(Forest.of_arrays(self.forest.sentence, replace(arrays, log_prob=scores)))


def edge_gains(forest: Forest, gold: Tree) -> FloatArray:
    """For each edge: brackets of its phrase that the gold tree has, less those that it has not."""
    wanted = {(node.begin, node.end, node.label) for node in preorder(gold) if not node.is_leaf}
    gains = [
        0.0
        if node.is_bar or node.is_leaf
        else float(sum(1 if (node.begin, node.end, name) in wanted else -1 for name in node.label.split("+")))
        for node in forest.nodes
    ]
    return np.array(gains)[forest.arrays.edge_node]


def tree_choices(
    pair: ParsedPair, gold: tuple[Tree, Tree], weights: Weights, counts: tuple[float, float]
) -> list[TreeChoice]:
    """Both sides of a pair with the forests that these weights lead to; `counts` is what each side counts."""
    return [
        TreeChoice(side.plain, side.features, edge_gains(side.plain, tree), count)
        for side, tree, count in zip(weighed_sides(pair, weights), gold, counts, strict=True)
    ]


def fit(choices: Sequence[TreeChoice], weights: Weights, penalty: float, steps: int) -> Weights:
    """The weights of the greatest expected gain, less the penalty on their squares."""
    total = sum(choice.weight for choice in choices)

    def loss(at: Weights) -> tuple[float, Weights]:
        value, slope = risk(choices, at)
        return value / total + penalty * float(at @ at), slope / total + 2 * penalty * at

    found = minimize(loss, weights, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return np.asarray(found.x, dtype=np.float64)


def risk(choices: Sequence[TreeChoice], weights: Weights) -> tuple[float, Weights]:
    """Less the expected gain, and its derivatives."""
    value, slope = 0.0, np.zeros_like(weights)
    for choice in choices:
        value -= choice.weight * float(choice.marginals(weights) @ choice.gains)
        change = choice.marginals(weights, STEP) - choice.marginals(weights, -STEP)
        slope -= choice.weight * (change @ choice.features) / (2 * STEP)
    return value, slope
