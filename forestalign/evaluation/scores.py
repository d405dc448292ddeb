"""What all scores share: counts for each sentence pair, and how sums of counts become scores.

Every score of the package, macro averages and correlations included, is a function of sums over sentence pairs. So an
evaluation keeps one row of counts for each pair, and significance tests need nothing else: shuffling or resampling
pairs is a matrix product, and the scores of all samples come out of one vectorised call.

Where a ratio has nothing to divide by: nothing asked for and nothing given is a perfect score (1); nothing asked for
but something given, or something asked for and nothing given, is 0.

Significance of differences, from two systems' counts.

Approximate randomisation (Noreen 1989; Riezler and Maxwell 2005), the test of section 6.3: under the null hypothesis
the two outputs for a sentence pair are interchangeable, so each pair's outputs are swapped with probability 1/2, and
the p-value is the share of B such shuffles with a difference at least as large as the one seen. Bootstrap intervals
resample the sentence pairs with replacement (percentile method).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import UsageError, counted


@dataclass(frozen=True, slots=True)
class Score:
    """One named score; most are shares between 0 and 1."""

    name: str
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """One system's output against one gold standard.

    `counts` has a row for each sentence pair. `aggregate` takes sums of rows (any leading axes, columns last) to the
    scores of `names` (same leading axes, scores last).
    """

    names: tuple[str, ...]
    counts: FloatArray
    aggregate: Callable[[FloatArray], FloatArray]

    def __len__(self) -> int:
        return len(self.counts)

    def values(self) -> FloatArray:
        """The scores as numbers, over all pairs of sentences."""
        return self.aggregate(self.counts.sum(axis=0))

    def scores(self) -> tuple[Score, ...]:
        """The scores with their names."""
        return tuple(Score(name, float(value)) for name, value in zip(self.names, self.values(), strict=True))

    def __getitem__(self, name: str) -> float:
        return float(self.values()[self.names.index(name)])


def combine(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Several evaluations of the same sentence pairs as one, their scores side by side."""
    widths = [evaluation.counts.shape[1] for evaluation in evaluations]
    bounds = np.cumsum([0, *widths])

    def aggregate(sums: FloatArray) -> FloatArray:
        parts = [
            evaluation.aggregate(sums[..., begin:end])
            for evaluation, begin, end in zip(evaluations, bounds[:-1], bounds[1:], strict=True)
        ]
        return np.concatenate(parts, axis=-1)

    names = tuple(name for evaluation in evaluations for name in evaluation.names)
    return Evaluation(names, np.concatenate([evaluation.counts for evaluation in evaluations], axis=1), aggregate)


def pick_scores(evaluation: Evaluation, wanted: Sequence[str]) -> Evaluation:
    """The evaluation with those of the wanted scores that it has."""
    columns = [evaluation.names.index(name) for name in wanted if name in evaluation.names]
    names = tuple(evaluation.names[column] for column in columns)
    return Evaluation(names, evaluation.counts, lambda sums: evaluation.aggregate(sums)[..., columns])


def union(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Evaluations of one score over different pairs as one; its score is their mean."""
    bounds = np.cumsum([0, *(each.counts.shape[1] for each in evaluations)])
    counts = np.zeros((sum(map(len, evaluations)), bounds[-1]))
    row = 0
    for each, begin in zip(evaluations, bounds[:-1], strict=True):
        counts[row : row + len(each), begin : begin + each.counts.shape[1]] = each.counts
        row += len(each)

    def aggregate(sums: FloatArray) -> FloatArray:
        parts = [
            each.aggregate(sums[..., begin:end])
            for each, begin, end in zip(evaluations, bounds[:-1], bounds[1:], strict=True)
        ]
        return np.asarray(np.mean(parts, axis=0))

    return Evaluation(evaluations[0].names, counts, aggregate)


def count_table(rows: Sequence[Sequence[float]], columns: int) -> FloatArray:
    """Rows of counts as a table, of the right width even when there are no rows."""
    return np.asarray(rows, dtype=np.float64).reshape(len(rows), columns)


def columns(sums: FloatArray) -> FloatArray:
    """The columns of counts or of their sums, to be unpacked into names."""
    return np.moveaxis(sums, -1, 0)


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, and 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole != 0)


def share(part: FloatArray, whole: FloatArray, other: FloatArray) -> FloatArray:
    """part / whole; where the whole is empty, 1 if the other side is empty as well, else 0."""
    return np.where(whole == 0, (other == 0).astype(np.float64), ratio(part, whole))


def harmonic_mean(left: FloatArray, right: FloatArray) -> FloatArray:
    """2ab / (a + b); 0 where both are 0."""
    return ratio(2 * left * right, left + right)


def precision_recall(hits: FloatArray, given: FloatArray, asked: FloatArray) -> FloatArray:
    """Precision, recall and F1 of pooled counts, last axis."""
    precision, recall = share(hits, given, asked), share(hits, asked, given)
    return np.stack([precision, recall, harmonic_mean(precision, recall)], axis=-1)


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
    values = np.concatenate([evaluation.aggregate(sums) for sums in _resample(evaluation.counts, generator, samples)])
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], axis=0)
    return tuple(Interval(float(left), float(right)) for left, right in zip(low, high, strict=True))


def _resample(counts: FloatArray, generator: np.random.Generator, samples: int) -> list[FloatArray]:
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
