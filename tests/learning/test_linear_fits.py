"""Weighted sums of features fitted to data whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from forestalign.phrases.evidence.logistic import fit_logistic, fit_multinomial, fit_ridge, logistic, softmax


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
