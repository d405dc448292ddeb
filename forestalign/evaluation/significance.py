"""Significance of differences, from two systems' counts.

Approximate randomisation (Noreen 1989; Riezler and Maxwell 2005), the test of section 6.3: under the null hypothesis
the two outputs for a sentence pair are interchangeable, so each pair's outputs are swapped with probability 1/2, and
the p-value is the share of B such shuffles with a difference at least as large as the one seen. Bootstrap intervals
resample the sentence pairs with replacement (percentile method).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import UsageError, counted
from forestalign.evaluation.counts import Evaluation

SAMPLES = 10_000  # B in section 6.3
_CHUNK = 500  # samples drawn at a time, so that memory stays small
_ROUNDING = 1e-12  # differences closer than this are the same difference


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap interval of one score."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score of two systems; `p_value` is two-sided."""

    name: str
    first: float
    second: float
    p_value: float

    @property
    def difference(self) -> float:
        """The second system less the first."""
        return self.second - self.first


def compare(
    first: Evaluation, second: Evaluation, generator: np.random.Generator, samples: int = SAMPLES
) -> tuple[Comparison, ...]:
    """Approximate randomisation for every score at once.

    p = (1 + #{shuffles with |difference| >= |difference seen|}) / (1 + B)
    """
    _check(first, second, samples)
    seen = np.abs(second.values() - first.values())
    at_least = np.zeros(len(first.names))
    first_sums, second_sums = first.counts.sum(axis=0), second.counts.sum(axis=0)
    change = second.counts - first.counts
    for size in _chunks(samples):
        swapped = generator.integers(0, 2, size=(size, len(first)), dtype=np.int8).astype(np.float64)
        moved = swapped @ change
        shuffled = np.abs(second.aggregate(second_sums - moved) - first.aggregate(first_sums + moved))
        at_least += (shuffled >= seen - _ROUNDING).sum(axis=0)
    p_values = (1 + at_least) / (1 + samples)
    return tuple(
        Comparison(name, float(left), float(right), float(p))
        for name, left, right, p in zip(first.names, first.values(), second.values(), p_values, strict=True)
    )


def bootstrap(
    evaluation: Evaluation, generator: np.random.Generator, samples: int = SAMPLES, level: float = 0.95
) -> tuple[Interval, ...]:
    """The middle `level` of each score over resampled corpora."""
    _check(evaluation, evaluation, samples)
    values = np.concatenate([evaluation.aggregate(sums) for sums in _resampled(evaluation.counts, generator, samples)])
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], axis=0)
    return tuple(Interval(float(left), float(right)) for left, right in zip(low, high, strict=True))


def _resampled(counts: FloatArray, generator: np.random.Generator, samples: int) -> list[FloatArray]:
    pairs = len(counts)
    sums = []
    for size in _chunks(samples):
        drawn = generator.integers(0, pairs, size=(size, pairs)) + np.arange(size)[:, None] * pairs
        times = np.bincount(drawn.ravel(), minlength=size * pairs).reshape(size, pairs)
        sums.append(times.astype(np.float64) @ counts)
    return sums


def _chunks(samples: int) -> list[int]:
    return [min(_CHUNK, samples - begin) for begin in range(0, samples, _CHUNK)]


def _check(first: Evaluation, second: Evaluation, samples: int) -> None:
    if samples < 1:
        raise UsageError(f"a test needs at least one sample, not {samples}")
    if first.names != second.names or len(first) != len(second):
        raise UsageError(
            f"only scores of the same kind over the same pairs can be compared: {counted(len(first), 'pair')} with "
            f"{', '.join(first.names)} against {counted(len(second), 'pair')} with {', '.join(second.names)}"
        )
    if not len(first):
        raise UsageError("there are no pairs to compare")
