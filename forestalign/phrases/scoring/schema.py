"""The local parts of a derivation that profile `best` weighs: one additive score S(h) = w · f(h).

f(h) is a sum over what a derivation consists of, so that the search serves both profiles as it is:

    pair     every aligned pair: log Pr of the EM model, word links that leave it or lie inside, whether heads and
             words at the edges have their links inside, labels, lengths, the strength of evidence for it
    word     a pair of linked words: how likely the link is, and of which classes the words are
    phrase   a pair of phrases that no word link carries: the strength of each kind of evidence
    step     how a pair came about: straight, inverted, non-compositional, lifted, completed; the same by the
             categories of both phrases
    null     a maximal null phrase: log Pr, its category, its words by class, and how likely they were to have a partner
    parse    log probability of the two chosen trees

Links count by their probability. No part tells the source from the target, so swapping the sentences mirrors f.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, Int32Array, IntArray
from forestalign.forest import Forest, NodeId
from forestalign.grammar import Category, reduced_category
from forestalign.lexicon.word_classes import WordClass, word_class
from forestalign.phrases.evidence.phrase_evidence import KINDS
from forestalign.phrases.scoring.score import Step

LEAST_LINK, MOST_LINK = 1e-4, 1.0 - 1e-4  # a link's probability counts within these
LOWEST_LOG_PR = -15.0  # log Pr counts with at least this
LIKELY_LINK = 0.5  # links above this are likely ones


CLASSES = tuple(kind.name.lower() for kind in WordClass)
PAIR = (
    "log pr", "count", "links leaving", "likely links leaving", "bar nodes", "same label", "same category",
    "links inside", "length ratio", "punctuation at an edge", "heads linked", "heads held", "heads linked elsewhere",
    "edges without link", "one word with several", "evidence", "span score",
)  # fmt: skip
WORD_SEED = (
    "log p", "log odds", "count", "both function", "both punctuation", "same lemma", "other class", "opposite",
    "different value",
)  # fmt: skip
PHRASE_SEED = ("count", "block of links", *KINDS)
CATEGORIES = tuple(category.value for category in Category if category is not Category.NULL)
_CATEGORY_NUMBER = {Category(name): k for k, name in enumerate(CATEGORIES)}
NULL = (
    "log pr", "count", *CLASSES, *(f"linked {name}" for name in CLASSES), "lost links", "lost identical words",
    *(f"phrase {category}" for category in CATEGORIES),
)  # fmt: skip
STEPS = (Step.STRAIGHT, Step.INVERTED, Step.NON_COMPOSITIONAL, Step.LIFT, Step.COMPLETION)
GROUPS = (
    ("pair", PAIR),
    ("word", WORD_SEED),
    ("phrase", PHRASE_SEED),
    ("null", NULL),
    ("step", tuple(step.label for step in STEPS)),
    ("category", tuple(f"{step.label} {category}" for step in STEPS for category in CATEGORIES)),
    ("parse", ("log p",)),
)
NAMES = tuple(f"{group}: {name}" for group, names in GROUPS for name in names)


def _slices() -> dict[str, slice]:
    found, at = {}, 0
    for group, names in GROUPS:
        found[group] = slice(at, at + len(names))
        at += len(names)
    return found


SLICE = _slices()


Extent = tuple[int, int]  # begin and end
Spans = dict[Extent, list[NodeId]]


@dataclass(frozen=True, eq=False)
class NodeArrays:
    """What parts ask about one forest, as arrays by node."""

    forest: Forest
    begin: IntArray
    end: IntArray
    categories: IntArray  # their numbers in CATEGORIES
    head: IntArray  # the word that is the semantic head
    classes: IntArray  # by word

    @classmethod
    def of(cls, forest: Forest) -> NodeArrays:
        """The nodes of a forest."""
        begin, end = forest.arrays.begin.astype(np.int64), forest.arrays.end.astype(np.int64)
        classes = np.array([word_class(token) for token in forest.sentence.tokens], np.int64)
        categories = _label_categories(forest.arrays.labels)[forest.arrays.label]
        return cls(forest, begin, end, categories, forest.arrays.semantic_head.astype(np.int64), classes)

    @cached_property
    def spans(self) -> Spans:
        """The nodes of each span."""
        found: Spans = defaultdict(list)
        for v, span in enumerate(zip(self.begin.tolist(), self.end.tolist(), strict=True)):
            found[span].append(NodeId(v))
        return found

    @cached_property
    def lengths(self) -> IntArray:
        """Of each node, in words."""
        return self.end - self.begin

    @property
    def bars(self) -> FloatArray:
        """1 for nodes that binarisation made."""
        return self.forest.arrays.is_bar.astype(np.float64)

    def same_labels(self, other: NodeArrays) -> BoolArray:
        """Which nodes have the labels of which nodes of the other forest."""
        left, right = self.forest.arrays, other.forest.arrays
        same: BoolArray = _translated(left.labels, right.labels)[left.label][:, None] == right.label[None, :]
        return same

    @property
    def punctuated(self) -> FloatArray:
        """1 for phrases that begin or end with a mark."""
        marks = self.classes == WordClass.PUNCTUATION
        return np.asarray((marks[self.begin] | marks[self.end - 1]) & (self.end - self.begin > 1), np.float64)


@lru_cache(maxsize=64)  # forests of one parser share their labels
def _translated(labels: tuple[str, ...], others: tuple[str, ...]) -> Int32Array:
    """The place of each label among the others, -1 where it is none of them."""
    number = {label: k for k, label in enumerate(others)}
    return np.array([number.get(label, -1) for label in labels], np.int32)


@lru_cache(maxsize=64)
def _label_categories(labels: tuple[str, ...]) -> IntArray:
    return np.array([_CATEGORY_NUMBER[reduced_category(label)] for label in labels], np.int64)
