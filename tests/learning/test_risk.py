"""The objective of supervised training: by hand, by finite differences, and by weights planted in made-up lists."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forestalign.learning.train_scores import KBestList, expected_risk, minimise_risk


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
    both = one.joined(KBestList(np.array([[3.0, 4.0], [5.0, 6.0]]), np.array([1.0, 2.0])))
    assert both.parts.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert both.risks.tolist() == [0.0, 1.0, 2.0]
