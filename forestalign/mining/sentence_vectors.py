"""One vector per sentence, from the words' vectors of the encoder's middle layers and of its last one.

    pooled = [mean middle, mean last, mean middle by weight, mean last by weight]

The weight of a word is its inverse document frequency, so that *the* does not drown *harbour*. A projection that was
learned (`scripts/train_verdict.py`) takes this to few dimensions, in which the cosine says how alike two sentences
are.
"""

from __future__ import annotations

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.lexicon import WordVectors
from forestalign.tokens import Sentence

PRODUCTS, DISTANCES = 30.0, 10.0
_LEAST_WEIGHT = 0.02


def pooled_vector(sentence: Sentence, vectors: WordVectors) -> FloatArray | None:
    """The means of a sentence, one after the other; None if the parser gave no vectors."""
    if sentence.context_vectors is None or sentence.vectors is None or not len(sentence):
        return None
    weights = np.array([vectors.idf(word) + _LEAST_WEIGHT for word in sentence.words])
    weights /= weights.sum()
    layers = sentence.context_vectors.astype(np.float64), sentence.vectors.astype(np.float64)
    return np.concatenate([*(layer.mean(axis=0) for layer in layers), *(weights @ layer for layer in layers)])


def projected(pooled: FloatArray, projection: FloatArray, offset: FloatArray) -> FloatArray:
    """Pooled vectors, one or a row each, after projecting: of length 1, or nought."""
    rows = pooled @ projection + offset
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(norms, norms, 1.0))


def compared(left: FloatArray, right: FloatArray) -> FloatArray:
    """Products and distances of projected vectors by dimension; they vary about as much as scaled features."""
    return np.concatenate([PRODUCTS * left * right, DISTANCES * np.abs(left - right)], axis=-1)
