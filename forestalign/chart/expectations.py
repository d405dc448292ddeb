"""Sums over all trees of a chart: log partition, outside scores, marginals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestalign.arrays import Float32Array, FloatArray
from forestalign.chart import chart_kernels as kernels
from forestalign.chart.potentials import Chart, log_sums, triangle


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """Log sums of the labels of each span, and the log inside scores built on them (see `plain`)."""

    any_label: FloatArray
    labelled: FloatArray
    split: FloatArray
    left: FloatArray
    right: FloatArray

    @property
    def log_partition(self) -> float:
        """Log of the sum of exp(score) over all trees: the root has a label."""
        return float(self.labelled[0, -1] + self.split[0, -1])


def inside(chart: Chart) -> Inside:
    """Log inside scores of all spans."""
    any_label, labelled = log_sums(chart)
    return Inside(any_label, labelled, *kernels.inside(any_label, labelled))


def log_partition(chart: Chart) -> float:
    """Log of the sum of exp(score) over all trees of the chart."""
    return inside(chart).log_partition


def outside(chart: Chart) -> tuple[FloatArray, FloatArray]:
    """Log outside score of each span as a left child, and as a right child or the root; -inf where it cannot be one."""
    scores = inside(chart)
    right = scores.right.copy()
    right[0, -1] = scores.log_partition
    found = []
    for share, inner in zip(kernels.shares(scores.split, scores.left, scores.right), (scores.left, right), strict=True):
        log_outside = np.full(share.shape, -np.inf)
        used = share > 0
        log_outside[used] = np.log(share[used]) + scores.log_partition - inner[used]
        found.append(log_outside)
    return found[0], found[1]


def inside_outside(any_label: FloatArray, labelled: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Log partition, and its derivatives by both tables of log sums: what a trainer needs.

    The derivatives are how often a span may have any label (a left child, or one word), and how often it must have one
    (a right child of several words, or the root).
    """
    split, left, right = kernels.inside(any_label, labelled)
    as_left, as_right = kernels.shares(split, left, right)
    if len(split) > 1:
        np.einsum("ii->i", as_left)[:] += as_right.diagonal()  # a word may lack a label in either role
        np.fill_diagonal(as_right, 0.0)
    return float(labelled[0, -1] + split[0, -1]), as_left, as_right


def marginals(chart: Chart, scores: Inside | None = None) -> Float32Array:
    """Probability [n, n, labels] of each span and label.

    For the empty label: of joining the words of the span on the way to a larger phrase, or of a word without a phrase.
    """
    scores = scores or inside(chart)
    n = len(chart)
    as_left, as_right = kernels.shares(scores.split, scores.left, scores.right)
    if n > 1:
        np.einsum("ii->i", as_left)[:] += as_right.diagonal()  # a word may lack a label in either role
        np.fill_diagonal(as_right, 0.0)
    upper = triangle(n)
    values = chart.potentials[upper]
    any_label, labelled, left, right = (
        table[upper] for table in (scores.any_label, scores.labelled, as_left, as_right)
    )
    has_label = left * np.exp(labelled - any_label) + right
    found = np.exp(values - labelled[:, None].astype(np.float32))
    found *= has_label[:, None].astype(np.float32)
    found[:, 0] = np.exp(values[:, 0] - any_label) * left
    table = np.zeros(chart.potentials.shape, dtype=np.float32)
    table[upper] = found
    return table
