"""Numbers, units, times of day, dates and spans of years, each against a value computed by hand."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from forestalign.lexicon.findings import DIFFERENT, EQUAL, MORE_GENERAL, MORE_SPECIFIC, SIMILAR, Parts, take_apart
from forestalign.lexicon.numbers import (
    Number,
    comparator_before,
    digits,
    read_comparators,
    read_number,
    read_number_words,
    read_unit,
    read_units,
)
from forestalign.lexicon.quantities import (
    Quantity,
    compare,
    find_measures,
    find_quantities,
    quantity_findings,
)
from forestalign.lexicon.times import Clock, Date, Years, read_clock, read_date, read_years
from forestalign.tokens import Sentence, analyse
from tests.builders.bad_files import complaint

DAY = 24 * 3600


def parts(text: str) -> Parts:
    """Words as `word/TAG`; without a tag, CD for what has a figure in it and NN for the rest."""
    words, tags = [], []
    for item in text.split():
        word, _, tag = item.rpartition("/")
        has_tag = bool(word) and (tag.isupper() or tag in {",", "$"})
        words.append(word if has_tag else item)
        tags.append(tag if has_tag else "CD" if any(map(str.isdigit, item)) else "NN")
    return take_apart(analyse(Sentence.from_words(words), tags))


def number(text: str) -> Number | None:
    return read_number(parts(text), 0)


# ---- numbers ----


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", Fraction(7)),
        ("-12", Fraction(-12)),
        ("1,250", Fraction(1250)),
        ("12,345,678", Fraction(12_345_678)),
        ("0.125", Fraction(1, 8)),
        (".5", Fraction(1, 2)),
        ("3/4", Fraction(3, 4)),
        ("½", Fraction(1, 2)),
        ("⅔", Fraction(2, 3)),
    ],
)
def test_figures_are_read_exactly(text: str, value: Fraction) -> None:
    assert digits(text) == value


@pytest.mark.parametrize("text", ["", "1,25", "1e5", "3/0", "1.2.3", "1234567890123456", "12a", "--1", "٣x", "inf"])
def test_what_is_no_figure_has_no_value(text: str) -> None:
    assert digits(text) is None


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("twelve/CD", 12, 1),
        ("forty/CD two/CD", 42, 2),
        ("forty-two/CD", 42, 2),
        ("three/CD hundred/CD", 300, 2),
        ("three/CD hundred/CD and/CC five/CD", 305, 4),
        ("one/CD thousand/CD two/CD hundred/CD and/CC thirty/CD four/CD", 1234, 7),
        ("two/CD million/CD three/CD hundred/CD thousand/CD", 2_300_000, 5),
        ("a/DT hundred/CD", 100, 2),
        ("2.5 million/CD", 2_500_000, 2),
        ("250k", 250_000, 1),
        ("3bn", 3_000_000_000, 1),
        ("two/CD dozen/NN", 24, 2),
        ("half/DT a/DT million/CD", 500_000, 3),
        ("five/CD and/CC a/DT half/NN", Fraction(11, 2), 4),
        ("two/CD and/CC a/DT half/NN million/CD", 2_500_000, 5),
        ("3 ½", Fraction(7, 2), 2),
    ],
)
def test_counts_are_read_to_their_end(text: str, value: Fraction | int, words: int) -> None:
    assert number(text) == Number(Fraction(value), words, "count")


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("half/NN", Fraction(1, 2), 1),
        ("a/DT quarter/NN", Fraction(1, 4), 2),
        ("two/CD thirds/NNS", Fraction(2, 3), 2),
        ("three/CD out/IN of/IN ten/CD", Fraction(3, 10), 4),
        ("1 in/IN 8", Fraction(1, 8), 3),
    ],
)
def test_shares_of_a_whole_are_ratios(text: str, value: Fraction, words: int) -> None:
    assert number(text) == Number(value, words, "ratio")


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [("3rd/JJ", 3, 1), ("third/JJ", 3, 1), ("21st/JJ", 21, 1), ("twenty/CD first/JJ", 21, 2), ("100th/JJ", 100, 1)],
)
def test_ordinals_keep_their_kind(text: str, value: int, words: int) -> None:
    found = number(text)
    assert found is not None
    assert (found.value, found.end, found.kind) == (value, words, "ordinal")


def test_a_compound_ordinal_with_seconds_after_an_article_is_a_duration() -> None:
    assert only("a/DT thirty-second/JJ film/NN").dimension == "duration"
    assert only("the/DT thirty-second/JJ film/NN").dimension == "ordinal"


@pytest.mark.parametrize(
    ("text", "value"), [("a/DT third/JJ man/NN", None), ("eight/CD in/IN two/CD", 8), ("two/CD third/NN", 2)]
)
def test_ordinals_and_larger_numbers_first_are_no_shares(text: str, value: int | None) -> None:
    found = number(text)
    assert (found and (found.value, found.kind)) == (value and (value, "count"))


def test_one_is_a_number_only_where_it_counts() -> None:
    assert number("one/CD apple") == Number(Fraction(1), 1)
    assert number("one/PRP never knows") is None


def test_once_and_twice_are_times_and_no_counts() -> None:
    assert number("twice/RB") == Number(Fraction(2), 1, "times")


@pytest.mark.parametrize("text", ["the/DT house", "zillion/NN", "and/CC five/CD", "of/IN", "percent"])
def test_words_without_a_value_begin_no_number(text: str) -> None:
    assert number(text) is None


# ---- tables ----


@pytest.mark.parametrize(
    "row", ["colour\tred\t1", "unit\tone\tfirst", "unit\tone\t-1", "unit\tone\t1\nunit\tone\t1", "unit\tone"]
)
def test_a_bad_row_of_number_words_is_refused_by_line(tmp_path: Path, row: str) -> None:
    assert re.search(
        rf"number_words\.tsv:{row.count(chr(10)) + 1}:",
        complaint(read_number_words, tmp_path / "number_words.tsv", row),
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("length\tlong\tmetre", "'long': expected a positive factor"),
        ("length\t0\tmetre", "'0': expected a positive factor"),
        ("length\t1/0\tmetre", "'1/0': expected a positive factor"),
        ("length\t1,2,3\tmetre", "'1,2,3': expected a positive factor"),
        ("length\t1\tmetre|", "'': expected names"),
        ("length\t1\tmetre|metre", "'metre': expected names"),
    ],
)
def test_a_bad_unit_is_refused_with_its_value(tmp_path: Path, row: str, message: str) -> None:
    assert re.search(rf"units\.tsv:1: {message}", complaint(read_units, tmp_path / "units.tsv", row))


@pytest.mark.parametrize("row", ["=\tabout", ">\t", ">\tover|", ">\tover\n<\tover"])
def test_a_bad_comparator_is_refused(tmp_path: Path, row: str) -> None:
    assert re.search(r"comparators\.tsv:\d", complaint(read_comparators, tmp_path / "comparators.tsv", row))


@pytest.mark.parametrize(
    ("text", "dimension", "ten_of_it", "words"),
    [
        ("minutes/NNS", "duration", 600, 1),
        ("weeks/NNS", "duration", 70 * DAY, 1),
        ("km/NN", "length", 10_000, 1),
        ("miles/NNS", "length", Fraction("16093.44"), 1),
        ("percent/NN", "ratio", Fraction(1, 10), 1),
    ],
)
def test_ten_of_a_unit_in_base_units(text: str, dimension: str, ten_of_it: Fraction | int, words: int) -> None:
    found = read_unit(parts(text), 0)
    assert found is not None
    (unit,), end = found
    assert (unit.dimension, unit.base(Fraction(10)), end) == (dimension, ten_of_it, words)


def test_the_longest_unit_is_taken() -> None:
    text = parts("miles/NNS per/IN hour/NN")
    found = read_unit(text, 0)
    assert found is not None
    assert (found[0][0].dimension, found[1]) == ("speed", 3)


def test_there_is_no_unit_behind_the_last_word() -> None:
    assert read_unit(parts("5"), 1) is None


@pytest.mark.parametrize(
    ("text", "sign", "begin"),
    [
        ("about/RB 5", "~", 0),
        ("more/JJR than/IN 5", ">", 0),
        ("at/IN least/JJS 5", ">=", 0),
        ("at/IN most/JJS 5", "<=", 0),
        ("he/PRP paid/VBD under/IN 5", "<", 2),
        ("no/DT fewer/JJR than/IN 5", ">=", 0),
    ],
)
def test_the_longest_comparator_before_a_number_counts(text: str, sign: str, begin: int) -> None:
    words = parts(text)
    assert comparator_before(words, len(words) - 1) == (sign, begin)


def test_a_word_that_compares_nothing_is_no_comparator() -> None:
    assert comparator_before(parts("these/DT 5"), 1) is None
    assert comparator_before(parts("5"), 0) is None


# ---- times ----


@pytest.mark.parametrize(
    ("text", "minutes", "is_open", "words"),
    [
        ("3:30", 210, True, 1),
        ("15:30", 930, False, 1),
        ("3:30 pm", 930, False, 2),
        ("3.30 p.m.", 930, False, 2),
        ("12:15 am", 15, False, 2),
        ("0:00", 0, False, 1),
        ("12pm", 720, False, 1),
        ("12am", 0, False, 1),
        ("9 a.m.", 540, False, 2),
        ("noon/NN", 720, False, 1),
        ("midnight/NN", 0, False, 1),
        ("half/NN past/IN three/CD", 210, True, 3),
        ("a/DT quarter/NN to/IN five/CD", 285, True, 4),
        ("twenty/CD past/IN six/CD", 380, True, 3),
        ("three/CD o'clock/RB", 180, True, 2),
        ("ten/CD minutes/NNS past/IN ten/CD", 610, True, 4),
    ],
)
def test_times_of_day_are_minutes_after_midnight(text: str, minutes: int, is_open: bool, words: int) -> None:
    assert read_clock(parts(text), 0) == (Clock(minutes, is_open), words)


@pytest.mark.parametrize(
    "text", ["25:00", "3:75", "3.30", "five/CD to/IN ten/CD", "13pm", "thirteen/CD o'clock/RB", "seven/CD", "half/NN"]
)
def test_ranges_and_impossible_times_are_no_time_of_day(text: str) -> None:
    assert read_clock(parts(text), 0) is None


@pytest.mark.parametrize(
    ("text", "expected", "words"),
    [
        ("March/NNP 5 ,/, 2020", Date(2020, 3, 5), 4),
        ("5 March/NNP", Date(0, 3, 5), 2),
        ("5th/JJ of/IN March/NNP 2020", Date(2020, 3, 5), 4),
        ("March/NNP 2020", Date(2020, 3, 0), 2),
        ("Sept./NNP 11", Date(0, 9, 11), 2),
        ("3/15/2020", Date(2020, 3, 15), 1),
        ("15/3/2020", Date(2020, 3, 15), 1),
        ("2020-03-15", Date(2020, 3, 15), 3),
        ("29 February/NNP", Date(0, 2, 29), 2),
    ],
)
def test_dates_are_read_in_every_order(text: str, expected: Date, words: int) -> None:
    assert read_date(parts(text), 0) == (expected, words)


@pytest.mark.parametrize(
    "text",
    ["march/VB 5 miles", "may/MD 5", "June/NNP", "32 March/NNP", "13/13/2020", "2021-02-29", "29 February/NNP 2021"],
)
def test_verbs_and_days_that_no_calendar_has_are_no_dates(text: str) -> None:
    assert read_date(parts(text), 0) is None


@pytest.mark.parametrize(
    ("text", "expected", "words"),
    [
        ("1990s/NNS", Years(1990, 2000), 1),
        ("'80s/NNS", Years(1980, 1990), 1),
        ("sixties/NNS", Years(1960, 1970), 1),
        ("19th/JJ century/NN", Years(1800, 1900), 2),
        ("twenty/CD first/JJ century/NN", Years(2000, 2100), 3),
    ],
)
def test_decades_and_centuries_are_half_open_spans_of_years(text: str, expected: Years, words: int) -> None:
    assert read_years(parts(text), 0) == (expected, words)


@pytest.mark.parametrize("text", ["1995", "00s/NNS", "1995s/NNS", "19th/JJ floor/NN", "century/NN"])
def test_single_years_and_other_ordinals_are_no_span_of_years(text: str) -> None:
    assert read_years(parts(text), 0) is None


# ---- quantities ----


def only(text: str) -> Quantity:
    """The last quantity of a text: that with the unit, where there is one."""
    return find_quantities(parts(text))[-1]


@pytest.mark.parametrize(
    ("text", "dimension", "low", "high"),
    [
        ("10 to/TO 15", "count", 10, 15),
        ("between/IN 10 and/CC 15", "count", 10, 15),
        ("two/CD hours/NNS and/CC 30 minutes/NNS", "duration", 9000, 9000),
        ("an/DT hour/NN and/CC a/DT half/NN", "duration", 5400, 5400),
        ("half/PDT an/DT hour/NN", "duration", 1800, 1800),
        ("$/$ 40", "dollar", 40, 40),
        ("$40/CD", "dollar", 40, 40),
        ("€ 2 million/CD", "euro", 2_000_000, 2_000_000),
        ("three/CD quarters/NNS of/IN an/DT hour/NN", "duration", 2700, 2700),
        ("three/CD quarters/NNS of/IN a/DT mile/NN", "length", Fraction("1207.008"), Fraction("1207.008")),
    ],
)
def test_a_quantity_has_a_dimension_and_bounds(text: str, dimension: str, low: int, high: int) -> None:
    found = only(text)
    assert (found.dimension, found.low, found.high) == (dimension, low, high)


def test_a_number_with_a_unit_is_found_without_it_as_well() -> None:
    bare, whole = find_quantities(parts("about/RB 3 weeks/NNS"))
    assert (bare.dimension, bare.low, bare.begin, bare.core, bare.end) == ("count", 3, 0, 1, 2)
    assert (whole.dimension, whole.low, whole.begin, whole.core, whole.end) == ("duration", 21 * DAY, 0, 1, 3)
    assert whole.comparator == "~"


def test_an_article_before_a_unit_is_only_implicit() -> None:
    assert only("an/DT hour/NN").is_implicit
    assert not only("one/CD hour/NN").is_implicit


def test_a_sign_of_money_without_a_number_is_nothing() -> None:
    assert find_quantities(parts("$/$ and/CC cents/NNS")) == ()
    assert find_quantities(parts("$/$")) == ()


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("26 miles/NNS", "42 km/NN", EQUAL),
        ("26 miles/NNS", "43 km/NN", DIFFERENT),
        ("52km", "32 miles/NNS", EQUAL),
        ("32 miles/NNS", "52km", EQUAL),
        ("53 km/NN", "32 miles/NNS", DIFFERENT),
        ("32 miles/NNS", "53 km/NN", DIFFERENT),
        ("60 miles/NNS", "100 km/NN", EQUAL),
        ("200 miles/NNS", "300 km/NN", DIFFERENT),
        ("6 feet/NNS", "1.8 m/NN", EQUAL),
        ("1.8 m/NN", "1.9 m/NN", DIFFERENT),
        ("21 °c", "70 °f", EQUAL),
        ("25 hours/NNS", "1 day/NN", DIFFERENT),
        ("$/$ 5", "€ 5", ""),
        ("100 dollars/NNS", "101 dollars/NNS", DIFFERENT),
        ("10 to/TO 15", "12", MORE_SPECIFIC),
        ("12", "10 to/TO 15", MORE_GENERAL),
        ("10 to/TO 15", "14 to/TO 20", DIFFERENT),
        ("an/DT hour/NN", "60 minutes/NNS", EQUAL),
        ("an/DT hour/NN", "90 minutes/NNS", ""),
        ("4:00", "16:00", EQUAL),
        ("4 am", "16:00", DIFFERENT),
        ("4:00", "5", ""),
        ("March/NNP 2020", "March/NNP 5 ,/, 2020", MORE_SPECIFIC),
        ("March/NNP 5 ,/, 2020", "5 March/NNP", MORE_GENERAL),
        ("March/NNP 5", "March/NNP 2020", SIMILAR),
        ("March/NNP 5", "April/NNP 5", DIFFERENT),
        ("1990s/NNS", "20th/JJ century/NN", MORE_GENERAL),
        ("20th/JJ century/NN", "1990s/NNS", MORE_SPECIFIC),
        ("1980s/NNS", "1990s/NNS", DIFFERENT),
        ("1990s/NNS", "1995", MORE_SPECIFIC),
        ("1990s/NNS", "2005", ""),
        ("third/JJ", "3", ""),
    ],
)
def test_two_quantities_compare_by_what_they_hold(left: str, right: str, expected: str) -> None:
    assert compare(only(left), only(right)) == expected


def test_a_value_with_an_equal_partner_contradicts_no_other() -> None:
    findings = list(quantity_findings(parts("3 cats 5 dogs"), parts("three/CD cats 6 dogs")))
    assert {finding.relation for finding in findings} == {EQUAL, DIFFERENT}
    assert [(each.source, each.target) for each in findings if each.relation == DIFFERENT] == [((2,), (2,))]


def test_the_same_words_need_no_evidence() -> None:
    assert list(quantity_findings(parts("5 cats"), parts("5 dogs"))) == []


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("12 percent/NN", "12 dollars/NNS", True),
        ("12 dollars/NNS", "12 percent/NN", True),
        ("12 percent/NN", "12 percentage/NN points/NNS", False),
        ("12 °c", "12 degrees/NNS", False),
        ("5 pounds/NNS", "£ 5", False),
        ("5 pounds/NNS", "5 kg/NN", False),
        ("5 pounds/NNS", "5 miles/NNS", True),
        ("$/$ 5", "5 euros/NNS", True),
    ],
)
def test_measures_of_two_kinds_are_told_from_those_that_are_said_alike(left: str, right: str, expected: bool) -> None:
    (own,), (other,) = find_measures(parts(left)).values(), find_measures(parts(right)).values()
    assert own.isdisjoint(other) is expected


def test_counts_and_dates_measure_nothing() -> None:
    assert find_measures(parts("12 boats/NNS in/IN May/NNP 2020 three times/NNS")) == {}
