"""Fitting what the joint reader's layers weigh (words/joint) to pairs that the reader was not trained on.

The aligner below must not know these pairs either, or it would seem surer than it is on new ones: it is fitted without
them first (scripts/train_words.py --leave), and these weights then serve the one that has seen everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from forestalign.arrays import Float32Array, FloatArray
from forestalign.learning.word_gold import GoldSet
from forestalign.learning.word_run import AnalysedPair
from forestalign.learning.word_weights import EASY_SHARE, UNKNOWN, Marks
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.words import Analysis
from forestalign.words.centred_vectors import read_centre
from forestalign.words.joint.joint_layers import LAYERS, LOGIT, LOGIT_UNIT, joint_layers
from forestalign.words.joint.joint_reader import JointReader
from forestalign.words.learned.lexical_layers import LEXICAL, pipeline_similarity
from forestalign.words.learned.matching import KINDS, THRESHOLD, MatchingModel, match, read_matching
from forestalign.words.learned.metric import read_metric
from forestalign.words.learned.sides import Lexicon
from forestalign.words.learned.word_evidence import Evidence, gather

KNOWN, READER = LAYERS.index("known"), LAYERS.index("reader probability")
PENALTY = 20.0  # L2; 3 and 100 are no better on held-out halves
UNLIKE_WEIGHT = 2.0
UNLIKELY = 0.02  # of both sources: such pairs of words are easy
CONTEXTUAL = 2  # of the variants of the aligner: without a pair list


@dataclass(frozen=True, slots=True)
class JointExample:
    """One pair: layers, kinds, 1 for each gold link, and how much it counts."""

    layers: Float32Array
    evidence: Evidence
    gold: Marks
    weight: float


class KnownLinks:
    """The aligner below, by the files that WordTraining.write wrote into a folder."""

    def __init__(self, folder: Path):
        metric, centre = read_metric(folder / "word_metric.npz"), read_centre(folder / "word_centre.npy")
        self.lexicon = Lexicon(load_wordnet(), load_vectors(), None, metric, centre)
        self.models = read_matching(folder / "word_model.tsv")

    def __call__(self, source: Analysis, target: Analysis) -> tuple[Evidence, Float32Array]:
        evidence = gather(source, target, self.lexicon)
        return evidence, match(evidence, self.models[CONTEXTUAL])


class JointExamples:
    """Makes examples of pairs that can be read at once."""

    def __init__(self, known: KnownLinks, reader: JointReader):
        self._known, self._reader = known, reader

    def linked(self, gold_set: GoldSet) -> list[JointExample]:
        """The pairs of a set; every pair counts about the same, as in macro scores."""
        found = []
        for (source, target), gold in zip(gold_set.pairs, gold_set.gold, strict=True):
            weight = gold_set.weight * 5.0 / np.sqrt(max(1, len(gold.sure)) + 8.0)
            for item in self._example(source, target, weight):
                for i, j in gold.sure:
                    item.gold[i, j] = 1.0
                found.append(item)
        return found

    def unlike(self, pairs: Sequence[AnalysedPair]) -> list[JointExample]:
        """Sentences that say different things: no links, but for identical words, of which nothing is said."""
        found = [item for source, target in pairs for item in self._example(source, target, UNLIKE_WEIGHT)]
        for item in found:
            item.gold[pipeline_similarity(item.evidence.layers[: len(LEXICAL)]) == 1.0] = UNKNOWN
        return found

    def _example(self, source: Analysis, target: Analysis, weight: float) -> list[JointExample]:
        """One, without links, or none where the pair is too long."""
        words = source.sentence.words, target.sentence.words
        if not self._reader.fits(*words):
            return []
        evidence, probabilities = self._known(source, target)
        layers = joint_layers(probabilities, self._reader.read([words])[0])
        return [JointExample(layers, evidence, np.zeros(evidence.kinds.shape, dtype=np.float32), weight)]


def fit_joint(items: Sequence[JointExample]) -> MatchingModel:
    """One logistic regression for each kind; easy negatives are few and weigh more.

    The biases are then moved so that what is as likely as not lies at the threshold of the aligner.
    """
    generator = np.random.default_rng(0)
    parts = []
    for item in items:
        flat = item.layers.reshape(len(item.layers), -1)
        easy = (flat[KNOWN] < UNLIKELY) & (flat[READER] < UNLIKELY) & (item.gold.ravel() == 0)
        keep = (~easy | (generator.random(easy.size) < EASY_SHARE)) & (item.gold.ravel() != UNKNOWN)
        weights = (np.where(easy, 1.0 / EASY_SHARE, 1.0)[keep] * item.weight).astype(np.float32)
        parts.append((flat[:, keep].T, item.evidence.kinds.ravel()[keep], item.gold.ravel()[keep], weights))
    rows, kinds, gold, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    chosen = [kinds == kind for kind in range(len(KINDS))]
    found = np.stack([fit_kind(rows[kind], gold[kind], weights[kind]) for kind in chosen])
    found[:, -1] += np.log(THRESHOLD / (1.0 - THRESHOLD))
    return MatchingModel((found.astype(np.float32),))


def fit_kind(rows: Float32Array, gold: Marks, weights: Float32Array) -> FloatArray:
    """Weights and bias; the penalty draws them to what the aligner says by itself, not to nothing."""
    design = np.concatenate([rows, np.ones((len(rows), 1), dtype=np.float32)], axis=1)
    prior = np.zeros(design.shape[1])
    prior[LAYERS.index(LOGIT)] = LOGIT_UNIT

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        scores = np.clip(design @ theta.astype(np.float32), -30.0, 30.0)
        probabilities = 1.0 / (1.0 + np.exp(-scores))
        change = np.append((theta - prior)[:-1], 0.0)
        value = float((weights * (np.logaddexp(0.0, scores) - gold * scores)).sum())
        gradient = (design.T @ ((probabilities - gold) * weights)).astype(np.float64)
        return value + PENALTY / 2.0 * float(change @ change), gradient + PENALTY * change

    found: FloatArray = minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": 80}).x
    return found


def joint_probabilities(item: JointExample, model: MatchingModel) -> Float32Array:
    """p(i, j) of an example."""
    return model.probabilities(0, item.layers, item.evidence.kinds)
