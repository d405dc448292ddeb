"""Fitting weighted sums of features: logistic, multinomial and ridge regression, by L-BFGS or in closed form.

Features are standardised for the fit, so that one ridge penalty suits them all, and the scales are then folded into
the weights: what is kept is a plain weighted sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from forestalign.arrays import FloatArray
from forestalign.machine import with_one_thread
from forestalign.phrases.evidence.logistic import Weighting, softmax

ITERATIONS = 500


@dataclass(frozen=True, slots=True, eq=False)
class _Scaled:
    """Standardised features with a column of ones, and the way back."""

    rows: FloatArray
    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, features: FloatArray) -> _Scaled:
        mean, deviation = features.mean(axis=0), features.std(axis=0)
        deviation = np.where(deviation < 1e-9, 1.0, deviation)
        scaled = (features - mean) / deviation
        return cls(np.concatenate([scaled, np.ones((len(features), 1))], axis=1), mean, deviation)

    def folded(self, weights: FloatArray) -> Weighting:
        plain = weights[:-1] / self.deviation
        return Weighting(plain, float(weights[-1] - plain @ self.mean))


@with_one_thread
def fit_logistic(
    features: FloatArray, labels: FloatArray, ridge: float = 1.0, weights: FloatArray | None = None
) -> Weighting:
    """Log odds of label 1; `weights` say how often each row counts."""
    scaled = _Scaled.of(features)
    counts = np.ones(len(labels)) if weights is None else weights

    def loss(vector: FloatArray) -> tuple[float, FloatArray]:
        odds = scaled.rows @ vector
        value = counts @ (np.logaddexp(0.0, odds) - labels * odds) + 0.5 * ridge * vector[:-1] @ vector[:-1]
        slope = scaled.rows.T @ (counts * (1.0 / (1.0 + np.exp(-odds)) - labels))
        slope[:-1] += ridge * vector[:-1]
        return float(value), slope

    return scaled.folded(_minimum(loss, np.zeros(scaled.rows.shape[1])))


@with_one_thread
def fit_multinomial(
    features: FloatArray, labels: FloatArray, classes: int, ridge: float = 1.0, weights: FloatArray | None = None
) -> tuple[Weighting, ...]:
    """One weighted sum per class, of which the softmax is the probability; labels are class numbers."""
    scaled = _Scaled.of(features)
    counts = np.ones(len(labels)) if weights is None else weights
    wanted = np.eye(classes)[labels.astype(np.int64)]
    shape = (classes, scaled.rows.shape[1])

    def loss(vector: FloatArray) -> tuple[float, FloatArray]:
        table = vector.reshape(shape)
        shares = softmax(scaled.rows @ table.T)
        value = -(counts @ np.log(np.maximum((shares * wanted).sum(axis=1), 1e-300)))
        slope = ((shares - wanted) * counts[:, None]).T @ scaled.rows
        slope[:, :-1] += ridge * table[:, :-1]
        return float(value + 0.5 * ridge * (table[:, :-1] ** 2).sum()), slope.ravel()

    table = _minimum(loss, np.zeros(shape[0] * shape[1])).reshape(shape)
    return tuple(scaled.folded(row) for row in table)


@with_one_thread
def fit_ridge(features: FloatArray, values: FloatArray, ridge: float = 1.0) -> Weighting:
    """Weights that give the values with the least squared error; `ridge` keeps all but the constant small."""
    scaled = _Scaled.of(features)
    penalty = ridge * np.eye(scaled.rows.shape[1])
    penalty[-1, -1] = 0.0
    solved: FloatArray = np.linalg.solve(scaled.rows.T @ scaled.rows + penalty, scaled.rows.T @ values).astype(
        np.float64
    )
    return scaled.folded(solved)


def _minimum(loss: object, start: FloatArray) -> FloatArray:
    found: FloatArray = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}).x
    return found
