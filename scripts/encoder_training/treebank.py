"""Treebanks as training sees them: cleaned trees, altered at random, and batches of similar length."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

import nltk
from benepar import ptb_unescape

from forestalign.formats.tree_files import read_trees as read_tree_file
from forestalign.parsers.encoder_words import plain_words
from forestalign.trees import Tree, strip_annotation

FINAL_PUNCTUATION = (".", "!", "?")
Each = TypeVar("Each")
BRACKETS = {"-LSB-": "-LRB-", "-LCB-": "-LRB-", "-RSB-": "-RRB-", "-RCB-": "-RRB-"}  # one tag for all kinds
RAISED = 0.03  # share of texts in capitals throughout, where case is dropped at all


def read_trees(path: str) -> list[nltk.Tree]:
    """The trees of a file without traces and function labels, each under one TOP with one child."""
    return [under_top(to_nltk(strip_annotation(numbered.tree))) for numbered in read_tree_file(path)]


def to_nltk(tree: Tree) -> nltk.Tree:
    """The tree as benepar takes it; a phrase alone below one of its own label is left out."""
    if tree.is_leaf:
        return nltk.Tree(BRACKETS.get(tree.label, tree.label), [str(tree.word)])
    return joined(tree.label, list(map(to_nltk, tree.children)))


def from_nltk(tree: nltk.Tree, begin: int = 0) -> Tree:
    """The way back."""
    if isinstance(tree[0], str):
        return Tree(tree.label(), begin, begin + 1, (), tree[0])
    children: list[Tree] = []
    for child in tree:
        children.append(from_nltk(child, children[-1].end if children else begin))
    return Tree(tree.label(), begin, children[-1].end, tuple(children))


def joined(label: str, children: list[nltk.Tree]) -> nltk.Tree:
    """A phrase of these children, or its only child if that has the same label."""
    is_double = len(children) == 1 and children[0].label() == label and not isinstance(children[0][0], str)
    return children[0] if is_double else nltk.Tree(label, children)


def under_top(tree: nltk.Tree) -> nltk.Tree:
    """The tree below TOP; what is not a phrase, or several, becomes a fragment."""
    children = list(tree) if tree.label() in ("", "TOP", "ROOT") else [tree]
    if len(children) > 1 or isinstance(children[0][0], str):
        children = [nltk.Tree("FRAG", children)]
    return nltk.Tree("TOP", children)


def without_final_punctuation(tree: nltk.Tree) -> nltk.Tree:
    """The tree less its last word, when that ends the sentence."""
    last = tree.treepositions("leaves")[-1]
    if len(tree.leaves()) < 3 or tree[last] not in FINAL_PUNCTUATION:
        return tree
    tree = tree.copy(deep=True)
    position = last[:-1]
    while len(tree[position[:-1]]) == 1:
        position = position[:-1]
    del tree[position]
    return nltk.Tree("TOP", [to_nltk(from_nltk(tree[0]))])  # a phrase may have one like itself alone below it now


class Example:
    """What benepar's encode() asks for: words, spaces, tree."""

    def __init__(self, tree: nltk.Tree, spaced: bool, case: str = "kept"):
        self.tree = tree
        words = plain_words(tree.leaves())
        self.space_after = [True] * len(words) if spaced else ptb_unescape.guess_space_after(words)
        self.words = in_case(words, case)

    def leaves(self) -> list[str]:
        return self.tree.leaves()

    def pos(self) -> list[tuple[str, str]]:
        return self.tree.pos()


class Text:
    """A sentence without a tree."""

    tree = None

    def __init__(self, words: list[str], case: str = "kept"):
        plain = plain_words(words)
        self.words, self.space_after = in_case(plain, case), [True] * len(plain)


def in_case(words: list[str], case: str) -> list[str]:
    """The words with their case kept, lowered or raised; a word whose length that changes stays."""
    if case == "kept":
        return words
    changed = [word.lower() if case == "lower" else word.upper() for word in words]
    return [new if len(new) == len(word) else word for word, new in zip(words, changed, strict=True)]


def random_case(rng: random.Random, lowered: float) -> str:
    """Lower case in the given share of all texts, capitals throughout in a small one."""
    share = rng.random()
    return "lower" if share < lowered else "upper" if share > 1 - RAISED * bool(lowered) else "kept"


def augmented(tree: nltk.Tree, rng: random.Random, lowered: float = 0.0) -> Example:
    """Now and then without its final punctuation or its case, and most of the time with spaces between all tokens."""
    tree = without_final_punctuation(tree) if rng.random() < 0.12 else tree
    spaced = rng.random() < 0.7
    return Example(tree, spaced, random_case(rng, lowered) if lowered else "kept")


class Sampler(Generic[Each]):
    """Examples of similar length, drawn at random: a batch depends on the randomness of its step alone."""

    def __init__(self, examples: Sequence[Each], size: Callable[[Each], int], limit: int):
        """limit: words of a batch, padding included"""
        self.examples = sorted(examples, key=size)
        self.size, self.limit = size, limit
        self.weights = list(accumulate(max(1, size(each)) for each in self.examples))

    def draw(self, rng: random.Random) -> list[Each]:
        """A stretch of the examples in the order of their length: from a random one downwards as far as they fit.

        More short ones fit, so a long one is chosen as much more often as it is longer: each is as likely to be seen.
        """
        (last,) = rng.choices(range(len(self.examples)), cum_weights=self.weights)
        count = max(1, self.limit // max(1, self.size(self.examples[last])))
        return list(self.examples[max(0, last + 1 - count) : last + 1])
