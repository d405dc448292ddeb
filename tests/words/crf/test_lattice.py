"""Inference of the CRFs against enumeration of every path of tiny pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.words.crf.lattice import (
    Lattice,
    Segment,
    allowed_segments,
    backward,
    best_paths,
    forward,
    k_best,
    links_of,
    marginals,
    path_score,
    viterbi,
)


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    source_count, target_count = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    source_max, target_max = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return random_lattice(draw(st.integers(0, 10_000)), source_count, target_count, source_max, target_max)


def random_lattice(seed: int, source_count: int, target_count: int, source_max: int, target_max: int) -> Lattice:
    random = np.random.default_rng(seed)
    segments = random.normal(0, 3, (source_count, source_max, target_count, target_max))
    segments[~allowed_segments(source_count, source_max, target_count, target_max)] = -np.inf
    transitions = random.normal(0, 2, (target_count + 2, target_count + 2))
    return Lattice(segments, random.normal(0, 3, source_count), transitions)


def all_paths(lattice: Lattice, begin: int = 0) -> Iterator[tuple[Segment, ...]]:
    """Every way to cut and align the source words from `begin` on, by plain recursion."""
    source_count, source_max, target_count, target_max = lattice.segments.shape
    if begin == source_count:
        yield ()
        return
    choices = [Segment(begin, 1, 0, 0)]
    for length in range(1, min(source_max, source_count - begin) + 1):
        for target in range(target_count):
            for target_length in range(1, min(target_max, target_count - target) + 1):
                choices.append(Segment(begin, length, target, target_length))
    for first in choices:
        for rest in all_paths(lattice, begin + first.length):
            yield (first, *rest)


def scored_paths(lattice: Lattice) -> list[tuple[float, tuple[Segment, ...]]]:
    return sorted(((path_score(lattice, path), path) for path in all_paths(lattice)), key=lambda pair: -pair[0])


def enumerated_partition(lattice: Lattice) -> float:
    return float(np.logaddexp.reduce([path_score(lattice, path) for path in all_paths(lattice)]))


@settings(max_examples=20, deadline=None)
@given(lattice=lattices())
def test_the_partition_function_is_the_sum_over_all_paths(lattice: Lattice) -> None:
    _, _, log_partition = forward(lattice)
    after, _ = backward(lattice)
    expected = enumerated_partition(lattice)
    assert log_partition == pytest.approx(expected, abs=1e-9)
    assert after[0, -1] == pytest.approx(expected, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(lattice=lattices())
def test_marginals_are_the_expected_counts_over_all_paths(lattice: Lattice) -> None:
    found = marginals(lattice)
    expected = [np.zeros_like(lattice.segments), np.zeros_like(lattice.nulls), np.zeros_like(lattice.transitions)]
    log_partition = enumerated_partition(lattice)
    for path in all_paths(lattice):
        add_counts(path, np.exp(path_score(lattice, path) - log_partition), *expected)
    np.testing.assert_allclose(found.segments, expected[0], atol=1e-9)
    np.testing.assert_allclose(found.nulls, expected[1], atol=1e-9)
    np.testing.assert_allclose(found.transitions, expected[2], atol=1e-9)


def add_counts(
    path: tuple[Segment, ...], weight: float, segments: np.ndarray, nulls: np.ndarray, transitions: np.ndarray
) -> None:
    null = transitions.shape[0] - 2
    previous = null + 1
    for begin, length, target, target_length in path:
        if target_length:
            segments[begin, length - 1, target, target_length - 1] += weight
            transitions[previous, target] += weight
            previous = target + target_length - 1
        else:
            nulls[begin] += weight
            transitions[previous, null] += weight
            previous = null
    transitions[previous, null + 1] += weight


@settings(max_examples=20, deadline=None)
@given(lattice=lattices())
def test_viterbi_finds_the_best_of_all_paths(lattice: Lattice) -> None:
    score, path = viterbi(lattice)
    best_score, best_path = scored_paths(lattice)[0]
    assert score == pytest.approx(best_score, abs=1e-9)
    assert path == best_path


def test_segments_that_no_path_may_use_have_no_share() -> None:
    lattice = random_lattice(5, 4, 3, 2, 2)
    lattice.segments[::2] = -np.inf
    found = marginals(lattice)
    assert found.log_partition == pytest.approx(
        np.logaddexp.reduce([score for score, _ in scored_paths(lattice) if score > -np.inf]), abs=1e-9
    )
    assert (found.segments[::2] == 0).all()
    assert np.isfinite(found.transitions).all()


@settings(max_examples=15, deadline=None)
@given(lattice=lattices())
def test_best_paths_come_in_the_order_of_their_scores(lattice: Lattice) -> None:
    expected = scored_paths(lattice)[:12]
    found = [next_path for next_path, _ in zip(best_paths(lattice), range(12), strict=False)]
    assert [path for _, path in found] == [path for _, path in expected]
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected], abs=1e-9)


def test_k_best_alignments_differ_in_their_links() -> None:
    lattice = random_lattice(3, 4, 2, 3, 2)
    found = [links_of(path) for _, path in k_best(lattice, 10)]
    distinct = list(dict.fromkeys(links_of(path) for _, path in scored_paths(lattice)))
    assert found == distinct[:10]


def test_large_potentials_do_not_overflow() -> None:
    lattice = random_lattice(1, 4, 3, 2, 2)
    shifted = Lattice(lattice.segments + 1500, lattice.nulls - 900, lattice.transitions)
    _, _, log_partition = forward(shifted)
    assert log_partition == pytest.approx(enumerated_partition(shifted), abs=1e-6)
