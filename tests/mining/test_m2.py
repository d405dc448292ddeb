"""ERRANT's M2 form: edits that turn the source into the target, with operations and parts of speech."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from forestalign import Alignment
from forestalign.cli import main
from forestalign.mining.m2 import m2_of
from forestalign.tokens import Span
from tests.builders.sample_results import with_phrases
from tests.builders.view_samples import bought, cat, harbour, record

CAT = cat()
SOLD = "(TOP (S (NP (NNP Ann)) (VP (VBD sold) (NP (CD nine) (NNS cars))) (. .)))"


def applied(block: str) -> str:
    """The sentence that the edits of a block make, as a reader of M2 applies them."""
    first, *rows = block.splitlines()
    words = first.removeprefix("S ").split()
    for row in reversed([row for row in rows if "|||noop|||" not in row]):
        place, _, words_instead, *_ = row.removeprefix("A ").split("|||")
        begin, end = map(int, place.split())
        words[begin:end] = [] if words_instead == "-NONE-" else words_instead.split()
    return " ".join(words)


@pytest.mark.parametrize("result", [CAT, harbour("long"), bought(), cat(1, 4, 7, identity="half")])
def test_the_edits_turn_the_source_into_the_target(result: Alignment) -> None:
    assert applied(m2_of(result)) == " ".join(result.target.words)


def test_operations_and_parts_of_speech_are_those_of_errant() -> None:
    other = SOLD.replace("(CD nine) (NNS cars)", "(JJ old) (NN car)")
    rows = m2_of(record("x", SOLD, other, {0: 0, 1: 1, 3: 3, 4: 4})).splitlines()
    assert rows[0] == "S Ann sold nine cars ."
    assert rows[1:] == [
        "A 2 3|||R:OTHER|||old|||REQUIRED|||-NONE-|||0",
        "A 3 4|||R:NOUN:NUM|||car|||REQUIRED|||-NONE-|||0",
    ]


def test_an_edit_is_the_one_that_errant_compare_counts_as_right() -> None:
    """The spans of ERRANT's own rows for these sentences: words that both sides begin or end with are in no edit."""
    goes = "(TOP (S (NP (PRP He)) (VP (VBP go) (ADVP (RB really)) (PP (TO to) (NP (NN school)))) (. .)))"
    went = "(TOP (S (NP (PRP He)) (VP (VBD went) (PP (TO to) (NP (DT the) (NN school)))) (. .)))"
    base = record("x", goes, went, {0: 0, 1: 1, 3: 2, 4: 4, 5: 5})
    school = replace(base.phrases.pairs[-1], source=Span(4, 5), target=Span(3, 5), supports=())
    assert m2_of(with_phrases(base, pairs=(school,))).splitlines() == [
        "S He go really to school .",
        "A 1 2|||R:VERB:TENSE|||went|||REQUIRED|||-NONE-|||0",
        "A 2 3|||U:ADV||||||REQUIRED|||-NONE-|||0",
        "A 4 4|||M:DET|||the|||REQUIRED|||-NONE-|||0",
    ]


def test_a_pair_without_edits_says_so() -> None:
    same = record("same", SOLD, SOLD, {k: k for k in range(5)})
    assert m2_of(same).endswith("\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0")


def test_the_command_writes_a_block_per_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(CAT.to_json() + "\n" + CAT.to_json() + "\n")
    assert main(["edits", str(path), "--m2"]) == 0
    found = capsys.readouterr()
    assert found.out == f"{m2_of(CAT)}\n\n" * 2
    assert found.err.startswith("2 pairs, ")
