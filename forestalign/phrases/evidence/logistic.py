"""Weighted sums of named features, as the files of learned weights hold them: read, checked, applied, and fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from forestalign.arrays import FloatArray
from forestalign.inputs import Number
from forestalign.machine import with_one_thread

DIGITS = 6  # significant ones that files keep
STEEPEST = 60.0  # log odds count within these, so that no probability is exactly 0 or 1


class NamedWeights(msgspec.Struct, frozen=True):
    """A weighted sum as a file has it; features that are not named weigh nothing."""

    bias: Number
    weights: dict[str, Number]

    def over(self, names: Sequence[str]) -> Weighting:
        """In the order of these features; ValueError for another one."""
        unknown = sorted(set(self.weights) - set(names))
        if unknown:
            raise ValueError(f"{unknown[0]!r} has a weight and is not a feature")
        return Weighting(np.array([self.weights.get(name, 0.0) for name in names]), self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """One number per feature, in the order of the features, and what is added to their sum."""

    weights: FloatArray
    bias: float

    def __call__(self, features: FloatArray) -> FloatArray:
        """The sum for each row; features are the last axis."""
        total: FloatArray = features @ self.weights + self.bias
        return total

    def record(self, names: Sequence[str]) -> dict[str, object]:
        """For a file: weights by name, without those that are 0."""
        weights = {name: _rounded(w) for name, w in zip(names, self.weights.tolist(), strict=True) if w}
        return {"bias": _rounded(self.bias), "weights": weights}


def logistic(log_odds: FloatArray) -> FloatArray:
    """Probabilities of log odds."""
    p: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -STEEPEST, STEEPEST)))
    return p


def softmax(log_odds: FloatArray) -> FloatArray:
    """Probabilities of the classes on the last axis."""
    shifted = np.exp(log_odds - log_odds.max(axis=-1, keepdims=True))
    shares: FloatArray = shifted / shifted.sum(axis=-1, keepdims=True)
    return shares


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


# ---- fits ----

ITERATIONS = 500
Loss = Callable[[FloatArray], tuple[float, FloatArray]]  # the value at a point, and its gradient


def minimise(loss: Loss, start: FloatArray, iterations: int = ITERATIONS) -> FloatArray:
    """Where the loss is least, by L-BFGS from a start."""
    from scipy.optimize import minimize  # slow to import, and only fits need it

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    return np.asarray(found.x, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """Standardised features with a column of ones, so that one ridge penalty suits them all, and the way back."""

    rows: FloatArray
    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, features: FloatArray) -> Scaled:
        """The features with mean 0 and deviation 1."""
        mean, deviation = features.mean(axis=0), features.std(axis=0)
        deviation = np.where(deviation < 1e-9, 1.0, deviation)
        scaled = (features - mean) / deviation
        return cls(np.concatenate([scaled, np.ones((len(features), 1))], axis=1), mean, deviation)

    def weigh(self, weights: FloatArray) -> Weighting:
        """These weights as those of the plain features."""
        plain = weights[:-1] / self.deviation
        return Weighting(plain, float(weights[-1] - plain @ self.mean))


@with_one_thread
def fit_logistic(
    features: FloatArray, labels: FloatArray, ridge: float = 1.0, weights: FloatArray | None = None
) -> Weighting:
    """Log odds of label 1; `weights` say how often each row counts."""
    scaled = Scaled.of(features)
    counts = np.ones(len(labels)) if weights is None else weights

    def loss(vector: FloatArray) -> tuple[float, FloatArray]:
        odds = scaled.rows @ vector
        value = counts @ (np.logaddexp(0.0, odds) - labels * odds) + 0.5 * ridge * vector[:-1] @ vector[:-1]
        slope = scaled.rows.T @ (counts * (1.0 / (1.0 + np.exp(-odds)) - labels))
        slope[:-1] += ridge * vector[:-1]
        return float(value), slope

    return scaled.weigh(minimise(loss, np.zeros(scaled.rows.shape[1])))
