"""Scales, names of days and months, and words in each other's place: what they make of two sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from forestalign.errors import GrammarError
from forestalign.meaning.claims import read_scales, scales
from tests.builders.view_samples import record

PAY = "(TOP (S (NP (PRP He)) (VP (MD {}) (VP (VB pay)))))"
NOT_PAY = "(TOP (S (NP (PRP He)) (VP (MD {}) (RB not) (VP (VB pay)))))"
HAVE_TO = "(TOP (S (NP (PRP He)) (VP (VBZ has) (S (VP (TO to) (VP (VB pay)))))))"
SHOPS = "(TOP (S (NP ({}) (NNS shops)) (VP (VBD closed))))"
DAY = "(TOP (S (NP (PRP He)) (VP (VBD left) (PP (IN on) (NP (NNP {}))))))"
LIVES = "(TOP (S (NP (NNP {})) (VP (VBZ lives) (ADVP (RB here)))))"


def differences(source: str, target: str, links: dict[int, int]) -> list[tuple[str, str]]:
    return [(each.kind, each.reason) for each in record("x", source, target, links).differences if each.contradicts]


def same_places(count: int) -> dict[int, int]:
    return {k: k for k in range(count)}


def test_modals_that_are_far_apart_differ() -> None:
    found = differences(PAY.format("must"), PAY.format("may"), same_places(3))
    assert found == [("modality", "must became may")]
    assert differences(PAY.format("may"), PAY.format("can"), same_places(3)) == []
    assert differences(PAY.format("must"), HAVE_TO, {0: 0, 1: 1, 2: 3}) == []


def test_values_of_what_is_negated_are_left_to_negation() -> None:
    assert differences(NOT_PAY.format("must"), NOT_PAY.format("may"), same_places(4)) == []


def test_what_is_forbidden_is_not_what_need_not_be() -> None:
    not_have_to = "(TOP (S (NP (PRP He)) (VP (VBZ does) (RB not) (VP (VB have) (S (VP (TO to) (VP (VB pay))))))))"
    found = differences(not_have_to, NOT_PAY.format("must"), {0: 0, 2: 2, 5: 3})
    assert found == [("modality", "not have to became must not")]


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [
        ("next week", "last week", "time"),
        ("because", "although", "other word"),
        ("provided that", "even if", "other word"),
    ],
)
def test_the_scales_hold_turns_of_time_grounds_and_conditions(source: str, target: str, kind: str) -> None:
    known = {" ".join(each.words): each.values for rows in scales().values() for each in rows}
    (own,), (other,) = known[source], known[target]
    assert own.kind == other.kind == kind
    assert own.scale == other.scale
    assert own.name != other.name


@pytest.mark.parametrize(("left", "right", "is_other"), [("DT All", "DT Some", True), ("DT All", "DT Every", False)])
def test_quantifiers_of_partners_are_compared(left: str, right: str, is_other: bool) -> None:
    found = differences(SHOPS.format(left), SHOPS.format(right), same_places(3))
    assert [kind for kind, _ in found] == ["quantifier"] * is_other


def test_weekdays_differ_by_name_and_an_abbreviation_is_the_same_name() -> None:
    found = differences(DAY.format("Monday"), DAY.format("Tuesday"), same_places(4))
    assert found == [("time", "Monday became Tuesday")]
    assert differences(DAY.format("Monday"), DAY.format("Mon."), same_places(4)) == []


def test_another_name_in_the_same_place_differs_and_a_form_of_the_same_name_does_not() -> None:
    assert differences(LIVES.format("Anna"), LIVES.format("Maria"), {1: 1, 2: 2}) == [("name", "Anna became Maria")]
    assert differences(LIVES.format("Anna"), LIVES.format("Annie"), {1: 1, 2: 2}) == []


def test_names_behind_one_preposition_differ_whatever_governs_them() -> None:
    place = "(TOP (NP (NP (DT a) (NN {})) (PP (IN {}) (NP (NNP {})))))"
    found = differences(
        place.format("gallery", "in", "Rotterdam"), place.format("museum", "in", "Antwerp"), {0: 0, 3: 3}
    )
    assert ("name", "Rotterdam became Antwerp") in found


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("colour\tscale\t1\tred", "expected one of"),
        ("time\tscale\t11\tred", "level 11"),
        ("time\tscale\t1\tred | red", "once"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, row: str, problem: str) -> None:
    path = tmp_path / "scales.tsv"
    path.write_text(row + "\n")
    with pytest.raises(GrammarError, match=problem):
        read_scales(path)


def test_longer_expressions_come_first() -> None:
    lengths = [len(each.words) for each in scales()["almost"]]
    assert lengths == sorted(lengths, reverse=True)
