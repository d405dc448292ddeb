"""Parents and children of words in collapsed dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forestalign.word_alignment.analysis import Analysis
from forestalign.word_alignment.relations import Arc, Orientation


class Relative(NamedTuple):
    """A word above or below another, and the relation between them."""

    word: int
    relation: str


def parents(arcs: Sequence[Arc], words: Sequence[str], index: int) -> list[Relative]:
    """Heads of a token. One that is nobody's dependent has been collapsed into a relation: see `_carrier`."""
    found = [Relative(arc.head, arc.relation) for arc in arcs if arc.dependent == index]
    if found:
        return found
    carrier = _carrier(arcs, words, index)
    return [] if carrier is None else [Relative(carrier.head, carrier.relation)]


def children(arcs: Sequence[Arc], words: Sequence[str], index: int) -> list[Relative]:
    """Dependents of a token, or the dependent of the relation it was collapsed into."""
    if any(arc.dependent == index for arc in arcs):
        return [Relative(arc.dependent, arc.relation) for arc in arcs if arc.head == index]
    carrier = _carrier(arcs, words, index)
    return [] if carrier is None else [Relative(carrier.dependent, carrier.relation)]


def _carrier(arcs: Sequence[Arc], words: Sequence[str], index: int) -> Arc | None:
    """From the next token that is a dependent on, the first relation that has the token's surface in its label.

    The surface is looked for as a part of the label, in its own case, as the program does.
    """
    later = [arc.dependent for arc in arcs if arc.dependent > index]
    if not later:
        return None
    begin = next(number for number, arc in enumerate(arcs) if arc.dependent == min(later))
    for arc in arcs[begin:]:
        if ":" in arc.relation and words[index] in arc.relation:
            return arc
    return None


class Family:
    """Parents and children of every token, looked up once."""

    def __init__(self, analysis: Analysis):
        arcs, words = analysis.arcs, analysis.sentence.words
        self.parents = [parents(arcs, words, index) for index in range(len(words))]
        self.children = [children(arcs, words, index) for index in range(len(words))]


def relative_pairs(
    source: Family, target: Family, i: int, j: int, orientation: Orientation
) -> Iterator[tuple[Relative, Relative]]:
    """All pairs of relatives of two words in one orientation."""
    left = source.parents[i] if orientation in {Orientation.PARENTS, Orientation.PARENT_CHILD} else source.children[i]
    right = target.parents[j] if orientation in {Orientation.PARENTS, Orientation.CHILD_PARENT} else target.children[j]
    for left_relative in left:
        for right_relative in right:
            yield left_relative, right_relative
