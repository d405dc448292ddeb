"""Ways up a forest, and the lowest common ancestors they meet at (section 3.3, 4.1 and 5.1 of the paper).

Symbols: π path, β the value of its null phrases, γ both paths to an LCA together, µg `gap`.

Going through one child of a node leaves the other child null as a whole, so a path carries the region it opened: the
edges it climbed and the maximal subtrees it left behind. A forest has several paths between two nodes; the `paths` best
are kept, all of them when it is 0. The unary step from a phrase to its word is no generation.

Ties, here and in the compiled twin: by value, then by fewer steps, then in the order in which they are found (lower
nodes first, edges in their order).

A `Region` is the part of a forest that a derivation opens: the edges it uses, and what it leaves null beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from forestalign.arrays import FloatArray
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


UNLIMITED = 1 << 30


class ParentEdge(NamedTuple):
    """An edge seen from one of its children."""

    edge: EdgeId
    sibling: NodeId | None  # None: the edge is unary


@dataclass(frozen=True, slots=True)
class Path:
    """A way from a node up to `top`."""

    top: NodeId
    steps: int
    region: Region


@dataclass(frozen=True, slots=True)
class Meeting:
    """A lowest common ancestor of two nodes with the region of the paths that lead to it."""

    node: NodeId
    region: Region


@dataclass(frozen=True)
class Ancestry:
    """Paths and common ancestors of one forest, computed when asked for and kept."""

    forest: Forest
    null_values: FloatArray
    edge_values: FloatArray
    paths: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "_paths_from", {})
        object.__setattr__(self, "_meetings", {})

    @cached_property
    def parents(self) -> list[list[ParentEdge]]:
        """The edges above each node."""
        found: list[list[ParentEdge]] = [[] for _ in self.forest.nodes]
        for head in range(len(self.forest)):
            for way, edge in enumerate(self.forest.edges[head]):
                for child in edge.children:
                    siblings = [other for other in edge.children if other != child]
                    found[child].append(ParentEdge(EdgeId(NodeId(head), way), siblings[0] if siblings else None))
        return found

    @cached_property
    def regions(self) -> list[list[Region]]:
        """The region of each edge alone, by node and way."""
        values = iter(self.edge_values.tolist())
        return [
            [Region(next(values), frozenset({EdgeId(NodeId(v), way)})) for way in range(len(edges))]
            for v, edges in enumerate(self.forest.edges)
        ]

    def edge(self, edge: EdgeId) -> Region:
        """The region of one edge."""
        return self.regions[edge.node][edge.way]

    def null(self, node: NodeId) -> Region:
        """The region that leaves a phrase null as a whole."""
        return Region(float(self.null_values[node]), frozenset(), (node,))

    def paths_from(self, node: NodeId, limit: int) -> dict[NodeId, list[Path]]:
        """Paths of at most `limit` steps from `node` to each ancestor, itself included, lowest first, best first."""
        known: dict[tuple[NodeId, int], dict[NodeId, list[Path]]] = self._paths_from  # type: ignore[attr-defined]
        if (node, limit) not in known:
            known[node, limit] = self._climb(node, limit)
        return known[node, limit]

    def _climb(self, node: NodeId, limit: int) -> dict[NodeId, list[Path]]:
        reached: dict[NodeId, list[Path]] = {node: [Path(node, 0, NOTHING)]}
        waiting = {node}
        while waiting:
            # ids grow upwards, so the lowest waiting node has all its paths
            top = min(waiting)
            waiting.remove(top)
            reached[top].sort(key=lambda path: (-path.region.value, path.steps))
            if self.paths:
                del reached[top][self.paths :]
            for parent in self.parents[top]:
                for path in reached[top]:
                    longer = self._step(path, parent)
                    if longer.steps <= limit:
                        reached.setdefault(longer.top, []).append(longer)
                        waiting.add(longer.top)
        return {top: reached[top] for top in sorted(reached)}

    def _step(self, path: Path, parent: ParentEdge) -> Path:
        region = path.region + self.edge(parent.edge)
        if parent.sibling is None:
            return Path(parent.edge.node, path.steps, region)
        return Path(parent.edge.node, path.steps + 1, region + self.null(parent.sibling))

    def meetings(self, one: NodeId, other: NodeId, gap: int) -> list[Meeting]:
        """LCAs of two nodes with disjoint spans, both at most `gap` generations below; lowest first, best first."""
        known: dict[tuple[NodeId, NodeId, int], list[Meeting]] = self._meetings  # type: ignore[attr-defined]
        if (one, other, gap) not in known:
            known[one, other, gap] = self._meet(one, other, gap)
        return known[one, other, gap]

    def _meet(self, one: NodeId, other: NodeId, gap: int) -> list[Meeting]:
        found: dict[NodeId, list[Meeting]] = {}
        from_other = self.paths_from(other, gap - 1)
        for top, ways in self.paths_from(one, gap - 1).items():
            for parent in self.parents[top]:
                if parent.sibling in from_other:
                    edge = self.edge(parent.edge)
                    found.setdefault(parent.edge.node, []).extend(
                        Meeting(parent.edge.node, way.region + back.region + edge)
                        for way in ways
                        for back in from_other[parent.sibling]
                    )
        meetings: list[Meeting] = []
        for node in sorted(found):
            found[node].sort(key=lambda meeting: -meeting.region.value)
            meetings += found[node][: self.paths] if self.paths else found[node]
        return meetings
