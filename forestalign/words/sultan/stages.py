"""What both pipelines build upon: pairs of words that compete, links that grow, families in collapsed dependencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forestalign.arrays import FloatArray
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.analysis import ROOT, Analysis, Arc, Orientation

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


class Links:
    """Links in the order of their discovery, and which tokens they have taken."""

    def __init__(self) -> None:
        self._links: dict[tuple[int, int], WordLink] = {}
        self.sources: set[int] = set()
        self.targets: set[int] = set()

    def __contains__(self, pair: object) -> bool:
        return pair in self._links

    def __len__(self) -> int:
        return len(self._links)

    def are_free(self, source: int, target: int) -> bool:
        """Whether neither word has a link yet."""
        return source not in self.sources and target not in self.targets

    def add(self, source: int, target: int, stage: str, score: float = 1.0) -> None:
        """A link found before keeps its stage."""
        if (source, target) not in self._links:
            self._links[source, target] = WordLink(source, target, score, stage)
        self.sources.add(source)
        self.targets.add(target)

    def alignment(self) -> WordAlignment:
        """The links so far, in order."""
        return WordAlignment(tuple(link for _, link in sorted(self._links.items())))


def common_runs(left: Sequence[str], right: Sequence[str], smallest: int = 1) -> list[tuple[int, int, int]]:
    """Maximal common runs of two word lists as (left begin, right begin, length), longest first.

    Runs of one length are ordered by their begin in the shorter list (the left one when equal), then in the other. A
    run is left out if both its ranges lie inside those of a run found before, not necessarily on one diagonal.
    """
    found: list[tuple[int, int, int]] = []  # a part of a run lies inside it, so only whole ones are asked about
    places: dict[str, list[int]] = {}
    for j, word in enumerate(right):
        places.setdefault(word, []).append(j)
    following: dict[int, int] = {}  # length of the run that begins with the next left word, by right word
    for i in range(len(left) - 1, -1, -1):
        following = {j: following.get(j + 1, 0) + 1 for j in places.get(left[i], ())}
        for j, length in following.items():
            if length >= smallest and (i == 0 or j == 0 or left[i - 1] != right[j - 1]):
                found.append((i, j, length))
    runs: list[tuple[int, int, int]] = []
    by_right = len(right) < len(left)
    for i, j, length in sorted(found, key=lambda run: (-run[2], run[1], run[0]) if by_right else (-run[2], *run[:2])):
        if not any(a <= i and i + length <= a + n and b <= j and j + length <= b + n for a, b, n in runs):
            runs.append((i, j, length))
    return runs


PARENT_ON_THE_LEFT = frozenset({Orientation.PARENTS, Orientation.PARENT_CHILD})
PARENT_ON_THE_RIGHT = frozenset({Orientation.PARENTS, Orientation.CHILD_PARENT})


class Relative(NamedTuple):
    """A word above or below another, and the relation between them."""

    word: int
    relation: str


class Family:
    """Parents and children of every token.

    A token that is nobody's dependent has been collapsed into a relation, such as a preposition. Its parent and child
    are then those of the relation that carries it: see `_carrier`.
    """

    def __init__(self, arcs: Sequence[Arc], words: Sequence[str]):
        self.parents: list[list[Relative]] = [[] for _ in words]
        self.children: list[list[Relative]] = [[] for _ in words]
        for arc in arcs:
            self.parents[arc.dependent].append(Relative(arc.head, arc.relation))
            if arc.head != ROOT:
                self.children[arc.head].append(Relative(arc.dependent, arc.relation))
        for index in [index for index, found in enumerate(self.parents) if not found]:
            carrier = _carrier(arcs, words, index)
            self.parents[index] = [] if carrier is None else [Relative(carrier.head, carrier.relation)]
            self.children[index] = [] if carrier is None else [Relative(carrier.dependent, carrier.relation)]

    @classmethod
    def of(cls, analysis: Analysis) -> Family:
        """The family that a relation belongs to."""
        return cls(analysis.arcs, analysis.sentence.words)


def _carrier(arcs: Sequence[Arc], words: Sequence[str], index: int) -> Arc | None:
    """From the next token that is a dependent on, the first relation that has the token's surface in its label.

    The surface is looked for as a part of the label, in its own case, as the program does.
    """
    word = words[index]
    carriers = [number for number, arc in enumerate(arcs) if word in arc.relation and ":" in arc.relation]
    later = [arc.dependent for arc in arcs if arc.dependent > index] if carriers else []
    if not later:
        return None
    following = min(later)
    begin = next(number for number, arc in enumerate(arcs) if arc.dependent == following)
    return next((arcs[number] for number in carriers if number >= begin), None)


def relative_pairs(
    source: Family, target: Family, i: int, j: int, orientation: Orientation
) -> Iterator[tuple[Relative, Relative]]:
    """All pairs of relatives of two words in one orientation."""
    left = source.parents[i] if orientation in PARENT_ON_THE_LEFT else source.children[i]
    right = target.parents[j] if orientation in PARENT_ON_THE_RIGHT else target.children[j]
    if left and right:
        for left_relative in left:
            for right_relative in right:
                yield left_relative, right_relative
