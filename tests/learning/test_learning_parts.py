"""What training is made of: steps of EM, passes over items, cards, calibration, judges, tables of trials.

The objective of supervised training: by hand, by finite differences, and by weights planted in made-up lists.

Weighted sums of features fitted to data whose answer is known.

Confidence is learned from held-out alignments: areas and costs by hand, and a signal that is there is found.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.batch.workers import Worker
from forestalign.errors import UsageError
from forestalign.evaluation.development import AnnotatedJudge, risk
from forestalign.evaluation.phrase_scores import PhraseSet
from forestalign.learning.cross_validate import Observed, fit_confidence, with_confidence
from forestalign.learning.em import CHUNK, EmSettings, WeightedTask, run_pass
from forestalign.learning.train_scores import (
    GoldExample,
    KBestList,
    calibration_error,
    expected_risk,
    isotonic,
    minimise_risk,
    reliability,
    split,
)
from forestalign.phrases.evidence.logistic import fit_logistic, logistic
from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import CONFIDENCE, ScoreModel
from forestalign.tokens import Span

# ---- EM ----


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("batch_size", 0, "batch_size is 0; expected at least 1"),
        ("passes", 0, "passes is 0; expected at least 1"),
        ("l2", -1.0, "l2 is -1.0; expected at least 0"),
        ("l2", math.nan, "l2 is nan; expected at least 0"),
        ("iterations", 0, "iterations is 0; expected at least 1"),
        ("seed", -1, "seed is -1; expected at least 0"),
    ],
)
def test_settings_of_em_that_cannot_work_are_refused(name: str, value: float, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        EmSettings(**{name: value})  # type: ignore[arg-type]


# ---- passes ----


def doubled(task: WeightedTask[int]) -> list[float]:
    assert len(task.items) <= CHUNK
    return [float(task.weights.sum()) * item for item in task.items]


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_a_pass_gives_a_result_for_every_item_in_order(count: int) -> None:
    assert list(run_pass(Worker.of(doubled), np.array([0.5, 1.5]), range(count))) == [2.0 * k for k in range(count)]


def examples(count: int) -> list[GoldExample]:
    judge = AnnotatedJudge((PhraseSet(frozenset()),))
    return [GoldExample(Path(f"{number}.pair"), judge) for number in range(count)]


def test_folds_part_the_examples() -> None:
    all_examples = examples(7)
    kept_back: list[GoldExample] = []
    for fold in range(3):
        training, kept = split(all_examples, fold, 3)
        assert len(training) + len(kept) == 7
        assert not {each.path for each in training} & {each.path for each in kept}
        kept_back += kept
    assert {each.path for each in kept_back} == {each.path for each in all_examples}


# ---- judges ----


def spans(*pairs: tuple[int, int]) -> frozenset[tuple[Span, Span]]:
    """Pairs of one-word spans."""
    return frozenset((Span(i, i + 1), Span(j, j + 1)) for i, j in pairs)


def test_the_risk_counts_what_is_missing_and_what_is_wrong() -> None:
    judge = AnnotatedJudge((PhraseSet(spans((0, 0), (1, 1))), PhraseSet(spans((0, 0), (2, 2)))))
    assert risk(judge, spans((0, 0))) == 0.0
    assert risk(judge, spans()) == 1.0
    assert risk(judge, spans((0, 0), (1, 1), (2, 2))) == 0.0
    assert risk(judge, spans((0, 0), (3, 3))) == 1.0


def test_a_pair_is_as_right_as_references_allow_it() -> None:
    answers = tuple(PhraseSet(spans(*pairs)) for pairs in ([(0, 0)], [(0, 0), (1, 1)], []))
    judge = AnnotatedJudge(answers)
    (first,), (second,), (third,) = spans((0, 0)), spans((1, 1)), spans((2, 2))
    assert judge.is_right(first) == 1.0
    assert judge.is_right(second) == pytest.approx(2 / 3)
    assert judge.is_right(third) == 0.0


# ---- calibration ----


POINTS = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60)


@given(POINTS)
def test_the_curve_rises_from_0_to_1(observed: list[tuple[float, float]]) -> None:
    curve = isotonic(observed)
    posteriors, shares = [x for x, _ in curve], [y for _, y in curve]
    assert (posteriors[0], posteriors[-1]) == (0.0, 1.0)
    assert posteriors == sorted(posteriors)
    assert all(left <= right + 1e-9 for left, right in pairwise(shares))


@given(POINTS)
def test_every_point_lies_in_one_bin(predicted: list[tuple[float, float]]) -> None:
    rows = reliability(predicted)
    assert sum(count for _, _, count in rows) == len(predicted)
    assert 0.0 <= calibration_error(predicted) <= 1.0


# ---- trials ----


def made_up(seed: int, count: int = 30, width: int = 4) -> list[KBestList]:
    rng = np.random.default_rng(seed)
    return [KBestList(rng.normal(size=(6, width)), rng.integers(0, 5, 6).astype(float)) for _ in range(count)]


def test_the_expected_risk_of_a_list_by_hand() -> None:
    # scores 0 and log 3: shares 1/4 and 3/4, risks 4 and 0
    lists = [KBestList(np.array([[0.0], [math.log(3.0)]]), np.array([4.0, 0.0]))]
    value, gradient = expected_risk(np.array([1.0]), lists)
    assert value == pytest.approx(1.0)
    assert gradient[0] == pytest.approx(0.75 * (0.0 - 1.0) * math.log(3.0))


def test_the_gradient_is_that_of_finite_differences() -> None:
    lists, weights = made_up(1), np.array([0.3, -0.2, 0.5, 0.1])
    _, gradient = expected_risk(weights, lists)
    for k in range(len(weights)):
        step = np.zeros(len(weights))
        step[k] = 1e-6
        slope = (expected_risk(weights + step, lists)[0] - expected_risk(weights - step, lists)[0]) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=1e-6)


def test_training_recovers_planted_weights() -> None:
    rng, planted = np.random.default_rng(3), np.array([2.0, -1.0, 0.0])
    lists = []
    for _ in range(300):
        parts = rng.normal(size=(8, 3))
        scores = parts @ planted
        lists.append(KBestList(parts, (scores.max() - scores).round(2)))
    weights = minimise_risk(lists, np.zeros(3), np.zeros(3), 1e-6)
    direction = weights / np.linalg.norm(weights)
    assert direction @ (planted / np.linalg.norm(planted)) > 0.99


def test_joined_lists_hold_each_derivation_once() -> None:
    one = KBestList(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.0, 1.0]))
    both = one.join(KBestList(np.array([[3.0, 4.0], [5.0, 6.0]]), np.array([1.0, 2.0])))
    assert both.parts.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert both.risks.tolist() == [0.0, 1.0, 2.0]


def test_logistic_regression_finds_the_odds_it_was_drawn_from() -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(20_000, 2)) * [1.0, 5.0] + [0.0, 3.0]
    labels = (generator.random(len(rows)) < logistic(2.0 * rows[:, 0] - 0.3 * rows[:, 1] + 1.0)).astype(np.float64)
    found = fit_logistic(rows, labels, ridge=0.01)
    assert found.weights == pytest.approx([2.0, -0.3], abs=0.1)
    assert found.bias == pytest.approx(1.0, abs=0.1)


def test_the_mean_of_fitted_probabilities_is_the_share_of_ones() -> None:
    generator = np.random.default_rng(2)
    rows, labels = generator.normal(size=(500, 3)), (generator.random(500) < 0.2).astype(np.float64)
    found = fit_logistic(rows, labels)
    assert logistic(found(rows)).mean() == pytest.approx(labels.mean(), abs=1e-4)


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
    words, mixed, phrases = fit_confidence(alignments(100)).weightings
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
