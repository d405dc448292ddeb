"""Inside, outside, marginals and the best tree of a packed forest, and its trees one by one.

Weights are logs; a tree weighs the sum of its hyperedges. The passes themselves are in `kernels`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.forest import kernels
from forestalign.forest.forest import NO_CHILD, Forest, NodeId, restrict
from forestalign.trees import Tree, unfold_chain

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


def inside(forest: Forest) -> FloatArray:
    """Log inside score of each node."""
    arrays = forest.arrays
    found: FloatArray = kernels.inside(arrays.edge_start, arrays.children, arrays.log_prob)
    return found


def outside(forest: Forest, inner: FloatArray) -> FloatArray:
    """Log outside score of each node; a root begins with log 1."""
    arrays = forest.arrays
    found: FloatArray = kernels.outside(arrays.edge_start, arrays.children, arrays.log_prob, arrays.roots, inner)
    return found


def best_inside(forest: Forest) -> FloatArray:
    """Log probability of the best tree below each node."""
    arrays = forest.arrays
    found: FloatArray = kernels.viterbi(arrays.edge_start, arrays.children, arrays.log_prob)[0]
    return found


def log_partition(forest: Forest, inner: FloatArray | None = None) -> float:
    """Log of the summed weights of all trees."""
    inner = inside(forest) if inner is None else inner
    return log_sum(inner[forest.arrays.roots].tolist())


def with_marginals(forest: Forest) -> Forest:
    """The forest with the probabilities of its nodes filled in."""
    inner = inside(forest)
    total = log_partition(forest, inner)
    return forest.with_node_marginals(np.exp(np.minimum(inner + outside(forest, inner) - total, 0.0)))


def edge_marginals(forest: Forest) -> FloatArray:
    """Probability [edges] of each edge over the trees of the forest."""
    arrays, inner = forest.arrays, inside(forest)
    outer = outside(forest, inner)
    below = np.where(arrays.children == NO_CHILD, 0.0, inner[arrays.children]).sum(1)
    total = log_partition(forest, inner)
    found: FloatArray = np.exp(np.minimum(outer[arrays.edge_node] + arrays.log_prob + below - total, 0.0))
    return found


def count_trees(forest: Forest) -> int:
    """How many derivations the forest packs."""
    counts: list[int] = []
    for edges in forest.edges:
        counts.append(sum(math.prod(counts[child] for child in edge.children) for edge in edges))
    return sum(counts[root] for root in forest.roots)


def viterbi(forest: Forest) -> ForestDerivation:
    """The heaviest tree. `choice` holds the best edge of *every* node, so it also gives the best subtree of any node.

    Ties go to the earlier edge and to the earlier root.
    """
    arrays = forest.arrays
    scores, choice = kernels.viterbi(arrays.edge_start, arrays.children, arrays.log_prob)
    root = forest.roots[int(scores[arrays.roots].argmax())]
    return ForestDerivation(root, tuple(choice.tolist()), float(scores[root]))


# ---- trees one by one ----


def derivations(forest: Forest, strict: bool = False) -> Iterator[ForestDerivation]:
    """Every derivation, root by root and edge by edge; with `strict` those that lie in one of the n-best trees.

    Strict: the tree sets of the edges are intersected at every step, and an empty set ends the derivation. Every
    partial derivation that is kept then belongs to some tree, so the work is bounded by the list, not by the forest.
    """
    for root in forest.roots:
        # a state: nodes still to be opened, edges chosen so far, log weight, trees that hold all of them
        stack: list[tuple[tuple[NodeId, ...], _Chosen | None, float, int]] = [((root,), None, 0.0, -1)]
        while stack:
            pending, chosen, log_prob, trees = stack.pop()
            if not pending:
                yield ForestDerivation(root, _choice(forest, chosen), log_prob)
                continue
            node, rest = pending[-1], pending[:-1]
            for index in range(len(forest.edges[node]) - 1, -1, -1):
                edge = forest.edges[node][index]
                shared = trees & edge.trees
                if shared or not strict:
                    state = _Chosen(chosen, node, index)
                    stack.append((rest + edge.children, state, log_prob + edge.log_prob, shared))


class _Chosen(NamedTuple):
    """The edges of a partial derivation, as a linked list that alternatives share."""

    before: _Chosen | None
    node: NodeId
    edge: int


def _choice(forest: Forest, chosen: _Chosen | None) -> tuple[int, ...]:
    choice = [UNUSED] * len(forest.nodes)
    while chosen is not None:
        choice[chosen.node] = chosen.edge
        chosen = chosen.before
    return tuple(choice)


def enumerate_trees(forest: Forest, strict: bool = False) -> Iterator[Tree]:
    """Every tree, n-ary; the number grows exponentially, so take as many as are needed."""
    for derivation in derivations(forest, strict):
        yield tree_of(forest, derivation.root, derivation.choice)


def tree_of(forest: Forest, root: NodeId, choice: Sequence[int]) -> Tree:
    """The n-ary tree below a node: bar nodes spliced into their parents, chains unfolded.

    The tree of a bar node has the bar's label.
    """
    arrays, words = forest.arrays, forest.sentence.words
    begin, end, is_bar, is_leaf, labels = (
        column.tolist() for column in (arrays.begin, arrays.end, arrays.is_bar, arrays.is_leaf, arrays.label)
    )
    parts: list[tuple[Tree, ...]] = [()] * (len(begin) + 1)  # the last is for children that are none
    for node, (left, right) in nodes_below(forest, root, choice):
        label = arrays.labels[labels[node]]
        if is_leaf[node]:
            parts[node] = (Tree(label, begin[node], end[node], (), words[begin[node]]),)
        elif is_bar[node] and node != root:
            parts[node] = parts[left] + parts[right]
        else:
            parts[node] = (unfold_chain(label, parts[left] + parts[right]),)
    return parts[root][0]


def nodes_below(forest: Forest, root: int, choice: Sequence[int]) -> list[tuple[int, list[int]]]:
    """The nodes below a root under a choice of edges, children before parents; each with its two children."""
    starts, ways = forest.arrays.edge_start.tolist(), forest.arrays.children.tolist()
    children: list[list[int]] = [[]] * len(starts)
    is_below = [False] * len(starts)  # the last is for children that are none
    is_below[root] = True
    for node in range(root, -1, -1):
        if is_below[node]:
            children[node] = left, right = ways[starts[node] + choice[node]]
            is_below[left] = is_below[right] = True
    return [(node, children[node]) for node in range(root + 1) if is_below[node]]


def best_tree(forest: Forest) -> Tree:
    """The heaviest tree, n-ary."""
    best = viterbi(forest)
    return tree_of(forest, best.root, best.choice)


def one_best(forest: Forest) -> Forest:
    """The forest of the heaviest tree alone; its edges keep their weights and tree sets, its marginals are all one."""
    best = viterbi(forest)
    kept = np.array([node for node, _ in nodes_below(forest, best.root, best.choice)])
    edges = forest.arrays.edge_start[kept] + np.array(best.choice)[kept]
    return restrict(forest, kept, edges, [best.root]).with_node_marginals(np.ones(len(kept)))
