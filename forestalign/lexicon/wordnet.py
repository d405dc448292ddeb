"""The synonym-and-derivation lexicon built from WordNet 3.0 by scripts/build_wordnet.py.

The table stays as text, one line per lemma in order, and a line is split when its lemma is first asked for, so that a
run pays only for the words it meets.

Opposites are WordNet's antonyms, those of grammar/opposites.tsv, and words with a negative prefix (*published*,
*unpublished*). *John bought it from Mary* is *Mary sold it to John*: grammar/conversives.tsv says which role of the one
is which role of the other. A predicate with itself is one whose two sides are alike: *Ann met Bob* is *Bob met Ann*.

A sentence looks like English by its words: those that a dictionary of English forms, WordNet or the stop words do not
know are unknown. Vectors and word pieces would not do: both know *der*, *que* and *pour*, since English text on the web
quotes them. Words with a capital are left out where others are there, since names are foreign in any language.
"""

from __future__ import annotations

import gzip
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows, stop_words
from forestalign.tokens import KEPT_WORDS, is_listed_form

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

    def __init__(self, lines: Iterable[str] = ()):
        self._lines = sorted(lines)  # a lemma and its fields each; as a dictionary they would take 10 MB more
        self._entries: dict[str, Entry] = {}

    def __contains__(self, lemma: object) -> bool:
        return isinstance(lemma, str) and self._fields(lemma.lower()) is not None

    def _fields(self, lemma: str) -> list[str] | None:
        start = f"{lemma}\t"
        place = bisect_left(self._lines, start)
        is_known = place < len(self._lines) and self._lines[place].startswith(start)
        return self._lines[place].split("\t")[1:] if is_known else None

    def __len__(self) -> int:
        return len(self._lines)

    def entry(self, lemma: str) -> Entry:
        """Everything stored about a lemma; an unknown one has empty relations."""
        lemma = lemma.lower()
        found = self._entries.get(lemma)
        if found is None:
            fields = self._fields(lemma)
            if fields is None:
                return UNKNOWN
            if len(self._entries) >= MOST_ENTRIES:
                self._entries.clear()
            found = Entry(*(frozenset(field.split()) for field in fields))
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
    return WordNet(lines)


# ---- opposites, and predicates that tell one event from two sides ----


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


# ---- does a sentence look like English? ----


FEWEST_WORDS = 4  # fewer say nothing: "Je sais" and "Kofi Annan sneezed" look alike
FEWEST_PLAIN = 2  # words without a capital, for those with one to count
FEWEST_LETTERS = 4  # to tell a script: one Greek letter is a symbol
MOST_UNKNOWN = 0.5
SHORTEST_ENTRY = 4  # letters; WordNet's shorter entries are often abbreviations: UN, LE, El


def looks_english(words: Sequence[str]) -> bool:
    """Whether at least half of the words are known to be English, or there are too few to tell.

    Letters of another script need no dictionary. Of a short sentence words with a capital count as well, if the others
    are unknown, too: *Ich bin ein kleiner Hund*, but not *Kofi Annan sneezed*.
    """
    if _is_other_script(words):
        return False
    letters = [word for word in words if all(character.isalpha() or character in "'’-" for character in word)]
    spelt = [word for word in letters if any(map(str.isalpha, word))]
    plain = [word for word in spelt if not word[0].isupper()]
    if FEWEST_PLAIN <= len(plain) < FEWEST_WORDS and not _mostly_known(plain):
        plain = spelt
    counted = plain if plain else spelt
    return len(counted) < FEWEST_WORDS or _mostly_known(counted)


def _mostly_known(words: Sequence[str]) -> bool:
    return sum(not _is_known(word.lower().replace("’", "'")) for word in words) <= MOST_UNKNOWN * len(words)


def _is_other_script(words: Sequence[str]) -> bool:
    """Whether most letters are Cyrillic, Chinese or the like; Latin ones, with their accents, end at U+024F."""
    letters = [character for word in words for character in word if character.isalpha()]
    is_enough = len(letters) >= FEWEST_LETTERS
    return is_enough and sum(character > "\u024f" for character in letters) > MOST_UNKNOWN * len(letters)


@lru_cache(maxsize=KEPT_WORDS)
def _is_known(word: str) -> bool:
    if word in stop_words() or (len(word) >= SHORTEST_ENTRY and word in load_wordnet()):
        return True
    parts = word.split("-")
    if len(parts) > 1:
        return all(not part or _is_known(part) for part in parts)
    return is_listed_form(word)
