"""The constrained tree edit distance against enumeration, and the phrases that it gives."""

from __future__ import annotations

import math
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign import AlignConfig, Aligner
from forestalign.phrases.search.tree_edit_search import EditTree, constrained_mapping
from forestalign.tokens import Sentence
from forestalign.trees import ScoredTree, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink


@st.composite
def binary_trees(draw: st.DrawFn, largest: int = 5) -> EditTree:
    """Children before parents, at most two below a node, the root last."""
    waiting: list[int] = []
    children: list[tuple[int, ...]] = []
    for _ in range(draw(st.integers(1, largest))):
        count = draw(st.integers(0, min(2, len(waiting))))
        children.append(tuple(waiting[len(waiting) - count :]))
        del waiting[len(waiting) - count :]
        waiting.append(len(children) - 1)
    while len(waiting) > 1:
        children.append((waiting.pop(-2), waiting.pop()))
        waiting.append(len(children) - 1)
    return EditTree(tuple(children))


def ancestors(tree: EditTree) -> list[set[int]]:
    """The proper ancestors of each node."""
    above: list[set[int]] = [set() for _ in tree.children]
    for parent in range(len(tree.children) - 1, -1, -1):
        for child in tree.children[parent]:
            above[child] = above[parent] | {parent}
    return above


def lowest_common(above: list[set[int]], first: int, second: int) -> int:
    return min((above[first] | {first}) & (above[second] | {second}))


def is_constrained(pairs: tuple[tuple[int, int], ...], left: list[set[int]], right: list[set[int]]) -> bool:
    """One to one, ancestors to ancestors, and a node below the ancestor of two others exactly if its partner is."""
    if len({i for i, _ in pairs}) < len(pairs) or len({j for _, j in pairs}) < len(pairs):
        return False
    if any((a[0] in left[b[0]]) != (a[1] in right[b[1]]) for a, b in product(pairs, pairs)):
        return False
    return all(
        (lowest_common(left, a[0], b[0]) in left[c[0]]) == (lowest_common(right, a[1], b[1]) in right[c[1]])
        for a, b in combinations(pairs, 2)
        if a[0] not in left[b[0]] and b[0] not in left[a[0]]
        for c in pairs
        if c not in (a, b)
    )


@settings(max_examples=80, deadline=None)
@given(binary_trees(), binary_trees(), st.randoms(use_true_random=False))
def test_no_constrained_mapping_is_cheaper(source: EditTree, target: EditTree, random: object) -> None:
    left, right = ancestors(source), ancestors(target)
    cells = list(product(range(len(left)), range(len(right))))
    costs = {cell: random.choice([0.0, 0.5, 1.5, 3.0, math.inf]) for cell in cells}  # type: ignore[attr-defined]
    usable = [cell for cell in cells if costs[cell] < 2.0]
    distance, mapping = constrained_mapping(source, target, lambda i, j: costs[i, j])
    whole = len(left) + len(right)
    assert is_constrained(mapping, left, right)
    assert distance == pytest.approx(whole + sum(costs[cell] - 2.0 for cell in mapping))
    best = min(
        whole + sum(costs[cell] - 2.0 for cell in chosen)
        for size in range(min(len(left), len(right), 4) + 1)
        for chosen in combinations(usable, size)
        if is_constrained(chosen, left, right)
    )
    if len(mapping) <= 4:
        assert distance == pytest.approx(best)
    assert distance <= best + 1e-9


def align(source: str, target: str, links: str) -> list[tuple[str, str]]:
    trees = [parse_brackets(text) for text in (source, target)]
    words = [[str(leaf.word) for leaf in tree.leaves()] for tree in trees]
    given = [[ScoredTree(tree, 0.0)] for tree in trees]
    pairs = [WordLink(*map(int, link.split("-"))) for link in links.split()]
    aligner = Aligner(AlignConfig(backend="trees", search="ted"), given=given)
    found = aligner.align(*(Sentence.from_words(w) for w in words), links=WordAlignment(tuple(pairs)))
    return [(pair.source.text, pair.target.text) for pair in found.pairs()]


def test_sisters_change_places_and_phrases_without_links_stay_null() -> None:
    found = align(
        "(S (NP (PRP She)) (VP (VBD left) (ADVP (RB early))))",
        "(S (ADVP (RB Early)) (NP (PRP she)) (VP (VBD departed) (NP (DT the) (NN house))))",
        "0-1 1-2 2-0",
    )
    assert ("She", "she") in found
    assert ("early", "Early") in found
    assert ("She left early", "Early she departed the house") in found
    assert not any(target == "the house" for _, target in found)


def test_the_smaller_of_two_phrases_over_the_same_links_is_chosen_by_its_label() -> None:
    found = align(
        "(S (NP (DT the) (NN plan)) (VP (VBD failed)))",
        "(S (PP (IN with) (NP (DT the) (NN plan))) (VP (VBD failed)))",
        "0-1 1-2 2-3",
    )
    assert ("the plan", "the plan") in found
    assert ("the plan", "with the plan") not in found
