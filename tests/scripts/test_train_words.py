"""Learning profile `best`: gradients against differences of the loss, and sets of gold links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.words import read_sets
from train_words import LinkedRows, gradient, links_above, loss

from forestalign.errors import UsageError
from forestalign.words.word_vectors import Metric

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
