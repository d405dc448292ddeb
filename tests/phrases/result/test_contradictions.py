"""Negations, opposites, values and roles: found on words, taken back by what makes up for them, raised to the root."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forestalign import Alignment
from forestalign.aligner import load
from forestalign.lexicon.findings import AGAINST, OTHER_ROLES
from forestalign.phrases.result.pair_meaning import with_relations
from tests.builders.meaning_pairs import meaning_pairs
from tests.builders.view_samples import record

BIT = "(TOP (S (NP (DT The) (NN dog)) (VP (VBD bit) (NP (DT the) (NN man))) (. .)))"
TURNED = "(TOP (S (NP (DT The) (NN man)) (VP (VBD bit) (NP (DT the) (NN dog))) (. .)))"
LIKED = "(TOP (S (NP (PRP He)) (VP (VBD liked) (NP (NN soup)))))"
NOT_LIKED = "(TOP (S (NP (PRP He)) (VP (VBD did) (RB not) (VP (VB like) (NP (NN soup))))))"
DISLIKED = "(TOP (S (NP (PRP He)) (VP (VBD disliked) (NP (NN soup)))))"
RISE = "(TOP (S (NP (NNS Prices)) (VP (VBD rose) (PP (IN by) (NP (CD two) (NNS cents))))))"
FALL = "(TOP (S (NP (NNS Prices)) (VP (VBD fell) (PP (IN by) (NP (CD three) (NNS cents))))))"


FLIGHT = "(TOP (NP (NP (DT the) (NN flight)) (PP (PP (IN from) (NP (NNP Rome))) (PP (TO to) (NP (NNP Paris))))))"
FLIGHT_BACK = "(TOP (NP (NP (DT the) (NN flight)) (PP (IN from) (NP (NNP Paris))) (PP (TO to) (NP (NNP Rome)))))"
THAN = "(TOP (S (NP {}) (VP (VBD was) (ADJP (ADJP (JJR warmer)) (PP (IN than) (NP {}))))))"
WARMER = THAN.format("(DT This) (NN year)", "(JJ last) (NN year)")
WARMER_BACK = THAN.format("(JJ Last) (NN year)", "(DT this) (NN year)")
SAFER = "(TOP (S (NP (NNS Trains)) (VP (VBP are) (ADJP (ADJP (JJR safer)) (PP (IN than) (NP (NNS cars)))))))"
LESS_SAFE = (
    "(TOP (S (NP (NNS Trains)) (VP (VBP are) (ADJP (ADJP (RBR less) (JJ safe)) (PP (IN than) (NP (NNS cars)))))))"
)
CARS_LESS = LESS_SAFE.replace("Trains", "Cars").replace("cars", "trains")
FAILED = "(TOP (S (NP (PRP He)) (VP (VBD failed) (S (VP (TO to) (VP (VB like) (NP (NN soup))))))))"
NOT_FAILED = FAILED.replace("(VBD failed)", "(VBD did) (RB not) (VP (VB fail)").replace("))))))))", ")))))))))")
NOT_FAR = "(TOP (S (NP (PRP It)) (VP (VBD stood) (ADVP (RB not) (RB far) (PP (IN from) (NP (NNP Rome)))))))"
NEAR = "(TOP (S (NP (PRP It)) (VP (VBD stood) (PP (IN near) (NP (NNP Rome))))))"
FAR = NOT_FAR.replace("(RB not) ", "")
PERCENT = "(TOP (S (NP (NNS Sales)) (VP (VBD rose) (NP (CD 12) (NN percent)))))"
DOLLARS = "(TOP (S (NP (NNS Sales)) (VP (VBD rose) (NP (QP (CD 12) (CD million)) (NNS dollars)))))"
FAR_KM = "(TOP (S (NP (PRP It)) (VP (VBZ lies) (ADVP (NP (CD 52) (NN km)) (RB away)))))"
FAR_MILES = "(TOP (S (NP (PRP It)) (VP (VBZ lies) (ADVP (NP (CD 32) (NNS miles)) (RB away)))))"
WITH = "(TOP (S (PP (IN With) (NP (NN luck))) (NP (PRP you)) (VP (MD can) (VP (VB win)))))"
WITHOUT_NOT = WITH.replace("With", "Without").replace("(MD can)", "(MD can) (RB not)")
NOT_WARMER = (
    "(TOP (S (VP (VBP Do) (RB not) (VP (VB let) (S (NP (PRP it)) (VP (VB get) (ADJP (ADJP (JJR warmer)) "
    "(PP (IN than) (NP (CD eight))))))))))"
)
KEEP_BELOW = "(TOP (S (VP (VB Keep) (NP (PRP it)) (PP (IN below) (NP (CD eight))))))"


def reasons(source: str, target: str, links: dict[int, int]) -> list[str]:
    return [each.reason for each in record("x", source, target, links).differences if each.contradicts]


def raised(result: Alignment) -> Alignment:
    return replace(result, phrases=with_relations(result.phrases, result.meaning))


def test_two_words_that_changed_places_are_named() -> None:
    assert reasons(BIT, TURNED, {0: 3, 1: 4, 2: 2, 3: 0, 4: 1, 5: 5}) == ["dog and man changed places"]


def test_a_negation_of_one_side_is_named_and_an_opposite_makes_up_for_it() -> None:
    assert reasons(LIKED, NOT_LIKED, {0: 0, 1: 3, 2: 4}) == ["negated in the target only: not"]
    assert reasons(DISLIKED, NOT_LIKED, {0: 0, 1: 3, 2: 4}) == []


def test_opposites_and_values_are_named() -> None:
    assert reasons(RISE, FALL, {k: k for k in range(5)}) == ["rose became fell", "two became three"]


def test_both_ends_of_a_way_belong_to_what_goes_there() -> None:
    assert reasons(FLIGHT, FLIGHT_BACK, {0: 0, 1: 1, 2: 2, 3: 5, 4: 4, 5: 3}) == ["Rome and Paris changed places"]
    assert reasons(FLIGHT_BACK, FLIGHT, {0: 0, 1: 1, 2: 2, 3: 5, 4: 4, 5: 3}) == ["Paris and Rome changed places"]
    assert reasons(FLIGHT, FLIGHT, {k: k for k in range(6)}) == []


def test_things_of_one_name_are_told_apart_by_their_modifiers() -> None:
    links = {0: 5, 1: 1, 2: 2, 3: 3, 4: 4, 5: 0, 6: 6}  # by the place, as word links go
    assert reasons(WARMER, WARMER_BACK, links) == ["This year and last year changed places"]
    assert reasons(WARMER, WARMER_BACK.replace("warmer", "colder"), links) == []


def test_less_is_the_opposite_of_a_comparative_unless_the_comparison_is_turned_round() -> None:
    assert reasons(SAFER, LESS_SAFE, {0: 0, 1: 1, 2: 3, 3: 4, 4: 5}) == ["safer became less safe"]
    assert reasons(SAFER, CARS_LESS, {0: 5, 1: 1, 2: 3, 3: 4, 4: 0}) == []


def test_a_comparison_of_two_places_may_be_turned_round() -> None:
    more = "(TOP (S (NP (JJR More) (NNS people)) (VP (VBP live) {} (PP (IN than) {}))))"
    places = "(PP (IN in) (NP (NNP Rome)))", "(PP (IN at) (NP (NNP Oslo)))"
    found = reasons(more.format(*places), more.format(*places[::-1]), {0: 0, 1: 1, 2: 2, 4: 7, 7: 4})
    assert found == ["than at Oslo became than in Rome"]


def test_a_line_whose_slots_changed_their_fillers_says_so() -> None:
    sued = "(TOP (S (NP (NNP Ann)) (VP (VBD sued) (NP (NNP Bob)))))"
    court = "(TOP (S (NP (NNP {})) (VP (VBD took) (NP (NNP {})) (PP (TO to) (NP (NN court))))))"
    assert reasons(sued, court.format("Bob", "Ann"), {0: 2, 2: 0}) == ["Ann and Bob changed places"]
    assert reasons(sued, court.format("Ann", "Bob"), {0: 0, 2: 2}) == []


def test_a_verb_denies_and_two_denials_take_each_other_back() -> None:
    assert reasons(FAILED, LIKED, {0: 0, 3: 1, 4: 2}) == ["negated in the source only: failed"]
    assert reasons(FAILED, NOT_LIKED, {0: 0, 3: 3, 4: 4}) == []
    assert reasons(NOT_FAILED, LIKED, {0: 0, 5: 1, 6: 2}) == []
    assert reasons(LIKED, NOT_FAILED, {0: 0, 1: 5, 2: 6}) == []


def test_a_negation_contradicts_only_what_the_other_side_affirms() -> None:
    assert reasons(NOT_FAR, FAR, {0: 0, 1: 1, 3: 2, 4: 3, 5: 4}) == ["negated in the source only: not"]
    assert reasons(NOT_FAR, NEAR, {0: 0, 1: 1, 5: 3}) == []


def test_one_number_of_two_kinds_of_measure_is_another_value() -> None:
    found = ["12 percent became 12 million dollars"]
    assert reasons(PERCENT, DOLLARS, {0: 0, 1: 1, 2: 2, 3: 4}) == found
    assert reasons(DOLLARS, PERCENT, {0: 0, 1: 1, 2: 2, 4: 3}) == ["12 million dollars became 12 percent"]
    assert reasons(PERCENT, PERCENT.replace("percent", "%"), {k: k for k in range(4)}) == []


def test_figures_rounded_from_another_unit_are_no_contradiction() -> None:
    assert reasons(FAR_KM, FAR_MILES, {0: 0, 1: 1, 2: 2, 3: 3}) == []
    assert reasons(FAR_MILES, FAR_KM, {0: 0, 1: 1, 2: 2, 3: 3}) == []
    assert reasons(FAR_KM, FAR_MILES.replace("32", "42"), {0: 0, 1: 1, 2: 2, 3: 3}) == ["52 became 42"]


def test_a_negation_and_without_take_each_other_back() -> None:
    links = {0: 0, 1: 1, 2: 2, 3: 3, 4: 5}
    assert reasons(WITH, WITHOUT_NOT, links) == []
    assert reasons(WITH, WITHOUT_NOT.replace("(RB not) ", ""), {k: k for k in range(5)}) == ["With became Without"]


def test_never_is_no_opposite_of_always_where_it_denies_an_opposite() -> None:
    always, never = "(TOP (S (NP (PRP He)) (ADVP (RB always)) (VP (VBZ {}))))", "(ADVP (RB never))"
    remembers, forgets = always.format("remembers"), always.format("forgets").replace("(ADVP (RB always))", never)
    assert reasons(remembers, forgets, {0: 0, 1: 1, 2: 2}) == []
    assert reasons(always.format("forgets"), forgets, {0: 0, 1: 1, 2: 2}) == ["negated in the target only: never"]


def test_a_negation_that_denies_a_comparative_contradicts_only_that_comparative() -> None:
    assert reasons(NOT_WARMER, KEEP_BELOW, {2: 0, 3: 1, 7: 3}) == []
    affirmed = NOT_WARMER.replace("(VBP Do) (RB not) (VP (VB let)", "(VB Let)").replace("))))))))", ")))))))")
    links = {k + 2: k for k in range(6)}
    assert reasons(NOT_WARMER, affirmed, links) == ["negated in the source only: not"]


def test_a_hyphen_may_follow_a_negative_prefix() -> None:
    plain = "(TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ refundable)))))"
    assert reasons(plain, plain.replace("refund", "non-refund"), {0: 0, 1: 1, 2: 2}) == [
        "refundable became non-refundable"
    ]


def test_what_contradicts_rises_to_every_pair_above_it() -> None:
    found = raised(record("x", RISE, FALL, {k: k for k in range(5)})).phrases.pairs
    marked = {(pair.source.text, pair.relation) for pair in found if pair.reason}
    assert ("two cents", "different value") in marked
    assert ("rose by two cents", "opposite") in marked
    assert ("Prices rose by two cents", "opposite") in marked
    assert not any(pair.reason for pair in found if pair.source.text == "Prices")


def test_a_reason_survives_json_and_goes_with_a_relation_against() -> None:
    result = raised(record("x", RISE, FALL, {k: k for k in range(5)}))
    assert Alignment.from_json(result.to_json()) == result
    assert all((pair.relation in {*AGAINST, OTHER_ROLES}) == bool(pair.reason) for pair in result.phrases.pairs)


@pytest.mark.parametrize("name", ["new_user_changed", "new_user_same"])
@pytest.mark.heavy
def test_what_a_new_user_tries_comes_out_right_in_both_directions(name: str) -> None:
    aligner, wrong, pairs = load(), [], meaning_pairs(name)
    for pair in pairs:
        for sides in ((pair.source, pair.target), (pair.target, pair.source)):
            result = aligner.align(*sides)
            is_marked = result.phrases.pairs[-1].relation in {*AGAINST, OTHER_ROLES}
            if {is_marked, any(each.contradicts for each in result.differences)} != {pair.is_changed}:
                wrong.append(sides)
    assert not wrong


@pytest.mark.heavy
def test_changed_pairs_are_marked_at_the_root_and_paraphrases_are_not() -> None:
    aligner = load()
    shares = {}
    for name in ("changed", "same", "twins_changed", "twins_same", "fresh_changed", "fresh_same"):
        pairs = meaning_pairs(name)
        relations = [aligner.align(each.source, each.target).phrases.pairs[-1].relation for each in pairs]
        shares[name] = sum(relation in {*AGAINST, OTHER_ROLES} for relation in relations) / len(pairs)
    assert min(share for name, share in shares.items() if "changed" in name) >= 0.95
    assert max(share for name, share in shares.items() if "same" in name) <= 0.05
