"""Where lines of the paraphrase grammar are met, over trees given by hand: forms, slots, signs, symmetry."""

from __future__ import annotations

import numpy as np
import pytest

from forestalign.meaning.matcher import Correspondence, find_correspondences, find_instances
from forestalign.meaning.readings import Reading
from forestalign.meaning.rules import RuleTable, compile_rules, parse_rule
from forestalign.tokens import Sentence, analyse
from forestalign.trees import parse_brackets

CALLED = "(S (NP (DT The) (NN referee)) (VP (VBD called) (NP (DT the) (NN match)) (PRT (RP off))))"
CANCELLED = "(S (NP (DT The) (NN referee)) (VP (VBD cancelled) (NP (DT the) (NN match))))"
FORMS = {
    "active": CALLED,
    "particle first": "(S (NP (PRP They)) (VP (VBD called) (PRT (RP off)) (NP (DT the) (NN match))))",
    "passive": "(S (NP (DT The) (NN match)) (VP (VBD was) (VP (VBN called) (PRT (RP off)) "
    "(PP (IN by) (NP (DT the) (NN referee))))))",
    "relative": "(NP (NP (DT the) (NN match)) (SBAR (WHNP (WDT that)) "
    "(S (NP (PRP they)) (VP (VBD called) (PRT (RP off))))))",
    "infinitive": "(S (NP (PRP They)) (VP (VBD wanted) (S (VP (TO to) "
    "(VP (VB call) (NP (DT the) (NN match)) (PRT (RP off)))))))",
    "gerund": "(S (S (VP (VBG Calling) (PRT (RP off)) (NP (DT the) (NN match)))) (VP (VBD hurt)))",
    "negated": "(S (NP (PRP They)) (VP (VBD did) (RB n't) (VP (VB call) (NP (DT the) (NN match)) (PRT (RP off)))))",
}


def read(brackets: str) -> Reading:
    tree = parse_brackets(brackets)
    leaves = list(tree.leaves())
    sentence = analyse(Sentence.from_words([str(leaf.word) for leaf in leaves]), [leaf.label for leaf in leaves])
    return Reading(sentence, tree)


def table_of(*lines: str) -> RuleTable:
    return RuleTable(compile_rules([parse_rule(line) for line in lines]))


def links_of(source: Reading, target: Reading, *words: tuple[str, str]) -> np.ndarray:
    links = np.zeros((len(source.sentence), len(target.sentence)))
    for one, other in words:
        links[source.sentence.words.index(one), target.sentence.words.index(other)] = 0.9
    return links


def correspond(source: str, target: str, line: str, *words: tuple[str, str]) -> tuple[Correspondence, ...]:
    one, other = read(source), read(target)
    return find_correspondences(one, other, links_of(one, other, *words), [table_of(line)])


def text(reading: Reading, words: tuple[int, ...]) -> str:
    return " ".join(reading.sentence.words[word].lower() for word in words)


@pytest.mark.parametrize("form", FORMS)
def test_a_line_is_met_in_every_form_of_a_sentence(form: str) -> None:
    reading, table = read(FORMS[form]), table_of("call X off | cancel X")
    (instance,) = find_instances(reading, table.expression(0), 0)
    assert text(reading, instance.words).split()[-1] == "off"
    assert reading.sentence.words[instance.filler("X")] == "match"


@pytest.mark.parametrize("form", FORMS)
def test_expressions_of_one_line_correspond(form: str) -> None:
    (found,) = correspond(FORMS[form], CANCELLED, "call X off | cancel X", ("match", "match"))
    assert not found.is_opposite
    assert found.target.words == (2,)


def test_words_that_are_not_joined_are_no_expression() -> None:
    reading = read(
        "(S (S (NP (PRP They)) (VP (VBD called) (NP (DT the) (NN match)))) (CC and) "
        "(S (NP (DT the) (NN light)) (VP (VBD was) (ADJP (RB off)))))"
    )
    assert find_instances(reading, table_of("call off | cancel").expression(0), 0) == []


def test_fillers_that_are_linked_elsewhere_contradict() -> None:
    other = "(S (NP (DT The) (NN match)) (VP (VBD cancelled) (NP (DT the) (NN visit))))"
    assert correspond(CALLED, other, "call X off | cancel X", ("match", "match"), ("referee", "visit")) == ()


