"""What every source of evidence gives: two phrases by the numbers of their words, and what they are to each other."""

from __future__ import annotations

from typing import NamedTuple

EQUAL, SIMILAR, OPPOSITE, DIFFERENT = "equal", "similar", "opposite", "different value"
MORE_GENERAL, MORE_SPECIFIC = "more general", "more specific"  # what the target is, beside the source
AGAINST = frozenset({OPPOSITE, DIFFERENT})  # what speaks against a pair
OTHER_ROLES = "other roles"  # of phrases only: two words inside changed places
RELATIONS = (EQUAL, SIMILAR, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE, DIFFERENT)
PHRASE_RELATIONS = (*RELATIONS, OTHER_ROLES)  # of pairs in a result


class Finding(NamedTuple):
    """Two phrases and their relation."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    relation: str

    def swap_sides(self) -> Finding:
        """The finding with source and target swapped: *more general* becomes *more specific*."""
        return Finding(self.target, self.source, turned_relation(self.relation))


def turned_relation(relation: str) -> str:
    """The relation seen from the other side."""
    return {MORE_GENERAL: MORE_SPECIFIC, MORE_SPECIFIC: MORE_GENERAL}.get(relation, relation)
