"""Opposites: *not bad* is *good*, *did not remember* is *forgot*, and *cheap* is not *expensive*.

A negation reaches the next content word behind it, over adverbs, auxiliaries and articles. Opposites are WordNet's
antonyms, those of grammar/opposites.tsv, and words with a negative prefix (*published*, *unpublished*).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.lexicon.findings import EQUAL, SIMILAR, Finding
from forestalign.lexicon.phrase_text import Parts, part_of_speech
from forestalign.lexicon.wordnet import WordNet

CUES = frozenset({"not", "n't", "never", "neither", "nor", "no", "cannot", "hardly", "without"})
PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
AUXILIARIES = frozenset({"do", "be", "have"})
BETWEEN = frozenset({"RB", "DT", "TO", "MD"})
REACH = 4
FULL, BY_PREFIX = 9, 8


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


@dataclass(frozen=True, slots=True)
class Negated:
    """A negated word, and the parts that say so: auxiliary, cue, word."""

    cue: int
    word: int
    parts: tuple[int, ...]


def find_negated(parts: Parts) -> tuple[Negated, ...]:
    """Cues and the words they reach."""
    found = []
    for cue, form in enumerate(parts.forms):
        if form not in CUES:
            continue
        word = next((i for i in range(cue + 1, min(cue + 1 + REACH, len(parts))) if not is_passed(parts, i)), None)
        if word is not None and part_of_speech(parts.tags[word]):
            has_do = cue > 0 and parts.lemmas[cue - 1] == "do" and parts.tags[cue - 1][:2] == "VB"
            found.append(Negated(cue, word, tuple(range(cue - has_do, word + 1))))
        if form == "no" and cue and parts.tags[cue - 1][:2] == "VB" and parts.lemmas[cue - 1] != "be":
            found.append(Negated(cue, cue - 1, (cue - 1, cue)))  # has no money: lacks money
    return tuple(found)


def is_passed(parts: Parts, index: int) -> bool:
    """Whether a negation reaches over this word."""
    is_auxiliary = parts.lemmas[index] in AUXILIARIES and index + 1 < len(parts)
    return parts.tags[index] in BETWEEN or (is_auxiliary and parts.tags[index + 1][:2] in {"VB", "RB", "JJ"})


def are_opposites(left: str, right: str, wordnet: WordNet) -> int:
    """A grade, 0 where they are not."""
    short, long = sorted((left, right), key=len)
    if len(short) > 3 and long in {prefix + joint + short for prefix in PREFIXES for joint in ("", "-")}:
        return BY_PREFIX
    return FULL if wordnet.are_antonyms(left, right) or (left, right) in listed_opposites() else 0


def negation_findings(source: Parts, target: Parts, wordnet: WordNet) -> Iterator[Finding]:
    """A negated word on one side, its opposite, not negated, on the other."""
    own, other = find_negated(source), find_negated(target)
    yield from _negated_opposites(own, source, target, {negated.word for negated in other}, wordnet)
    turned = _negated_opposites(other, target, source, {negated.word for negated in own}, wordnet)
    yield from (finding.turned() for finding in turned)


def _negated_opposites(
    negated: tuple[Negated, ...], own: Parts, other: Parts, other_negated: set[int], wordnet: WordNet
) -> Iterator[Finding]:
    for one in negated:
        for index in range(len(other)):
            if index in other_negated or not part_of_speech(other.tags[index]):
                continue
            grades = [
                are_opposites(left, right, wordnet)
                for left in own.readings(one.word)
                for right in other.readings(index)
            ]
            words, partner = own.whole_tokens(one.parts), other.whole_tokens((index,))
            if max(grades) and words and partner:
                is_verb = own.tags[one.word][:2] == "VB"
                yield Finding(words, partner, EQUAL if is_verb or max(grades) == BY_PREFIX else SIMILAR, max(grades))
