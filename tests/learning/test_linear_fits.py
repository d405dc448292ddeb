"""Weighted sums of features fitted to data whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from forestalign.learning.linear_fits import fit_logistic, fit_multinomial, fit_ridge
from forestalign.phrases.evidence.logistic import logistic, softmax


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


def test_rows_that_count_twice_count_as_two_rows() -> None:
    generator = np.random.default_rng(3)
    rows, labels = generator.normal(size=(200, 2)), (generator.random(200) < 0.5).astype(np.float64)
    doubled = fit_logistic(np.concatenate([rows, rows]), np.concatenate([labels, labels]))
    weighted = fit_logistic(rows, labels, weights=np.full(200, 2.0))
    assert weighted.weights == pytest.approx(doubled.weights, abs=1e-4)


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


def test_a_feature_that_never_changes_does_no_harm() -> None:
    rows = np.column_stack([np.ones(40), np.linspace(-1.0, 1.0, 40)])
    found = fit_logistic(rows, (rows[:, 1] > 0).astype(np.float64))
    assert np.isfinite(found(rows)).all()
