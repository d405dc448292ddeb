"""Treebanks as training sees them: cleaned trees, altered at random, in batches of similar length."""

from __future__ import annotations

import gzip
import random
import re
from typing import Any

import nltk
from benepar import ptb_unescape

from forestalign.parsers.encoder_words import plain_words

FINAL_PUNCTUATION = (".", "!", "?")
RAISED = 0.03  # share of texts in capitals throughout, where case is dropped at all


def read_brackets(line: str) -> nltk.Tree:
    """Penn brackets; NLTK's own reader takes a backslash for an escape, and treebanks have words of backslashes."""
    stack: list[nltk.Tree] = [nltk.Tree("", [])]
    for mark, label, word in re.findall(r"(\()\s*([^\s()]*)|\)|([^\s()]+)", line):
        if mark:
            stack.append(nltk.Tree(label, []))
        elif word:
            stack[-1].append(word)
        else:
            tree = stack.pop()
            stack[-1].append(tree)
    if len(stack) > 1 or len(stack[0]) != 1:
        raise IndexError("brackets do not match")
    return stack[0][0]


def plain_label(label: str) -> str:
    """NP-SBJ-1 and NP=2 become NP; all brackets are -LRB- and -RRB-."""
    if label.startswith("-"):
        return label.replace("SB-", "RB-").replace("CB-", "RB-")
    return re.split(r"[-=|]", label)[0]


def clean(tree: nltk.Tree) -> nltk.Tree | None:
    """The tree without traces, empty nodes and function labels; None when nothing is left."""
    if isinstance(tree[0], str):
        return None if tree.label() == "-NONE-" else nltk.Tree(plain_label(tree.label()), [tree[0]])
    children = [child for child in map(clean, tree) if child is not None]
    if not children:
        return None
    label = plain_label(tree.label())
    if len(children) == 1 and children[0].label() == label and not isinstance(children[0][0], str):
        return children[0]
    return nltk.Tree(label, children)


def read_trees(path: str) -> list[nltk.Tree]:
    """Cleaned trees under one TOP with one child each, one a line."""
    opener = gzip.open if path.endswith(".gz") else open
    trees = []
    with opener(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                tree = clean(read_brackets(line)) if line.strip() else None
            except (IndexError, AttributeError) as error:
                raise SystemExit(f"{path}:{number}: {line.strip()[:60]!r}; expected a tree in brackets") from error
            if tree is not None:
                trees.append(under_top(tree))
    return trees


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
    return nltk.Tree("TOP", [clean(tree[0])])  # the phrase above may have one like itself alone below it now


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


def length_batches(examples: list[Any], token_limit: int, rng: random.Random) -> list[list[int]]:
    """Indices in batches of similar length and at most `token_limit` padded words, in random order."""
    order = sorted(range(len(examples)), key=lambda i: (len(examples[i].words) + rng.random() * 3, i))
    batches: list[list[int]] = []
    current: list[int] = []
    for i in order:
        longest = max(len(examples[j].words) for j in [*current, i])
        if current and longest * (len(current) + 1) > token_limit:
            batches.append(current)
            current = []
        current.append(i)
    batches.append(current)
    rng.shuffle(batches)
    return batches


def brackets(tree: nltk.Tree) -> dict[tuple[str, int, int], int]:
    """Labelled brackets over more than punctuation, as evalb counts them."""
    kept = [tag not in {",", ":", "``", "''", "."} for _, tag in tree.pos()]
    counts: dict[tuple[str, int, int], int] = {}

    def walk(node: nltk.Tree, begin: int) -> int:
        if isinstance(node[0], str):
            return begin + 1
        end = begin
        for child in node:
            end = walk(child, end)
        if node.label() != "TOP":
            key = (node.label(), sum(kept[:begin]), sum(kept[:end]))
            if key[1] < key[2]:
                counts[key] = counts.get(key, 0) + 1
        return end

    walk(tree, 0)
    return counts
