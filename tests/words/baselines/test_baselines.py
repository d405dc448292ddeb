"""Other ways to align words: hand-made pairs, and enumeration where something is the best of all."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.dependencies import Dependencies
from forestalign.errors import UsageError
from forestalign.lexicon import load_wordnet
from forestalign.lexicon.pair_lists import ListedPair, PhraseLists
from forestalign.tokens import Sentence, Span
from forestalign.words import Analysis
from forestalign.words.baselines import (
    EditNode,
    MeteorSources,
    WordMatch,
    argmax_links,
    best_matches,
    edit_mapping,
    meteor_links,
    similarity_links,
    tree_edit_links,
)

needs_apted = pytest.mark.skipif(importlib.util.find_spec("apted") is None, reason="needs apted")


def count_chunks(matches: Sequence[WordMatch]) -> int:
    """Runs of matches, given in the order of the source, that are contiguous in both sentences."""
    ends = [(match.source.end, match.target.end) for match in matches]
    begins = [(match.source.begin, match.target.begin) for match in matches]
    return len(matches) - sum(end == begin for end, begin in zip(ends, begins[1:], strict=False))


def sentence(text: str, lemmas: str = "") -> Sentence:
    words = text.split()
    return Sentence.from_words(words).with_analysis(["NN"] * len(words), (lemmas or text.lower()).split())


# ---- Meteor ----

BARE = MeteorSources()


def stages(source: str, target: str, sources: MeteorSources = BARE) -> list[tuple[int, int, str]]:
    return [
        (link.source, link.target, link.stage) for link in meteor_links(sentence(source), sentence(target), sources)
    ]


def test_modules_are_tried_in_their_order() -> None:
    known = MeteorSources(wordnet=load_wordnet())
    assert stages("The big dogs , buy", "the large dog . purchase", known) == [
        (0, 0, "exact"),
        (1, 1, "synonym"),
        (2, 2, "stem"),
        (4, 4, "synonym"),
    ]
    assert stages("big", "large") == []


def test_phrases_of_a_list_match_as_blocks() -> None:
    listed = MeteorSources(phrases=PhraseLists([ListedPair("passed away", "died")]))
    assert stages("he passed away", "he died", listed) == [(0, 0, "exact"), (1, 1, "paraphrase"), (2, 1, "paraphrase")]
    assert stages("he passed by", "he died", listed) == [(0, 0, "exact")]


def test_repeated_words_are_matched_in_the_fewest_chunks() -> None:
    # each "the" could go with either; only in this way both phrases are whole
    assert [link[:2] for link in stages("the dog saw the cat", "the cat saw the dog")] == [
        (0, 3), (1, 4), (2, 2), (3, 0), (4, 1),
    ]  # fmt: skip


def every_set(matches: Sequence[WordMatch]) -> Iterator[tuple[WordMatch, ...]]:
    """All sets of matches that cover no word twice, by trying every subset."""
    for size in range(len(matches) + 1):
        for chosen in combinations(sorted(matches), size):
            sources = [word for match in chosen for word in range(*match.source)]
            targets = [word for match in chosen for word in range(*match.target)]
            if len(set(sources)) == len(sources) and len(set(targets)) == len(targets):
                yield chosen


def quality(matches: Sequence[WordMatch]) -> tuple[int, int, int]:
    covered = sum(len(range(*match.source)) + len(range(*match.target)) for match in matches)
    distance = sum(abs(match.source.begin - match.target.begin) for match in matches)
    return covered, -count_chunks(matches), -distance


@settings(max_examples=150, deadline=None)
@given(
    st.sets(
        st.tuples(st.integers(0, 4), st.integers(1, 2), st.integers(0, 4), st.integers(1, 2)), min_size=0, max_size=8
    )
)
def test_no_other_set_of_matches_is_better(raw: set[tuple[int, int, int, int]]) -> None:
    matches = [WordMatch(Span(i, i + n), Span(j, j + m), "exact") for i, n, j, m in sorted(raw)]
    found = best_matches(matches, 6, beam=10_000)
    assert found in set(every_set(matches))
    assert quality(found) == max(map(quality, every_set(matches)))


# ---- tree edit distance ----


def analysis(text: str, heads: Sequence[int]) -> Analysis:
    return Analysis(sentence(text), Dependencies(tuple(heads), ("dep",) * len(heads)))


@needs_apted
def test_words_that_the_edits_keep_are_linked() -> None:
    source = analysis("he quickly bought a car", [2, 2, -1, 4, 2])
    target = analysis("he bought a red car", [1, -1, 4, 4, 1])
    assert tree_edit_links(source, target).pairs == ((0, 0), (2, 1), (3, 2), (4, 4))


@needs_apted
def test_the_order_of_children_counts_and_unlike_words_are_not_linked() -> None:
    source = analysis("cats chase dogs", [1, -1, 1])
    target = analysis("dogs chase cats", [1, -1, 1])
    found = tree_edit_links(source, target).pairs
    assert (1, 1) in found
    assert len(found) == 2  # cats or dogs: both would cross
    assert tree_edit_links(analysis("birds sing", [1, -1]), analysis("dogs bark", [1, -1])).pairs == ()


def grown(parents: Sequence[int], names: str) -> EditNode:
    """Node k + 1 hangs on parents[k]; the root has the token -1."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)

    def make(token: int) -> EditNode:
        name = "" if token < 0 else names[token]
        return EditNode(token, name, tuple(make(child) for child in children.get(token, ())))

    return make(-1)


