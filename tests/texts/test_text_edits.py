"""Two versions of a text: sentences paired, aligned and compared, with an aligner that needs no model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from forestalign.errors import ForestAlignError, NoParseError
from forestalign.mining.edits import EditKind, PairEdits
from forestalign.texts.text_edits import PairedTexts, edits_of_texts

DRAFT = "The old dog slept in the sun. Nobody saw the green boat. The end came early."
FINAL = "The old dog slept in the warm sun. The end came very early. Applause followed."


class EchoAligner:
    """Gives every pair an alignment that only knows its two sentences; sentences about boats fail."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def pipe(self, pairs: Iterable[tuple[str, str]], jobs: int, errors: str) -> Iterator[Any]:
        assert errors == "yield"
        for source, target in pairs:
            self.asked.append((source, target))
            if "boat" in source:
                yield NoParseError("no parse")
            else:
                yield SimpleNamespace(edits=lambda id, both=(source, target): (id, *both))


def compared(draft: str, final: str) -> list[Any]:
    return list(edits_of_texts(PairedTexts.of(draft, final), EchoAligner()))  # type: ignore[arg-type]


def test_texts_are_cut_and_paired_in_order() -> None:
    texts = PairedTexts.of(DRAFT, FINAL)
    assert (len(texts.source), len(texts.target)) == (3, 3)
    assert [texts.sides(pair)[0] for pair in texts.both] == [
        "The old dog slept in the sun.",
        "The end came early.",
    ]
    assert len(texts.pairs) == 4


def test_a_pair_without_a_partner_has_one_empty_side() -> None:
    texts = PairedTexts.of(DRAFT, FINAL)
    alone = [texts.sides(pair) for pair in texts.pairs if pair not in texts.both]
    assert alone == [("Nobody saw the green boat.", ""), ("", "Applause followed.")]


def test_ids_are_the_numbers_of_the_sentences() -> None:
    found = compared(DRAFT, FINAL)
    ids = [each.id if isinstance(each, PairEdits) else each[0] for each in found]
    assert ids == ["1-1", "2-", "3-2", "-3"]


def test_sentences_without_a_partner_are_deleted_or_inserted_as_a_whole() -> None:
    deleted, inserted = (each for each in compared(DRAFT, FINAL) if isinstance(each, PairEdits))
    assert {edit.kind for edit in deleted.edits} == {EditKind.DELETED}
    assert {edit.kind for edit in inserted.edits} == {EditKind.INSERTED}


def test_only_pairs_are_aligned() -> None:
    aligner = EchoAligner()
    list(edits_of_texts(PairedTexts.of(DRAFT, FINAL), aligner))  # type: ignore[arg-type]
    assert aligner.asked == [
        ("The old dog slept in the sun.", "The old dog slept in the warm sun."),
        ("The end came early.", "The end came very early."),
    ]


def test_a_pair_that_fails_is_named_and_the_rest_is_compared() -> None:
    found = compared("The green boat sank. He left.", "The green boat sank fast. He left.")
    error, rest = found
    assert isinstance(error, ForestAlignError)
    assert str(error) == "sentences 1-1: no parse"
    assert rest == ("2-2", "He left.", "He left.")


@pytest.mark.parametrize(("draft", "final"), [("", ""), ("", "One."), ("One.", "")])
def test_an_empty_text_has_no_pairs(draft: str, final: str) -> None:
    texts = PairedTexts.of(draft, final)
    assert texts.both == ()
    assert len(texts.pairs) == len(texts.source) + len(texts.target)
