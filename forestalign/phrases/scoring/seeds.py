"""What hypotheses grow from: pairs of words, and pairs of phrases that no word link need carry (section 4.1).

A word seed is a leaf with a leaf. A phrase seed is any source node with any target node: its words on both sides are
covered by the pair, so they are neither null nor linked, and nothing can be placed inside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, Int32Array
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.forest import Forest, NodeId
from forestalign.phrases.scoring.score import Step, alignment_share
from forestalign.words.alignment import WordAlignment

LEAST_LINK = 1e-4  # probability that a link counts with at least
WORD, PHRASE = Step.SEED, Step.PHRASE_SEED


@dataclass(frozen=True, slots=True, eq=False)
class Seeds:
    """Seeds as arrays side by side; `value` is added to the pair, `kind` is WORD or PHRASE."""

    source: Int32Array
    target: Int32Array
    value: FloatArray
    kind: Int32Array

    @classmethod
    def of(cls, rows: list[tuple[int, int, float, Step]]) -> Seeds:
        """Seeds from (source node, target node, value, kind)."""
        source, target, value, kind = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(
            np.array(source, np.int32),
            np.array(target, np.int32),
            np.array(value, np.float64),
            np.array(kind, np.int32),
        )

    def __len__(self) -> int:
        return len(self.source)

    def __add__(self, other: Seeds) -> Seeds:
        """The seeds of both, these first."""
        return Seeds(
            np.concatenate([self.source, other.source]),
            np.concatenate([self.target, other.target]),
            np.concatenate([self.value, other.value]),
            np.concatenate([self.kind, other.kind]),
        )

    def transposed(self) -> Seeds:
        """These seeds with source and target swapped."""
        return Seeds(self.target, self.source, self.value, self.kind)

    def check(self, source: Forest, target: Forest) -> None:
        """Refuse seeds that are not nodes of the two forests, and word seeds that are not words."""
        inside = (self.source >= 0) & (self.source < len(source)) & (self.target >= 0) & (self.target < len(target))
        self._refuse(~inside, f"is out of range; the forests have {len(source)} and {len(target)} nodes")
        self._refuse(~np.isfinite(self.value), "has a value that is not a finite number")
        is_known = (self.kind == WORD) | (self.kind == PHRASE)
        self._refuse(~is_known, f"has a kind that is not {int(WORD)} or {int(PHRASE)}")
        are_words = source.arrays.is_leaf[self.source] & target.arrays.is_leaf[self.target]
        self._refuse((self.kind == WORD) & ~are_words, "is of kind WORD, but not both its nodes are words")

    def _refuse(self, bad: BoolArray, why: str) -> None:
        if bad.any():
            k = int(bad.argmax())
            raise UsageError(f"seed ({self.source[k]}, {self.target[k]}, {self.value[k]}, {self.kind[k]}) {why}")


def link_seeds(source: Forest, target: Forest, words: WordAlignment, config: AlignConfig) -> Seeds:
    """A word seed for every link, with `link_weight` log p(link); 1-to-1 comes out of the competition.

    Pr of a pair of words is nearly 1 whenever there is no better partner for either; how likely the link itself is
    would hardly count.
    """
    weight = alignment_share(config) * config.link_weight
    source_leaves, target_leaves = leaves(source), leaves(target)
    likely: dict[tuple[int, int], float] = {}
    for link in words:
        likely[link.source, link.target] = max(link.score, likely.get((link.source, link.target), LEAST_LINK))
    return Seeds.of(
        [
            (one, other, weight * math.log(score), WORD)
            for (i, j), score in sorted(likely.items())
            for one in source_leaves[i]
            for other in target_leaves[j]
        ]
    )


def leaves(forest: Forest) -> list[list[NodeId]]:
    """The leaf nodes of each word; trees of a forest may disagree about a tag."""
    found: list[list[NodeId]] = [[] for _ in forest.sentence.tokens]
    begin = forest.arrays.begin
    for v in np.flatnonzero(forest.arrays.is_leaf).tolist():
        found[begin[v]].append(NodeId(v))
    return found
