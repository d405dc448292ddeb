"""Confidence is learned from held-out alignments: areas and costs by hand, and a signal that is there is found."""

from __future__ import annotations

import numpy as np

from forestalign.learning.cross_validate import Observed, fitted, with_confidence
from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import CONFIDENCE, ScoreModel

MARGIN, RIVAL = CONFIDENCE.index("margin"), CONFIDENCE.index("strongest rival")


def alignments(count: int, seed: int = 0) -> list[Observed]:
    """Pairs of words are right where the margin is above 0, pairs of phrases where there is no rival."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        features = random.normal(size=(12, len(CONFIDENCE)))
        kinds = random.integers(0, 3, 12)
        right = np.where(kinds == 0, features[:, MARGIN] > 0.0, features[:, RIVAL] < 0.0).astype(np.float64)
        found.append(Observed(features, kinds, right))
    return found


def test_each_kind_learns_what_makes_it_right() -> None:
    words, mixed, phrases = fitted(alignments(100)).weightings
    assert int(np.argmax(np.abs(words.weights))) == MARGIN
    assert int(np.argmax(np.abs(mixed.weights))) == int(np.argmax(np.abs(phrases.weights))) == RIVAL
    assert words.weights[MARGIN] > 0.0 > phrases.weights[RIVAL]


def test_the_card_says_what_confidence_is_worth_for_pairs_it_did_not_see() -> None:
    model = with_confidence(ScoreModel(np.zeros(len(NAMES))), alignments(400))
    assert model.card["area under the curve"] > 0.95
    assert model.card["right lost with half of the wrong"] < 0.02
    assert model.card["calibration error"] < 0.05
    random = np.random.default_rng(1)
    noise = [Observed(each.features, each.kinds, random.integers(0, 2, 12) * 1.0) for each in alignments(400)]
    assert 0.4 < with_confidence(ScoreModel(np.zeros(len(NAMES))), noise).card["area under the curve"] < 0.6
