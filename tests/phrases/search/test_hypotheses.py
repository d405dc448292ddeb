"""Decoding by expected F1: a hand-made k-best list, and real pairs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forestalign
from forestalign.phrases.search.hypotheses import expected_f1
from forestalign.phrases.search.legitimacy import is_legitimate

PAIRS = [
    ("The committee rejected the plan.", "The plan was rejected by the committee."),
    ("They put off the meeting until Monday.", "The meeting was postponed until Monday."),
]


def answer(*numbers: int) -> frozenset[tuple[object, object]]:
    return frozenset((number, number) for number in numbers)


def test_a_loner_loses_to_two_rivals_that_agree() -> None:
    answers = [answer(1, 2), answer(3, 4), answer(3, 4, 5)]
    scores = [math.log(0.4), math.log(0.3), math.log(0.3)]
    found = expected_f1(scores, answers)
    assert found == pytest.approx([0.4, 0.3 + 0.3 * 0.8, 0.3 * 0.8 + 0.3])
    assert found.argmax() == 1


@given(st.lists(st.tuples(st.floats(-9, 9), st.frozensets(st.integers(0, 5))), min_size=1, max_size=6))
def test_it_is_an_expectation_between_0_and_1(rows: list[tuple[float, frozenset[int]]]) -> None:
    found = expected_f1([score for score, _ in rows], [answer(*numbers) for _, numbers in rows])
    total = sum(math.exp(score) for score, _ in rows)
    for value, (score, _) in zip(found, rows, strict=True):
        assert math.exp(score) / total - 1e-9 <= value <= 1 + 1e-9  # agreement with itself alone is its share


@pytest.mark.parametrize("scoring", ["paper", "best"])
def test_risk_reorders_the_k_best_and_gives_as_many_as_asked(scoring: str) -> None:
    plain = forestalign.load(scoring=scoring, kbest=30)
    risk = forestalign.load(scoring=scoring, kbest=2, decode="risk")
    for source, target in PAIRS:
        known = plain.align(source, target)
        found = risk.align(source, target)
        spans = [{(pair.source, pair.target) for pair in each.pairs} for each in (known.phrases, *known.alternatives)]
        assert {(pair.source, pair.target) for pair in found.phrases.pairs} in spans
        assert len(found.alternatives) == 1
        assert is_legitimate(found.phrases.derivation, found.source_forest, found.target_forest)
