"""Pairs made by controlled change: what is changed, what keeps its meaning, and that the same input gives the same."""

from __future__ import annotations

import random

import pytest
from make_changes import (
    Base,
    Change,
    make_rows,
    negate,
    other_level,
    other_name,
    other_number,
    passive,
    spell,
    swap_phrases,
    turn,
    untokenised,
)

from forestalign.trees import parse_brackets

STORM = "(S (NP (DT The) (NN storm)) (VP (VBD damaged) (NP (DT the) (NN roof)) (PP (IN in) (NP (NNP May)))) (. .))"


@pytest.mark.parametrize(
    ("change", "text", "changed"),
    [
        (negate, "She is here.", {"She is not here."}),
        (negate, "She didn't come.", {"She did come."}),
        (other_level, "You must pay.", {"You may pay."}),
        (
            other_number,
            "The year 7 ends.",
            {"The year 8 ends.", "The year 9 ends.", "The year 10 ends.", "The year 17 ends."},
        ),
        (turn, "He drove from York to Leeds.", {"He drove from Leeds to York."}),
        (turn, "She left before lunch.", {"She left after lunch."}),
        (spell, "He does not know.", {"He doesn't know."}),
        (spell, "She has two dogs.", {"She has 2 dogs."}),
    ],
)
def test_one_thing_is_changed(change: Change, text: str, changed: set[str]) -> None:
    assert {change(text, random.Random(seed)) for seed in range(40)} == changed


@pytest.mark.parametrize("change", [negate, other_level, other_number, turn, other_name, spell])
def test_a_text_with_nothing_to_change_gives_nothing(change: Change) -> None:
    assert change("He left early.", random.Random(1)) is None


def test_the_passive_keeps_who_did_what() -> None:
    assert passive(parse_brackets(STORM), random.Random(1)) == "The roof was damaged by the storm in May."


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
    assert {row["verdict"] for row in rows} == {"same meaning", "changed", "related", "unrelated"}
    assert all(row["paraphrase"] == (row["verdict"] == "same meaning") for row in rows)
