"""Brackets, heads, unary chains, and binarisation with its inverse."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings

from forestalign.grammar import head_rules, punctuation_tags, semantic_head_rules
from forestalign.tokens import Span
from forestalign.trees import (
    BracketError,
    Tree,
    attachment_order,
    constituents,
    format_brackets,
    head_tokens,
    parse_brackets,
    postorder,
    preorder,
    spans,
    strip_annotation,
)
from tests.builders.grown_trees import trees

SAMPLE = [
    "(TOP (S (NP (DT The) (JJ fat) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))",
    "(TOP (NP (NN Rain)))",
    "(TOP (NN Rain))",
    "(TOP (S (VP (VB Stop))))",
    "(TOP (SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (DT this))) (. ?)))",
    "(TOP (S (`` ``) (S (NP (PRP I)) (VP (VBP agree))) (, ,) ('' '') (NP (PRP she)) (VP (VBD said)) (. .)))",
    "(TOP (NP (NP (NNS apples)) (, ,) (NP (NNS pears)) (CC and) (NP (NNS plums))))",
    "(TOP (PRN (-LRB- -LRB-) (S (NP (PRP we)) (VP (VBP hope))) (-RRB- -RRB-)))",
    "(TOP (NP (NP (DT the) (NN one)) (SBAR (S (NP (PRP I)) (VP (VBP like))))))",
    "(TOP (FRAG (NFP :-RRB-) (NFP --)))",
    "(TOP (NP (NN back\\slash) (HYPH -) (NN test)))",
    "(TOP (VP (TO to) (VP (VB give) (NP (PRP him)) (NP (DT a) (NN book)) (PP (IN for) (NP (NNP May))))))",
]


# ---- brackets ----


@pytest.mark.parametrize("text", SAMPLE)
def test_brackets_survive_reading_and_writing(text: str) -> None:
    assert format_brackets(parse_brackets(text)) == text


@settings(max_examples=60)
@given(trees())
def test_any_tree_survives_writing_and_reading(tree: Tree) -> None:
    assert parse_brackets(format_brackets(tree)) == tree


def test_spans_are_half_open_and_the_outer_label_is_gone() -> None:
    tree = parse_brackets("( (S (NP (PRP We)) (VP (VBP win))))")
    assert [(node.label, node.begin, node.end) for node in preorder(tree)] == [
        ("S", 0, 2),
        ("NP", 0, 1),
        ("PRP", 0, 1),
        ("VP", 1, 2),
        ("VBP", 1, 2),
    ]


def test_bracket_words_become_characters_and_back() -> None:
    tree = parse_brackets("(NP (-LRB- -LRB-) (NN a-RRB-) (NN -LCB-))")
    assert [leaf.word for leaf in tree.leaves()] == ["(", "a)", "{"]
    assert format_brackets(tree, "") == "(NP (-LRB- -LRB-) (NN a-RRB-) (NN {))"


def test_several_trees_under_an_empty_label_stay_together() -> None:
    assert parse_brackets("( (NN a) (NN b))").label == "TOP"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "no tree"),
        ("(S (NP (NN cat))", "1 closing bracket"),
        ("(S (NN cat)))", "after the end"),
        (")", "without an opening"),
        ("cat", "'cat' where an opening bracket"),
        ("(S (NN cat) dog)", "column 1: (S holds 'dog'"),
        ("(NN two words)", "expected (TAG word)"),
        ("(S (NP ))", "(NP) is empty"),
        ("(S ((NN cat))", "missing"),
        ("(NN a) (NN b)", "after the end"),
    ],
)
def test_malformed_brackets_are_refused_with_the_place(text: str, expected: str) -> None:
    with pytest.raises(BracketError) as caught:
        parse_brackets(text)
    assert expected in str(caught.value)


def test_function_labels_and_traces_are_stripped() -> None:
    text = "((S (NP-SBJ-1 (PRP He)) (VP (VBD tried) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB run)))))))"
    stripped = strip_annotation(parse_brackets(text))
    assert format_brackets(stripped, "") == "(S (NP (PRP He)) (VP (VBD tried) (S (VP (TO to) (VP (VB run))))))"
    assert stripped.end == 4


def test_a_tree_of_traces_only_cannot_be_stripped() -> None:
    with pytest.raises(BracketError, match="traces only"):
        strip_annotation(parse_brackets("(S (NP (-NONE- *)))"))


# ---- walks and heads ----


def test_a_unary_chain_is_one_constituent() -> None:
    tree = parse_brackets("(S (VP (VB Stop) (NP (NN work))))")
    assert [(c.label, c.begin, c.end) for c in constituents(tree)] == [("S+VP", 0, 2), ("NP", 1, 2)]
    assert spans(tree) == [Span(0, 2), Span(1, 2)]


def test_heads_of_all_nodes_come_in_postorder() -> None:
    tree = parse_brackets("(S (NP (DT the) (NN cat)) (VP (MD may) (VP (VB sit) (PP (IN on) (NP (NNS mats))))))")
    heads = dict(zip(map(id, postorder(tree)), head_tokens(tree, head_rules()), strict=True))
    semantic = dict(zip(map(id, postorder(tree)), head_tokens(tree, semantic_head_rules()), strict=True))
    pp = next(node for node in preorder(tree) if node.label == "PP")
    assert (heads[id(tree)], semantic[id(tree)]) == (2, 3)
    assert (heads[id(pp)], semantic[id(pp)]) == (4, 5)


def test_equality_looks_at_the_whole_tree() -> None:
    text = "(S (NP (NN a)) (VP (VB b)))"
    assert parse_brackets(text) == parse_brackets(text)
    assert hash(parse_brackets(text)) == hash(parse_brackets(text))
    assert parse_brackets(text) != parse_brackets("(S (NP (NN a)) (VP (VB c)))")
    assert parse_brackets(text) != parse_brackets("(S (NP (NN a) (VB b)))")


# ---- binarisation ----


@settings(max_examples=40)
@given(trees(most_words=9))
def test_every_sister_is_attached_once_and_next_to_what_is_built(tree: Tree) -> None:
    for node in preorder(tree):
        labels = tuple(child.label for child in node.children)
        if len(labels) < 2:
            continue
        head = head_rules().child(node.label, labels)
        begin = end = head
        for sister in attachment_order(node.label, labels, head):
            assert sister in (begin - 1, end + 1)
            begin, end = min(begin, sister), max(end, sister)
        assert (begin, end) == (0, len(labels) - 1)
        assert labels[head] not in punctuation_tags() or all(label in punctuation_tags() for label in labels)


def test_trees_deeper_than_the_recursion_limit_are_no_problem() -> None:
    depth = sys.getrecursionlimit() + 200
    text = "(VP (VB go) " * depth + "(NN home)" + ")" * depth
    tree = parse_brackets(text)
    assert parse_brackets(format_brackets(tree)) == tree
    assert strip_annotation(tree) == tree
