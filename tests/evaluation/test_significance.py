"""Significance tests against full enumeration on small corpora."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.errors import UsageError
from forestalign.evaluation.scores import Evaluation, bootstrap, compare
from forestalign.evaluation.sentence_scores import score_similarity
from forestalign.evaluation.word_scores import GoldLinks, score_words

FULL = frozenset({(0, 0), (1, 1)})
HALF = frozenset({(0, 0)})
NONE: frozenset[tuple[int, int]] = frozenset()


def words(*outputs: frozenset[tuple[int, int]]) -> Evaluation:
    gold = [GoldLinks(str(number), ("a", "b"), ("a", "c"), FULL) for number in range(len(outputs))]
    return score_words(gold, outputs)


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def enumerated_p(first: Evaluation, second: Evaluation) -> np.ndarray:
    """The share of all 2^n shuffles with a difference at least as large."""
    seen, reached = np.abs(second.values() - first.values()), []
    for swaps in product([False, True], repeat=len(first)):
        mask = np.array(swaps)[:, None]
        left = np.where(mask, second.counts, first.counts).sum(axis=0)
        right = np.where(mask, first.counts, second.counts).sum(axis=0)
        reached.append(np.abs(second.aggregate(right) - first.aggregate(left)) >= seen - 1e-12)
    return np.mean(reached, axis=0)


OUTPUTS = st.lists(
    st.tuples(st.sampled_from([FULL, HALF, NONE]), st.sampled_from([FULL, HALF, NONE])), min_size=1, max_size=7
)


@settings(max_examples=20, deadline=None)
@given(OUTPUTS)
def test_randomisation_approaches_the_enumeration_of_all_shuffles(
    outputs: list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]],
) -> None:
    first, second = words(*(left for left, _ in outputs)), words(*(right for _, right in outputs))
    found = [comparison.p_value for comparison in compare(first, second, generator(), samples=4000)]
    assert found == pytest.approx(enumerated_p(first, second), abs=0.04)


def test_equal_outputs_are_never_different() -> None:
    system = words(FULL, HALF, NONE)
    assert {comparison.p_value for comparison in compare(system, system, generator(), samples=200)} == {1.0}


def test_one_system_always_better_is_significant() -> None:
    first, second = words(*[HALF] * 30), words(*[FULL] * 30)
    comparison = compare(first, second, generator(), samples=999)[0:3]
    assert [round(item.difference, 6) for item in comparison] == [0, 0.5, round(1 - 2 / 3, 6)]
    assert comparison[1].p_value == pytest.approx(0.001)


def test_the_same_seed_gives_the_same_p_values() -> None:
    first, second = words(HALF, FULL, NONE, HALF), words(FULL, FULL, HALF, NONE)
    assert compare(first, second, generator(), 500) == compare(first, second, generator(), 500)


def test_intervals_hold_the_score_and_have_no_width_when_all_pairs_are_alike() -> None:
    mixed = words(FULL, HALF, NONE, FULL, HALF, FULL)
    for value, interval in zip(mixed.values(), bootstrap(mixed, generator(), 2000), strict=True):
        assert interval.low <= value <= interval.high
    alike = bootstrap(words(HALF, HALF, HALF), generator(), 200)
    assert all(interval.low == pytest.approx(interval.high) for interval in alike)


def test_intervals_of_a_mean_are_as_wide_as_theory_says() -> None:
    # E of 100 pairs, half of them exact: standard error .05, so about .5 +- .098
    evaluation = words(*[FULL, HALF] * 50)
    interval = bootstrap(evaluation, generator(), 4000)[evaluation.names.index("E")]
    assert (interval.low, interval.high) == pytest.approx((0.402, 0.598), abs=0.015)


def test_correlations_can_be_compared_too() -> None:
    gold = [float(number) for number in range(40)]
    good, bad = score_similarity(gold, gold), score_similarity(gold, [number % 3 for number in range(40)])
    assert compare(good, bad, generator(), 999)[0].p_value < 0.01


def test_evaluations_of_different_corpora_are_refused() -> None:
    with pytest.raises(UsageError, match=r"2 pairs .* 1 pair with"):
        compare(words(FULL, HALF), words(FULL), generator())


def test_no_pairs_and_no_samples_are_refused() -> None:
    with pytest.raises(UsageError, match="no pairs"):
        bootstrap(words(), generator())
    with pytest.raises(UsageError, match="at least one sample"):
        bootstrap(words(FULL), generator(), samples=0)
