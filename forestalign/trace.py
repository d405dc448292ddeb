"""Non-compositional alignment: TRACE, GAP and DOWN of Algorithm 4.2 (section 4.3 of the paper).

Symbols: Ψ `aligned`, the placed hypotheses; Φ `nulls`, the null phrases between them; n the hypothesis to be placed.

When the target phrase of one hypothesis lies in that of another, n is placed among the aligned and null phrases of the
other. Every pair that has to be opened on the way gives way, its supports stay. Same-Tree: in the end all edges that
either derivation opened, dissolved pairs included, must agree.
"""

from __future__ import annotations

from dataclasses import dataclass

from forestalign.forest import Forest, NodeId
from forestalign.hypotheses import Hypothesis
from forestalign.lca import UNLIMITED, Ancestry, EdgeId


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """(Ψ, Φ) with the edges that gaps opened."""

    aligned: tuple[Hypothesis, ...]
    nulls: tuple[NodeId, ...]
    edges: frozenset[EdgeId] = frozenset()
    trees: int = -1


@dataclass(slots=True)
class Bound:
    """The most states of one call, and how often that was not enough."""

    limit: int
    hits: int = 0

    def cut(self, states: list[State]) -> list[State]:
        if self.limit and len(states) > self.limit:
            self.hits += 1
            return states[: self.limit]
        return states


def place(inner: Hypothesis, outer: Hypothesis, ancestry: Ancestry, bound: Bound) -> list[State]:
    """All ways to have `inner` inside `outer`, whose own pair gives way; edges of both derivations agree."""
    if inner.target_words & outer.target_words or outer.step.is_opaque:
        return []
    opened = inner.target_edges | outer.target_edges
    states = trace(inner, State(outer.supports, outer.segment_nulls), outer.target_edges, ancestry, bound)
    return [state for state in states if _agree(opened | state.edges)]


def trace(n: Hypothesis, state: State, opened: frozenset[EdgeId], ancestry: Ancestry, bound: Bound) -> list[State]:
    """Place n among the aligned and null phrases of `state`, which lies in the tree part `opened`."""
    forest = ancestry.forest
    for phi in state.nulls:
        if _lies_in(forest, n.target, phi):
            return bound.cut(_fill_gap(n, phi, state, ancestry))
    for psi in state.aligned:
        if _lies_in(forest, n.target, psi.target):
            return bound.cut(_open(n, psi, state, opened, ancestry, bound))
    if any(edge.node == n.target for edge in opened):
        return bound.cut(_down(n, state, opened, ancestry, bound))
    return []


def _fill_gap(n: Hypothesis, phi: NodeId, state: State, ancestry: Ancestry) -> list[State]:
    """GAP: n lies in a null phrase; the subtrees off the path between them stay null. One state per path."""
    rest = tuple(other for other in state.nulls if other != phi)
    return [
        State(
            (*state.aligned, n),
            rest + path.nulls,
            state.edges | frozenset(path.edges),
            state.trees & path.trees,
        )
        for path in ancestry.paths_from(n.target, UNLIMITED).get(phi, [])
    ]


def _open(
    n: Hypothesis, psi: Hypothesis, state: State, opened: frozenset[EdgeId], ancestry: Ancestry, bound: Bound
) -> list[State]:
    """n lies in an aligned phrase, which gives way to its supports."""
    if psi.step.is_opaque or not psi.supports:
        return []
    others = tuple(other for other in state.aligned if other is not psi)
    return [
        State(others + inner.aligned, state.nulls + inner.nulls, state.edges | inner.edges, state.trees & inner.trees)
        for inner in trace(n, State(psi.supports, psi.segment_nulls), opened, ancestry, bound)
    ]


def _down(n: Hypothesis, state: State, opened: frozenset[EdgeId], ancestry: Ancestry, bound: Bound) -> list[State]:
    """DOWN: n covers some of the phrases; it gives way and its supports are placed one after the other."""
    if n.step.is_opaque or not n.supports:
        return []
    states = [state]
    for support in n.supports:
        states = bound.cut(
            [after for before in states for after in trace(support, before, opened | before.edges, ancestry, bound)]
        )
    return states


def _lies_in(forest: Forest, inner: NodeId, outer: NodeId) -> bool:
    one, other = forest.nodes[inner], forest.nodes[outer]
    return other.begin <= one.begin and one.end <= other.end


def _agree(edges: frozenset[EdgeId]) -> bool:
    """No node is built in two ways."""
    return len({edge.node for edge in edges}) == len(edges)