def order_of(tree: EditNode) -> tuple[list[int], set[tuple[int, int]]]:
    """Tokens in post-order, and all (ancestor, descendant) pairs."""
    order, above = [], set()

    def walk(node: EditNode, ancestors: tuple[int, ...]) -> None:
        above.update((ancestor, node.token) for ancestor in ancestors)
        for child in node.children:
            walk(child, (*ancestors, node.token))
        order.append(node.token)

    walk(tree, ())
    return order, above


def cheapest_edits(source: EditNode, target: EditNode) -> int:
    """By trying every mapping that keeps ancestors and the order of post-order, roots on roots."""
    (left, left_above), (right, right_above) = order_of(source), order_of(target)
    best = len(left) + len(right) - 2
    names = {(0, n.token): n.name for n in nodes_of(source)} | {(1, n.token): n.name for n in nodes_of(target)}
    candidates = [(i, j) for i, j in product(left[:-1], right[:-1]) if names[0, i] == names[1, j]]
    for size in range(1, len(candidates) + 1):
        for chosen in combinations(candidates, size):
            if len({i for i, _ in chosen}) < size or len({j for _, j in chosen}) < size:
                continue
            if all(
                ((a[0], b[0]) in left_above) == ((a[1], b[1]) in right_above)
                and (left.index(a[0]) < left.index(b[0])) == (right.index(a[1]) < right.index(b[1]))
                for a, b in product(chosen, chosen)
                if a != b
            ):
                best = min(best, len(left) + len(right) - 2 - 2 * size)
    return best


def nodes_of(tree: EditNode) -> Iterator[EditNode]:
    yield tree
    for child in tree.children:
        yield from nodes_of(child)


small_trees = st.integers(1, 4).flatmap(
    lambda count: st.tuples(
        st.tuples(*(st.integers(-1, k - 1) for k in range(count))),
        st.text(alphabet="abc", min_size=count, max_size=count),
    )
)


@needs_apted
@settings(max_examples=60, deadline=None)
@given(small_trees, small_trees)
def test_the_mapping_is_as_cheap_as_the_cheapest_of_all(
    left: tuple[tuple[int, ...], str], right: tuple[tuple[int, ...], str]
) -> None:
    source, target = grown(*left), grown(*right)
    pairs = edit_mapping(source, target, lambda i, j: 0 if left[1][i] == right[1][j] else 3)
    assert all(left[1][i] == right[1][j] for i, j in pairs)
    assert len(left[1]) + len(right[1]) - 2 * len(pairs) == cheapest_edits(source, target)


# ---- matchings ----


matrices = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(st.integers(0, 9), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
        lambda values: np.array(values, dtype=float).reshape(shape) / 10
    )
)


@settings(max_examples=100, deadline=None)
@given(matrices)
def test_links_of_similarity_are_highest_in_row_and_column(similarity: np.ndarray) -> None:
    found = argmax_links(similarity)
    assert all(similarity[i, j] == similarity[i].max() == similarity[:, j].max() > 0 for i, j in found)


def test_sentences_without_vectors_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="needs word vectors"):
        similarity_links(sentence("a b"), sentence("a c"))


# ---- models of a corpus ----
