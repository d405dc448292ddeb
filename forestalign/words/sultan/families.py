"""Parents and children of words in collapsed dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forestalign.words.analysis import Analysis
from forestalign.words.dependency_arcs import ROOT, Arc, Orientation

PARENT_ON_THE_LEFT = frozenset({Orientation.PARENTS, Orientation.PARENT_CHILD})
PARENT_ON_THE_RIGHT = frozenset({Orientation.PARENTS, Orientation.CHILD_PARENT})


class Relative(NamedTuple):
    """A word above or below another, and the relation between them."""

    word: int
    relation: str


class Family:
    """Parents and children of every token.

    A token that is nobody's dependent has been collapsed into a relation, such as a preposition. Its parent and child
    are then those of the relation that carries it: see `_carrier`.
    """

    def __init__(self, arcs: Sequence[Arc], words: Sequence[str]):
        self.parents: list[list[Relative]] = [[] for _ in words]
        self.children: list[list[Relative]] = [[] for _ in words]
        for arc in arcs:
            self.parents[arc.dependent].append(Relative(arc.head, arc.relation))
            if arc.head != ROOT:
                self.children[arc.head].append(Relative(arc.dependent, arc.relation))
        for index in [index for index, found in enumerate(self.parents) if not found]:
            carrier = _carrier(arcs, words, index)
            self.parents[index] = [] if carrier is None else [Relative(carrier.head, carrier.relation)]
            self.children[index] = [] if carrier is None else [Relative(carrier.dependent, carrier.relation)]

    @classmethod
    def of(cls, analysis: Analysis) -> Family:
        """The family that a relation belongs to."""
        return cls(analysis.arcs, analysis.sentence.words)


def _carrier(arcs: Sequence[Arc], words: Sequence[str], index: int) -> Arc | None:
    """From the next token that is a dependent on, the first relation that has the token's surface in its label.

    The surface is looked for as a part of the label, in its own case, as the program does.
    """
    word = words[index]
    carriers = [number for number, arc in enumerate(arcs) if word in arc.relation and ":" in arc.relation]
    later = [arc.dependent for arc in arcs if arc.dependent > index] if carriers else []
    if not later:
        return None
    following = min(later)
    begin = next(number for number, arc in enumerate(arcs) if arc.dependent == following)
    return next((arcs[number] for number in carriers if number >= begin), None)


def relative_pairs(
    source: Family, target: Family, i: int, j: int, orientation: Orientation
) -> Iterator[tuple[Relative, Relative]]:
    """All pairs of relatives of two words in one orientation."""
    left = source.parents[i] if orientation in PARENT_ON_THE_LEFT else source.children[i]
    right = target.parents[j] if orientation in PARENT_ON_THE_RIGHT else target.children[j]
    if left and right:
        for left_relative in left:
            for right_relative in right:
                yield left_relative, right_relative
