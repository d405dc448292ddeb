"""Sentence-level scores: correlation, paraphrase identification, ranking."""

from __future__ import annotations

import numpy as np
import pytest

from forestalign.evaluation.sentence_scores import (
    Ranked,
    score_paraphrases,
    score_ranking,
    score_similarity,
    tune_threshold,
)


def test_pearson_equals_the_textbook_value() -> None:
    # x - mean: -2 -1 0 1 2; y - mean: -2 0 -1 1 2; sum of products 9; squares 10 and 10
    assert score_similarity([1, 2, 3, 4, 5], [1, 3, 2, 4, 5])["Pearson r"] == pytest.approx(0.9)


def test_pearson_does_not_depend_on_scale_or_offset() -> None:
    gold, system = [0.5, 4.0, 3.5, 1.0], [0.1, 0.9, 0.4, 0.3]
    moved = [1e6 + 1000 * value for value in system]
    assert score_similarity(gold, moved)["Pearson r"] == pytest.approx(np.corrcoef(gold, system)[0, 1])


def test_pearson_of_a_constant_system_is_zero() -> None:
    assert score_similarity([1, 2, 3], [0.7, 0.7, 0.7])["Pearson r"] == 0.0


def test_the_threshold_gives_the_best_accuracy_on_the_training_pairs() -> None:
    # sorted scores: .1 no, .4 yes, .5 no, .8 yes, .9 yes; above .65 (or .25) one mistake is left
    gold, system = [False, True, False, True, True], [0.1, 0.4, 0.5, 0.8, 0.9]
    assert tune_threshold(gold, system) == pytest.approx(0.25)
    assert score_paraphrases(gold, system, 0.25)["accuracy"] == pytest.approx(4 / 5)


def test_all_pairs_can_be_paraphrases_or_none() -> None:
    assert score_paraphrases([True, True], [0.2, 0.3], tune_threshold([True, True], [0.2, 0.3]))["accuracy"] == 1.0
    assert score_paraphrases([False], [0.2], tune_threshold([False], [0.2]))["accuracy"] == 1.0


def test_paraphrase_scores_equal_the_hand_computed_table() -> None:
    # predictions at .5: yes yes no no; gold: yes no yes no
    scores = score_paraphrases([True, False, True, False], [0.9, 0.8, 0.4, 0.1], 0.5)
    assert [scores[name] for name in ("accuracy", "P", "R", "F1")] == pytest.approx([0.5, 0.5, 0.5, 0.5])


def test_ranking_scores_equal_the_hand_computed_table() -> None:
    gold = [Ranked("q1", False), Ranked("q1", True), Ranked("q1", True), Ranked("q2", True), Ranked("q3", False)]
    system = [0.9, 0.8, 0.1, 0.5, 0.5]
    scores = score_ranking(gold, system)
    # q1: right at ranks 2 and 3: (1/2 + 2/3) / 2 = 7/12, first at 2; q2: 1; q3 has no right answer and is left out
    assert scores["MAP"] == pytest.approx((7 / 12 + 1) / 2)
    assert scores["MRR"] == pytest.approx((1 / 2 + 1) / 2)
