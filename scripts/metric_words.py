"""Learn the metric of word vectors (forestalign/word_alignment/metric.py) from gold links.

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

from forestalign.lexicon import load_vectors
from forestalign.word_alignment import Analysis
from forestalign.word_alignment.metric import Metric, partners, rows_of

RANK = 256  # held-out F1 of the metric alone rises up to here; the file stays under 300 kB
EPOCHS, BATCH, STEP = 5, 16, 5e-3
START = 2.0  # length of the principal directions at the start
DECAY = (0.9, 0.99)


@dataclass(frozen=True, slots=True)
class LinkedRows:
    """One pair of sentences: the rows of its words, 1 for each gold link, and how much it counts."""

    left: np.ndarray
    right: np.ndarray
    gold: np.ndarray
    weight: float


def rows(analysis: Analysis) -> np.ndarray:
    vectors = analysis.sentence.vectors
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return rows_of(unit, load_vectors().matrix([word.lower() for word in analysis.sentence.words]))


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


def principal_directions(pairs: Sequence[LinkedRows]) -> np.ndarray:
    every = np.concatenate([pair.left for pair in pairs])
    _, directions = np.linalg.eigh(every.T @ every / len(every))
    return (START * directions[:, ::-1][:, :RANK]).astype(np.float32)


def gradient(metric: Metric, batch: Sequence[LinkedRows]) -> tuple[np.ndarray, np.ndarray]:
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


def surprise(scores: np.ndarray, null: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability given minus probability due, for every pair and for no partner."""
    given, without = partners(scores, null)
    counts = gold.sum(1, keepdims=True)
    due = gold / np.maximum(counts, 1)
    return given - due, without[:, 0] - (counts[:, 0] == 0)
