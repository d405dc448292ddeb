"""How alike words and phrases are by the middle layers of the encoder (`Sentence.context_vectors`), raw and learned.

All vectors of an encoder share a large part, so that every two words look alike. It is taken away first: the mean over
the words of both sentences and of CENTRE_WEIGHT more words that lie where words lie on average (`load_centre`), since
in a pair of single words the mean of both would leave nothing but their difference.

    x'(i) = x(i) - (sum over words k of both sentences of x(k) + w c) / (number of words + w)
    cosine(i, j) = x'(i) . x'(j) / |x'(i)| |x'(j)|;   a phrase is the mean x' of its words

Sentences without these vectors (analyses from elsewhere, other parsers) have no cosines: the functions return None.

Profile `best` also asks how alike two words are in their sentences by a projection learned from gold links.

    x(i)      word i by the middle layers of the encoder (unit length), static vector (unit length, or zeros), 1
    s(i, j)   = (x(i) P) . (x(j) P)                       P: `projection`
    p(j | i)  = exp s(i, j) / (exp x(i).n + sum over k of exp s(i, k)),      n: `null`, the score of having no partner

One projection serves both sentences, so s is symmetric, and so is every layer made from p(j | i) and p(i | j). Raw
cosines of the same vectors cannot tell a paraphrase from a word of the same topic. Held-out F1 on msr-rte2.dev,
edinburgh.train and mtref.train (scripts/train_words.py, which learns it): without contextual vectors 90.0 / 88.7 /
76.4, with their raw cosines 89.8 / 88.9 / 78.0 (an earlier parser), with the projection 90.1 / 89.4 / 81.3.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np

from forestalign.arrays import AnyFloatArray, Float16Array, Float32Array
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.inputs import read_arrays, reading
from forestalign.outputs import whole_file
from forestalign.tokens import Sentence

CENTRE_WEIGHT = 10  # words; from 5 to 20 zero-shot links hardly differ
SMALLEST = 1e-6  # length of a vector that has a direction


class Encoded(Protocol):
    """A sentence, or what is kept of one, with its vectors where it has them."""

    @property
    def context_vectors(self) -> Float32Array | None:
        """One row per word."""
        ...


def centred(
    source: Encoded, target: Encoded, centre: Float32Array | None = None
) -> tuple[Float32Array, Float32Array] | None:
    """x' of the words of both sentences; c is the shipped centre unless another is given."""
    left, right = source.context_vectors, target.context_vectors
    if left is None or right is None or left.shape[1] != right.shape[1]:
        return None
    total, count = left.sum(0) + right.sum(0), len(left) + len(right)
    centre = load_centre() if centre is None else centre
    if centre.shape == total.shape:  # else of another encoder
        total, count = total + CENTRE_WEIGHT * centre, count + CENTRE_WEIGHT
    mean = (total / np.float32(max(count, 1))).astype(np.float32)
    return left - mean, right - mean


def centred_cosines(source: Encoded, target: Encoded, centre: Float32Array | None = None) -> Float32Array | None:
    """The cosine of every word of the source with every word of the target, [n, m]."""
    pair = centred(source, target, centre)
    if pair is None:
        return None
    left, right = (unit_rows(rows) for rows in pair)
    return left @ right.T


def unit_rows(rows: Float32Array) -> Float32Array:
    """Rows of length 1; zeros stay zeros."""
    unit: Float32Array = rows / np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), SMALLEST)[:, None]
    return unit


# ---- the file ----


@cache
def load_centre() -> Float32Array:
    """Where words lie on average in the middle layers of the shipped encoder."""
    return read_centre(grammar_root() / "word_centre.npy")


def read_centre(path: Path) -> Float32Array:
    """One row of numbers, 16 bit."""
    with reading(path, "centre of word vectors", GrammarError):
        centre = read_arrays(path)[""]
    if centre.ndim != 1 or centre.dtype.kind != "f":
        raise GrammarError(path, None, f"{centre.dtype} {centre.shape}; expected one row of finite numbers")
    result: Float32Array = centre.astype(np.float32)
    return result


def centre_of(sentences: Iterable[Sentence]) -> Float32Array:
    """The mean over all words of these sentences, as exact as the file."""
    rows = [sentence.context_vectors for sentence in sentences if sentence.context_vectors is not None]
    mean: Float32Array = np.concatenate(rows).mean(0, dtype=np.float64).astype(np.float16).astype(np.float32)
    return mean


def write_centre(path: Path, centre: Float32Array) -> None:
    """Write the file that `load_centre` reads."""
    with whole_file(path) as file:
        np.save(file, centre.astype(np.float16))


def packed(vectors: AnyFloatArray) -> str:
    """The rows one after another."""
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode()


def unpacked(text: str, word_count: int) -> Float16Array:
    """What `packed` wrote, one row per word; ValueError where it cannot be that."""
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f2")
    if not word_count or not len(values) or len(values) % word_count:
        raise ValueError(f"{len(values)} numbers are not the vectors of {word_count} words")
    if not np.isfinite(values).all():
        raise ValueError("a number of the vectors is not finite")
    return values.reshape(word_count, -1)


LEARNED = (
    "score", "both ways", "better way", "worse way", "log both ways", "more single", "less single", "best of both",
)  # fmt: skip
SCALE, WIDEST = 8.0, 2.0  # of the score as a layer
LEAST_SHARE = 1e-3  # added to probabilities before their logarithm


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
        "log both ways": np.log((forth + LEAST_SHARE) * (back + LEAST_SHARE)) / 4.0,
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
