"""Exact k-best lists of every span, bottom-up (Huang and Chiang 2005, algorithm 2), compiled.

A span has three lists, best first: `split` (a pair of entries of a left and a right child), `left` (an entry of
`split` with a label) and `right` (the same without the empty label). Each list is merged from sorted ones with a heap
that holds the frontier only. The grammar gives an n-ary tree one derivation, so no list holds a tree twice.

Spans sit at `row(i, j)` of triangular tables. Ties go to the entry that was found first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

Function = TypeVar("Function", bound=Callable[..., Any])

# of a fixed width: literals that are handed on would be compiled as types of their own
ZERO: int = np.int64(0)  # type: ignore[assignment]

# what compiled code alone calls has no door for Python and C, which takes time to compile
_NO_DOORS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_inner: Callable[[Function], Function] = numba.njit(cache=True, **_NO_DOORS)

Scores = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int16]


@numba.njit(cache=True, inline="always")
def row(n: int, i: int, j: int) -> int:
    """Where span (i, j + 1) sits in a triangular table of n words."""
    return i * n - i * (i - 1) // 2 + j - i


@_inner
def _move(cells: npt.NDArray[np.int32], at: int, source: int) -> None:
    """Copy an entry; the assignment of a row takes far longer to compile."""
    cells[at, 0], cells[at, 1], cells[at, 2] = cells[source, 0], cells[source, 1], cells[source, 2]


@_inner
def _push(heap: Scores, cells: npt.NDArray[np.int32], size: int, score: float, a: int, b: int, c: int) -> None:
    """Insert (score, a, b, c) into the max-heap of `size` entries."""
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if heap[parent] >= score:
            break
        heap[at] = heap[parent]
        _move(cells, at, parent)
        at = parent
    heap[at] = score
    cells[at, 0], cells[at, 1], cells[at, 2] = a, b, c


@_inner
def _pop(heap: Scores, cells: npt.NDArray[np.int32], size: int) -> None:
    """Remove the best of `size` entries; the last one sinks from the top."""
    size -= 1
    score = heap[size]
    a, b, c = cells[size, 0], cells[size, 1], cells[size, 2]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if score >= heap[child]:
            break
        heap[at] = heap[child]
        _move(cells, at, child)
        at = child
    heap[at] = score
    cells[at, 0], cells[at, 1], cells[at, 2] = a, b, c


@_inner
def _join_children(
    n: int, i: int, j: int, k: int, left: Scores, right: Scores, counts: npt.NDArray[np.int32],
    heap: Scores, cells: npt.NDArray[np.int32], scores: Scores, points: Indices, left_ranks: Indices,
    right_ranks: Indices,
) -> int:  # fmt: skip
    """Fill the `split` list of a span: a point, the rank of the left child's entry, the rank of the right one's."""
    size = ZERO
    for point in range(i, j):
        at_left, at_right = row(n, i, point), row(n, point + 1, j)
        if counts[0, at_left] > 0 and counts[1, at_right] > 0:
            _push(heap, cells, size, left[at_left, 0] + right[at_right, 0], point, ZERO, ZERO)
            size += 1
    count = 0
    while size > 0 and count < k:
        scores[count] = heap[0]
        point, a, b = int(cells[0, 0]), int(cells[0, 1]), int(cells[0, 2])
        points[count], left_ranks[count], right_ranks[count] = point, a, b
        count += 1
        _pop(heap, cells, size)
        size -= 1
        at_left, at_right = row(n, i, point), row(n, point + 1, j)
        if a + 1 < counts[0, at_left] and b == 0:  # b == 0: each cell has one predecessor
            _push(heap, cells, size, left[at_left, a + 1] + right[at_right, b], point, a + 1, b)
            size += 1
        if b + 1 < counts[1, at_right]:
            _push(heap, cells, size, left[at_left, a] + right[at_right, b + 1], point, a, b + 1)
            size += 1
    return count


@_inner
def _add_labels(
    k: int, split: Scores, split_count: int, potentials: Scores, labels: Indices, skip_empty: bool,
    heap: Scores, cells: npt.NDArray[np.int32], scores: Scores, chosen: Indices, split_ranks: Indices,
) -> int:  # fmt: skip
    """Fill the `left` or `right` list of a span: a label, the rank of the entry of `split` below it."""
    first = int(skip_empty and labels[0] == 0)
    if split_count == 0 or first == len(labels):
        return 0
    _push(heap, cells, ZERO, split[0] + potentials[first], ZERO, first, ZERO)
    size, count = ZERO + 1, 0
    while size > 0 and count < k:
        scores[count] = heap[0]
        a, b = int(cells[0, 0]), int(cells[0, 1])
        chosen[count], split_ranks[count] = labels[b], a
        count += 1
        _pop(heap, cells, size)
        size -= 1
        if a + 1 < split_count and b == first:
            _push(heap, cells, size, split[a + 1] + potentials[b], a + 1, b, ZERO)
            size += 1
        after = b + 1
        if skip_empty and after < len(labels) and labels[after] == 0:
            after += 1
        if after < len(labels):
            _push(heap, cells, size, split[a] + potentials[after], a, after, ZERO)
            size += 1
    return count


@numba.njit(cache=True)
def kbest_lists(
    n: int, k: int, potentials: Scores, labels: Indices, wanted: npt.NDArray[np.bool_]
) -> tuple[Scores, npt.NDArray[np.int32], Indices, Indices]:
    """The lists of all spans for which `wanted` [2, rows] holds (0 as a left child, 1 as a right child or the root).

    potentials, labels [rows, m]: the best labels of each span, best first, with their potentials. Gives the scores
    of the root's list, the lengths [2, rows] of all lists, the splits [rows, k, 3] (point, left rank, right rank) and
    the labels [2, rows, k, 2] (label, rank of the split).
    """
    rows = len(potentials)
    counts = np.zeros((2, rows), dtype=np.int32)
    scores = np.empty((2, rows, k))
    splits = np.zeros((rows, k, 3), dtype=np.int16)
    chosen = np.zeros((2, rows, k, 2), dtype=np.int16)
    split = np.zeros(k)
    heap, cells = np.empty(n + 2 * k + 2), np.empty((n + 2 * k + 2, 3), dtype=np.int32)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            at = row(n, i, j)
            if not (wanted[0, at] or wanted[1, at]):
                continue
            if width == 1:
                split[0], split_count = 0.0, 1
            else:
                split_count = _join_children(
                    n, i, j, k, scores[0], scores[1], counts, heap, cells,
                    split, splits[at, :, 0], splits[at, :, 1], splits[at, :, 2],
                )  # fmt: skip
            for role in range(2):
                if wanted[role, at]:
                    skip_empty = (role == 1 and width > 1) or width == n
                    counts[role, at] = _add_labels(
                        k, split, split_count, potentials[at], labels[at], skip_empty, heap, cells,
                        scores[role, at], chosen[role, at, :, 0], chosen[role, at, :, 1],
                    )  # fmt: skip
    top = row(n, 0, n - 1)
    return scores[1, top, : counts[1, top]].copy(), counts, splits, chosen
