"""Forests from bracketed trees, with tags and lemmas: every word is its own lemma."""

from __future__ import annotations

from forestalign.forest import Forest, NodeId, pack
from forestalign.tokens import Sentence
from forestalign.trees import ScoredTree, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink


def hand_forest(*brackets: str) -> Forest:
    """The packed trees, all equally likely."""
    trees = [parse_brackets(text) for text in brackets]
    leaves = list(trees[0].leaves())
    words = [str(leaf.word) for leaf in leaves]
    sentence = Sentence.from_words(words).with_analysis([leaf.label for leaf in leaves], [w.lower() for w in words])
    return pack([ScoredTree(tree, 0.0) for tree in trees], sentence)


def hand_links(*pairs: tuple[int, int]) -> WordAlignment:
    return WordAlignment(tuple(WordLink(i, j) for i, j in sorted(pairs)))


def find_node(forest: Forest, begin: int, end: int, label: str, is_bar: bool = False) -> NodeId:
    found = [
        NodeId(v)
        for v, node in enumerate(forest.nodes)
        if (node.begin, node.end, node.label, node.is_bar) == (begin, end, label, is_bar)
    ]
    assert len(found) == 1, (begin, end, label, found)
    return found[0]
