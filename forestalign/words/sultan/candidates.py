"""Pairs of words that compete for links, and the published program's way of choosing among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forestalign.arrays import FloatArray
from forestalign.words.analysis import Analysis

WEIGHT = 0.9  # w, section 3.3.5


class Candidate(NamedTuple):
    """A pair that competes for a link."""

    source: int
    target: int
    score: float
    linkable: bool  # similar enough, with the evidence that its stage asks for


@dataclass(frozen=True, slots=True)
class Stages:
    """The parts that the ablations of Table 3 take away."""

    dependencies: bool = True
    text: bool = True  # sequences and neighbours: without it, text stages link by similarity alone
    stop_words: bool = True


ALL_STAGES = Stages()


@dataclass(frozen=True, slots=True)
class Pair:
    """The two sentences with everything the stages ask of them."""

    source: Analysis
    target: Analysis
    similarity: FloatArray  # S(i, j)
    weight: float  # w of section 3.3.5
    level: float  # ppdbSim

    def candidate(self, source: int, target: int, similarity: float, evidence: float, linkable: bool) -> Candidate:
        """Phi(i, j) = w * wordSim + (1 - w) * contextSim (Algorithms 3 and 4)."""
        return Candidate(source, target, self.weight * similarity + (1 - self.weight) * evidence, linkable)


def best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """By score; ties by source, then target."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.source, candidate.target))


class Copies(NamedTuple):
    """How often each word may be in a round, by word, and how many rounds there are."""

    sources: dict[int, int]
    targets: dict[int, int]
    rounds: int

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Copies:
        """Each word may be in as many rounds as it has candidates."""
        sources = Counter(candidate.source for candidate in candidates)
        return cls(sources, Counter(candidate.target for candidate in candidates), len(candidates))

    @classmethod
    def of_all(cls, sources: Sequence[int], targets: Sequence[int]) -> Copies:
        """The copies where every pair of these words is a candidate, even one without a score."""
        return cls(
            dict.fromkeys(sources, len(targets)), dict.fromkeys(targets, len(sources)), len(sources) * len(targets)
        )


def compete(
    candidates: Sequence[Candidate], *, exclusive: bool, copies_left: Copies | None = None
) -> Iterator[Candidate]:
    """The winners, best first, of a competition in which words wear out.

    Each word starts with as many copies as it has candidates, unless they are given. A round goes to the best
    candidate whose words both have a copy left (and, if `exclusive`, whose words have not been linked), and costs each
    of them one copy. Only a candidate with `linkable` is then linked; the round repeats as long as the candidate stays
    the best, so one that cannot be linked uses up the copies of one of its words, which is then lost to all others.
    """
    sources, targets, rounds = copies_left or Copies.of(candidates)
    taken_sources: set[int] = set()
    taken_targets: set[int] = set()
    for candidate in best_first(candidates):
        i, j = candidate.source, candidate.target
        if candidate.score <= 0.0 or (i in taken_sources or j in taken_targets):
            continue
        copies = min(sources[i], targets[j], rounds)
        if copies == 0:
            continue
        is_linked = candidate.linkable
        spent = 1 if is_linked and exclusive else copies
        sources[i], targets[j], rounds = sources[i] - spent, targets[j] - spent, rounds - spent
        if is_linked:
            yield candidate
            if exclusive:
                taken_sources.add(i)
                taken_targets.add(j)
