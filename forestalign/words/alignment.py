"""Word links: which word of the source goes with which word of the target.

Sentence-level scores of section 4.2: how much of two sentences is aligned.

With a aligned content words out of n on each side, the paper takes the proportion a / H(n_s, n_t), where H is the
harmonic mean; as a / H = (a/n_s + a/n_t) / 2 for one-to-one links, the mean of the two sides' proportions is the form
that also holds for many-to-many links, and it stays in [0, 1]. The weighted score is the aligned share of the content
words of both sentences, each by its inverse document frequency (Pearson r on stsb.dev .812 against .787; with stop
words in it .757).

Links of profile `best` that its context alone has made ("matching") say that two words play the same part, not that
they mean the same, so they do not count (r .795 instead of .790; .79 instead of .64 before its metric was learned).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.grammar import stop_words
from forestalign.inputs import finite_number
from forestalign.tokens import KEPT_WORDS, Sentence

BY_PLACE = attrgetter("source", "target")
MOST_SCORE = 1e6  # of a link: a probability, or with the older profiles a sum over its context


@dataclass(frozen=True, slots=True, order=True)
class WordLink:
    """Source token i with target token j.

    >>> WordLink(0, 2) == WordLink(0, 2, score=0.5)  # a score is no part of what a link is
    True
    """

    source: int
    target: int
    score: float = field(default=1.0, compare=False)
    stage: str = field(default="", compare=False)


def link_score(value: object) -> float | None:
    """The score that somebody gave a link; None for what is no number, or one that nothing can be counted with."""
    score = finite_number(value)
    return None if score is None or abs(score) > MOST_SCORE else score


@dataclass(frozen=True, slots=True)
class WordAlignment:
    """Links sorted by (source, target), each once.

    >>> WordAlignment((WordLink(0, 2), WordLink(1, 0))).pairs
    ((0, 2), (1, 0))
    """

    links: tuple[WordLink, ...]

    def __iter__(self) -> Iterator[WordLink]:
        return iter(self.links)

    def __len__(self) -> int:
        return len(self.links)

    def __repr__(self) -> str:
        shown = " ".join(f"{source}-{target}" for source, target in self.pairs[:12])
        return f"<WordAlignment {shown}{' ...' if len(self) > 12 else ''}>"

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The links as pairs of positions."""
        return tuple((link.source, link.target) for link in self.links)

    def matrix(self, source_count: int, target_count: int) -> FloatArray:
        """The scores of the links by source and target word; 0 where there is none."""
        table = np.zeros((source_count, target_count))
        for link in self.links:
            table[link.source, link.target] = link.score
        return table

    def mirrored(self) -> WordAlignment:
        """These links with source and target swapped."""
        swapped = [WordLink(link.target, link.source, link.score, link.stage) for link in self.links]
        return WordAlignment(tuple(sorted(swapped, key=BY_PLACE)))


NO_LINKS = WordAlignment(())


MATCHING = "matching"  # stage of links by the matching model that no stage of the pipeline makes


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """Each in [0, 1]; 0 where there is nothing to align."""

    source: float  # aligned share of the source's content words
    target: float
    proportion: float  # the paper's score
    harmonic: float  # harmonic mean of the two shares
    weighted: float  # aligned share of the content words of both sentences, by IDF


def sentence_scores(
    source: Sentence, target: Sentence, alignment: WordAlignment, idf: Callable[[str], float]
) -> SentenceScores:
    """The scores of one aligned pair."""
    links = [link for link in alignment if link.stage != MATCHING]
    sides = (source.words, {link.source for link in links}), (target.words, {link.target for link in links})
    shares = []
    aligned_weight = total_weight = 0.0
    for words, aligned in sides:
        content = [index for index, word in enumerate(words) if is_content(word)]
        shares.append(len(aligned.intersection(content)) / len(content) if content else 0.0)
        aligned_weight += sum(idf(words[index]) for index in content if index in aligned)
        total_weight += sum(idf(words[index]) for index in content)
    left, right = shares
    harmonic = 2 * left * right / (left + right) if left + right else 0.0
    weighted = aligned_weight / total_weight if total_weight else 0.0
    return SentenceScores(left, right, (left + right) / 2, harmonic, weighted)


@lru_cache(maxsize=KEPT_WORDS)
def is_content(word: str) -> bool:
    """Neither a stop word nor punctuation."""
    return any(character.isalnum() for character in word) and word.lower() not in stop_words()
