# mypy: ignore-errors
# cython: infer_types=True
"""Sums and maxima over the spans of a chart. Cython compiles this file; where it cannot, Python runs it as it is.

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

import numpy as np

try:
    import cython
except ImportError:
    from forestalign.compiled import plain_cython as cython
if cython.compiled:
    from cython.cimports.libc.math import INFINITY, exp, log
else:
    from math import exp, log
    from math import inf as INFINITY  # noqa: N812 (its name in C)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
@cython.nogil
def log_join(left: cython.double[:, ::1], right: cython.double[:, ::1], i: cython.int, j: cython.int) -> cython.double:
    """Log of the sum over the splits of a span."""
    top: cython.double = -INFINITY
    total: cython.double = 0.0
    for k in range(i, j):
        if left[i, k] + right[k + 1, j] > top:
            top = left[i, k] + right[k + 1, j]
    if top == -INFINITY:
        return top
    for k in range(i, j):
        total += exp(left[i, k] + right[k + 1, j] - top)
    return top + log(total)


def inside(any_label: cython.double[:, ::1], labelled: cython.double[:, ::1]):
    """Log inside scores `split`, `left`, `right`, by the recurrence above, shorter spans first."""
    n: cython.int = any_label.shape[0]
    tables = np.zeros((n, n)), np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    split: cython.double[:, ::1] = tables[0]
    left: cython.double[:, ::1] = tables[1]
    right: cython.double[:, ::1] = tables[2]
    with cython.nogil:
        for width in range(1, n + 1):
            for i in range(n - width + 1):
                j = i + width - 1
                if width > 1:
                    split[i, j] = log_join(left, right, i, j)
                left[i, j] = any_label[i, j] + split[i, j]
                right[i, j] = left[i, j] if width == 1 else labelled[i, j] + split[i, j]
    return tables


def shares(split: cython.double[:, ::1], left: cython.double[:, ::1], right: cython.double[:, ::1]):
    """Outside, in probabilities: how often a span is a left child, and how often a right child (or the root).

    A span hands its own share to the pairs of children it is split into, in proportion to their inside scores.
    """
    n: cython.int = split.shape[0]
    tables = np.zeros((n, n)), np.zeros((n, n))
    as_left: cython.double[:, ::1] = tables[0]
    as_right: cython.double[:, ::1] = tables[1]
    as_right[0, n - 1] = 1.0
    with cython.nogil:
        for width in range(n, 1, -1):
            for i in range(n - width + 1):
                j = i + width - 1
                share = as_left[i, j] + as_right[i, j]
                if share > 0.0:
                    for k in range(i, j):
                        part = share * exp(left[i, k] + right[k + 1, j] - split[i, j])
                        as_left[i, k] += part
                        as_right[k + 1, j] += part
    return tables


def maxima(any_label: cython.double[:, ::1], labelled: cython.double[:, ::1]):
    """`split`, `left` and `right` of `inside` with maxima for sums."""
    n: cython.int = any_label.shape[0]
    tables = np.zeros((3, n, n))
    split: cython.double[:, ::1] = tables[0]
    left: cython.double[:, ::1] = tables[1]
    right: cython.double[:, ::1] = tables[2]
    with cython.nogil:
        for width in range(1, n + 1):
            for i in range(n - width + 1):
                j = i + width - 1
                if width > 1:
                    split[i, j] = -INFINITY
                    for k in range(i, j):
                        split[i, j] = max(split[i, j], left[i, k] + right[k + 1, j])
                left[i, j] = any_label[i, j] + split[i, j]
                right[i, j] = left[i, j] if width == 1 else labelled[i, j] + split[i, j]
    return tables


def best_through(any_label: cython.double[:, ::1], labelled: cython.double[:, ::1]):
    """Score of the best tree in which a span is a left child, and of the best where it is a right child or the root."""
    n: cython.int = any_label.shape[0]
    best = maxima(any_label, labelled)
    tables = np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    split: cython.double[:, ::1] = best[0]
    left: cython.double[:, ::1] = best[1]
    right: cython.double[:, ::1] = best[2]
    as_left: cython.double[:, ::1] = tables[0]
    as_right: cython.double[:, ::1] = tables[1]
    as_right[0, n - 1] = labelled[0, n - 1] + split[0, n - 1]
    with cython.nogil:
        for width in range(n, 1, -1):
            for i in range(n - width + 1):
                j = i + width - 1
                rest = max(as_left[i, j], as_right[i, j]) - split[i, j]
                for k in range(i, j):
                    through = rest + left[i, k] + right[k + 1, j]
                    as_left[i, k] = max(as_left[i, k], through)
                    as_right[k + 1, j] = max(as_right[k + 1, j], through)
    return tables
