"""Negations, opposites, values and roles: found on words, taken back by what makes up for them, raised to the root."""

from __future__ import annotations

import pytest

from forestalign import Alignment
from forestalign.aligner import load
from forestalign.lexicon.findings import AGAINST, OTHER_ROLES
from forestalign.phrases.result.rising import risen
from tests.builders.meaning_pairs import meaning_pairs
from tests.builders.view_samples import record

BIT = "(TOP (S (NP (DT The) (NN dog)) (VP (VBD bit) (NP (DT the) (NN man))) (. .)))"
TURNED = "(TOP (S (NP (DT The) (NN man)) (VP (VBD bit) (NP (DT the) (NN dog))) (. .)))"
LIKED = "(TOP (S (NP (PRP He)) (VP (VBD liked) (NP (NN soup)))))"
NOT_LIKED = "(TOP (S (NP (PRP He)) (VP (VBD did) (RB not) (VP (VB like) (NP (NN soup))))))"
DISLIKED = "(TOP (S (NP (PRP He)) (VP (VBD disliked) (NP (NN soup)))))"
RISE = "(TOP (S (NP (NNS Prices)) (VP (VBD rose) (PP (IN by) (NP (CD two) (NNS cents))))))"
FALL = "(TOP (S (NP (NNS Prices)) (VP (VBD fell) (PP (IN by) (NP (CD three) (NNS cents))))))"


def reasons(source: str, target: str, links: dict[int, int]) -> list[str]:
    return [each.reason for each in record("x", source, target, links).contradictions]


def raised(result: Alignment) -> Alignment:
    from dataclasses import replace

    return replace(result, phrases=risen(result.phrases, result.source, result.target, result.words))


def test_two_words_that_changed_places_are_named() -> None:
    assert reasons(BIT, TURNED, {0: 3, 1: 4, 2: 2, 3: 0, 4: 1, 5: 5}) == ["dog and man changed places"]


def test_a_negation_of_one_side_is_named_and_an_opposite_makes_up_for_it() -> None:
    assert reasons(LIKED, NOT_LIKED, {0: 0, 1: 3, 2: 4}) == ["negation on one side only: not"]
    assert reasons(DISLIKED, NOT_LIKED, {0: 0, 1: 3, 2: 4}) == []


def test_opposites_and_values_are_named() -> None:
    assert reasons(RISE, FALL, {k: k for k in range(5)}) == ["opposite: rose/fell", "number differs: two/three"]


def test_what_contradicts_rises_to_every_pair_above_it() -> None:
    found = raised(record("x", RISE, FALL, {k: k for k in range(5)})).phrases.pairs
    marked = {(pair.source_text, pair.relation) for pair in found if pair.reason}
    assert ("two cents", "different value") in marked
    assert ("rose by two cents", "opposite") in marked
    assert ("Prices rose by two cents", "opposite") in marked
    assert not any(pair.reason for pair in found if pair.source_text == "Prices")


def test_a_reason_survives_json_and_goes_with_a_relation_against() -> None:
    result = raised(record("x", RISE, FALL, {k: k for k in range(5)}))
    assert Alignment.from_json(result.to_json()) == result
    assert all((pair.relation in {*AGAINST, OTHER_ROLES}) == bool(pair.reason) for pair in result.phrases.pairs)


@pytest.mark.parametrize("name", ["new_user_changed", "new_user_same"])
def test_what_a_new_user_tries_comes_out_right_in_both_directions(name: str) -> None:
    aligner, wrong, pairs = load(), [], meaning_pairs(name)
    for pair in pairs:
        for sides in ((pair.source, pair.target), (pair.target, pair.source)):
            result = aligner.align(*sides)
            is_marked = result.phrases.pairs[-1].relation in {*AGAINST, OTHER_ROLES}
            if {is_marked, bool(result.contradictions)} != {pair.is_changed}:
                wrong.append(sides)
    assert len(wrong) <= 0.06 * 2 * len(pairs), wrong


@pytest.mark.heavy
def test_changed_pairs_are_marked_at_the_root_and_paraphrases_are_not() -> None:
    aligner = load()
    shares = {}
    for name in ("changed", "same"):
        pairs = meaning_pairs(name)
        relations = [aligner.align(each.source, each.target).phrases.pairs[-1].relation for each in pairs]
        shares[name] = sum(relation in {*AGAINST, OTHER_ROLES} for relation in relations) / len(pairs)
    assert shares["changed"] >= 0.95
    assert shares["same"] <= 0.05
