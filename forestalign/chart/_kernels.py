"""Fast twins of `plain`, and the k-best lists. Arrays and numbers only."""

from __future__ import annotations

import math

import numba
import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int16]


@numba.njit(cache=True)
def inside(any_label: Table, labelled: Table) -> tuple[Table, Table, Table]:
    n = len(any_label)
    split, left, right = np.zeros((n, n)), np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    terms = np.empty(n)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            if width > 1:
                top = -np.inf
                for k in range(i, j):
                    terms[k] = left[i, k] + right[k + 1, j]
                    top = max(top, terms[k])
                total = 0.0
                for k in range(i, j):
                    total += math.exp(terms[k] - top)
                split[i, j] = top + math.log(total)
            left[i, j] = any_label[i, j] + split[i, j]
            right[i, j] = left[i, j] if width == 1 else labelled[i, j] + split[i, j]
    return split, left, right


@numba.njit(cache=True)
def shares(split: Table, left: Table, right: Table) -> tuple[Table, Table]:
    n = len(split)
    as_left, as_right = np.zeros((n, n)), np.zeros((n, n))
    as_right[0, n - 1] = 1.0
    for width in range(n, 1, -1):
        for i in range(n - width + 1):
            j = i + width - 1
            share = as_left[i, j] + as_right[i, j]
            if share > 0.0:
                for k in range(i, j):
                    part = share * math.exp(left[i, k] + right[k + 1, j] - split[i, j])
                    as_left[i, k] += part
                    as_right[k + 1, j] += part
    return as_left, as_right


@numba.njit(cache=True)
def _maxima(any_label: Table, labelled: Table) -> tuple[Indices, Table, Table, Table]:
    n = len(any_label)
    points = np.zeros((n, n), dtype=np.int16)
    split, left, right = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            if width > 1:
                top = -np.inf
                for k in range(i, j):
                    score = left[i, k] + right[k + 1, j]
                    if score > top:
                        top = score
                        points[i, j] = k
                split[i, j] = top
            left[i, j] = any_label[i, j] + split[i, j]
            right[i, j] = left[i, j] if width == 1 else labelled[i, j] + split[i, j]
    return points, split, left, right


@numba.njit(cache=True)
def best_splits(any_label: Table, labelled: Table) -> tuple[Indices, float]:
    points, split, _, _ = _maxima(any_label, labelled)
    return points, labelled[0, -1] + split[0, -1]


@numba.njit(cache=True)
def best_through(any_label: Table, labelled: Table) -> tuple[Table, Table]:
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
