"""What all scores share: counts for each sentence pair, and how sums of counts become scores.

Every score of the package, macro averages and correlations included, is a function of sums over sentence pairs. So an
evaluation keeps one row of counts for each pair, and significance tests need nothing else: shuffling or resampling
pairs is a matrix product, and the scores of all samples come out of one vectorised call.

Where a ratio has nothing to divide by: nothing asked for and nothing given is a perfect score (1); nothing asked for
but something given, or something asked for and nothing given, is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray


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


def picked(evaluation: Evaluation, wanted: Sequence[str]) -> Evaluation:
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
