"""Pairs made by controlled change: what is changed, what keeps its meaning, and that the same input gives the same."""

from __future__ import annotations

import random

import pytest
from make_changes import (
    Base,
    Change,
    clause,
    make_rows,
    negate,
    other_level,
    other_number,
    swap_phrases,
    untokenised,
)

from forestalign.trees import parse_brackets

STORM = "(S (NP (DT The) (NN storm)) (VP (VBD damaged) (NP (DT the) (NN roof)) (PP (IN in) (NP (NNP May)))) (. .))"


@pytest.mark.parametrize(
    ("change", "text", "changed"),
    [
        (other_level, "You must pay.", {"You may pay."}),
        (
            other_number,
            "The year 7 ends.",
            {"The year 8 ends.", "The year 9 ends.", "The year 10 ends.", "The year 17 ends."},
        ),
        (other_level, "She left before lunch.", {"She left after lunch."}),
    ],
)
def test_one_thing_is_changed(change: Change, text: str, changed: set[str]) -> None:
    assert {change(text, random.Random(seed)) for seed in range(40)} == changed


@pytest.mark.parametrize("change", [other_level, other_number])
def test_a_text_with_nothing_to_change_gives_nothing(change: Change) -> None:
    assert change("He left early.", random.Random(1)) is None


def test_verbs_are_denied_and_denials_are_taken_away() -> None:
    assert negate(parse_brackets(STORM), random.Random(1)) == "The storm did not damage the roof in May."
    tree = parse_brackets("(S (NP (PRP She)) (VP (VBD did) (RB n't) (VP (VB come))) (. .))")
    assert negate(tree, random.Random(1)) == "She did come."


def test_expressions_of_the_grammar_become_sentences() -> None:
    people = {"X": ("Anna", "her"), "Y": ("the bank", "its"), "_": ("Peter", "his")}
    assert clause("call X off", people) == "Peter called Anna off"
    assert clause("X pull Y's leg", people) == "Anna pulled the bank's leg"
    assert clause("X keep X's word", people, is_denied=True) == "Anna did not keep her word"
    assert clause("out of the blue", people) is None


def test_two_phrases_of_one_kind_change_places() -> None:
    found = {swap_phrases(parse_brackets(STORM), random.Random(seed)) for seed in range(40)}
    assert "The roof damaged the storm in May." in found
    assert "The storm damaged the roof in May." not in found


def test_words_are_written_as_one_writes_them() -> None:
    assert untokenised(["he", "did", "n't", "go", ",", "she", "said", "."]) == "He didn't go, she said."


def test_the_same_bases_give_the_same_pairs_and_every_verdict() -> None:
    bases = [
        Base(f"b-{k}", f"Ann must sell {k + 2} red cars.", f"{k + 2} red cars must be sold by Ann.") for k in range(40)
    ]
    rows = make_rows(bases)
    assert rows == make_rows(bases)
    assert {row["verdict"] for row in rows} == {"same meaning", "changed", "unrelated"}
    assert all(row["paraphrase"] == (row["verdict"] == "same meaning") for row in rows)
