"""The synonym-and-derivation lexicon built from WordNet 3.0 by scripts/build_wordnet.py.

The table stays as text, one line per lemma, and a line is split when its lemma is first asked for: reading 83,000
lemmas then takes a tenth of a second, and a run pays only for the words it meets.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.tokens import KEPT_WORDS

FIELD_COUNT = 6
MOST_ENTRIES = KEPT_WORDS  # split lines that are kept; a long run meets most lemmas, and must not grow with them


@dataclass(frozen=True, slots=True)
class Entry:
    """All senses of one lemma together: the aligner has no sense labels to choose by."""

    synsets: frozenset[str]
    hypernyms: frozenset[str]
    derivations: frozenset[str]
    antonyms: frozenset[str]
    similar: frozenset[str]


NOTHING: frozenset[str] = frozenset()
UNKNOWN = Entry(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


class WordNet:
    """Relations between single-word lemmas, any part of speech. All but `is_hypernym` are symmetric."""

    def __init__(self, lines: dict[str, str]):
        self._lines = lines
        self._entries: dict[str, Entry] = {}

    def __contains__(self, lemma: object) -> bool:
        return isinstance(lemma, str) and lemma.lower() in self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def entry(self, lemma: str) -> Entry:
        """Everything stored about a lemma; an unknown one has empty relations."""
        lemma = lemma.lower()
        found = self._entries.get(lemma)
        if found is None:
            line = self._lines.get(lemma)
            if line is None:
                return UNKNOWN
            if len(self._entries) >= MOST_ENTRIES:
                self._entries.clear()
            found = Entry(*(frozenset(field.split()) for field in line.split("\t")))
            self._entries[lemma] = found
        return found

    def are_synonyms(self, left_lemma: str, right_lemma: str) -> bool:
        """Two different lemmas that share a synset."""
        if left_lemma.lower() == right_lemma.lower():
            return False
        return not self.entry(left_lemma).synsets.isdisjoint(self.entry(right_lemma).synsets)

    def are_derivations(self, left_lemma: str, right_lemma: str) -> bool:
        """Joined by a derivation, or both joined to a third word: creation - create - creator."""
        left, right = self.entry(left_lemma).derivations, self.entry(right_lemma).derivations
        if left_lemma.lower() == right_lemma.lower():
            return False
        return right_lemma.lower() in left or not left.isdisjoint(right)

    def are_antonyms(self, left_lemma: str, right_lemma: str) -> bool:
        """Whether two lemmas are opposites."""
        return right_lemma.lower() in self.entry(left_lemma).antonyms

    def is_hypernym(self, left_lemma: str, right_lemma: str) -> bool:
        """Some sense of the left lemma stands directly above some sense of the right one: animal - dog."""
        if left_lemma.lower() == right_lemma.lower():
            return False
        return not self.entry(right_lemma).hypernyms.isdisjoint(self.entry(left_lemma).synsets)


def meeting(left: Sequence[Set[str]], right: Sequence[Set[str]]) -> list[tuple[int, int]]:
    """Which sets on the left have a member in common with which on the right; most have none with any.

    >>> meeting([{"a", "b"}, {"c"}], [{"d"}, {"b", "c"}])
    [(0, 1), (1, 1)]
    """
    known = frozenset().union(*right)
    return [
        (i, j)
        for i, members in enumerate(left)
        if not known.isdisjoint(members)
        for j, others in enumerate(right)
        if not members.isdisjoint(others)
    ]


@lru_cache(maxsize=1)
def load_wordnet() -> WordNet:
    """The shipped lexicon."""
    return read_wordnet(grammar_root() / "lexicon" / "wordnet.tsv.gz")


def read_wordnet(path: Path) -> WordNet:
    """A table written by scripts/build_wordnet.py."""
    try:
        text = gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise GrammarError(path, None, f"cannot be read as a gzipped lexicon: {error}") from error
    lines = text.removesuffix("\n").split("\n")
    if text.count("\t") != (FIELD_COUNT - 1) * len(lines):
        number, line = next((n, line) for n, line in enumerate(lines, 1) if line.count("\t") != FIELD_COUNT - 1)
        raise GrammarError(path, number, f"{line[:60]!r} has not the {FIELD_COUNT} tab-separated fields of a lemma")
    return WordNet(dict(line.split("\t", 1) for line in lines))
