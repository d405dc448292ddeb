"""How probable the phrases, categories and governors of a forest are, as tables over its words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, IntArray
from forestalign.forest import Forest, edge_marginals, with_marginals
from forestalign.forest.forest import NO_CHILD

TEMPERATURE = 3.0  # parsers are too sure of themselves; what they say about another sentence is flattened
LEAST_SHARE = 1e-4  # shares below it count as none, so that tables stay sparse


def flattened(forest: Forest) -> Forest:
    """The forest with log weights divided by the temperature, and its marginals."""
    arrays = forest.arrays
    return with_marginals(Forest.of_arrays(forest.sentence, replace(arrays, log_prob=arrays.log_prob / TEMPERATURE)))


def span_table(forest: Forest) -> FloatArray:
    """Probability [n, n] that span (i, j + 1) is a phrase of several words."""
    return _summed(forest, _is_phrase(forest))


def category_spans(forest: Forest, category: Callable[[str], str]) -> dict[str, FloatArray]:
    """`span_table` for each category by itself."""
    arrays = forest.arrays
    names = np.array([category(label) for label in arrays.labels])[arrays.label]
    phrases = _is_phrase(forest)
    return {name: _summed(forest, phrases & (names == name)) for name in sorted(set(names[phrases].tolist()))}


def _is_phrase(forest: Forest) -> BoolArray:
    arrays = forest.arrays
    return ~arrays.is_bar & (arrays.end - arrays.begin > 1)


def _summed(forest: Forest, wanted: BoolArray) -> FloatArray:
    arrays, n = forest.arrays, len(forest.sentence)
    table = np.zeros((n, n))
    np.add.at(table, (arrays.begin[wanted], arrays.end[wanted] - 1), arrays.marginals[wanted])
    return np.where(table < LEAST_SHARE, 0.0, np.minimum(table, 1.0))


def arcs(forest: Forest) -> tuple[IntArray, IntArray, IntArray]:
    """The edges that attach a word to another, by semantic heads: their numbers, the words and their governors."""
    arrays = forest.arrays
    edges = np.flatnonzero((arrays.children != NO_CHILD).all(1))
    head = arrays.semantic_head[arrays.edge_node[edges]].astype(np.int64)
    left, right = arrays.semantic_head[arrays.children[edges]].astype(np.int64).T
    word = np.where(head == left, right, left)
    kept = (word != head) & ((head == left) | (head == right))
    return edges[kept], word[kept], head[kept]


def governors(forest: Forest) -> FloatArray:
    """Probability [word, governor] of each attachment."""
    n = len(forest.sentence)
    edges, word, governor = arcs(forest)
    table = np.zeros((n, n))
    np.add.at(table, (word, governor), edge_marginals(forest)[edges])
    return np.where(table < LEAST_SHARE, 0.0, np.minimum(table, 1.0))
