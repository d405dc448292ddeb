"""Learning the weights of `rerank`: gains, the gradient, and that fitting helps."""

from __future__ import annotations

import numpy as np
import pytest
from train_rerank import TreeChoice, edge_gains, fit, risk

from forestalign.reranking.tree_features import FEATURES
from forestalign.trees import parse_brackets
from tests.builders.hand_forests import hand_forest

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
