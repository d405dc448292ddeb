"""Weighted sums of named features, as the files of learned weights hold them: read, checked, and applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import GrammarError
from forestalign.inputs import number, read_json, reading

DIGITS = 6  # significant ones that files keep
STEEPEST = 60.0  # log odds count within these, so that no probability is exactly 0 or 1


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


def read_record(path: Path) -> Mapping[str, object]:
    """The JSON object of a file of weights."""
    with reading(path, "file of weights", GrammarError):
        record = read_json(path)
    if not isinstance(record, dict):
        raise GrammarError(path, None, "expected a JSON object of weights")
    return record


def read_weighting(path: Path, name: str, value: object, names: Sequence[str]) -> Weighting:
    """`{"bias": number, "weights": {feature: number}}`; features that are not named weigh nothing."""
    if not isinstance(value, dict) or not isinstance(value.get("weights"), dict):
        raise GrammarError(path, None, f'{name!r}: expected {{"bias": number, "weights": {{feature: number}}}}')
    unknown = sorted(set(value["weights"]) - set(names))
    if unknown:
        raise GrammarError(path, None, f"{name!r} weighs {unknown[0]!r}, which is not a feature")
    weights = [read_number(path, f"{name}: {each}", value["weights"].get(each, 0.0)) for each in names]
    return Weighting(np.array(weights), read_number(path, f"{name}: bias", value.get("bias")))


def read_number(path: Path, name: str, value: object) -> float:
    """A finite number of a file of weights."""
    with reading(path, "file of weights", GrammarError):
        return number(repr(name), value)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
