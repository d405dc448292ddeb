"""The chart, and sums over all of its trees: log partition and marginals (kernels.py says what is summed)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from forestalign.arrays import AnyFloatArray, Float32Array, FloatArray
from forestalign.chart import kernels

CHAIN = "::"


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Potentials [n, n, labels] of span (i, j + 1) at [i, j], 0 for the empty `labels[0]`; tag scores [n, tags]."""

    potentials: Float32Array
    labels: tuple[str, ...]
    tag_scores: Float32Array
    tags: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.potentials)

    def tempered(self, temperature: float) -> Chart:
        """The chart with all potentials divided by the temperature: flatter above 1, sharper below."""
        return self if temperature == 1.0 else replace(self, potentials=self.potentials / np.float32(temperature))

    def best_tags(self) -> tuple[str, ...]:
        """The tag with the highest score for each word."""
        return tuple([self.tags[i] for i in self.tag_scores.argmax(1).tolist()])


@lru_cache(maxsize=64)
def triangle(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """First and last word of every span of n words, in the order of triangular tables."""
    first, last = np.triu_indices(n)
    return first, last


def rows(chart: Chart) -> Float32Array:
    """Potentials [spans, labels] of all spans, row by row of the chart's upper triangle."""
    return chart.potentials[triangle(len(chart))]


def square(n: int, values: AnyFloatArray) -> FloatArray:
    """The [n, n] table of one value a span, zero below the diagonal."""
    table = np.zeros((n, n))
    table[triangle(n)] = values
    return table


def log_sums(chart: Chart) -> tuple[FloatArray, FloatArray]:
    """Log sums of the potentials of each span: over all labels, and over all but the empty one."""
    values = rows(chart)
    tops = values[:, 1:].max(1)
    shares = values[:, 1:] - tops[:, None]
    np.exp(shares, out=shares)  # in place: of long sentences this is the largest array there is
    labelled = tops + np.log(shares.sum(1, dtype=np.float64))
    return square(len(chart), np.logaddexp(labelled, values[:, 0])), square(len(chart), labelled)


def maxima(chart: Chart) -> tuple[FloatArray, FloatArray]:
    """Like `log_sums`, with the best label instead of the sum."""
    values = rows(chart)
    labelled = values[:, 1:].max(1)
    return square(len(chart), np.maximum(labelled, values[:, 0])), square(len(chart), labelled)


# ---- sums over all trees ----


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """Log sums of the labels of each span, and the log inside scores built on them."""

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


def inside_outside(any_label: FloatArray, labelled: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Log partition, and its derivatives by both tables of log sums: what a trainer needs."""
    scores = Inside(any_label, labelled, *kernels.inside(any_label, labelled))
    return scores.log_partition, *_slopes(scores)


def _slopes(scores: Inside) -> tuple[FloatArray, FloatArray]:
    """How often a span may have any label (a left child, or one word), and how often it must have one.

    It must as a right child of several words, or as the root.
    """
    as_left, as_right = kernels.shares(scores.split, scores.left, scores.right)
    if len(as_left) > 1:
        np.einsum("ii->i", as_left)[:] += as_right.diagonal()  # a word may lack a label in either role
        np.fill_diagonal(as_right, 0.0)
    return as_left, as_right


def marginals(chart: Chart, scores: Inside | None = None) -> Float32Array:
    """Probability [n, n, labels] of each span and label.

    For the empty label: of joining the words of the span on the way to a larger phrase, or of a word without a phrase.
    """
    scores = scores or inside(chart)
    upper = triangle(len(chart))
    values = chart.potentials[upper]
    any_label, labelled, left, right = (table[upper] for table in (scores.any_label, scores.labelled, *_slopes(scores)))
    has_label = left * np.exp(labelled - any_label) + right
    found = np.exp(values - labelled[:, None].astype(np.float32))
    found *= has_label[:, None].astype(np.float32)
    found[:, 0] = np.exp(values[:, 0] - any_label) * left
    table = np.zeros(chart.potentials.shape, dtype=np.float32)
    table[upper] = found
    return table
