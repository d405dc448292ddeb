"""Phrase scores of section 6.3 against tables worked out by hand."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from forestalign.evaluation.phrase_scores import (
    Match,
    NodePair,
    PhraseAnswer,
    PhraseNode,
    PhraseSet,
    noncompositional_pairs,
    phrase_set,
    score_humans,
    score_phrases,
)
from forestalign.evaluation.scores import Evaluation


def pairs(names: str) -> PhraseSet:
    """A set of pairs, each named by a letter; what matters to the counts is only which are equal."""
    keys: frozenset[Hashable] = frozenset(names)
    return PhraseSet(keys)


def three(evaluation: Evaluation) -> list[float]:
    return [evaluation[name] for name in ("recall", "precision", "F1")]


# Three annotators over two sentence pairs:
#        first   second   third
# one    abcd    abce     abd
# two    xy      xz       x
FIRST, SECOND, THIRD = [pairs("abcd"), pairs("xy")], [pairs("abce"), pairs("xz")], [pairs("abd"), pairs("x")]
ANNOTATORS = [FIRST, SECOND, THIRD]


def test_a_system_is_scored_against_every_pair_of_annotators_and_averaged() -> None:
    output = [pairs("abf"), pairs("y")]
    #            G & G'        found     G | G'        allowed
    # 1, 2       abc x         2 of 4    abcde xyz     abf y -> 3 of 4
    # 2, 3       ab x          2 of 3    abcde xz      2 of 4
    # 1, 3       abd x         2 of 4    abcd xy       3 of 4
    recall, precision = (2 / 4 + 2 / 3 + 2 / 4) / 3, (3 / 4 + 2 / 4 + 3 / 4) / 3
    expected = [recall, precision, 2 * recall * precision / (recall + precision)]
    assert three(score_phrases(output, ANNOTATORS)) == pytest.approx(expected)


def test_the_human_row_scores_each_annotator_against_the_other_two() -> None:
    #            required      found     allowed       given
    # 1          ab x          3 of 3    abcde xz      abcd x of abcd xy -> 5 of 6
    # 2          abd x         abx 3/4   abcd xy       abc x of abce xz -> 4 of 6
    # 3          abc x         abx 3/4   abcde xyz     abd x -> 4 of 4
    recall, precision = (1 + 3 / 4 + 3 / 4) / 3, (5 / 6 + 4 / 6 + 1) / 3
    assert three(score_humans(ANNOTATORS))[:2] == pytest.approx([recall, precision])


def test_one_annotator_alone_is_both_required_and_allowed() -> None:
    assert three(score_phrases([pairs("abz"), pairs("")], [FIRST])) == pytest.approx([2 / 6, 2 / 3, 4 / 9])


@pytest.mark.parametrize(
    ("output", "gold", "expected"), [("", "ab", [0, 0, 0]), ("ab", "", [0, 0, 0]), ("", "", [1, 1, 1])]
)
def test_empty_output_and_empty_gold_are_zero_but_both_empty_is_perfect(
    output: str, gold: str, expected: list[float]
) -> None:
    assert three(score_phrases([pairs(output)], [[pairs(gold)]])) == expected


SOURCE, TARGET = ("the", "cat", "saw", "the", "cat"), ("the", "cat", "noticed", "it")


def node(begin: int, end: int, name: str = "NP") -> PhraseNode:
    return PhraseNode(begin, end, name)


def answer(*node_pairs: tuple[PhraseNode | None, PhraseNode | None]) -> PhraseAnswer:
    return PhraseAnswer(SOURCE, TARGET, tuple(NodePair(*pair) for pair in node_pairs))


def test_spans_match_whatever_the_nodes_are_called() -> None:
    left = phrase_set(answer((node(0, 2), node(0, 2))))
    right = phrase_set(answer((node(0, 2, "NP bar"), node(0, 2, "NX"))))
    assert left.pairs == right.pairs


def test_nodes_match_only_by_name_and_span() -> None:
    left = phrase_set(answer((node(0, 2), node(0, 2))), Match.NODE)
    assert left.pairs != phrase_set(answer((node(0, 2, "NX"), node(0, 2))), Match.NODE).pairs
    assert left.pairs == phrase_set(answer((node(0, 2), node(0, 2))), Match.NODE).pairs


def test_texts_match_wherever_they_stand_and_repeated_texts_are_one() -> None:
    found = phrase_set(answer((node(0, 2), node(0, 2)), (node(3, 5), node(0, 2))), Match.TEXT)
    assert found.pairs == {("the cat", "the cat")}


def test_null_pairs_count_in_text_mode_only() -> None:
    given = answer((node(2, 3), None), (None, node(3, 4)), (node(0, 2), node(0, 2)))
    assert phrase_set(given, Match.TEXT).pairs == {("saw", "---"), ("---", "it"), ("the cat", "the cat")}
    assert len(phrase_set(given, Match.SPAN).pairs) == 1


def pair(source: tuple[int, int], target: tuple[int, int]) -> NodePair:
    return NodePair(node(*source), node(*target))


def test_a_pair_with_three_pairs_directly_inside_is_non_compositional() -> None:
    root = pair((0, 6), (0, 6))
    inner = [pair((0, 1), (2, 3)), pair((2, 3), (0, 1)), pair((4, 6), (4, 6))]
    deeper = [pair((4, 5), (4, 5)), pair((5, 6), (5, 6))]
    assert noncompositional_pairs([root, *inner, *deeper]) == {root}
    assert noncompositional_pairs([root, *inner[:2], *deeper]) == {root}
    assert noncompositional_pairs([root, inner[0], inner[2], *deeper]) == frozenset()


def test_kinds_are_scored_apart() -> None:
    root, parts = pair((0, 3), (0, 3)), [pair((k, k + 1), (2 - k, 3 - k)) for k in range(3)]
    gold = phrase_set(PhraseAnswer(SOURCE, TARGET, (root, *parts)))
    claims = PhraseAnswer(SOURCE, TARGET, (root, parts[0], parts[1]), noncompositional=frozenset({parts[1]}))
    scores = score_phrases([phrase_set(claims)], [[gold]])
    # gold has the root as non-compositional; the output has it as compositional, and one word pair as the other kind
    assert scores["non-comp. recall"] == 0
    assert scores["non-comp. precision"] == 1
    assert scores["compositional recall"] == pytest.approx(1 / 3)
    assert scores["compositional precision"] == 1
