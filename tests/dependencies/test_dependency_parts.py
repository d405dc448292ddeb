"""The parts of the conversion to dependencies: phrases, coordination, and the graph while it is put right."""

from __future__ import annotations

import pytest

from forestalign.dependencies.convert import ROOT, Graph
from forestalign.dependencies.heads import ud_head_rules
from forestalign.dependencies.phrase_tree import Phrase, build_phrases, find_coordination, word_lists
from forestalign.trees import parse_brackets


def phrases(brackets: str) -> list[Phrase]:
    tree = parse_brackets(brackets)
    return build_phrases(tree, [str(leaf.word).lower() for leaf in tree.leaves()])


def top(brackets: str) -> Phrase:
    return phrases(brackets)[0]


# ---- phrases ----


SENTENCE = "(S (NP-SBJ (DT The) (NN Dog)) (VP (VBD ran) (ADVP (RB home))) (. .))"


def test_parents_come_before_children_and_know_their_place() -> None:
    order = phrases(SENTENCE)
    assert [phrase.label for phrase in order[:1]] == ["S"]
    for phrase in order[1:]:
        assert phrase.parent is not None
        assert order.index(phrase.parent) < order.index(phrase)
        assert phrase.parent.children[phrase.index] is phrase


def test_function_labels_are_gone_and_words_in_lower_case() -> None:
    sentence = top(SENTENCE)
    assert sentence.labels == ("NP", "VP", ".")
    assert [leaf.word for leaf in sentence.children[0].children] == ["the", "dog"]
    assert sentence.word == ""


def test_sisters_and_children_are_found() -> None:
    sentence = top(SENTENCE)
    subject, predicate, stop = sentence.children
    assert predicate.before() == [subject]
    assert predicate.after() == [stop]
    assert sentence.before() == sentence.after() == []
    assert sentence.child("VP", "ADVP") is predicate
    assert sentence.child("PP") is None


def test_a_projection_goes_down_by_head_children() -> None:
    predicate = top(SENTENCE).children[1]
    predicate.head_child = predicate.children[0]
    assert [phrase.label for phrase in predicate.projection()] == ["VP", "VBD"]
    assert predicate.leaf().word == "ran"


# ---- coordination ----


@pytest.mark.parametrize(
    ("brackets", "conjuncts", "is_local"),
    [
        ("(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))", (0, 2), False),
        ("(NP (NP (NNS cats)) (, ,) (NP (NNS dogs)) (CC and) (NP (NNS mice)))", (0, 2, 4), False),
        ("(NP (NP (NNS cats)) (, ,) (NP (NNS dogs)) (, ,) (NP (NNS mice)))", (0, 2, 4), False),
        ("(VP (VP (VBD came)) (, ,) (VP (VBD saw)))", (0, 2), False),
        ("(VP (VBD came) (CC and) (VBD saw) (NP (PRP him)))", (0, 2), False),
        ("(NP (JJ black) (CC and) (JJ white) (NNS cats))", (0, 2), True),
        ("(NP (JJ red) (, ,) (JJ black) (CC and) (JJ white) (NNS cats))", (0, 2, 4), True),
        ("(S (S (NP (PRP he)) (VP (VBD left))) (CC but) (S (NP (PRP she)) (VP (VBD stayed))))", (0, 2), False),
    ],
)
def test_conjuncts_are_found(brackets: str, conjuncts: tuple[int, ...], is_local: bool) -> None:
    found = find_coordination(top(brackets), ud_head_rules())
    assert found is not None
    assert found.conjuncts == conjuncts
    assert found.is_local is is_local
    assert len(found.owner) == len(top(brackets).children)


@pytest.mark.parametrize(
    "brackets",
    [
        "(NP (DT the) (NN cat))",
        "(S (CC And) (NP (PRP he)) (VP (VBD left)))",
        "(NP (NP (NNS cats)) (, ,) (NP (NNS dogs)))",
        "(NP (NP (NNS cats)) (, ,) (PP (IN of) (NP (NNS dogs))) (, ,) (NP (NNS mice)))",
        "(NP (NNS cats) (CC and))",
    ],
)
def test_what_is_no_coordination_is_none(brackets: str) -> None:
    assert find_coordination(top(brackets), ud_head_rules()) is None


def test_what_stands_between_conjuncts_belongs_to_the_next() -> None:
    found = find_coordination(top("(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))"), ud_head_rules())
    assert found is not None
    assert found.owner == (0, 1, 1)


def test_what_follows_the_last_verb_belongs_to_the_first() -> None:
    found = find_coordination(top("(VP (VB read) (CC or) (VB hear) (PP (IN in) (NP (NN court))))"), ud_head_rules())
    assert found is not None
    assert found.owner[-1] == 0


# ---- the graph ----


def graph(words: str, *arcs: tuple[int, int, str]) -> Graph:
    """Arcs are (token, head, relation)."""
    built = Graph(words.split())
    for token, head, relation in arcs:
        built.attach(token, head, relation)
    built.finish()
    return built


def test_prepositions_and_conjunctions_go_into_the_relation() -> None:
    found = graph("left in may", (0, ROOT, "root"), (1, 2, "case"), (2, 0, "obl"))
    assert found.relations == ["root", "case", "obl:in"]
    found = graph("cats and dogs", (0, ROOT, "root"), (1, 2, "cc"), (2, 0, "conj"))
    assert found.relations == ["root", "cc", "conj:and"]
    found = graph("go if asked", (0, ROOT, "root"), (1, 2, "mark"), (2, 0, "advcl"))
    assert found.relations[2] == "advcl:if"


def test_subjects_of_passives_are_passive() -> None:
    found = graph("cars were sold", (0, 2, "nsubj"), (1, 2, "aux:pass"), (2, ROOT, "root"))
    assert found.relations == ["nsubj:pass", "aux:pass", "root"]
    active = graph("men sold cars", (0, 1, "nsubj"), (1, ROOT, "root"), (2, 1, "obj"))
    assert active.relations[0] == "nsubj"


def test_a_fixed_expression_hangs_on_its_first_word() -> None:
    assert ("because", "of") in word_lists().fixed
    found = graph("left because of rain", (0, ROOT, "root"), (1, 3, "case"), (2, 3, "case"), (3, 0, "obl"))
    assert found.heads == [ROOT, 3, 1, 0]
    assert found.relations == ["root", "case", "fixed", "obl:because_of"]


def test_an_expression_that_governs_others_stays_apart() -> None:
    found = graph("because of rain", (0, ROOT, "root"), (1, 0, "case"), (2, 1, "obj"))
    assert "fixed" not in found.relations


def test_dependents_of_a_bare_copula_move_to_the_predicate() -> None:
    built = Graph(["who", "is", "he", "now"])
    for token, head, relation in ((0, ROOT, "root"), (1, 0, "cop"), (2, 1, "nsubj"), (3, 1, "advmod")):
        built.attach(token, head, relation)
    built.move(1, 0)
    built.finish()
    assert built.heads == [ROOT, 0, 0, 0]
