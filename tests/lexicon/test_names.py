"""Names, opposites and spelling: what two sentences say in other words, source by source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from forestalign.lexicon import load_wordnet
from forestalign.lexicon.findings import EQUAL, Finding, take_apart
from forestalign.lexicon.names import acronym_findings, name_findings, read_titles
from forestalign.lexicon.wordnet import are_opposites, read_opposites
from tests.builders.bad_files import complaint
from tests.builders.tagged_sentences import sentence


def said(source: str, target: str, findings: Iterable[Finding]) -> set[tuple[str, str, str]]:
    """Findings by their words."""
    own, other = sentence(source).words, sentence(target).words
    return {
        (" ".join(own[i] for i in one.source), " ".join(other[i] for i in one.target), one.relation) for one in findings
    }


# ---- parts ----


def test_a_hyphenated_token_is_taken_apart_and_a_free_hyphen_disappears() -> None:
    parts = take_apart(sentence("well-known/JJ -/: tunes/NNS"))
    assert parts.forms == ("well", "known", "tunes")
    assert parts.tokens == (0, 0, 2)
    assert parts.lemmas[2] == "tune"


def test_only_whole_tokens_are_given_back() -> None:
    parts = take_apart(sentence("well-known/JJ tunes/NNS"))
    assert parts.whole_tokens((0, 1)) == (0,)
    assert parts.whole_tokens((1, 2)) == ()
    assert parts.whole_tokens((2, 1, 0)) == (0, 1)
    assert len(take_apart(sentence(""))) == 0


# ---- acronyms and titles ----


def acronyms(source: str, target: str) -> set[tuple[str, str, str]]:
    return said(source, target, acronym_findings(sentence(source), sentence(target)))


@pytest.mark.parametrize(
    ("source", "target", "pair"),
    [
        ("the/DT EU/NNP", "the/DT European/NNP Union/NNP", ("EU", "European Union")),
        ("the/DT E.U./NNP", "the/DT European/NNP Union/NNP", ("E.U.", "European Union")),
        ("DOJ/NNP", "Department/NNP of/IN Justice/NNP", ("DOJ", "Department of Justice")),
        ("DJ/NNP Corp/NNP FCC/NNP", "Federal/NNP Cable/NNP Commission/NNP", ("FCC", "Federal Cable Commission")),
        ("many/JJ NGOs/NNS", "non-governmental/JJ organizations/NNS", ("NGOs", "non-governmental organizations")),
        ("United/NNP Press/NNP Agency/NNP", "UPA/NNP", ("United Press Agency", "UPA")),
        ("the/DT U.K./NNP", "the/DT UK/NNP", ("U.K.", "UK")),
    ],
)
def test_an_acronym_is_its_words(source: str, target: str, pair: tuple[str, str]) -> None:
    assert (*pair, EQUAL) in acronyms(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("eu/NN", "European/NNP Union/NNP"),
        ("EU/NNP", "European/NNP Monetary/NNP Union/NNP"),
        ("EU/NNP", "eastern/JJ unit/NN"),
        ("FCC/NNP", "Federal/NNP ,/, Cable/NNP Commission/NNP"),
        ("US/NNP", "Use/NNP in/IN Syria/NNP"),
        ("THE/DT WHOLE/JJ TITLE/NN IN/IN US/PRP", "united/JJ shoes/NNS"),
    ],
)
def test_other_letters_other_case_and_other_words_are_no_acronym(source: str, target: str) -> None:
    assert acronyms(source, target) == set()


@pytest.mark.parametrize("row", ["Dr.\tdoctor", "dr.\t", "dr.\tdoctor\ndr\tdoctor"])
def test_a_bad_title_is_refused(tmp_path: Path, row: str) -> None:
    assert re.search(r"titles\.tsv:\d", complaint(read_titles, tmp_path / "titles.tsv", row))


# ---- people ----


def people(source: str, target: str) -> set[tuple[str, str, str]]:
    return said(source, target, name_findings(sentence(source), sentence(target)))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Mr./NNP Chen/NNP", "Wei/NNP Chen/NNP"),
        ("W./NNP Chen/NNP", "Wei/NNP Chen/NNP"),
        ("President/NNP Wei/NNP Chen/NNP", "Wei/NNP Chen/NNP"),
        ("Wei/NNP L./NNP Chen/NNP", "Wei/NNP Chen/NNP"),
        ("Mr./NNP Chen/NNP", "Chen/NNP"),
    ],
)
def test_one_person_may_have_several_forms(source: str, target: str) -> None:
    whole = " ".join(sentence(source).words), " ".join(sentence(target).words)
    assert people(source, target) == {(*whole, EQUAL)}
    assert people(target, source) == {(*reversed(whole), EQUAL)}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Wei/NNP Chen/NNP", "Li/NNP Chen/NNP"),
        ("Wei/NNP Chen/NNP", "Wei/NNP Wang/NNP"),
        ("Wei/NNP Chen/NNP", "Wei/NNP Chen/NNP"),
        ("Wei/NNP Chen/NNP", "Chen/NNP"),
        ("L./NNP Chen/NNP", "Wei/NNP Chen/NNP"),
        ("Chen/NNP", "Chen/NNP"),
    ],
)
def test_other_people_the_same_words_and_bare_family_names_are_no_finding(source: str, target: str) -> None:
    assert people(source, target) == set()


# ---- opposites ----


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("happy", "unhappy", True),
        ("unhappy", "happy", True),
        ("legal", "illegal", True),
        ("large", "small", True),
        ("win", "lose", True),
        ("able", "table", False),
        ("do", "undo", False),
        ("cat", "dog", False),
    ],
)
def test_opposites_are_known_by_prefix_or_by_lexicon(left: str, right: str, expected: bool) -> None:
    assert are_opposites(left, right, load_wordnet()) is expected


@pytest.mark.parametrize("row", ["hot\thot", "hot\tcold\nhot\tcold", "hot\tcold\ncold\thot"])
def test_a_bad_pair_of_opposites_is_refused(tmp_path: Path, row: str) -> None:
    assert re.search(
        rf"opposites\.tsv:{row.count(chr(10)) + 1}", complaint(read_opposites, tmp_path / "opposites.tsv", row)
    )
