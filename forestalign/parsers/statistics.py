"""How large a forest is, and how good the best of its trees could be."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestalign.forest import Forest, count_trees
from forestalign.trees import CHAIN, Tree, preorder


@dataclass(frozen=True, slots=True)
class ForestStatistics:
    """`oracle_f1` is that of the tree of the forest that comes nearest to a gold tree; None where there is none."""

    nodes: int
    edges: int
    trees: int
    oracle_f1: float | None = None


def forest_statistics(forest: Forest, gold: Tree | None = None) -> ForestStatistics:
    """Words count as nodes, but having none to choose from, not as edges."""
    edges = sum(len(ways) for ways, node in zip(forest.edges, forest.nodes, strict=True) if not node.is_leaf)
    oracle = None if gold is None else oracle_f1(forest, gold)
    return ForestStatistics(len(forest), edges, count_trees(forest), oracle)


def oracle_f1(forest: Forest, gold: Tree) -> float:
    """The best labelled bracket F1 of all trees of the forest (Huang 2008, section 4).

    best(v)[t] is the most right brackets that a tree below v with t brackets can have; at an edge the tables of the
    children are joined, best(u)[a] + best(w)[b] at a + b. Brackets of all labels and words count, unlike in evalb.
    """
    wanted = Counter((node.label, node.begin, node.end) for node in preorder(gold) if not node.is_leaf)
    tables: list[npt.NDArray[np.float64]] = []
    for node, ways in zip(forest.nodes, forest.edges, strict=True):
        labels = [] if node.is_bar or node.is_leaf else node.label.split(CHAIN)
        own = Counter((label, node.begin, node.end) for label in labels)
        right = (own & wanted).total()
        size, parts = 0, []
        for way in ways:
            parts.append(_joined([tables[child] for child in way.children]))
            size = max(size, len(parts[-1]))
        table = np.full(len(labels) + size, -np.inf)
        for part in parts:
            piece = slice(len(labels), len(labels) + len(part))
            table[piece] = np.maximum(table[piece], part + right)
        tables.append(table)
    return max(
        2 * float(right) / (count + wanted.total())
        for root in forest.roots
        for count, right in enumerate(tables[root])
        if right > -np.inf
    )


def _joined(tables: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Max-plus convolution."""
    joined = np.zeros(1)
    for table in tables:
        sums = np.full(len(joined) + len(table) - 1, -np.inf)
        for count, right in enumerate(joined):
            piece = slice(count, count + len(table))
            sums[piece] = np.maximum(sums[piece], table + right)
        joined = sums
    return joined
