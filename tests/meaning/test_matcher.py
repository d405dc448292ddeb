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
def test_expressions_of_one_line_correspond_whichever_comes_first(form: str) -> None:
    (forth,) = correspond(FORMS[form], CANCELLED, "call X off | cancel X", ("match", "match"))
    (back,) = correspond(CANCELLED, FORMS[form], "call X off | cancel X", ("match", "match"))
    assert (forth.target.words, forth.is_opposite) == ((2,), False)
    assert (forth.source[3:], forth.target[3:]) == (back.target[3:], back.source[3:])


def test_words_that_are_not_joined_are_no_expression() -> None:
    reading = read(
        "(S (S (NP (PRP They)) (VP (VBD called) (NP (DT the) (NN match)))) (CC and) "
        "(S (NP (DT the) (NN light)) (VP (VBD was) (ADJP (RB off)))))"
    )
    assert find_instances(reading, table_of("call off | cancel").expression(0), 0) == []


def test_fillers_that_are_linked_elsewhere_contradict() -> None:
    other = "(S (NP (DT The) (NN match)) (VP (VBD cancelled) (NP (DT the) (NN visit))))"
    assert correspond(CALLED, other, "call X off | cancel X", ("match", "match"), ("referee", "visit")) == ()


FRAMES = {
    "did": "(S (NP (PRP They)) (VP (VBD did) {}))",
    "modal": "(S (NP (PRP They)) (VP (MD must) {}))",
    "infinitive": "(S (NP (PRP She)) (VP (VBD told) (NP (PRP them)) (S (VP (TO to) {}))))",
    "clause": "(S (NP (PRP She)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP they)) (VP (MD will) {})))))",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(("verb", "is_opposite"), [("pass", True), ("not pass", False)])
def test_not_in_a_line_turns_the_sign(frame: str, verb: str, is_opposite: bool) -> None:
    failed, other = (
        frame.format(f"{'(RB not) ' * (word[:3] == 'not')}(VP (VB {word[-4:]}) (NP (DT the) (NN test)))")
        for word in ("fail", verb)
    )
    (found,) = correspond(failed, other, "fail X | not pass X", ("test", "test"))
    assert found.is_opposite == is_opposite


NO_DECISION = "(S (NP (PRP They)) (VP (VBD made) (NP (NP (DT no) (NN decision)) (PP (IN on) (NP (NN tax))))))"
BEATEN = "(S (NP (NNP Ajax)) (VP (VBD was) (VP (VBN defeated) (PP (IN by) (NP (NNP Ghent))))))"
WHEN = "(SBAR (WHADVP (WRB when)) (S (NP (NNS guests)) (VP (VBP arrive))))"
MUST_NOT = "(S (NP (PRP You)) (VP (MD must) (RB not) (VP (VB smoke))))"
TOLD_NOT = "(S (NP (PRP She)) (VP (VBD told) (NP (PRP him)) (S (RB not) (VP (TO to) (VP (VB leave))))))"
NOT_GUILTY = "(S (NP (PRP They)) (VP (VBD found) (S (NP (PRP him)) (ADJP (RB not) (JJ guilty)))))"
IF_NOT = "(S (SBAR (IN If) (S (NP (PRP it)) (VP (VBZ does) (RB not) (VP (VB rain))))) (NP (PRP we)) (VP (VBP walk)))"


@pytest.mark.parametrize(
    ("expression", "sentence", "words", "fillers", "is_negative"),
    [
        ("must not V", MUST_NOT, "must not", "smoke", False),
        ("must V", MUST_NOT, "must", "smoke", False),
        ("tell X not to V", TOLD_NOT, "told not to", "him leave", False),
        ("not find X guilty", NOT_GUILTY, "found not guilty", "him", False),
        ("find X guilty", NOT_GUILTY, "found not guilty", "him", True),
        ("if S not", IF_NOT, "if not", "rain", False),
        ("make (a) decision on X", NO_DECISION, "made no decision on", "tax", True),
        ("make no decision on X", NO_DECISION, "made no decision on", "tax", False),
        ("decision on X", NO_DECISION, "decision on", "tax", False),
        ("X be defeated", BEATEN, "was defeated", "ajax", False),
        ("most X", "(S (NP (JJS Most) (NNS shops)) (VP (VBD closed)))", "most", "shops", False),
        ("when X arrive", WHEN, "when arrive", "guests", False),
    ],
)
def test_negations_and_slots_are_met_where_a_sentence_has_them(
    expression: str, sentence: str, words: str, fillers: str, is_negative: bool
) -> None:
    reading = read(sentence)
    (found,) = find_instances(reading, table_of(f"{expression} | say so").expression(0), 0)
    met = text(reading, found.words), text(reading, tuple(word for _, word in found.fillers)), found.is_negative
    assert met == (words, fillers, is_negative)


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


@pytest.mark.parametrize("verb", ["(VBD defeated)", "(VBZ has) (VP (VBN defeated)"])
def test_an_active_past_form_is_no_passive_without_be(verb: str) -> None:
    reading = read(f"(S (NP (NNP Ajax)) (VP {verb} (NP (NNP Ghent))){')' * (verb.count('(') - verb.count(')'))})")
    assert not find_instances(reading, table_of("X be defeated | X lose").expression(0), 0)
