"""The phrase lexicon built from WordNet 3.0 by scripts/build_phrases.py, and its phrases in a sentence.

The table stays as text, keyed by the first two words of a phrase; a line is taken apart when these two words are first
met. A phrase is found with its verb inflected, its possessive slot filled (*lose one's temper*: *lost her temper*),
hyphens or blanks between its words, and, if it is a verb with a particle, with an object between the two.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.lexicon.phrase_text import PUNCTUATION, Parts, part_of_speech
from forestalign.lexicon.wordnet import WordNet, load_wordnet

MOST_LINES = 1 << 10  # taken apart and kept
SIGNS = "=!><~"
SLOTS = frozenset({"one's", "someone's", "somebody's", "everyone's"})
PARTICLES = frozenset(
    {
        "about", "across", "ahead", "along", "apart", "around", "aside", "away", "back", "by", "down", "forth",
        "forward", "in", "off", "on", "out", "over", "round", "through", "together", "up",
    }
)  # fmt: skip
MOST_BETWEEN = 5  # words of the object between a verb and its particle
OBJECT_TAGS = frozenset({"DT", "PDT", "JJ", "JJR", "JJS", "NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "CD", "POS", "$"})
PARTICLE_TAGS = frozenset({"RP", "IN", "RB"})


class Relation(NamedTuple):
    """How a lemma is related to a phrase: a sign of SIGNS, and a grade from 0 to 9 (both meant in the shared sense)."""

    sign: str
    grade: int


class Lemma(NamedTuple):
    """A part of speech (n, v, a, r) and words, separated by blanks."""

    part: str
    words: str


class PhraseEntry:
    """A phrase of the lexicon and the lemmas it is related to, which are read when first asked for."""

    __slots__ = ("_relations", "_text", "lemma", "words")

    def __init__(self, lemma: Lemma, text: str):
        self.lemma = lemma
        self.words = tuple(lemma.words.split(" "))
        self._text = text
        self._relations: dict[Lemma, Relation] | None = None

    @property
    def relations(self) -> dict[Lemma, Relation]:
        """Related lemmas, of one word or of several."""
        if self._relations is None:
            rows = self._text.split()
            self._relations = {Lemma(r[2], r[4:].replace("_", " ")): Relation(r[0], int(r[1])) for r in rows}
        return self._relations


class PhraseMatch(NamedTuple):
    """A phrase of the lexicon in a sentence: its words, by number."""

    tokens: tuple[int, ...]
    entry: PhraseEntry


class PhraseLexicon:
    """Phrases by their first two words."""

    def __init__(self, lines: dict[str, str], wordnet: WordNet):
        self.wordnet = wordnet
        self._lines = lines
        self._entries: dict[str, tuple[PhraseEntry, ...]] = {}

    def __len__(self) -> int:
        """How many beginnings there are."""
        return len(self._lines)

    def entries(self, begin: str) -> tuple[PhraseEntry, ...]:
        """All phrases that begin with these two words."""
        found = self._entries.get(begin)
        if found is None:
            line = self._lines.get(begin)
            if line is None:
                return ()
            if len(self._entries) >= MOST_LINES:
                self._entries.clear()
            found = self._entries[begin] = tuple(_entry(begin, text) for text in line.split("\t"))
        return found

    def entry(self, lemma: Lemma) -> PhraseEntry | None:
        """What is stored about one phrase."""
        begin = " ".join(lemma.words.split(" ", 2)[:2])
        return next((entry for entry in self.entries(begin) if entry.lemma == lemma), None)

    def relation(self, left: PhraseEntry, right: PhraseEntry) -> Relation | None:
        """How the right phrase is related to the left one; the lexicon states it at one of the two."""
        if (found := left.relations.get(right.lemma)) is not None:
            return found
        if (inverse := right.relations.get(left.lemma)) is not None:
            return Relation(INVERSE.get(inverse.sign, inverse.sign), inverse.grade)
        return None

    def matches(self, parts: Parts) -> tuple[PhraseMatch, ...]:
        """The phrases of a sentence, by their place."""
        found = {*self._together(parts), *self._separated(parts)}
        nouns = [set(match.tokens) for match in found if match.entry.lemma.part == "n"]
        kept = [match for match in found if not _is_inside(match, nouns)]
        return tuple(sorted(kept, key=lambda match: (match.tokens, match.entry.lemma)))

    def _together(self, parts: Parts) -> Iterator[PhraseMatch]:
        for index in range(len(parts) - 1):
            seconds = (*parts.readings(index + 1), *(("one's", "someone's") if parts.tags[index + 1] == "PRP$" else ()))
            for first in parts.readings(index):
                for second in seconds:
                    for entry in self.entries(f"{first} {second}"):
                        end = _end(entry, parts, index)
                        if end and (tokens := parts.whole_tokens(range(index, end))):
                            yield PhraseMatch(tokens, entry)

    def _separated(self, parts: Parts) -> Iterator[PhraseMatch]:
        for index, tag in enumerate(parts.tags):
            if tag[:2] != "VB":
                continue
            for at in particles_after(parts, index):
                for entry in self.entries(f"{parts.lemmas[index]} {parts.forms[at]}"):
                    if entry.lemma.part == "v" and len(entry.words) == 2:
                        yield PhraseMatch(parts.whole_tokens((index, at)), entry)


INVERSE = {">": "<", "<": ">"}


def _is_inside(match: PhraseMatch, nouns: Sequence[set[int]]) -> bool:
    """A noun that is part of a longer one: the *New York* of *New York City*."""
    return match.entry.lemma.part == "n" and any(set(match.tokens) < longer for longer in nouns)


def _entry(begin: str, text: str) -> PhraseEntry:
    rest, part, relations = text.split("|")
    return PhraseEntry(Lemma(part, f"{begin} {rest}".rstrip()), relations)


def _end(entry: PhraseEntry, parts: Parts, begin: int) -> int:
    """Where the phrase ends that begins here; 0 where it is not there."""
    words = entry.words
    end = begin + len(words)
    if end > len(parts) or not all(_fits(parts, begin + at, word) for at, word in enumerate(words)):
        return 0
    if entry.lemma.part == "n" and part_of_speech(parts.tags[end - 1]) != "n":
        return 0
    if entry.lemma.part == "v" and parts.tags[begin][:2] != "VB":
        return 0
    return end


def _fits(parts: Parts, index: int, word: str) -> bool:
    return parts.is_word(index, word) or (word in SLOTS and parts.tags[index] == "PRP$")


def particles_after(parts: Parts, verb: int) -> Iterator[int]:
    """Particles behind an object of this verb: `turned the offer down`, but not `took the book off the shelf`."""
    for index in range(verb + 1, min(verb + 2 + MOST_BETWEEN, len(parts))):
        if index > verb + 1 and parts.forms[index] in PARTICLES and parts.tags[index] in PARTICLE_TAGS:
            following = parts.tags[index + 1] if index + 1 < len(parts) else "."
            if parts.tags[index] == "RP" or following in PUNCTUATION or following in {"CC", "TO", "RB"}:
                yield index
        if parts.tags[index] not in OBJECT_TAGS:
            return


@lru_cache(maxsize=1)
def load_phrases() -> PhraseLexicon:
    """The shipped lexicon."""
    return read_phrases(grammar_root() / "lexicon" / "phrases.tsv.gz", load_wordnet())


def read_phrases(path: Path, wordnet: WordNet) -> PhraseLexicon:
    """A table written by scripts/build_phrases.py."""
    try:
        text = gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise GrammarError(path, None, f"cannot be read as a gzipped phrase lexicon: {error}") from error
    lines = text.removesuffix("\n").split("\n")
    if text.count("|") != 2 * text.count("\t") or "" in lines:
        number, line = next((n, line) for n, line in enumerate(lines, 1) if line.count("|") != 2 * line.count("\t"))
        raise GrammarError(
            path, number, f"{line[:60]!r} is not two words and tab-separated entries words|part|relations"
        )
    return PhraseLexicon(dict(line.split("\t", 1) for line in lines), wordnet)
