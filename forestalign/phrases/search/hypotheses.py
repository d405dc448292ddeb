"""Hypotheses, the bounds within which they are sought, and what is handed on of those that reach the roots (4.1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from forestalign.config import AlignConfig
from forestalign.forest import NodeId
from forestalign.phrases.scoring.score import Step
from forestalign.phrases.search.lca import EdgeId, Region

GRAIN = 1e9  # values that differ by less than one part of this are ties, whatever the order they were added up in
LARGEST_VALUE = 9e9  # values beyond are as good as this


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the search may do. Counts of 0 mean "all"."""

    beam: int = 0  # µb
    gap: int = 1 << 30  # µg
    paths: int = 0
    variants: int = 0
    cube: int = 0
    trace_states: int = 0
    prospect_share: float = 0.0  # of the places in beams and pools that go by prospect
    prospect_links: float = 0.0  # ω
    monotonic: bool = False
    lifts: bool = True
    kbest: int = 1

    @classmethod
    def of(cls, config: AlignConfig) -> Bounds:
        """The bounds that the settings ask for."""
        return cls(**{name: getattr(config, name) for name in cls.__slots__})

    def widened(self, times: int) -> Bounds:
        """The same with so many times the room in beams, pools and cubes."""
        return replace(self, beam=times * self.beam, cube=times * self.cube)


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """One derivation of a pair. Covered words are bits; opened edges include those of dissolved pairs."""

    source: NodeId
    target: NodeId
    step: Step
    supports: tuple[Hypothesis, ...]
    value: float  # of the pair itself
    source_words: int
    target_words: int
    source_region: Region
    target_region: Region
    hope: float = 0.0  # what its prospect adds to its gain; 0: it is closed
    segment_nulls: tuple[NodeId, ...] = ()  # target nulls that lie in no support: Φ of Algorithm 4.2

    @property
    def pairs(self) -> float:
        """Value of this pair and all pairs below it."""
        return sum((support.pairs for support in self.supports), self.value)

    @property
    def score(self) -> float:
        """S(h): the pairs, and what the regions of both sides add (nulls, edges)."""
        return self.pairs + self.source_region.value + self.target_region.value

    def parts(self) -> Iterator[Hypothesis]:
        """This pair and all pairs below it, supports before what they support."""
        for support in self.supports:
            yield from support.parts()
        yield self

    def aligned_nodes(self) -> frozenset[tuple[NodeId, NodeId]]:
        """The pairs of nodes that it aligns."""
        return frozenset((part.source, part.target) for part in self.parts())


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A hypothesis seen from a source node above it: what the way down to it leaves null is already counted."""

    hypothesis: Hypothesis
    steps: int
    region: Region


@dataclass(frozen=True, slots=True)
class AlignedNodes:
    """A pair of a finished derivation. `supports` are places in the derivation's list."""

    source: NodeId
    target: NodeId
    step: Step
    supports: tuple[int, ...]
    posterior: float  # share of the beam's mass at the root


@dataclass(frozen=True, slots=True)
class Derivation:
    """A root hypothesis without what the search needed to find it; supports stand before what they support."""

    score: float
    pairs: tuple[AlignedNodes, ...]
    source_edges: tuple[EdgeId, ...]  # sorted; those that were opened, in a result those of the whole tree
    target_edges: tuple[EdgeId, ...]
    source_nulls: tuple[NodeId, ...]  # sorted
    target_nulls: tuple[NodeId, ...]
    completed: bool = False  # the root was reached by lifting one support to it

    def with_posteriors(self, shares: Iterable[float]) -> Derivation:
        """The same derivation with these shares in place of its pairs' posteriors."""
        rows = zip(self.pairs, shares, strict=True)
        pairs = tuple(AlignedNodes(p.source, p.target, p.step, p.supports, share) for p, share in rows)
        return replace(self, pairs=pairs)

    def mirrored(self) -> Derivation:
        """The derivation seen from the other side; its edges stay with their forests."""
        return Derivation(
            self.score,
            tuple(AlignedNodes(p.target, p.source, p.step, p.supports, p.posterior) for p in self.pairs),
            self.target_edges,
            self.source_edges,
            self.target_nulls,
            self.source_nulls,
            self.completed,
        )


@dataclass(frozen=True, slots=True)
class Found:
    """The `kbest` best root hypotheses that differ in their pairs, best first; none when no seed was usable."""

    derivations: tuple[Derivation, ...]
    completed: bool
    states: int  # combinations and lifts that were looked at
    beam_cuts: int
    trace_bounds: int

    def mirrored(self) -> Found:
        """What was found, with source and target swapped."""
        return replace(self, derivations=tuple(each.mirrored() for each in self.derivations))


def grains(value: float) -> int:
    """A value as a whole number of grains, by which values are compared."""
    return round(max(-LARGEST_VALUE, min(LARGEST_VALUE, value)) * GRAIN)


def distinct(ranked: Sequence[Hypothesis], count: int) -> list[Hypothesis]:
    """The first `count` that differ in their pairs, not only in how the null phrases are built."""
    seen: set[frozenset[tuple[NodeId, NodeId]]] = set()
    kept: list[Hypothesis] = []
    for hypothesis in ranked:
        if len(kept) < count and hypothesis.aligned_nodes() not in seen:
            seen.add(hypothesis.aligned_nodes())
            kept.append(hypothesis)
    return kept


def posteriors(ranked: Sequence[Hypothesis]) -> dict[tuple[NodeId, NodeId], float]:
    """Share of the probability mass of all root hypotheses, best first, that holds each pair."""
    masses = [math.exp(hypothesis.score - ranked[0].score) for hypothesis in ranked]
    total = sum(masses)
    shares: dict[tuple[NodeId, NodeId], float] = {}
    for hypothesis, mass in zip(ranked, masses, strict=True):
        for key in hypothesis.aligned_nodes():
            shares[key] = shares.get(key, 0.0) + mass / total
    return {key: min(share, 1.0) for key, share in shares.items()}


def finished(root: Hypothesis, shares: dict[tuple[NodeId, NodeId], float], nulls: tuple[NodeId, ...]) -> Derivation:
    """What is handed on of a root hypothesis; `nulls` are its target nulls."""
    order = list(root.parts())
    place = {id(part): k for k, part in enumerate(order)}
    return Derivation(
        score=root.score,
        pairs=tuple(
            AlignedNodes(
                p.source, p.target, p.step, tuple(place[id(s)] for s in p.supports), shares[p.source, p.target]
            )
            for p in order
        ),
        source_edges=tuple(sorted(root.source_region.edges)),
        target_edges=tuple(sorted(root.target_region.edges)),
        source_nulls=tuple(sorted(root.source_region.nulls)),
        target_nulls=nulls,
    )
