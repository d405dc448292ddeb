"""Parsing scores against tables worked out by hand."""

from __future__ import annotations

import pytest

from forestalign.errors import UsageError
from forestalign.evaluation.parse_scores import (
    Attachments,
    KindChange,
    attachment_kinds,
    brackets,
    compare_attachments,
    is_punctuation,
    score_attachments,
    score_brackets,
)
from forestalign.trees import Tree, parse_brackets

GOLD = parse_brackets(
    "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (NNS glasses)))) (. .)))"
)
LOW = parse_brackets(
    "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (NNS glasses))))) (. .)))"
)


def labels(tree: Tree) -> list[tuple[str, int, int]]:
    return sorted(brackets(tree, [leaf.label != "." for leaf in tree.leaves()]).elements())


def test_brackets_leave_out_the_top_and_words() -> None:
    assert labels(GOLD) == [("NP", 0, 1), ("NP", 2, 4), ("NP", 5, 6), ("PP", 4, 6), ("S", 0, 6), ("VP", 1, 6)]


def test_bracket_scores_equal_the_hand_computed_table() -> None:
    # the low attachment has one bracket more, NP 2-6; all six of the gold are there
    scores = score_brackets([GOLD], [LOW])
    assert [scores[f"bracket {name}"] for name in ("P", "R", "F1")] == pytest.approx([6 / 7, 1, 12 / 13])
    assert scores["complete match"] == 0
    assert scores["tag accuracy"] == 1


def test_punctuation_is_dropped_by_gold_tags_and_moves_no_bracket() -> None:
    gold = parse_brackets("(S (NP (NN A)) (, ,) (VP (VB b)))")
    inside = parse_brackets("(S (NP (NN A) (NN ,)) (VP (VB b)))")
    scores = score_brackets([gold], [inside])
    assert scores["bracket F1"] == 1
    assert scores["complete match"] == 1
    assert scores["tag accuracy"] == pytest.approx(2 / 3)


def test_prt_is_advp_and_function_labels_do_not_count() -> None:
    gold = parse_brackets("(S (VP (VB Give) (PRT (RP up)) (NP-TMP (NN today))))")
    system = parse_brackets("(S (VP (VB Give) (ADVP (RP up)) (NP (NN today))))")
    assert score_brackets([gold], [system])["bracket F1"] == 1


def test_a_bracket_twice_in_a_unary_chain_counts_twice() -> None:
    gold, once = parse_brackets("(NP (NP (NN a) (NN b)))"), parse_brackets("(NP (NN a) (NN b))")
    scores = score_brackets([gold], [once])
    assert [scores["bracket P"], scores["bracket R"]] == [1, 0.5]


def test_sums_are_over_the_corpus() -> None:
    scores = score_brackets([GOLD, GOLD], [GOLD, LOW])
    assert scores["bracket P"] == pytest.approx(12 / 13)
    assert scores["complete match"] == 0.5


def test_trees_over_different_words_are_refused() -> None:
    with pytest.raises(UsageError, match="7 words and the system's 1"):
        score_brackets([GOLD], [parse_brackets("(X (NN a))")])


@pytest.mark.parametrize(
    ("word", "expected"), [(".", True), ("--", True), ("n't", False), ("$", False), ("“", True), ("``", False)]
)
def test_punctuation_is_what_unicode_calls_so(word: str, expected: bool) -> None:
    assert is_punctuation(word) == expected


WORDS = ("She", "saw", "the", "man", "with", "glasses", ".")
RIGHT = Attachments(WORDS, (1, -1, 3, 1, 1, 4, 1), ("nsubj", "root", "det", "obj", "prep", "pobj", "punct"))
WRONG = Attachments(WORDS, (1, -1, 3, 1, 3, 4, 0), ("nsubj", "root", "det", "dep", "prep", "pobj", "punct"))


def test_attachment_scores_equal_the_hand_computed_table() -> None:
    # wrong: the head of "with", the head of ".", the relation of "man"
    scores = score_attachments([RIGHT], [WRONG])
    assert scores["UAS"] == pytest.approx(5 / 6)
    assert scores["UAS with punctuation"] == pytest.approx(5 / 7)
    assert scores["LAS"] == pytest.approx(4 / 6)
    assert scores["LAS with punctuation"] == pytest.approx(4 / 7)


def test_relations_are_scored_only_where_both_sides_have_them() -> None:
    scores = score_attachments([RIGHT], [Attachments(WORDS, WRONG.heads)])
    assert scores.names == ("UAS", "UAS with punctuation")


def test_kinds_are_read_off_the_gold_tree() -> None:
    assert attachment_kinds(GOLD, RIGHT.heads) == (
        "argument",  # She
        "root",
        "NP-internal",  # the
        "argument",  # man
        "PP",  # with
        "argument",  # glasses
        "other",
    )


@pytest.mark.parametrize(
    ("tree", "heads", "word", "kind"),
    [
        ("(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))", (-1, 0, 0), 1, "coordination"),
        ("(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))", (-1, 0, 0), 2, "coordination"),
        ("(S (NP (NN He)) (VP (VBD said) (SBAR (S (NP (NN she)) (VP (VBD left))))))", (1, -1, 3, 1), 3, "clause"),
        ("(S (NP (NN He)) (VP (VBD ran) (ADVP (RB away))))", (1, -1, 1), 2, "adverb"),
        ("(NP (NP (NNP Ann)) (, ,) (NP (PRP$ my) (NN aunt)))", (-1, 0, 3, 0), 3, "apposition"),
    ],
)
def test_each_kind_has_its_name(tree: str, heads: tuple[int, ...], word: int, kind: str) -> None:
    assert attachment_kinds(parse_brackets(tree), heads)[word] == kind


def test_changes_are_counted_by_kind_for_better_and_for_worse() -> None:
    kinds = [attachment_kinds(GOLD, RIGHT.heads)]
    corrected = compare_attachments([RIGHT], [WRONG], [RIGHT], kinds)
    assert corrected[0] == KindChange("PP", 1, better=1, worse=0)
    assert sum(change.better + change.worse for change in corrected) == 1  # punctuation does not count
    spoilt = compare_attachments([RIGHT], [RIGHT], [WRONG], kinds)
    assert spoilt[0] == KindChange("PP", 1, better=0, worse=1)


def test_nothing_to_score_is_no_error() -> None:
    assert score_brackets([], [])["bracket F1"] == 1
    assert score_attachments([], [])["UAS"] == 0
