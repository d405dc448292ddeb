"""How alike words and phrases are by the middle layers of the encoder (`Sentence.context_vectors`); nothing is learned.

All vectors of an encoder share a large part, so that every two words look alike. It is taken away first: the mean over
the words of both sentences and of CENTRE_WEIGHT more words that lie where words lie on average (`load_centre`), since
in a pair of single words the mean of both would leave nothing but their difference.

    x'(i) = x(i) - (sum over words k of both sentences of x(k) + w c) / (number of words + w)
    cosine(i, j) = x'(i) . x'(j) / |x'(i)| |x'(j)|;   a phrase is the mean x' of its words

Sentences without these vectors (analyses from elsewhere, other parsers) have no cosines: the functions return None.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np

from forestalign.arrays import Float32Array
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
