"""Evidence for phrases: every source with examples and as many counter-examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import GrammarError
from forestalign.lexicon import load_phrase_lists, load_ppdb
from forestalign.lexicon.findings import take_apart
from forestalign.lexicon.quantities import find_quantities
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence, find_evidence, read_strengths
from forestalign.tokens import Sentence, analyse
from tests.builders.tagged_sentences import sentence


def evidence(source: str, target: str) -> dict[tuple[str, str], PhraseEvidence]:
    """By the words of both phrases; of several kinds the strongest."""
    own, other = sentence(source), sentence(target)
    found = sorted(find_evidence(own, other), key=lambda one: one.strength)
    return {
        (" ".join(own.words[i] for i in one.source), " ".join(other.words[i] for i in one.target)): one for one in found
    }


def relation(source: str, target: str, pair: tuple[str, str]) -> str:
    found = evidence(source, target).get(pair)
    return found.relation if found else ""


QUANTITIES = [
    ("four/CD weeks/NNS", "28/CD days/NNS", ("four weeks", "28 days"), "equal"),
    ("three/CD quarters/NNS", "75/CD %/NN", ("three quarters", "75 %"), "equal"),
    ("one/CD in/IN five/CD", "20/CD percent/NN", ("one in five", "20 percent"), "equal"),
    ("£/$ 2.5/CD million/CD", "2,500,000/CD", ("£ 2.5 million", "2,500,000"), ""),
    ("$/$ 2.5/CD million/CD", "2,500,000/CD dollars/NNS", ("$ 2.5 million", "2,500,000 dollars"), "equal"),
    ("two/CD hundred/CD and/CC six/CD", "206/CD", ("two hundred and six", "206"), "equal"),
    ("half/DT a/DT dozen/NN eggs/NNS", "six/CD eggs/NNS", ("half a dozen", "six"), "equal"),
    ("a/DT quarter/NN to/IN nine/CD", "8:45/CD", ("a quarter to nine", "8:45"), "equal"),
    ("noon/NN", "12/CD pm/NN", ("noon", "12 pm"), "equal"),
    ("May/NNP 4/CD ,/, 1990/CD", "4/CD May/NNP 1990/CD", ("May 4 , 1990", "4 May 1990"), "equal"),
    ("the/DT 1920s/NNS", "the/DT twenties/NNS", ("1920s", "twenties"), "equal"),
    ("1925/CD", "the/DT twenties/NNS", ("1925", "twenties"), "more general"),
    ("five/CD feet/NNS six/CD inches/NNS", "66/CD inches/NNS", ("five feet six inches", "66 inches"), "equal"),
    ("at/IN least/JJS 30/CD", "no/DT fewer/JJR than/IN thirty/CD", ("at least 30", "no fewer than thirty"), "equal"),
    ("over/IN 30/CD", "about/RB thirty/CD", ("over 30", "about thirty"), "similar"),
    ("over/IN 30/CD", "under/IN thirty/CD", ("over 30", "under thirty"), "different value"),
    ("3/CD", "three/CD hundred/CD", ("3", "three hundred"), "different value"),
    ("nine/CD", "9/CD", ("nine", "9"), "equal"),
    ("40/CD degrees/NNS Celsius/NN", "104/CD °F/NN", ("40 degrees Celsius", "104 °F"), "equal"),
    ("3/CD pm/NN", "3/CD am/NN", ("3 pm", "3 am"), "different value"),
    ("2/CD April/NNP", "3/CD April/NNP", ("2 April", "3 April"), "different value"),
    ("75/CD percent/NN", "76/CD percent/NN", ("75 percent", "76 percent"), "different value"),
    ("a/DT third/NN", "33/CD percent/NN", ("a third", "33 percent"), "equal"),
    ("five/CD miles/NNS", "five/CD kilos/NNS", ("five miles", "five kilos"), ""),
    ("a/DT day/NN", "three/CD days/NNS", ("a day", "three days"), ""),
    ("no/DT one/NN", "1/CD", ("one", "1"), ""),
]


@pytest.mark.parametrize(("source", "target", "pair", "expected"), QUANTITIES)
def test_quantities_compare_by_value(source: str, target: str, pair: tuple[str, str], expected: str) -> None:
    assert relation(source, target, pair) == expected


@pytest.mark.parametrize(
    "text",
    ["1e999/CD", "a/DT zillion/NN dollars/NNS", "9/9/9999999/CD", "$/$", "1/0/CD", "9" * 400 + "/CD", "²/CD", "½½/CD"],
)
def test_odd_numbers_are_absent_and_never_a_crash(text: str) -> None:
    assert all(quantity.low < 10**16 for quantity in find_quantities(take_apart(sentence(text))))


WORDS = [
    "a",
    "half",
    "two",
    "and",
    "5",
    "%",
    "$",
    "3:30",
    "pm",
    "to",
    "hundred",
    "-",
    "third",
    "of",
    "May",
    "in",
    "1/0",
]


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_any_row_of_words_can_be_asked_for_quantities(words: list[str]) -> None:
    parts = take_apart(analyse(Sentence.from_words(words), ["CD"] * len(words)))
    assert all(0 <= q.begin <= q.core < q.end <= len(parts) for q in find_quantities(parts))


NAMES = [
    ("the/DT IMF/NNP", "the/DT International/NNP Monetary/NNP Fund/NNP", ("IMF", "International Monetary Fund")),
    ("the/DT CIA/NNP", "Central/NNP Intelligence/NNP Agency/NNP", ("CIA", "Central Intelligence Agency")),
    ("GDP/NN", "gross/JJ domestic/JJ product/NN", ("GDP", "gross domestic product")),
    ("U.N./NNP envoys/NNS", "UN/NNP envoys/NNS", ("U.N.", "UN")),
    ("VP/NNP Lee/NNP", "vice/NN president/NN Lee/NNP", ("VP", "vice president")),
    ("Ms./NNP Okafor/NNP", "Grace/NNP Okafor/NNP", ("Ms. Okafor", "Grace Okafor")),
    ("T./NNP Berg/NNP", "Tina/NNP Berg/NNP", ("T. Berg", "Tina Berg")),
]


@pytest.mark.parametrize(("source", "target", "pair"), NAMES)
def test_names_and_their_short_forms_are_equal(source: str, target: str, pair: tuple[str, str]) -> None:
    assert relation(source, target, pair) == "equal"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("they/PRP told/VBD us/PRP", "the/DT United/NNP States/NNP"),
        ("the/DT IMF/NNP", "It/PRP made/VBD Fred/NNP angry/JJ"),
        ("Tom/NNP Berg/NNP", "Anna/NNP Berg/NNP"),
        ("T./NNP Berg/NNP", "Anna/NNP Berg/NNP"),
        ("US/NNP", "Union/NNP signed/VBD"),
        ("the/DT pm/NN session/NN", "the/DT prime/JJ minister/NN"),
        ("Danish/JJ ships/NNS", "ships/NNS from/IN Norway/NNP"),
        ("a/DT turkey/NN", "Turkish/JJ food/NN"),
        ("the/DT mayor/NN spoke/VBD", "spoken/VBN by/IN the/DT mayor/NN"),
        ("the/DT storm/NN", "storms/NNS"),
    ],
)
def test_names_that_only_look_alike_give_nothing(source: str, target: str) -> None:
    assert not evidence(source, target)


PPDB = (
    """[VP] ||| throw in the towel ||| give up ||| PPDB2.0Score=4 ||| 0-0 ||| Equivalence
