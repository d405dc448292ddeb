"""The chart itself, and what the algorithms need of its labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from forestalign.arrays import AnyFloatArray, Float32Array, FloatArray

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
        return tuple(self.tags[i] for i in self.tag_scores.argmax(1))


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
