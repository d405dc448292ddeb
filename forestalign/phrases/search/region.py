"""The part of a forest that a derivation opens: the edges it uses, and what it leaves null beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from forestalign.forest import Forest, NodeId


class EdgeId(NamedTuple):
    """One of the edges of `node`: which way it is built."""

    node: NodeId
    way: int


@dataclass(frozen=True, slots=True)
class Region:
    """Opened edges, the maximal null phrases between them, and the value of both."""

    value: float = 0.0
    edges: frozenset[EdgeId] = frozenset()
    nulls: tuple[NodeId, ...] = ()

    def __add__(self, other: Region) -> Region:
        """The region that joins two parts of a tree."""
        return Region(self.value + other.value, self.edges | other.edges, self.nulls + other.nulls)


NOTHING = Region()


def null_nodes(forest: Forest, edges: Iterable[EdgeId], words: int) -> tuple[NodeId, ...]:
    """Children of opened nodes that are neither opened nor covered: the maximal null phrases. `words` are bits."""
    return tuple(sorted(node for node in unopened(forest, edges) if not words >> forest.nodes[node].begin & 1))


def unopened(forest: Forest, edges: Iterable[EdgeId]) -> list[NodeId]:
    """Children of opened nodes that are not opened themselves: null phrases and covered nodes."""
    edges = sorted(edges)
    opened = {edge.node for edge in edges}
    return [child for edge in edges for child in forest.edges[edge.node][edge.way].children if child not in opened]


def span_mask(forest: Forest, node: NodeId) -> int:
    """The words under a node as bits."""
    return (1 << forest.nodes[node].end) - (1 << forest.nodes[node].begin)