@pytest.mark.parametrize(
    ("source", "target", "is_opposite"),
    [
        ("(S (NP (PRP He)) (VP (VBD failed) (NP (DT the) (NN test))))", "passed", True),
        ("(S (NP (PRP He)) (VP (VBD failed) (NP (DT the) (NN test))))", "not passed", False),
    ],
)
def test_not_in_a_line_turns_the_sign(source: str, target: str, is_opposite: bool) -> None:
    forms = {
        "passed": "(S (NP (PRP He)) (VP (VBD passed) (NP (DT the) (NN test))))",
        "not passed": "(S (NP (PRP He)) (VP (VBD did) (RB not) (VP (VB pass) (NP (DT the) (NN test)))))",
    }
    (found,) = correspond(source, forms[target], "fail X | not pass X", ("test", "test"))
    assert found.is_opposite == is_opposite


@pytest.mark.parametrize(("line", "is_opposite"), [("rise ! fall", True), ("rise | fall", False)])
def test_the_sign_of_a_line_says_whether_its_sides_are_opposites(line: str, is_opposite: bool) -> None:
    (found,) = correspond("(S (NP (NNS Prices)) (VP (VBD rose)))", "(S (NP (NNS Prices)) (VP (VBD fell)))", line)
    assert found.is_opposite == is_opposite


SOLD = "(S (NP (NNP Bolt)) (VP (VBD sold) (NP (DT the) (NN mill)) (PP (IN to) (NP (NNP Acme)))))"
CONVERSE = "X buy Y from Z | Z sell Y to X"


@pytest.mark.parametrize(("buyer", "seller", "is_swapped"), [("Acme", "Bolt", False), ("Bolt", "Acme", True)])
def test_slots_say_who_is_who(buyer: str, seller: str, is_swapped: bool) -> None:
    bought = f"(S (NP (NNP {buyer})) (VP (VBD bought) (NP (DT the) (NN mill)) (PP (IN from) (NP (NNP {seller})))))"
    same = [("Acme", "Acme"), ("Bolt", "Bolt"), ("mill", "mill")]
    (found,) = correspond(bought, SOLD, CONVERSE, *same)
    assert bool(found.swapped) == is_swapped


@pytest.mark.parametrize("form", FORMS)
def test_matching_is_symmetric(form: str) -> None:
    forth = correspond(FORMS[form], CANCELLED, "call X off | cancel X", ("match", "match"))
    back = correspond(CANCELLED, FORMS[form], "call X off | cancel X", ("match", "match"))
    assert [(each.source[3:], each.target[3:]) for each in forth] == [
        (each.target[3:], each.source[3:]) for each in back
    ]


def test_function_words_alone_need_a_linked_filler() -> None:
    source = "(S (NP (PRP He)) (VP (VBD left) (PP (IN by) (NP (NNP Monday)))))"
    target = "(S (NP (PRP He)) (VP (VBD left) (PP (RB no) (RBR later) (IN than) (NP (NNP Monday)))))"
    line = "by T | no later than T"
    assert len(correspond(source, target, line, ("Monday", "Monday"))) == 1
    assert correspond(source, target, line) == ()


def test_words_in_capitals_are_met_as_they_stand() -> None:
    table = table_of("US | United States")
    assert find_instances(read("(S (NP (DT the) (NNP US)) (VP (VBD won)))"), table.expression(0), 0)
    assert not find_instances(read("(S (NP (PRP he)) (VP (VBD beat) (NP (PRP us))))"), table.expression(0), 0)


def test_a_conjunction_has_the_negation_of_its_clause_or_of_what_governs_it() -> None:
    unless = "(S (SBAR (IN Unless) (S (NP (PRP it)) (VP (VBZ rains)))) (NP (PRP we)) (VP (VBP walk)))"
    if_not = unless.replace("Unless", "If").replace("(VBZ rains)", "(VBZ does) (RB not) (VP (VB rain))")
    (found,) = correspond(unless, if_not, "unless S | if S not", ("rains", "rain"))
    assert found.target.words == (0, 3)
    assert not found.is_opposite


BEATEN = "(S (NP (NNP Ajax)) (VP (VBD was) (VP (VBN defeated) (PP (IN by) (NP (NNP Ghent))))))"
BEAT = "(S (NP (NNP Ajax)) (VP (VBD defeated) (NP (NNP Ghent))))"
HAS_BEATEN = "(S (NP (NNP Ajax)) (VP (VBZ has) (VP (VBN defeated) (NP (NNP Ghent)))))"


@pytest.mark.parametrize(("form", "filler"), [(BEATEN, ["Ajax"]), (BEAT, []), (HAS_BEATEN, [])])
def test_an_active_past_form_is_no_passive_without_be(form: str, filler: list[str]) -> None:
    reading, table = read(form), table_of("X be defeated | X lose")
    assert [
        reading.sentence.words[each.filler("X")] for each in find_instances(reading, table.expression(0), 0)
    ] == filler
