"""Ways up a forest, and the lowest common ancestors they meet at (section 3.3, 4.1 and 5.1 of the paper).

Symbols: π path, β the value of its null phrases, γ both paths to an LCA together, µg `gap`.

Going through one child of a node leaves the other child null as a whole, so a path carries the edges it climbed, the
maximal subtrees it left behind (null phrases) and the value of both. A forest has several paths between two nodes; the
`paths` best are kept, all of them when it is 0. The unary step from a phrase to its word is no generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from forestalign.forest import Forest, NodeId

UNLIMITED = 1 << 30


class EdgeId(NamedTuple):
    """One of the edges of `node`: which way it is built."""

    node: NodeId
    way: int


class ParentEdge(NamedTuple):
    """An edge seen from one of its children."""

    edge: EdgeId
    sibling: NodeId | None  # None: the edge is unary
    is_left: bool


@dataclass(frozen=True, slots=True)
class Path:
    """A way from a node up to `top`."""

    top: NodeId
    steps: int
    value: float
    edges: tuple[EdgeId, ...] = ()
    nulls: tuple[NodeId, ...] = ()
    trees: int = -1


@dataclass(frozen=True, slots=True)
class Meeting:
    """A lowest common ancestor of two nodes with the paths that lead to it."""

    node: NodeId
    value: float
    edges: tuple[EdgeId, ...]
    nulls: tuple[NodeId, ...]
    trees: int


@dataclass(frozen=True)
class Ancestry:
    """Paths and common ancestors of one forest, computed when asked for and kept."""

    forest: Forest
    null_values: list[float]
    edge_values: list[list[float]]
    paths: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "_paths_from", {})
        object.__setattr__(self, "_meetings", {})

    @cached_property
    def parents(self) -> list[list[ParentEdge]]:
        found: list[list[ParentEdge]] = [[] for _ in self.forest.nodes]
        for head in range(len(self.forest)):
            for index, edge in enumerate(self.forest.edges[head]):
                edge_id = EdgeId(NodeId(head), index)
                if len(edge.children) == 1:
                    found[edge.children[0]].append(ParentEdge(edge_id, None, True))
                elif len(edge.children) == 2:
                    left, right = edge.children
                    found[left].append(ParentEdge(edge_id, right, True))
                    found[right].append(ParentEdge(edge_id, left, False))
        return found

    def paths_from(self, node: NodeId, limit: int) -> dict[NodeId, list[Path]]:
        """Paths of at most `limit` steps from `node` to each ancestor, itself included, best first."""
        known: dict[tuple[NodeId, int], dict[NodeId, list[Path]]] = self._paths_from  # type: ignore[attr-defined]
        if (node, limit) not in known:
            known[node, limit] = self._climb(node, limit)
        return known[node, limit]

    def _climb(self, node: NodeId, limit: int) -> dict[NodeId, list[Path]]:
        reached: dict[NodeId, list[Path]] = {node: [Path(node, 0, 0.0)]}
        waiting = {node}
        while waiting:
            # ids grow upwards, so the lowest waiting node has all its paths
            top = min(waiting)
            waiting.remove(top)
            reached[top].sort(key=lambda path: (-path.value, path.steps, path.edges))
            if self.paths:
                del reached[top][self.paths :]
            for parent in self.parents[top]:
                for path in reached[top]:
                    longer = self._step(path, parent)
                    if longer.steps <= limit:
                        reached.setdefault(longer.top, []).append(longer)
                        waiting.add(longer.top)
        return reached

    def _step(self, path: Path, parent: ParentEdge) -> Path:
        node, index = parent.edge
        value = path.value + self.edge_values[node][index]
        nulls = path.nulls
        if parent.sibling is not None:
            value += self.null_values[parent.sibling]
            nulls += (parent.sibling,)
        steps = path.steps + (parent.sibling is not None)
        trees = path.trees & self.forest.edges[node][index].trees
        return Path(node, steps, value, (*path.edges, parent.edge), nulls, trees)

    def meetings(self, one: NodeId, other: NodeId, gap: int) -> list[Meeting]:
        """LCAs of two nodes with disjoint spans, both at most `gap` generations below."""
        known: dict[tuple[NodeId, NodeId, int], list[Meeting]] = self._meetings  # type: ignore[attr-defined]
        if (one, other, gap) not in known:
            known[one, other, gap] = self._meet(one, other, gap)
        return known[one, other, gap]

    def _meet(self, one: NodeId, other: NodeId, gap: int) -> list[Meeting]:
        found: dict[NodeId, list[Meeting]] = {}
        from_other = self.paths_from(other, gap - 1)
        for top, ways in self.paths_from(one, gap - 1).items():
            for edge, sibling, _ in self.parents[top]:
                if sibling is None or sibling not in from_other:
                    continue
                edge_value = self.edge_values[edge.node][edge.way]
                edge_trees = self.forest.edges[edge.node][edge.way].trees
                found.setdefault(edge.node, []).extend(
                    Meeting(
                        edge.node,
                        way.value + back.value + edge_value,
                        (*way.edges, *back.edges, edge),
                        way.nulls + back.nulls,
                        way.trees & back.trees & edge_trees,
                    )
                    for way in ways
                    for back in from_other[sibling]
                )
        meetings: list[Meeting] = []
        for node in sorted(found):
            found[node].sort(key=lambda meeting: (-meeting.value, meeting.edges))
            meetings += found[node][: self.paths] if self.paths else found[node]
        return meetings
