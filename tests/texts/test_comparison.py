"""What became of each sentence, what it says differently, and what a summary rests on, with the shipped models."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

import forestalign
from forestalign.errors import UsageError
from forestalign.texts.comparison import ChangeKind, compare_parts
from forestalign.texts.comparison_text import comparison_body, render_comparison
from forestalign.texts.summary_sources import find_sources
from forestalign.texts.text_parts import TextParts, TextSentence, take_text_apart
from tests.builders.places import DATA


@pytest.fixture(scope="module")
def aligner() -> forestalign.Aligner:
    return forestalign.load()


@pytest.mark.parametrize(
    ("old", "new", "kind", "reasons"),
    [
        ("Sales rose by 3 percent.", "Sales rose by 5 percent.", ChangeKind.MEANING, {"number"}),
        ("Sales rose by 3 percent.", "Sales rose by three percent.", ChangeKind.REWORDED, set()),
        ("Sales rose by 12 percent.", "Sales rose by 12 million dollars.", ChangeKind.MEANING, {"number"}),
        ("Sales rose by 12 million dollars.", "Sales rose by 12 percent.", ChangeKind.MEANING, {"number"}),
        ("It is 52km to the coast.", "It is 32 miles to the coast.", ChangeKind.REWORDED, set()),
        ("The board approved the plan.", "The board did not approve the plan.", ChangeKind.MEANING, {"negation"}),
        ("The dog bit the man.", "The man bit the dog.", ChangeKind.MEANING, {"roles"}),
        ("The dog bit the man.", "The man was bitten by the dog.", ChangeKind.REWORDED, set()),
        ("Prices rose in May.", "Prices fell in May.", ChangeKind.MEANING, {"opposite"}),
        ("The report appeared.", "The report appeared in a newspaper.", ChangeKind.CONTENT, {"added"}),
        ("He left quickly on Monday.", "He left on Monday.", ChangeKind.CONTENT, {"left out"}),
        ("He bought a car.", "He purchased a car.", ChangeKind.REWORDED, set()),
    ],
)
def test_a_change_of_meaning_is_told_from_other_words(
    aligner: forestalign.Aligner, old: str, new: str, kind: ChangeKind, reasons: set[str]
) -> None:
    (change,) = forestalign.compare(old, new, aligner=aligner).changes
    assert (change.kind, {reason.kind for reason in change.reasons}) == (kind, reasons)


def test_sentences_that_are_split_and_merged_are_told(aligner: forestalign.Aligner) -> None:
    one, two = (
        "Ann bought the boat in May, and she sold it in June.",
        "Ann bought the boat in May. She sold it in June.",
    )
    assert [change.shape for change in forestalign.compare(one, two, aligner=aligner).changes] == ["split"]
    assert [change.shape for change in forestalign.compare(two, one, aligner=aligner).changes] == ["merged"]


def test_sentences_that_moved_together_are_told_together() -> None:
    old = "\n\n".join(["One is here.", "Two is there.", "A long line stays where it was.", "So does this long line."])
    new = "\n\n".join(["A long line stays where it was.", "So does this long line.", "One is here.", "Two is there."])
    shown = render_comparison(forestalign.compare(old, new))
    assert "lines 5 to 7: 2 sentences moved from lines 1 to 3\n    One is here.\n    Two is there." in shown


def test_a_sentence_that_is_too_long_is_named_and_the_rest_is_compared(aligner: forestalign.Aligner) -> None:
    long = " ".join(f"word{n}" for n in range(400))
    found = forestalign.compare(f"He left. {long.capitalize()}.", f"He went. {long.capitalize()}!", aligner=aligner)
    kinds = {change.kind: change.error for change in found.changes}
    assert "the limit is 300" in kinds[ChangeKind.UNREAD]
    assert len(found.changes) == 2


@pytest.mark.parametrize("texts", [("A red car came. A cat came.", "A red car came. A red car came.")])
def test_a_copy_may_stand_where_another_sentence_stood(aligner: forestalign.Aligner, texts: tuple[str, str]) -> None:
    for old, new in (texts, texts[::-1]):
        found = forestalign.compare(old, new, aligner=aligner).changes
        assert found[0].kind is ChangeKind.SAME
        assert len(found) > 1


@pytest.mark.heavy
def test_processes_give_the_same(aligner: forestalign.Aligner) -> None:
    """Also where one that is refused stands between others."""
    long = " ".join(f"word{n}" for n in range(400)).capitalize()
    bought = [f"{name} bought a car in {year}." for year, name in enumerate(("Anna", "Bert", "Carl", "Dora"), 2001)]
    sold = [f"{name} sold a house in {year}." for year, name in enumerate(("Emil", "Fred", "Gina", "Hans"), 2001)]
    old = " ".join([*bought, f"{long}.", *sold])
    new = old.replace("bought", "purchased").replace("sold", "has sold").replace("in 2003", "in 2013")
    texts = [take_text_apart(text) for text in (old, new.replace(f"{long}.", f"{long}!"))]
    alone, together = (compare_parts(*texts, aligner, jobs).changes for jobs in (1, 2))
    assert [change.to_json() for change in alone] == [change.to_json() for change in together]
    kinds = Counter(change.kind for change in together)
    assert (len(together), kinds[ChangeKind.UNREAD], kinds[ChangeKind.MEANING]) == (9, 1, 2)


def test_a_notebook_shows_the_changes() -> None:
    assert "<del>" not in comparison_body(forestalign.compare("It rained.", "It rained."))
    assert 'class="compared"' in forestalign.compare("It rained.", "It rained.")._repr_html_()


@pytest.mark.parametrize("texts", [(None, "x"), ("x", 3), ("x" * 3_000_000, "x")])
def test_what_is_no_text_is_refused(texts: tuple[object, object]) -> None:
    with pytest.raises(UsageError, match="expected"):
        forestalign.compare(*texts)  # type: ignore[arg-type]


def test_a_summary_is_traced_to_the_sentences_it_was_written_from(aligner: forestalign.Aligner) -> None:
    row = json.loads((DATA / "summaries.jsonl").read_text(encoding="utf-8").splitlines()[0])
    article = TextParts(tuple(TextSentence(text, n) for n, text in enumerate(row["article"], start=1)))
    summary = TextParts(tuple(TextSentence(each["text"], 1) for each in row["summary"]))
    found = find_sources(article, summary, aligner)
    right = [marks["rests_on"][0] in sentence.lines for sentence, marks in zip(found, row["summary"], strict=True)]
    assert sum(right) >= 9
    missed = [
        mark
        for sentence, marks in zip(found, row["summary"], strict=True)
        for mark in marks["nothing"]
        if not any(phrase.text in mark or mark in phrase.text for phrase in sentence.unsupported)
    ]
    assert len(missed) <= 1


def test_what_an_article_does_not_have_rests_on_nothing(aligner: forestalign.Aligner) -> None:
    article, summary = take_text_apart("It rained in May."), take_text_apart("Ships sailed to China.")
    (sentence,) = find_sources(article, summary, aligner)
    assert sentence.lines == ()
    assert json.loads(sentence.to_json())["phrases"]
    assert replace(sentence, phrases=()).unsupported == ()
