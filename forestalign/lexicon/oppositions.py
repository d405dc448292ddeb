"""Words that turn a meaning round: opposites, and predicates that tell one event from two sides.

Opposites are WordNet's antonyms, those of grammar/opposites.tsv, and words with a negative prefix (*published*,
*unpublished*). *John bought it from Mary* is *Mary sold it to John*: grammar/conversives.tsv says which role of the one
is which role of the other. A predicate with itself is one whose two sides are alike: *Ann met Bob* is *Bob met Ann*.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.lexicon.wordnet import WordNet

PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
Roles = frozenset[tuple[str, str]]  # a role of the first, and what it is of the second


@cache
def listed_opposites() -> frozenset[tuple[str, str]]:
    """The pairs of grammar/opposites.tsv, in both orders."""
    return read_opposites(grammar_root() / "opposites.tsv")


def read_opposites(path: Path) -> frozenset[tuple[str, str]]:
    """Rows of two words; both orders are kept."""
    pairs: set[tuple[str, str]] = set()
    for number, (left, right) in read_rows(path, 2):
        if left == right or (left, right) in pairs:
            raise GrammarError(path, number, f"{left!r}, {right!r}: expected two different words, each pair once")
        pairs |= {(left, right), (right, left)}
    return frozenset(pairs)


def are_opposites(left: str, right: str, wordnet: WordNet) -> bool:
    """Whether two words exclude each other."""
    short, long = sorted((left, right), key=len)
    if len(short) > 3 and long.endswith(short) and long.removesuffix(short).removesuffix("-") in PREFIXES:
        return True
    return wordnet.are_antonyms(left, right) or (left, right) in listed_opposites()


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
