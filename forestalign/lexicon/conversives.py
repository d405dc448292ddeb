"""Predicates that tell one event from two sides: *John bought it from Mary* is *Mary sold it to John*.

grammar/conversives.tsv says which role of the one is which role of the other. A predicate with itself is one whose two
sides are alike: *Ann met Bob* is *Bob met Ann*. Like every list of this folder it has a module of its own.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows

Roles = frozenset[tuple[str, str]]  # a role of the first, and what it is of the second


@cache
def conversives() -> dict[tuple[str, str], Roles]:
    """The rows of grammar/conversives.tsv, in both orders."""
    return read_conversives(grammar_root() / "conversives.tsv")


def read_conversives(path: Path) -> dict[tuple[str, str], Roles]:
    """Rows of two lemmas and the roles that are the same."""
    table: dict[tuple[str, str], Roles] = {}
    for number, (first, second, row) in read_rows(path, 3):
        roles = [tuple(part.strip() for part in each.split("=")) for each in row.split("|")]
        if (first, second) in table or not all(len(each) == 2 and all(each) for each in roles):
            raise GrammarError(path, number, f"{first!r}, {second!r}, {row!r}: expected a new pair and role=role | ...")
        pairs = frozenset((each[0], each[1]) for each in roles)
        turned = frozenset((right, left) for left, right in pairs)
        table[first, second] = pairs | turned if first == second else pairs
        table[second, first] = turned | table[first, second] if first == second else turned
    return table
