"""Chart algorithms against enumeration of all labelled trees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.arrays import FloatArray
from forestalign.chart import Chart, inside_outside, kbest, kernels, log_partition, marginals
from forestalign.chart.chart import log_sums, maxima
from forestalign.chart.kbest import KBestLists
from forestalign.compiled import load_plain
from forestalign.trees import Tree
from tests.builders.charts import all_trees, brackets_of, log_sum, random_chart, sorted_trees, words

charts = st.builds(
    random_chart, st.integers(1, 4), st.integers(0, 10_000), st.sampled_from([2, 3]), st.sampled_from([0.0, 1.0, 4.0])
)


def test_the_number_of_trees_of_the_grammar_is_the_number_of_n_ary_trees() -> None:
    flat = random_chart(6, 1, label_count=2, scale=0.0)
    assert math.exp(log_partition(flat)) == pytest.approx(len(all_trees(flat)), rel=1e-5)


@given(charts)
@settings(max_examples=40, deadline=None)
def test_log_partition_equals_enumeration(chart: Chart) -> None:
    assert log_partition(chart) == pytest.approx(log_sum(list(all_trees(chart).values())), abs=1e-4)


@given(charts)
@settings(max_examples=30, deadline=None)
def test_marginals_equal_enumeration(chart: Chart) -> None:
    scores = all_trees(chart)
    total = log_sum(list(scores.values()))
    expected: FloatArray = np.zeros(chart.potentials.shape)
    for brackets, score in scores.items():
        for begin, end, label in brackets:
            expected[begin, end - 1, chart.labels.index(label)] += math.exp(score - total)
    found = marginals(chart)
    np.testing.assert_allclose(found[:, :, 1:], expected[:, :, 1:], atol=1e-4)
    # a word has a phrase of its own or has none
    np.testing.assert_allclose(found.sum(2).diagonal(), 1.0, atol=1e-4)


@given(charts)
@settings(max_examples=40, deadline=None)
def test_the_best_tree_is_found(chart: Chart) -> None:
    scores = all_trees(chart)
    best = kbest(chart, words(len(chart)), 1)[0]
    top = max(scores.values())
    assert scores[brackets_of(best.tree)] == pytest.approx(top, abs=1e-4)
    assert best.log_prob == pytest.approx(top - log_sum(list(scores.values())), abs=1e-4)


@given(charts, st.sampled_from([1, 2, 7, 40, 5000]))
@settings(max_examples=30, deadline=None)
def test_kbest_gives_the_k_best_trees_each_once(chart: Chart, k: int) -> None:
    scores = all_trees(chart)
    total = log_sum(list(scores.values()))
    found = kbest(chart, words(len(chart)), k)
    expected = sorted(scores.values(), reverse=True)[:k]
    assert [tree.log_prob + total for tree in found] == pytest.approx(expected, abs=1e-4)
    keys = [brackets_of(tree.tree) for tree in found]
    assert len(set(keys)) == len(keys)
    assert [scores[key] for key in keys] == pytest.approx(expected, abs=1e-4)


def test_kbest_of_six_words_equals_enumeration() -> None:
    chart = random_chart(6, 3, label_count=2)
    scores = all_trees(chart)
    total = log_sum(list(scores.values()))
    found = kbest(chart, words(6), 200)
    assert [tree.log_prob + total for tree in found] == pytest.approx(sorted(scores.values())[::-1][:200], abs=1e-4)
    assert len({brackets_of(tree.tree) for tree in found}) == 200


def test_kbest_is_the_same_from_any_first_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    chart = random_chart(12, 5, scale=3.0)
    expected = kbest(chart, words(12), 50)
    for margin in (0.01, 1e9):
        monkeypatch.setattr("forestalign.chart.chart.FIRST_MARGIN", margin)
        assert kbest(chart, words(12), 50) == expected


@given(st.integers(1, 9), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_compiled_kernels_compute_what_their_source_says(n: int, seed: int) -> None:
    chart = random_chart(n, seed)
    sums, best = log_sums(chart), maxima(chart)
    plain = load_plain("chart.kernels")
    tables = kernels.inside(*sums)
    calls = [("inside", sums), ("shares", tables), ("best_through", best)]
    for name, arguments in calls:
        for fast, slow in zip(getattr(kernels, name)(*arguments), getattr(plain, name)(*arguments), strict=True):
            np.testing.assert_allclose(fast, slow, atol=1e-9)


@given(st.integers(1, 9), st.integers(0, 1000), st.sampled_from([1, 3, 20]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_the_compiled_lists_and_subtrees_are_those_of_their_source_in_the_same_order(
    n: int, seed: int, k: int, tied: bool
) -> None:
    chart = random_chart(n, seed)
    potentials = np.round(chart.potentials) if tied else chart.potentials
    slack = np.random.default_rng(seed).uniform(0.0, 6.0, (2, n, n))
    plain_lists = load_plain("chart.kbest").KBestLists(potentials, slack, k)
    lists = KBestLists(potentials, slack, k)
    np.testing.assert_array_equal(lists.scores(), plain_lists.scores())
    for fast, slow in zip(lists.shared(), plain_lists.shared(), strict=True):
        np.testing.assert_array_equal(fast, slow)


@given(st.integers(1, 8), st.integers(0, 1000), st.sampled_from([1, 2, 5, 30]))
@settings(max_examples=25, deadline=None)
def test_the_lists_agree_with_all_sums_sorted(n: int, seed: int, k: int) -> None:
    chart = random_chart(n, seed)
    expected = sorted_trees(chart.potentials, k)
    found = kbest(chart, words(n), k, log_z=0.0)
    assert [tree.log_prob for tree in found] == pytest.approx([score for score, _ in expected], abs=1e-4)
    named = [tuple(sorted((i, j + 1, chart.labels[label]) for i, j, label in spans)) for _, spans in expected]
    assert brackets_of(found[0].tree) == named[0]


def test_chains_become_nested_phrases_and_words_keep_their_tags() -> None:
    chart = random_chart(1, 1)
    chart.potentials[0, 0] = (0.0, 1.0, 9.0)
    chart.tag_scores[0] = (0.0, 1.0)
    assert kbest(chart, ["sat"], 1)[0].tree == Tree("B", 0, 1, (Tree("A", 0, 1, (Tree("Y", 0, 1, word="sat"),)),))


def test_a_high_temperature_flattens_the_distribution() -> None:
    chart = random_chart(5, 2)
    flat, sharp = kbest(chart.tempered(3.0), words(5), 1)[0], kbest(chart, words(5), 1)[0]
    assert flat.log_prob < sharp.log_prob
    assert chart.tempered(1.0) is chart


def test_a_flat_sentence_of_many_words_is_decoded_without_deep_recursion() -> None:
    chart = random_chart(400, 1, label_count=2, scale=0.0)
    chart.potentials[:, :, 1] = -5.0
    best = kbest(chart, words(400), 1)[0].tree
    assert len(best.children) == 400


@given(st.integers(1, 5), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_inside_outside_gives_the_slopes_of_the_log_partition(n: int, seed: int) -> None:
    tables = log_sums(random_chart(n, seed))
    total, *slopes = inside_outside(*tables)
    for table, slope in zip(tables, slopes, strict=True):
        for i, j in zip(*np.triu_indices(n), strict=True):
            sums = []
            for step in (-1e-4, 1e-4):
                table[i, j] += step
                sums.append(inside_outside(*tables)[0])
                table[i, j] -= step
            assert slope[i, j] == pytest.approx((sums[1] - sums[0]) / 2e-4, abs=1e-5)
    assert total == pytest.approx(sum(sums) / 2, abs=1e-3)
