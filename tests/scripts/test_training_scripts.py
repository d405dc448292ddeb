"""Learning profile `best`: gradients against differences of the loss, and sets of gold links.

Learning the weights of `rerank`: gains, the gradient, and that fitting helps.

The mean of learned phrase scores.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from average_scores import main
from hypothesis import given
from hypothesis import strategies as st
from scoring.words import read_sets
from train_chunks import fit_multinomial, fit_ridge
from train_rerank import TreeChoice, edge_gains, fit, risk
from train_words import LinkedRows, gradient, links_above, loss

from forestalign.errors import UsageError
from forestalign.phrases.evidence.logistic import fit_logistic, logistic, softmax
from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model, score_model_text
from forestalign.reranking.tree_features import FEATURES
from forestalign.trees import parse_brackets
from forestalign.words.word_vectors import Metric
from tests.builders.hand_forests import hand_forest

STEP = 1e-3


def surprise_of(metric: Metric, batch: list[LinkedRows]) -> float:
    """The mean loss of a batch by its definition, word by word."""
    total = 0.0
    for pair in batch:
        left, right = metric.of(pair.left), metric.of(pair.right)
        scores = left.places.astype(float) @ right.places.T.astype(float)
        lost = 0.0
        for table, null, gold in ((scores, left.null, pair.gold), (scores.T, right.null, pair.gold.T)):
            for row, nothing, marks in zip(table, null, gold, strict=True):
                whole = np.log(np.exp(nothing) + np.exp(row).sum())
                linked = marks.sum()
                lost += whole - (row @ marks / linked if linked else nothing)
        total += pair.weight * lost / sum(scores.shape)
    return total / len(batch)


@given(st.integers(0, 999))
def test_the_slope_of_the_metric_is_that_of_the_loss(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    metric = Metric(numbers.normal(size=(4, 2)) * 0.5, numbers.normal(size=4) * 0.5)  # type: ignore[arg-type]
    batch = [
        LinkedRows(
            numbers.normal(size=(rows, 4)),  # type: ignore[arg-type]
            numbers.normal(size=(columns, 4)),  # type: ignore[arg-type]
            (numbers.random((rows, columns)) < 0.4).astype(np.float32),
            1.5,
        )
        for rows, columns in ((1, 2), (3, 2))
    ]
    by_projection, by_null = gradient(metric, batch)
    for place in ((0, 0), (3, 1)):
        change = np.zeros((4, 2))
        change[place] = STEP
        ends = [surprise_of(replace(metric, projection=metric.projection + sign * change), batch) for sign in (1, -1)]
        assert by_projection[place] == pytest.approx((ends[0] - ends[1]) / (2 * STEP), abs=1e-3)
    change = np.array([0, STEP, 0, 0])
    ends = [surprise_of(replace(metric, null=metric.null + sign * change), batch) for sign in (1, -1)]
    assert by_null[1] == pytest.approx((ends[0] - ends[1]) / (2 * STEP), abs=1e-3)


@given(st.integers(0, 999))
def test_the_slope_of_the_weights_is_that_of_their_loss(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    design = numbers.normal(size=(6, 3)).astype(np.float32)
    gold, weights = (numbers.random(6) < 0.5).astype(np.float32), numbers.random(6).astype(np.float32)
    theta = numbers.normal(size=3)
    _, slopes = loss(theta, design, gold, weights)
    for place in range(3):
        change = np.zeros(3)
        change[place] = 0.05
        ends = [loss(theta + sign * change, design, gold, weights)[0] for sign in (1, -1)]
        assert slopes[place] == pytest.approx((ends[0] - ends[1]) / 0.1, rel=0.02, abs=0.02)


def test_the_bias_is_not_penalised() -> None:
    nothing = np.zeros((0, 2), dtype=np.float32)
    value, slopes = loss(np.array([0.0, 5.0]), nothing, nothing[:, 0], nothing[:, 0])
    assert (value, slopes.tolist()) == (0.0, [0.0, 0.0])


# ---- sets and links ----


@pytest.mark.parametrize("text", ["gold.jsonl:heavy", "gold.jsonl:1:few", "gold.jsonl:1:2:3"])
def test_a_set_that_is_not_file_weight_and_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="FILE:WEIGHT:N"):
        read_sets([text], None)


def test_links_are_strictly_above_the_threshold() -> None:
    values = np.array([[0.5, 0.51], [0.0, 1.0]], dtype=np.float32)
    assert links_above(values, 0.5) == {(0, 1), (1, 1)}


LOW = "(S (NP (PRP We)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS lenses))))))"
HIGH = "(S (NP (PRP We)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS lenses)))))"


@pytest.fixture
def choices() -> list[TreeChoice]:
    forest = hand_forest(LOW, HIGH)
    generator = np.random.default_rng(0)
    features = generator.normal(size=(len(forest.arrays.log_prob), len(FEATURES)))
    return [
        TreeChoice(forest, features, edge_gains(forest, parse_brackets(HIGH)), 1.0),
        TreeChoice(forest, features * 0.5, edge_gains(forest, parse_brackets(LOW)), 0.5),
    ]


def test_an_edge_gains_the_brackets_that_the_gold_tree_has() -> None:
    forest = hand_forest(LOW, HIGH)
    gains = dict(zip(forest.arrays.edge_node.tolist(), edge_gains(forest, parse_brackets(HIGH)).tolist(), strict=True))
    by_name = {(node.begin, node.end, node.label, node.is_bar): gains[v] for v, node in enumerate(forest.nodes)}
    assert by_name[2, 5, "NP", False] == -1
    assert by_name[3, 5, "PP", False] == 1
    assert by_name[1, 3, "VP", True] == 0


def test_the_slope_is_that_of_the_risk(choices: list[TreeChoice]) -> None:
    weights = np.random.default_rng(1).normal(size=len(FEATURES)) * 0.3
    _, slope = risk(choices, weights)
    for place in range(len(FEATURES)):
        step = np.zeros(len(FEATURES))
        step[place] = 1e-5
        difference = (risk(choices, weights + step)[0] - risk(choices, weights - step)[0]) / 2e-5
        assert slope[place] == pytest.approx(difference, abs=1e-5)


def test_fitting_lowers_the_risk(choices: list[TreeChoice]) -> None:
    nothing = np.zeros(len(FEATURES))
    assert risk(choices, fit(choices, nothing, 1e-3, 20))[0] < risk(choices, nothing)[0] - 0.1


def test_weights_are_the_mean_and_the_rest_is_of_the_first(tmp_path: Path) -> None:
    paths = [tmp_path / "first.json", tmp_path / "other.json"]
    for path, value, start in zip(paths, (1.0, 4.0), ("paper", "shipped"), strict=True):
        model = ScoreModel(np.full(len(NAMES), value), ((0.0, 0.2 / value), (1.0, 0.8)), {"start": start})
        path.write_text(score_model_text(model), encoding="utf-8")
    main([*map(str, paths), "-o", str(tmp_path / "mean.json")])
    mean = load_score_model(str(tmp_path / "mean.json"))
    assert mean.weights.tolist() == [2.5] * len(NAMES)
    assert mean.calibration == ((0.0, 0.2), (1.0, 0.8))
    assert mean.card == {"start": "paper", "mean of starts": ["paper", "shipped"]}


def test_multinomial_regression_with_two_classes_is_logistic_regression() -> None:
    generator = np.random.default_rng(4)
    rows = generator.normal(size=(3_000, 2))
    labels = (generator.random(len(rows)) < logistic(rows @ [1.0, -1.0])).astype(np.float64)
    both = fit_multinomial(rows, labels, 2, ridge=1e-6)
    one = fit_logistic(rows, labels, ridge=1e-6)
    shares = softmax(np.stack([weighting(rows) for weighting in both], axis=-1))[:, 1]
    assert shares == pytest.approx(logistic(one(rows)), abs=1e-3)


def test_ridge_regression_is_exact_without_noise() -> None:
    rows = np.random.default_rng(5).normal(size=(50, 3))
    found = fit_ridge(rows, rows @ [1.0, 2.0, 3.0] + 4.0, ridge=1e-9)
    assert [*found.weights, found.bias] == pytest.approx([1.0, 2.0, 3.0, 4.0])
