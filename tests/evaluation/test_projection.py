"""Phrase pairs from word links: the baseline against enumeration, and phrase gold against hand-made cases."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.evaluation.projection import (
    GoldKind,
    content,
    core_pairs,
    gold_from_links,
    gold_of,
    is_consistent,
    link_contents,
    links_inside,
    one_to_one,
    project,
    project_spans,
    score_annotators,
    score_projected,
)
from forestalign.evaluation.scores import Evaluation
from forestalign.forest import Forest, pack
from forestalign.formats.word_links import LinkAnnotation
from forestalign.tokens import Sentence, Span
from forestalign.trees import ScoredTree, Tree, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink

SOURCE = parse_brackets("(S (NP (DT the) (JJ fat) (NN cat)) (VP (VBD ate) (NP (NN fish))))")
TARGET = parse_brackets("(S (NP (NN fish)) (VP (VBD was) (VP (VBN eaten) (PP (IN by) (NP (DT the) (NN tabby))))))")
# the-the fat-? cat-tabby ate-eaten fish-fish
LINKS = frozenset({(0, 4), (2, 5), (3, 2), (4, 0)})


def value(evaluation: Evaluation, name: str) -> float:
    return next(score.value for score in evaluation.scores() if score.name == name)


def alignment(links: frozenset[tuple[int, int]]) -> WordAlignment:
    return WordAlignment(tuple(WordLink(source, target) for source, target in sorted(links)))


def forest(tree: Tree) -> Forest:
    return pack([ScoredTree(tree, 0.0)], Sentence.from_words([leaf.word or "" for leaf in tree.leaves()]))


def test_links_are_made_one_to_one_by_score_then_by_position() -> None:
    links = (WordLink(0, 0, 0.5), WordLink(0, 1, 0.9), WordLink(1, 1, 0.8), WordLink(2, 2, 0.9), WordLink(2, 3, 0.9))
    assert one_to_one(WordAlignment(links)).pairs == ((0, 1), (2, 2))


@st.composite
def trees(draw: st.DrawFn, size: int) -> Tree:
    def build(begin: int, end: int) -> str:
        if end - begin == 1:
            word = f"(T w{begin})"
            return f"(U {word})" if draw(st.booleans()) else word
        middle = draw(st.integers(begin + 1, end - 1))
        return f"(X {build(begin, middle)} {build(middle, end)})"

    return parse_brackets(build(0, size))


def touched(node_span: Span, words: set[int]) -> set[int]:
    return {word for word in words if node_span.begin <= word < node_span.end}


def lowest(of: Forest, words: set[int]) -> int:
    """The smallest node over these words, a word before the phrase over it."""
    covering = [index for index, node in enumerate(of.nodes) if all(node.begin <= word < node.end for word in words)]
    return min(covering, key=lambda index: (of.nodes[index].end - of.nodes[index].begin, not of.nodes[index].is_leaf))


def enumerated(source: Forest, target: Forest, links: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """H(L) by its definition: every subset of the links, its two lowest common ancestors, no other link touching."""
    found = set()
    for size in range(1, len(links) + 1):
        for chosen in combinations(links, size):
            left, right = lowest(source, {i for i, _ in chosen}), lowest(target, {j for _, j in chosen})
            under_left = touched(Span(source.nodes[left].begin, source.nodes[left].end), {i for i, _ in links})
            under_right = touched(Span(target.nodes[right].begin, target.nodes[right].end), {j for _, j in links})
            if under_left == {i for i, _ in chosen} and under_right == {j for _, j in chosen}:
                found.add((left, right))
    return found


@settings(max_examples=60, deadline=None)
@given(trees(5), trees(5), st.permutations(range(5)), st.integers(0, 5))
def test_the_baseline_equals_the_definition_by_enumeration(
    source: Tree, target: Tree, order: list[int], count: int
) -> None:
    links = list(zip(range(5), order, strict=True))[:count]
    left, right = forest(source), forest(target)
    found = project(left, right, alignment(frozenset(links)))
    assert set(found) == enumerated(left, right, links)
    assert len(set(found)) == len(found)


def test_a_consistent_pair_has_a_link_inside_and_none_that_leaves() -> None:
    assert is_consistent((Span(0, 3), Span(4, 6)), LINKS)
    assert is_consistent((Span(0, 3), Span(3, 6)), LINKS)  # "by" is linked to nothing
    assert not is_consistent((Span(0, 3), Span(5, 6)), LINKS)  # the-the leaves
    assert not is_consistent((Span(1, 2), Span(1, 2)), LINKS)  # no link inside
    assert not is_consistent((Span(0, 4), Span(4, 6)), LINKS)  # ate-eaten leaves


def test_many_to_many_links_make_core_pairs_of_whole_phrases() -> None:
    # cat is linked to both words of "the tabby": neither word alone is consistent, the noun phrase is
    links = frozenset({(2, 4), (2, 5), (3, 2)})
    assert core_pairs(SOURCE, TARGET, links) == {((2, 3), (4, 6)), ((3, 4), (2, 3)), ((0, 5), (2, 6))}


@settings(max_examples=60, deadline=None)
@given(trees(5), trees(5), st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=7))
def test_core_pairs_are_consistent_and_mirror_when_the_sentences_are_swapped(
    source: Tree, target: Tree, links: frozenset[tuple[int, int]]
) -> None:
    core = core_pairs(source, target, links)
    assert all(is_consistent(pair, links) for pair in core)
    swapped = core_pairs(target, source, frozenset((j, i) for i, j in links))
    assert {(right, left) for left, right in swapped} == core


@settings(max_examples=60, deadline=None)
@given(trees(5), trees(5), st.permutations(range(5)), st.integers(0, 5))
def test_with_one_to_one_links_the_core_pairs_are_the_baseline(
    source: Tree, target: Tree, order: list[int], count: int
) -> None:
    links = frozenset(list(zip(range(5), order, strict=True))[:count])
    assert core_pairs(source, target, links) == project_spans(forest(source), forest(target), alignment(links))


# ---- matching up to words without a link ----


def test_the_content_of_a_pair_is_its_links_and_nothing_when_one_leaves() -> None:
    assert content((Span(0, 3), Span(3, 6)), LINKS) == {(0, 4), (2, 5)}  # "by the tabby" as much as "the tabby"
    assert content((Span(0, 3), Span(4, 6)), LINKS) == {(0, 4), (2, 5)}
    assert content((Span(0, 3), Span(5, 6)), LINKS) is None  # the-the leaves
    assert content((Span(1, 2), Span(1, 2)), LINKS) is None  # holds nothing
    assert links_inside((Span(0, 3), Span(5, 6)), LINKS) == 1


def test_gold_contents_by_hand_with_the_nodes_of_binarised_trees() -> None:
    contents = dict(link_contents(SOURCE, TARGET, LINKS))
    # four words, "the fat cat" with "the tabby", and the sentences; "fat cat" has the same content as "cat"
    assert set(contents) == {
        frozenset({(0, 4)}),
        frozenset({(2, 5)}),
        frozenset({(3, 2)}),
        frozenset({(4, 0)}),
        frozenset({(0, 4), (2, 5)}),
        LINKS,
    }
    assert contents[frozenset({(0, 4), (2, 5)})] == ((0, 3), (4, 6))
    # without "the-the", "cat" and "tabby" are the smallest pair, and the noun phrases add nothing
    assert len(link_contents(SOURCE, TARGET, LINKS - {(0, 4)})) == 4


def test_a_bar_node_is_a_constituent_when_links_are_matched() -> None:
    flat = parse_brackets("(NP (DT the) (JJ big) (JJ fat) (NN cat))")
    links = frozenset({(1, 1), (2, 2), (3, 3)})
    assert frozenset({(2, 2), (3, 3)}) in dict(link_contents(flat, flat, links))
    assert (Span(2, 4), Span(2, 4)) not in core_pairs(flat, flat, links)


def test_scores_by_hand_when_links_are_matched() -> None:
    gold = [[gold_from_links(SOURCE, TARGET, LINKS)]]
    output = frozenset(
        {
            (Span(0, 3), Span(3, 6)),  # right, two links: the fat cat / by the tabby
            (Span(1, 3), Span(5, 6)),  # right, one link: fat cat / tabby
            (Span(2, 3), Span(5, 6)),  # right, the same content once more
            (Span(0, 3), Span(5, 6)),  # wrong: the-the leaves; holds one link
            (Span(0, 4), Span(3, 6)),  # wrong: ate-eaten leaves; holds two links
            (Span(1, 2), Span(1, 2)),  # wrong: holds nothing
        }
    )
    scores = score_projected([[output]], gold)
    assert scores["recall"] == pytest.approx(2 / 6)
    assert scores["precision"] == pytest.approx(3 / 6)
    assert scores["several links recall"] == pytest.approx(1 / 2)  # the noun phrases; the sentences are missed
    assert scores["several links precision"] == pytest.approx(1 / 2)


def test_annotators_are_scored_by_content_like_a_system() -> None:
    fewer = frozenset({(2, 5), (3, 2), (4, 0)})
    first, second = gold_from_links(SOURCE, TARGET, LINKS), gold_from_links(SOURCE, TARGET, fewer)
    # second's pairs against first: cat, ate, fish are there, its sentences hold all four links: 4 of 6, 4 of 4
    # first's six against second's four contents: the-the is inconsistent, the noun phrases hold cat: 4 of 4, 5 of 6
    scores = score_annotators([[first], [second]])
    assert scores["recall"] == pytest.approx((4 / 6 + 1) / 2)
    assert scores["precision"] == pytest.approx((1 + 5 / 6) / 2)


@settings(max_examples=60, deadline=None)
@given(trees(5), trees(5), st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=7))
def test_gold_pairs_score_perfectly_against_themselves(
    source: Tree, target: Tree, links: frozenset[tuple[int, int]]
) -> None:
    gold = gold_from_links(source, target, links)
    scores = score_projected([[frozenset(pair for _, pair in gold.contents)]], [[gold]])
    assert scores["recall"] == scores["precision"] == scores["several links recall"] == 1


def test_a_possible_link_contradicts_no_pair_and_need_not_be_found() -> None:
    sure, possible = LINKS, frozenset({(1, 2)})  # fat-eaten: somebody thought so
    fair = gold_from_links(SOURCE, TARGET, sure, possible)
    old = gold_from_links(SOURCE, TARGET, sure | possible)
    cats = Span(0, 3), Span(4, 6)  # the fat cat / the tabby
    assert fair.allows(cats)
    assert not old.allows(cats)
    output = [[frozenset({cats})]]
    assert value(score_projected(output, [[fair]]), "precision") == 1.0
    assert value(score_projected(output, [[old]]), "precision") == 0.0
    assert fair.contents == gold_from_links(SOURCE, TARGET, sure).contents


def test_a_pair_that_only_a_possible_link_holds_is_allowed_and_finds_nothing() -> None:
    gold = gold_from_links(SOURCE, TARGET, LINKS, {(1, 1)})  # fat-was
    fat = Span(1, 2), Span(1, 2)
    assert gold.content(fat) == frozenset()
    assert not gold.allows((Span(1, 2), Span(3, 4)))
    assert not gold.allows((Span(1, 3), Span(1, 2)))  # cat has a sure link elsewhere
    judged = score_projected([[frozenset({fat})]], [[gold]])
    assert (value(judged, "precision"), value(judged, "recall")) == (1.0, 0.0)


@pytest.mark.parametrize(("kind", "allowed"), [(GoldKind.FAIR, True), (GoldKind.ALL, False)])
def test_what_possible_links_count_for_is_a_choice(kind: GoldKind, allowed: bool) -> None:
    words = (tuple(str(leaf.word) for leaf in tree.leaves()) for tree in (SOURCE, TARGET))
    links = LinkAnnotation("A", *words, tuple(sorted(LINKS)), ((1, 2),))
    assert gold_of(SOURCE, TARGET, links, kind).allows((Span(0, 3), Span(4, 6))) is allowed
