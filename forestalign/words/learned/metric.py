"""Profile `best`: how alike two words are in their sentences, by a projection learned from gold links.

    x(i)      word i by the middle layers of the encoder (unit length), static vector (unit length, or zeros), 1
    s(i, j)   = (x(i) P) . (x(j) P)                       P: `projection`
    p(j | i)  = exp s(i, j) / (exp x(i).n + sum over k of exp s(i, k)),      n: `null`, the score of having no partner

One projection serves both sentences, so s is symmetric, and so is every layer made from p(j | i) and p(i | j). Raw
cosines of the same vectors cannot tell a paraphrase from a word of the same topic. Held-out F1 on msr-rte2.dev,
edinburgh.train and mtref.train (scripts/train_words.py, which learns it): without contextual vectors 90.0 / 88.7 /
76.4, with their raw cosines 89.8 / 88.9 / 78.0 (an earlier parser), with the projection 90.1 / 89.4 / 81.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from forestalign.arrays import Float32Array
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.inputs import read_arrays, reading
from forestalign.outputs import whole_file

LEARNED = (
    "score", "both ways", "better way", "worse way", "log both ways", "more single", "less single", "best of both",
)  # fmt: skip
SCALE, WIDEST = 8.0, 2.0  # of the score as a layer
SMALLEST = 1e-3  # added to probabilities before their logarithm


@dataclass(frozen=True, slots=True)
class Metric:
    """The projection P, and n, the score of having no partner."""

    projection: Float32Array
    null: Float32Array

    def of(self, rows: Float32Array) -> Projected:
        """Words by their rows: where the metric places them, and their score of having no partner."""
        return Projected(rows @ self.projection, rows @ self.null)


@dataclass(frozen=True, slots=True)
class Projected:
    """The words of one sentence: x P, and x . n."""

    places: Float32Array
    null: Float32Array


def rows_of(middle: Float32Array, static: Float32Array) -> Float32Array:
    """x: the vectors of the words of one sentence side by side, and a 1."""
    return np.concatenate([middle, static, np.ones((len(static), 1), dtype=np.float32)], axis=1)


def partners(scores: Float32Array, null: Float32Array) -> tuple[Float32Array, Float32Array]:
    """p(j | i) for every pair, and the probability of no partner for every i."""
    top = np.maximum(scores.max(1), null)[:, None]
    weights, without = np.exp(scores - top), np.exp(null[:, None] - top)
    total = weights.sum(1, keepdims=True) + without
    return weights / total, without / total


def learned_layers(left: Projected, right: Projected) -> Float32Array:
    """The layers of LEARNED, in its order."""
    return competition_layers(left.places @ right.places.T, left.null, right.null)


def competition_layers(scores: Float32Array, left_null: Float32Array, right_null: Float32Array) -> Float32Array:
    """The layers of LEARNED for any scores of pairs of words, and of having no partner on either side."""
    (forth, left_single), (back, right_single) = partners(scores, left_null), partners(scores.T, right_null)
    back, right_single = back.T, right_single.T
    both = np.sqrt(forth * back)
    is_best = (forth >= forth.max(1, keepdims=True)) & (back >= back.max(0, keepdims=True))
    layers = {
        "score": np.clip(scores / SCALE, -WIDEST, WIDEST),
        "both ways": both,
        "better way": np.maximum(forth, back),
        "worse way": np.minimum(forth, back),
        "log both ways": np.log((forth + SMALLEST) * (back + SMALLEST)) / 4.0,
        "more single": np.maximum(left_single, right_single),
        "less single": np.minimum(left_single, right_single),
        "best of both": is_best.astype(np.float32),
    }
    stacked: Float32Array = np.stack([layers[name] for name in LEARNED]).astype(np.float32, copy=False)
    return stacked


# ---- the file ----


@cache
def load_metric() -> Metric:
    """The shipped metric, for the vectors of the shipped parser and the shipped static vectors."""
    return read_metric(grammar_root() / "word_metric.npz")


def read_metric(path: Path) -> Metric:
    """Arrays `projection` and `null`, 16 bit."""
    with reading(path, "word metric", GrammarError):
        arrays = read_arrays(path)
        metric = Metric(arrays["projection"].astype(np.float32), arrays["null"].astype(np.float32))
    if metric.projection.ndim != 2 or metric.null.shape != metric.projection.shape[:1]:
        raise GrammarError(path, None, f"projection {metric.projection.shape} does not fit null {metric.null.shape}")
    return metric


def write_metric(path: Path, metric: Metric) -> None:
    """Write the file that `load_metric` reads."""
    with whole_file(path) as file:
        np.savez(file, projection=metric.projection.astype(np.float16), null=metric.null.astype(np.float16))
