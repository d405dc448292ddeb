"""Fitting the weights of the matching model (words/learned/matching.py): logistic regression, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from forestalign.arrays import AnyArray, AnyFloatArray, Float32Array, FloatArray, Int8Array
from forestalign.machine import with_one_thread
from forestalign.words.learned.evidence import LEARNED_PART, Evidence, similarity_of
from forestalign.words.learned.matching import FIRST, KINDS, MatchingModel
from forestalign.words.word_vectors import Metric, learned_layers

Marks = AnyFloatArray  # 1 for each gold link
EASY_SHARE = 0.1  # of the pairs of words that nothing speaks for, how many are kept as negatives
RELATED = 0.9  # similarity of related words
PENALTY = 3.0  # L2
UNKNOWN = -1.0  # gold of a pair of words that is neither linked nor not
ENCODED = ("learned ", "lexical context ", "lexical middle ", "lexical squared middle ")
CONTEXTUAL = [number for number, name in enumerate(FIRST) if name.startswith(ENCODED)]


@dataclass(frozen=True, slots=True)
class WordExample:
    """One pair of sentences with its evidence, the rows that the metric projects, its gold, and how much it counts."""

    evidence: Evidence
    left: Float32Array
    right: Float32Array
    gold: Marks
    weight: float

    def by(self, metric: Metric) -> WordExample:
        """The example with the layers that a metric gives."""
        layers = self.evidence.layers.copy()
        layers[LEARNED_PART] = learned_layers(metric.of(self.left), metric.of(self.right))
        return replace(self, evidence=replace(self.evidence, layers=layers))

    def without_vectors(self) -> WordExample:
        """The example as if its sentences had no contextual vectors."""
        layers = self.evidence.layers.copy()
        layers[CONTEXTUAL] = 0.0
        return replace(self, evidence=replace(self.evidence, layers=layers))


@with_one_thread
def fit(items: Sequence[WordExample]) -> MatchingModel:
    """Both passes; the second is fitted to the belief of the first."""
    model = MatchingModel((fit_pass(*sample(items, [None] * len(items))),))
    beliefs = [model.probabilities(0, item.evidence.layers, item.evidence.kinds) for item in items]
    return MatchingModel((*model.passes, fit_pass(*sample(items, beliefs))))


def sample(items: Sequence[WordExample], beliefs: Sequence[Float32Array | None]) -> list[AnyArray]:
    """Layers, kinds, gold and weights of the pairs of words that are kept; easy negatives are few and weigh more."""
    generator = np.random.default_rng(0)
    parts = []
    for item, belief in zip(items, beliefs, strict=True):
        is_unlikely = similarity_of(item.evidence.lexical) < RELATED if belief is None else belief < 0.02
        easy = (is_unlikely & (item.gold == 0)).ravel()
        keep = (~easy | (generator.random(easy.size) < EASY_SHARE)) & (item.gold.ravel() != UNKNOWN)
        layers = item.evidence.layers if belief is None else item.evidence.with_belief(belief)
        weights = np.where(easy, 1.0 / EASY_SHARE, 1.0)[keep] * item.weight
        rows = layers.reshape(len(layers), -1)[:, keep].T
        parts.append((rows, item.evidence.kinds.ravel()[keep], item.gold.ravel()[keep], weights.astype(np.float32)))
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


@with_one_thread
def fit_pass(rows: Float32Array, kinds: Int8Array, gold: Marks, weights: Float32Array) -> Float32Array:
    """One logistic regression for each kind; the last weight is the bias and is not penalised."""
    result = np.zeros((len(KINDS), rows.shape[1] + 1), dtype=np.float32)
    for kind in range(len(KINDS)):
        chosen = kinds == kind
        design = np.concatenate([rows[chosen], np.ones((chosen.sum(), 1), dtype=np.float32)], axis=1)
        arguments = (design, gold[chosen], weights[chosen])
        start = np.zeros(design.shape[1])
        found = minimize(loss, start, arguments, jac=True, method="L-BFGS-B", options={"maxiter": 80})
        result[kind] = found.x
    return result


def loss(theta: FloatArray, design: Float32Array, gold: Marks, weights: Float32Array) -> tuple[float, FloatArray]:
    """Weighted negative log-likelihood with its gradient."""
    scores = np.clip(design @ theta.astype(np.float32), -30.0, 30.0)
    probabilities = 1.0 / (1.0 + np.exp(-scores))
    value = float((weights * (np.logaddexp(0.0, scores) - gold * scores)).sum())
    gradient = (design.T @ ((probabilities - gold) * weights)).astype(np.float64)
    penalty = np.append(theta[:-1], 0.0)
    return value + PENALTY / 2.0 * float(penalty @ penalty), gradient + PENALTY * penalty
