"""The chart algorithms as they are written down: slow, short, and the judge of their twins in `_chart.pyx`.

The grammar is left-binarised. A span of several words with the empty label may only be a left child, so an n-ary
tree has exactly one derivation: the children of a node are joined from the left, and every child but the first is a
right child, which has a label or is one word. A root has a label.

Tables are [n, n] and hold span (i, j + 1) at [i, j]. `any_label` and `labelled` are the log sums (or the maxima) of the
potentials of a span over all its labels, and over all but the empty one. Three scores belong to a span:

    split(i, j) = sum over k of  left(i, k) * right(k + 1, j)     1 for one word
    left(i, j)  = any_label(i, j) * split(i, j)                   as a left child
    right(i, j) = labelled(i, j) * split(i, j)                    as a right child; left(i, j) for one word
"""

from __future__ import annotations

from heapq import nlargest
from itertools import product

import numpy as np

from forestalign.arrays import AnyFloatArray, FloatArray, Int16Array


def inside(any_label: FloatArray, labelled: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log inside scores `split`, `left`, `right`, by the recurrence above, shorter spans first."""
    n = len(any_label)
    split, left, right = np.zeros((n, n)), np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            if width > 1:
                split[i, j] = np.logaddexp.reduce([left[i, k] + right[k + 1, j] for k in range(i, j)])
            left[i, j] = any_label[i, j] + split[i, j]
            right[i, j] = left[i, j] if width == 1 else labelled[i, j] + split[i, j]
    return split, left, right


def shares(split: FloatArray, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Outside, in probabilities: how often a span is a left child, and how often a right child (or the root).

    A span hands its own share to the pairs of children it is split into, in proportion to their inside scores.
    """
    n = len(split)
    as_left, as_right = np.zeros((n, n)), np.zeros((n, n))
    as_right[0, n - 1] = 1.0
    for width in range(n, 1, -1):
        for i in range(n - width + 1):
            j = i + width - 1
            share = as_left[i, j] + as_right[i, j]
            for k in range(i, j):
                part = share * np.exp(left[i, k] + right[k + 1, j] - split[i, j])
                as_left[i, k] += part
                as_right[k + 1, j] += part
    return as_left, as_right


def best_splits(any_label: FloatArray, labelled: FloatArray) -> tuple[Int16Array, float]:
    """The last word of the best left child of each span, and the score of the best tree; the first split wins ties."""
    points, split, _, _ = _maxima(any_label, labelled)
    return points, float(labelled[0, -1] + split[0, -1])


def best_through(any_label: FloatArray, labelled: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Score of the best tree in which a span is a left child, and of the best where it is a right child or the root."""
    n = len(any_label)
    _, split, left, right = _maxima(any_label, labelled)
    as_left, as_right = np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    as_right[0, n - 1] = labelled[0, n - 1] + split[0, n - 1]
    for width in range(n, 1, -1):
        for i in range(n - width + 1):
            j = i + width - 1
            rest = max(as_left[i, j], as_right[i, j]) - split[i, j]
            for k in range(i, j):
                through = rest + left[i, k] + right[k + 1, j]
                as_left[i, k] = max(as_left[i, k], through)
                as_right[k + 1, j] = max(as_right[k + 1, j], through)
    return as_left, as_right


Scored = tuple[float, tuple[tuple[int, int, int], ...]]  # a score, and (first word, last word, label) of each phrase


def kbest(potentials: AnyFloatArray, k: int) -> list[Scored]:
    """The k best trees of [n, n, labels]: every list keeps its k best entries. It judges `KBestLists`."""
    n, _, label_count = potentials.shape
    left: dict[tuple[int, int], list[Scored]] = {}
    right: dict[tuple[int, int], list[Scored]] = {}
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            pairs = [pair for m in range(i, j) for pair in product(left[i, m], right[m + 1, j])]
            split: list[Scored] = [(a + b, below + beside) for (a, below), (b, beside) in pairs] or [(0.0, ())]
            found = [
                (score + float(potentials[i, j, label]), below + (((i, j, label),) if label else ()))
                for score, below in nlargest(k, split)
                for label in range(label_count)
            ]
            with_label = [entry for entry in found if entry[1] and entry[1][-1][:2] == (i, j)]
            left[i, j] = nlargest(k, found)
            right[i, j] = nlargest(k, with_label if width > 1 or n == 1 else found)
    return right[0, n - 1]


def _maxima(any_label: FloatArray, labelled: FloatArray) -> tuple[Int16Array, FloatArray, FloatArray, FloatArray]:
    """`inside` with maxima for sums, and where each span is split."""
    n = len(any_label)
    points = np.zeros((n, n), dtype=np.int16)
    split, left, right = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            if width > 1:
                scores = [left[i, k] + right[k + 1, j] for k in range(i, j)]
                points[i, j] = i + int(np.argmax(scores))
                split[i, j] = max(scores)
            left[i, j] = any_label[i, j] + split[i, j]
            right[i, j] = left[i, j] if width == 1 else labelled[i, j] + split[i, j]
    return points, split, left, right
