"""Learning the metric of word vectors (words/word_vectors.py) from gold links.

The loss of one pair of sentences is the cross entropy of the partners of every word, in both directions: the gold
partners share the probability of their word, and a word without one has all of it on "no partner". It is divided by
the number of words, so that every pair of sentences counts the same. The projection starts from the principal
directions of the vectors, so that s starts as a plain dot product. The optimiser is Adam with a falling step; its only
randomness is the order of the pairs, and that has a fixed seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import Float32Array
from forestalign.errors import UsageError
from forestalign.lexicon import load_vectors
from forestalign.machine import with_one_thread
from forestalign.words import Analysis
from forestalign.words.word_vectors import Metric, partners, rows_of, unit_rows

RANK = 256  # held-out F1 of the metric alone rises up to here; the file stays under 300 kB
EPOCHS, BATCH, STEP = 5, 16, 5e-3
START = 2.0  # length of the principal directions at the start
DECAY = (0.9, 0.99)


@dataclass(frozen=True, slots=True)
class LinkedRows:
    """One pair of sentences: the rows of its words, 1 for each gold link, and how much it counts."""

    left: Float32Array
    right: Float32Array
    gold: Float32Array
    weight: float


def rows(analysis: Analysis) -> Float32Array:
    """x of the words of a sentence: vectors of the encoder, which it must have, and static ones."""
    middle = analysis.sentence.context_vectors
    if middle is None:
        raise UsageError(
            f"{analysis.sentence.text!r} has no contextual vectors; expected a parse by the shipped parser"
        )
    static = load_vectors().matrix([word.lower() for word in analysis.sentence.words])
    return rows_of(unit_rows(middle), static)


@with_one_thread
def learn_metric(pairs: Sequence[LinkedRows]) -> Metric:
    """Adam over batches of pairs."""
    generator = np.random.default_rng(0)
    parameters = [principal_directions(pairs), np.zeros(pairs[0].left.shape[1], dtype=np.float32)]
    means, squares = ([np.zeros_like(value) for value in parameters] for _ in range(2))
    step_count = EPOCHS * -(-len(pairs) // BATCH)
    batches = (
        order[begin : begin + BATCH]
        for order in (generator.permutation(len(pairs)) for _ in range(EPOCHS))
        for begin in range(0, len(pairs), BATCH)
    )
    for number, batch in enumerate(batches, start=1):
        slopes = gradient(Metric(*parameters), [pairs[n] for n in batch])
        for value, slope, mean, square in zip(parameters, slopes, means, squares, strict=True):
            mean += (1 - DECAY[0]) * (slope - mean)
            square += (1 - DECAY[1]) * (slope * slope - square)
            size = STEP * (1 - number / (step_count + 1)) / (1 - DECAY[0] ** number)
            value -= size * mean / (np.sqrt(square / (1 - DECAY[1] ** number)) + 1e-8)
    return Metric(*parameters)


def principal_directions(pairs: Sequence[LinkedRows]) -> Float32Array:
    """The directions in which the words of the sources differ most, as columns."""
    every = np.concatenate([pair.left for pair in pairs])
    _, directions = np.linalg.eigh(every.T @ every / len(every))
    first: Float32Array = (START * directions[:, ::-1][:, :RANK]).astype(np.float32)
    return first


def gradient(metric: Metric, batch: Sequence[LinkedRows]) -> tuple[Float32Array, Float32Array]:
    """Of the mean loss of a batch, by the projection and by the null score."""
    every = np.concatenate([rows for pair in batch for rows in (pair.left, pair.right)])
    projected = metric.of(every)
    by_place, by_null = [], []
    begin = 0
    for pair in batch:
        middle, end = begin + len(pair.left), begin + len(pair.left) + len(pair.right)
        left, right = projected.places[begin:middle], projected.places[middle:end]
        scores = left @ right.T
        forth, left_null = surprise(scores, projected.null[begin:middle], pair.gold)
        back, right_null = surprise(scores.T, projected.null[middle:end], pair.gold.T)
        slopes = forth + back.T
        share = np.float32(pair.weight / (len(batch) * sum(scores.shape)))
        by_place += [share * (slopes @ right), share * (slopes.T @ left)]
        by_null += [share * left_null, share * right_null]
        begin = end
    return every.T @ np.concatenate(by_place), every.T @ np.concatenate(by_null)


def surprise(scores: Float32Array, null: Float32Array, gold: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Probability given minus probability due, for every pair and for no partner."""
    given, without = partners(scores, null)
    counts = gold.sum(1, keepdims=True)
    due = gold / np.maximum(counts, 1)
    return given - due, without[:, 0] - (counts[:, 0] == 0)
