"""Symmetrisation against matrices worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import UsageError
from forestalign.words.crf import METHODS, symmetrise

# s = forward only, t = backward only, b = both directions; rows are source words
MATRIX = (
    "b s . . .",
    ". . t . .",
    ". . b . s",
    ". . . . .",
    "t . . . s",
)
LINKS = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=10)


def directions(matrix: tuple[str, ...]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    cells = {(i, j): mark for i, row in enumerate(matrix) for j, mark in enumerate(row.split())}
    forward = {cell for cell, mark in cells.items() if mark in "sb"}
    backward = {cell for cell, mark in cells.items() if mark in "tb"}
    return forward, backward


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("intersection", {(0, 0), (2, 2)}),
        ("union", {(0, 0), (0, 1), (1, 2), (2, 2), (2, 4), (4, 0), (4, 4)}),
        # 0-1 and 1-2 touch a link on a side and have a free word; 2-4 stands two columns away
        ("grow", {(0, 0), (0, 1), (1, 2), (2, 2)}),
        ("grow-diag", {(0, 0), (0, 1), (1, 2), (2, 2)}),
        # forward first: 2-4 (target word 4 is free), 4-4 (source word 4 is free); then 4-0 has no free word left
        ("grow-diag-final", {(0, 0), (0, 1), (1, 2), (2, 2), (2, 4), (4, 4)}),
        # both words free: 4-4 only
        ("grow-diag-final-and", {(0, 0), (0, 1), (1, 2), (2, 2), (4, 4)}),
    ],
)
def test_each_method_gives_the_links_worked_out_by_hand(method: str, expected: set[tuple[int, int]]) -> None:
    assert set(symmetrise(*directions(MATRIX), method)) == expected


def test_only_grow_diag_steps_over_a_corner() -> None:
    forward, backward = directions(("b .", ". s"))
    assert symmetrise(forward, backward, "grow") == ((0, 0),)
    assert symmetrise(forward, backward, "grow-diag") == ((0, 0), (1, 1))


def test_growing_goes_on_until_nothing_changes() -> None:
    """Each link is reached only from the one below it, so a single sweep from the top would find one of them."""
    forward, backward = directions(("s . . .", ". s . .", ". . s .", ". . . b"))
    assert symmetrise(forward, backward, "grow-diag") == ((0, 0), (1, 1), (2, 2), (3, 3))


def test_growing_leaves_a_link_whose_words_are_both_taken() -> None:
    forward, backward = directions(("b s", ". b"))
    assert symmetrise(forward, backward, "grow-diag") == ((0, 0), (1, 1))


def test_the_final_step_adds_links_that_touch_nothing() -> None:
    """The step that the published program leaves out."""
    forward, backward = directions(("b . .", ". . .", ". . s"))
    assert symmetrise(forward, backward, "grow-diag") == ((0, 0),)
    assert symmetrise(forward, backward, "grow-diag-final") == ((0, 0), (2, 2))


@given(forward=LINKS, backward=LINKS)
def test_methods_nest_between_intersection_and_union(
    forward: frozenset[tuple[int, int]], backward: frozenset[tuple[int, int]]
) -> None:
    found = {method: set(symmetrise(forward, backward, method)) for method in METHODS}
    assert found["intersection"] == forward & backward
    assert found["union"] == forward | backward
    assert found["intersection"] <= found["grow"]
    for method in METHODS:
        assert found["intersection"] <= found[method] <= found["union"]
    assert found["grow-diag"] <= found["grow-diag-final-and"]


@given(forward=LINKS)
def test_two_equal_directions_stay_as_they_are(forward: frozenset[tuple[int, int]]) -> None:
    for method in METHODS:
        assert set(symmetrise(forward, forward, method)) == forward


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"'grown'.*grow-diag-final-and"):
        symmetrise((), (), "grown")
