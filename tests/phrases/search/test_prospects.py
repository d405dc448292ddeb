"""The second ranking of beams and pools: how places are shared, what is open, and what links still bring."""

from __future__ import annotations

from forestalign.phrases.search.search import interleaved, shared_places


def test_half_of_the_places_go_by_gain_then_by_prospect_and_none_stays_free() -> None:
    by_gain, by_prospect = list("abcdef"), list("fed")
    assert shared_places(by_gain, by_prospect, 4, 0.5) == ["a", "b", "f", "e"]
    assert shared_places(by_gain, by_prospect, 5, 0.5) == ["a", "b", "c", "f", "e"]
    assert shared_places(by_gain, by_prospect[:1], 4, 0.5) == ["a", "b", "f", "c"]
    assert shared_places(by_gain, by_prospect, 4, 0.0) == ["a", "b", "c", "d"]


def test_a_hypothesis_that_both_rankings_want_takes_one_place() -> None:
    assert shared_places(["a", "b", "c"], ["a", "b"], 2, 0.5) == ["a", "b"]


def test_closed_and_open_entries_take_turns() -> None:
    assert interleaved(["a", "b", "c"], ["x"]) == ["a", "x", "b", "c"]
    assert interleaved([], ["x", "y"]) == ["x", "y"]
