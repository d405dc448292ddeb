"""Inside, outside, marginals and the best derivation of a packed forest.

Nodes are numbered children first, so every pass is one loop. Weights are logs; a tree weighs the sum of its hyperedges.
With `plain` the code that is written out here does the work even where the compiled core has it too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.compiled import core
from forestalign.forest.forest import NO_CHILD, Forest, HyperEdge, NodeId

UNUSED = -1


@dataclass(frozen=True, slots=True)
class ForestDerivation:
    """One tree of a forest: a root, and for each node the index of the edge it is built by (`UNUSED` if not known)."""

    root: NodeId
    choice: tuple[int, ...]
    log_prob: float


def log_sum(values: Iterable[float]) -> float:
    """log of the sum of exponentials; minus infinity for nothing."""
    items = list(values)
    if len(items) == 1:
        return items[0]
    largest = max(items, default=-math.inf)
    if largest == -math.inf:
        return largest
    return largest + math.log(math.fsum(math.exp(item - largest) for item in items))


def inside(forest: Forest) -> list[float]:
    """Log inside score of each node, children first.

    in(v) = logsum over e in edges(v) of  log w(e) + sum over u in children(e) of in(u)
    """
    scores: list[float] = []
    for edges in forest.edges:
        scores.append(log_sum([_weight(edge, scores) for edge in edges]))
    return scores


def outside(forest: Forest, inner: Sequence[float] | None = None) -> list[float]:
    """Log outside score of each node, parents first; a root begins with log 1.

    out(u) = logsum over e of v with u in children(e) of  out(v) + log w(e) + sum over the other children of in
    """
    inner = inside(forest) if inner is None else inner
    incoming: list[list[float]] = [[] for _ in forest.nodes]
    for root in forest.roots:
        incoming[root].append(0.0)
    scores = [-math.inf] * len(forest.nodes)
    for node in range(len(forest.nodes) - 1, -1, -1):
        score = scores[node] = log_sum(incoming[node])
        if score == -math.inf:
            continue
        for edge in forest.edges[node]:
            if len(edge.children) == 2:
                left, right = edge.children
                incoming[left].append(score + edge.log_prob + inner[right])
                incoming[right].append(score + edge.log_prob + inner[left])
            elif edge.children:
                incoming[edge.children[0]].append(score + edge.log_prob)
    return scores


def log_partition(forest: Forest, inner: Sequence[float] | None = None, plain: bool = False) -> float:
    """Log of the summed weights of all trees."""
    if inner is None:
        compiled, arrays = core("forest._inside_outside", plain), forest.arrays
        if compiled is None:
            inner = inside(forest)
        else:
            inner = compiled.inside(arrays.edge_start, arrays.children, arrays.log_prob).tolist()
    return log_sum([inner[root] for root in forest.roots])


def _marginals(forest: Forest, plain: bool = False) -> FloatArray:
    compiled, arrays = core("forest._inside_outside", plain), forest.arrays
    if compiled is None:
        inner = inside(forest)
        both = np.array(inner) + np.array(outside(forest, inner))
        plainly: FloatArray = np.exp(np.minimum(both - log_partition(forest, inner), 0.0))
        return plainly
    scores = compiled.inside(arrays.edge_start, arrays.children, arrays.log_prob)
    outer = compiled.outside(arrays.edge_start, arrays.children, arrays.log_prob, arrays.roots, scores)
    total = log_sum(scores[arrays.roots].tolist())
    probabilities: FloatArray = np.exp(np.minimum(scores + outer - total, 0.0))
    return probabilities


def with_marginals(forest: Forest) -> Forest:
    """The forest with its node marginals filled in."""
    return forest.with_node_marginals(_marginals(forest))


def edge_marginals(forest: Forest, plain: bool = False) -> FloatArray:
    """Probability [edges] of each edge over the trees of the forest."""
    compiled, arrays = core("forest._inside_outside", plain), forest.arrays
    if compiled is None:
        inner = np.array(inside(forest))
        outer = np.array(outside(forest, inner.tolist()))
    else:
        inner = compiled.inside(arrays.edge_start, arrays.children, arrays.log_prob)
        outer = compiled.outside(arrays.edge_start, arrays.children, arrays.log_prob, arrays.roots, inner)
    below = np.where(arrays.children == NO_CHILD, 0.0, inner[arrays.children]).sum(1)
    total = log_sum(inner[arrays.roots].tolist())
    found: FloatArray = np.exp(np.minimum(outer[arrays.edge_node] + arrays.log_prob + below - total, 0.0))
    return found


def count_trees(forest: Forest) -> int:
    """How many derivations the forest packs."""
    counts: list[int] = []
    for edges in forest.edges:
        counts.append(sum(math.prod(counts[child] for child in edge.children) for edge in edges))
    return sum(counts[root] for root in forest.roots)


def viterbi(forest: Forest, plain: bool = False) -> ForestDerivation:
    """The heaviest tree. `choice` holds the best edge of *every* node, so it also gives the best subtree of any node.

    Ties go to the earlier edge and to the earlier root.
    """
    compiled, arrays = core("forest._inside_outside", plain), forest.arrays
    if compiled is not None:
        best_scores, best_edges = compiled.viterbi(arrays.edge_start, arrays.children, arrays.log_prob)
        root = forest.roots[int(best_scores[arrays.roots].argmax())]
        return ForestDerivation(root, tuple(best_edges.tolist()), float(best_scores[root]))
    scores: list[float] = []
    choice: list[int] = []
    for edges in forest.edges:
        weights = [_weight(edge, scores) for edge in edges]
        best = max(weights)
        scores.append(best)
        choice.append(weights.index(best))
    root = max(forest.roots, key=lambda node: scores[node])
    return ForestDerivation(root, tuple(choice), scores[root])


def _weight(edge: HyperEdge, inner: Sequence[float]) -> float:
    """The weight of an edge with all that is below it."""
    children = edge.children
    if len(children) == 2:
        return edge.log_prob + inner[children[0]] + inner[children[1]]
    return edge.log_prob + inner[children[0]] if children else edge.log_prob
