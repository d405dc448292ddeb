"""Who did what to whom: roles by whatever grammar says them, and words that changed places."""

from __future__ import annotations

from pathlib import Path

import pytest

from forestalign.errors import GrammarError
from forestalign.lexicon.wordnet import conversives, read_conversives
from forestalign.meaning.role_changes import ArgumentKind
from tests.builders.view_samples import record

GAVE = "(TOP (S (NP (NNP Ann)) (VP (VBD gave) (NP (NNP Bob)) (NP (DT a) (NN book)))))"
GAVE_TO = "(TOP (S (NP (NNP Ann)) (VP (VBD gave) (NP (DT a) (NN book)) (PP (TO to) (NP (NNP Bob))))))"
WAS_GIVEN = "(TOP (S (NP (NNP Bob)) (VP (VBD was) (VP (VBN given) (NP (DT a) (NN book)) (PP (IN by) (NP (NNP Ann)))))))"
BOB_GAVE = "(TOP (S (NP (NNP Bob)) (VP (VBD gave) (NP (NNP Ann)) (NP (DT a) (NN book)))))"
RECEIVED = "(TOP (S (NP (NNP Bob)) (VP (VBD received) (NP (DT a) (NN book)) (PP (IN from) (NP (NNP Ann))))))"
ANN_RECEIVED = "(TOP (S (NP (NNP Ann)) (VP (VBD received) (NP (DT a) (NN book)) (PP (IN from) (NP (NNP Bob))))))"
CHASED = "(TOP (S (NP (NNP Ann)) (VP (VBD chased) (NP (NNP Bob)))))"
CLEFT_CHASED = (
    "(TOP (S (NP (PRP It)) (VP (VBD was) (NP (NP (NNP Bob)) (SBAR (WHNP (WP who)) "
    "(S (VP (VBD chased) (NP (NNP Ann)))))))))"
)
MET = "(TOP (S (NP (NNP Ann)) (VP (VBD met) (NP (NNP Bob)))))"
MET_TURNED = "(TOP (S (NP (NNP Bob)) (VP (VBD met) (NP (NNP Ann)))))"
OF = "(TOP (NP (NP (DT the) (NN king)) (PP (IN of) (NP (DT the) (NN city)))))"
OF_TURNED = "(TOP (NP (NP (DT the) (NN city)) (PP (IN of) (NP (DT the) (NN king)))))"
BUILT = (
    "(TOP (S (NP (PRP They)) (VP (VP (VBD built) (NP (NNS {})) (PP (IN in) (NP (NNP {})))) (CC and) "
    "(VP (VBD built) (NP (NNS {})) (PP (IN in) (NP (NNP {})))))))"
)
BOTH = "(TOP (S (NP (NP (NNP Ann)) (CC and) (NP (NNP Bob))) (VP (VBD left))))"
BOTH_TURNED = "(TOP (S (NP (NP (NNP Bob)) (CC and) (NP (NNP Ann))) (VP (VBD left))))"


def kinds(source: str, target: str, links: dict[int, int]) -> set[ArgumentKind]:
    return {argument.kind for predicate in record("x", source, target, links).roles for argument in predicate.arguments}


@pytest.mark.parametrize(
    ("source", "target", "links"),
    [
        (GAVE, GAVE_TO, {0: 0, 1: 1, 2: 5, 3: 2, 4: 3}),
        (GAVE, WAS_GIVEN, {0: 6, 1: 2, 2: 0, 3: 3, 4: 4}),
        (GAVE, RECEIVED, {0: 5, 1: 1, 2: 0, 3: 2, 4: 3}),
        (GAVE, RECEIVED, {0: 5, 2: 0, 3: 2, 4: 3}),
        (MET, MET_TURNED, {0: 2, 1: 1, 2: 0}),
        (BOTH, BOTH_TURNED, {0: 2, 1: 1, 2: 0, 3: 3}),
    ],
)
def test_one_event_in_other_grammar_has_the_same_roles(source: str, target: str, links: dict[int, int]) -> None:
    assert kinds(source, target, links) == {ArgumentKind.SAME}


@pytest.mark.parametrize(
    ("source", "target", "links"),
    [
        (GAVE, BOB_GAVE, {0: 2, 1: 1, 2: 0, 3: 3, 4: 4}),
        (GAVE, ANN_RECEIVED, {0: 0, 1: 1, 2: 5, 3: 2, 4: 3}),
        (OF, OF_TURNED, {0: 3, 1: 4, 2: 2, 3: 0, 4: 1}),
        (CHASED, CLEFT_CHASED, {0: 5, 1: 4, 2: 2}),
    ],
)
def test_words_that_changed_places_are_swapped(source: str, target: str, links: dict[int, int]) -> None:
    assert ArgumentKind.SWAPPED in kinds(source, target, links)


def test_conjuncts_with_one_verb_may_change_places_and_their_objects_may_not_change_verbs() -> None:
    turned = BUILT.format("mills", "Rome", "roads", "Oslo")
    crossed = BUILT.format("mills", "Oslo", "roads", "Rome")
    start = BUILT.format("roads", "Oslo", "mills", "Rome")
    by_place = {0: 0, 1: 1, 3: 3, 5: 5, 6: 6, 8: 8}  # the verbs, as word links go
    assert kinds(start, turned, {**by_place, 2: 7, 4: 9, 7: 2, 9: 4}) == {ArgumentKind.SAME}
    assert kinds(turned, start, {**by_place, 2: 7, 4: 9, 7: 2, 9: 4}) == {ArgumentKind.SAME}
    assert ArgumentKind.SWAPPED in kinds(start, crossed, {**by_place, 2: 7, 4: 4, 7: 2, 9: 9})
    assert ArgumentKind.SWAPPED in kinds(crossed, start, {**by_place, 2: 7, 4: 4, 7: 2, 9: 9})


def test_another_word_at_a_place_and_none() -> None:
    assert kinds(GAVE, BOB_GAVE.replace("Ann", "Cid"), {1: 1, 2: 0, 4: 4}) == {ArgumentKind.OTHER, ArgumentKind.SAME}
    about = "(TOP (S (NP (NNP Ann)) (VP (VBD gave) (NP (NP (DT a) (NN book)) (PP (IN about) (NP (NNP Bob)))))))"
    assert kinds(GAVE, about, {0: 0, 1: 1, 2: 5, 4: 3}) == {ArgumentKind.MISSING, ArgumentKind.SAME}


def test_conversives_are_known_from_both_sides() -> None:
    assert ("subject", "to") in conversives()["buy", "sell"]
    assert ("to", "subject") in conversives()["sell", "buy"]


@pytest.mark.parametrize("row", ["buy\tsell\tsubject", "buy\tsell\ta=b\nbuy\tsell\ta=b", "buy\tsell\t=b"])
def test_bad_conversives_are_refused(tmp_path: Path, row: str) -> None:
    path = tmp_path / "conversives.tsv"
    path.write_text(row + "\n")
    with pytest.raises(GrammarError, match="expected a new pair"):
        read_conversives(path)