[NN] ||| car ||| automobile ||| x=1 ||| 0-0 ||| Equivalence
[NP] ||| stone fruit ||| plum ||| x=1 ||| 0-0 ||| ReverseEntailment
[NP] ||| stone fruit ||| table ||| x=1 ||| 0-0 ||| Independent
[NP] |||  ||| give up ||| x=1
"""
    + f"[NP] ||| {'very ' * 200}long ||| long ||| x=1\n"
)


def test_a_phrase_list_is_read_as_published_and_reports_what_it_skips(tmp_path: Path) -> None:
    path = tmp_path / "ppdb"
    path.write_text(PPDB, encoding="utf-8")
    lists = load_phrase_lists(path)
    found = find_evidence(sentence("he/PRP threw/VBD in/RP the/DT towel/NN"), sentence("he/PRP gave/VBD up/RP"), lists)
    assert ((1, 2, 3, 4), (1, 2), "list", "equal") in [(e.source, e.target, e.kind, e.relation) for e in found]
    assert [skipped.line for skipped in lists.skipped] == [5, 6]
    assert "201 words" in str(lists.skipped[1])
    fruit = find_evidence(sentence("stone/NN fruit/NN"), sentence("a/DT plum/NN"), lists)
    assert [one.relation for one in fruit if one.kind == "list"] == ["more specific"]
    assert not find_evidence(sentence("stone/NN fruit/NN"), sentence("a/DT table/NN"), lists)


def test_single_words_of_a_published_list_are_word_pairs(tmp_path: Path) -> None:
    path = tmp_path / "ppdb"
    path.write_text(PPDB, encoding="utf-8")
    assert ("automobile", "car") in load_ppdb(path)
    assert ("stone fruit", "table") not in load_ppdb(path)


def test_a_tab_separated_list_may_have_phrases(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("over the moon\tdelighted\nbuy\tpurchase\n", encoding="utf-8")
    found = find_evidence(sentence("over/IN the/DT moon/NN"), sentence("delighted/JJ"), load_phrase_lists(path))
    assert [(one.kind, one.source) for one in found] == [("list", (0, 1, 2))]
    assert ("purchase", "buy") in load_ppdb(path)


def test_evidence_is_sorted_and_the_same_each_time() -> None:
    own = sentence("The/DT US/NNP put/VBD off/RP 3/CD of/IN five/CD talks/NNS for/IN a/DT fortnight/NN")
    other = sentence("The/DT United/NNP States/NNP postponed/VBD three/CD talks/NNS for/IN two/CD weeks/NNS")
    first = find_evidence(own, other)
    assert first == find_evidence(own, other) == tuple(sorted(first))
    assert all(0 < one.strength <= 1 for one in first)


def test_empty_sentences_have_no_evidence() -> None:
    assert find_evidence(sentence(""), sentence("a/DT dog/NN")) == ()


def test_a_bad_row_of_a_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "strengths.tsv"
    path.write_text("list\tequal\t0.5\nlist\tequal\t7\n", encoding="utf-8")
    with pytest.raises(GrammarError, match=r"strengths.tsv:2"):
        read_strengths(path)
