"""Links beside their rivals: the sums against plain loops, and the cases they are for."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forestalign.forest import Forest, pack
from forestalign.phrases.scoring.link_competition import CompetingLinks, beside_rivals, strongest_rivals
from forestalign.phrases.scoring.schema import NodeArrays
from forestalign.tokens import Sentence
from forestalign.trees import ScoredTree, parse_brackets

TREE = "(S (NP (DT the) (NN cat)) (VP (VBD ate) (NP (NN fish))))"
LINKS = arrays(np.float64, (4, 4), elements=st.sampled_from([0.0, 0.1, 0.3, 0.6, 0.9]))


def forest(brackets: str = TREE) -> Forest:
    tree = parse_brackets(brackets)
    return pack([ScoredTree(tree, 0.0)], Sentence.from_words([str(leaf.word) for leaf in tree.leaves()]))


@given(LINKS)
def test_a_rival_is_another_link_of_one_of_the_two_words(links: np.ndarray) -> None:
    rivals = strongest_rivals(links)
    for i in range(4):
        for j in range(4):
            others = [links[i, k] for k in range(4) if k != j] + [links[k, j] for k in range(4) if k != i]
            assert rivals[i, j] == max(others)


@given(LINKS)
def test_links_without_a_stronger_rival_keep_their_probability_and_none_grows(links: np.ndarray) -> None:
    left = beside_rivals(links)
    unrivalled = strongest_rivals(links) <= links
    assert (left[unrivalled] == links[unrivalled]).all()
    assert (left <= links).all()


def test_without_rivals_every_link_that_leaves_a_pair_counts() -> None:
    side = NodeArrays.of(forest())
    links = np.array([[0.0] * 4, [0.0, 0.9, 0.6, 0.0], [0.0] * 4, [0.0] * 4])
    spans = list(zip(side.begin.tolist(), side.end.tolist(), strict=True))
    word, other = spans.index((1, 2)), spans.index((2, 3))
    competing, alone = CompetingLinks.of(links), CompetingLinks.of(links, has_rivals=False)
    assert np.isclose(alone.leaving(side, side)[word, word], 0.6)
    assert competing.leaving(side, side)[word, word] < 0.01
    assert alone.likely().leaving(side, side)[word, word] == 1.0 > competing.likely().leaving(side, side)[word, word]
    assert np.isclose(alone.leaving(side, side)[word, other], 0.9)


@settings(deadline=None)
@given(LINKS)
def test_what_leaves_a_pair_is_what_its_definition_says(links: np.ndarray) -> None:
    side = NodeArrays.of(forest())
    competing = CompetingLinks.of(links)
    leaving, free = competing.leaving(side, side), competing.beside_rivals
    for x, (a, b) in enumerate(zip(side.begin, side.end, strict=True)):
        for y, (c, d) in enumerate(zip(side.begin, side.end, strict=True)):
            forth = sum(
                min(1.0, sum(free[i, j] for j in range(4) if not c <= j < d)) * (1.0 - min(1.0, links[i, c:d].sum()))
                for i in range(a, b)
            )
            back = sum(
                min(1.0, sum(free[i, j] for i in range(4) if not a <= i < b)) * (1.0 - min(1.0, links[a:b, j].sum()))
                for j in range(c, d)
            )
            assert np.isclose(leaving[x, y], forth + back)


@given(LINKS)
def test_swapping_the_sentences_mirrors_what_leaves(links: np.ndarray) -> None:
    side = NodeArrays.of(forest())
    competing = CompetingLinks.of(links)
    assert np.allclose(competing.leaving(side, side).T, competing.mirrored().leaving(side, side))


def test_a_candidate_whose_words_have_partners_inside_leaves_next_to_nothing() -> None:
    links = np.diag([0.95] * 4)
    links[0, 3] = links[3, 0] = 0.3  # candidates across
    side = NodeArrays.of(forest())
    whole = int(np.flatnonzero((side.begin == 0) & (side.end == 2))[0])
    assert CompetingLinks.of(links).leaving(side, side)[whole, whole] < 0.01
    alone = np.diag([0.0, 0.95, 0.95, 0.0])
    alone[0, 3] = 0.3  # the only partner of either word
    assert CompetingLinks.of(alone).leaving(side, side)[whole, whole] >= 0.3
