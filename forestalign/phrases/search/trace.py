"""Non-compositional alignment: TRACE, GAP and DOWN of Algorithm 4.2 (section 4.3 of the paper).

Symbols: Ψ `aligned`, the placed hypotheses; Φ `nulls`, the null phrases between them; n the hypothesis to be placed.

When the target phrase of one hypothesis lies in that of another, n is placed among the aligned and null phrases of the
other. Every pair that has to be opened on the way gives way, its supports stay. Same-Tree: in the end all edges that
either derivation opened, dissolved pairs included, must agree; so where the placed hypothesis itself gives way, its
edges say which path its supports take up to a null phrase, and only one that keeps its pair has a choice of paths.

The compiled twin decides the same by bit sets: it succeeds exactly when the covered words are disjoint and the edges
agree, and a pair survives exactly when its target holds no word that the other hypothesis covers.
"""

from __future__ import annotations

from dataclasses import dataclass

from forestalign.forest import Forest, NodeId
from forestalign.phrases.search.hypotheses import Hypothesis
from forestalign.phrases.search.lca import NOTHING, UNLIMITED, Ancestry, EdgeId, Region


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """(Ψ, Φ) with the region that gaps opened."""

    aligned: tuple[Hypothesis, ...]
    nulls: tuple[NodeId, ...]
    gaps: Region = NOTHING


@dataclass(slots=True)
class Bound:
    """The most states of one call, and how often that was not enough."""

    limit: int
    hits: int = 0

    def cut(self, states: list[State]) -> list[State]:
        """The states that the bound leaves."""
        if self.limit and len(states) > self.limit:
            self.hits += 1
            return states[: self.limit]
        return states


def place(inner: Hypothesis, outer: Hypothesis, ancestry: Ancestry, bound: Bound) -> list[State]:
    """All ways to have `inner` inside `outer`, whose own pair gives way; edges of both derivations agree."""
    if inner.target_words & outer.target_words or outer.step.is_opaque:
        return []
    if not _agree(inner.target_region.edges | outer.target_region.edges):
        return []
    return Tracer(inner, ancestry).trace(
        inner, State(outer.supports, outer.segment_nulls), outer.target_region.edges, bound
    )


@dataclass(frozen=True, slots=True)
class Tracer:
    """Places one hypothesis and, where that gives way, its supports."""

    placed: Hypothesis
    ancestry: Ancestry

    def trace(self, n: Hypothesis, state: State, opened: frozenset[EdgeId], bound: Bound) -> list[State]:
        """Place n among the aligned and null phrases of `state`, which lies in the tree part `opened`."""
        forest = self.ancestry.forest
        for phi in state.nulls:
            if _lies_in(forest, n.target, phi):
                return bound.cut(self._fill_gap(n, phi, state))
        for psi in state.aligned:
            if _lies_in(forest, n.target, psi.target):
                return self._open(n, psi, state, opened, bound)
        if any(edge.node == n.target for edge in opened):
            return self._down(n, state, opened, bound)
        return []

    def _fill_gap(self, n: Hypothesis, phi: NodeId, state: State) -> list[State]:
        """GAP: n lies in a null phrase; the subtrees off the path between them stay null. One state per path."""
        rest = tuple(other for other in state.nulls if other != phi)
        return [State((*state.aligned, n), rest + path.nulls, state.gaps + path) for path in self._paths(n.target, phi)]

    def _paths(self, node: NodeId, phi: NodeId) -> list[Region]:
        """Any path for the hypothesis itself; for one of its supports the path that its own edges take."""
        if node == self.placed.target:
            return [path.region for path in self.ancestry.paths_from(node, UNLIMITED).get(phi, [])]
        chosen = {edge.node: edge for edge in self.placed.target_region.edges}
        region, top = NOTHING, phi
        while top != node:
            if top not in chosen:
                return []
            region += self.ancestry.edge(chosen[top])
            children = self.ancestry.forest.edges[top][chosen[top].way].children
            inside = [child for child in children if _lies_in(self.ancestry.forest, node, child)]
            if not inside:
                return []
            for sibling in children:
                region += self.ancestry.null(sibling) if sibling != inside[0] else NOTHING
            top = inside[0]
        return [region]

    def _open(
        self, n: Hypothesis, psi: Hypothesis, state: State, opened: frozenset[EdgeId], bound: Bound
    ) -> list[State]:
        """n lies in an aligned phrase, which gives way to its supports."""
        if psi.step.is_opaque or not psi.supports:
            return []
        others = tuple(other for other in state.aligned if other is not psi)
        return [
            State(others + inner.aligned, state.nulls + inner.nulls, state.gaps + inner.gaps)
            for inner in self.trace(n, State(psi.supports, psi.segment_nulls), opened, bound)
        ]

    def _down(self, n: Hypothesis, state: State, opened: frozenset[EdgeId], bound: Bound) -> list[State]:
        """DOWN: n covers some of the phrases; it gives way and its supports are placed one after the other."""
        if n.step.is_opaque or not n.supports:
            return []
        states = [state]
        for support in n.supports:
            states = [
                after for before in states for after in self.trace(support, before, opened | before.gaps.edges, bound)
            ]
        return states


def _lies_in(forest: Forest, inner: NodeId, outer: NodeId) -> bool:
    one, other = forest.nodes[inner], forest.nodes[outer]
    return other.begin <= one.begin and one.end <= other.end


def _agree(edges: frozenset[EdgeId]) -> bool:
    """No node is built in two ways."""
    return len({edge.node for edge in edges}) == len(edges)
