"""Single trees of two forests, searched by the tables of the whole forests.

Two trees make a small search, whose beam can be wide; what it finds is an alignment of the forests as well. So the best
trees of the forests are searched beside them, and the trees of the best alignment over forests again
(`directed_search`): no alignment over forests is worse than over these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from forestalign.arrays import FloatArray, Int32Array
from forestalign.forest import Forest, NodeId, viterbi
from forestalign.forest.forest import NO_CHILD, restrict
from forestalign.phrases.scoring.score import Weights
from forestalign.phrases.scoring.seeds import Seeds
from forestalign.phrases.search.hypotheses import AlignedNodes, Derivation, Found, grains
from forestalign.phrases.search.region import EdgeId


@dataclass(frozen=True, slots=True, eq=False)
class SingleTree:
    """A tree of a forest as a forest of its own: its nodes and edges by their numbers in the whole."""

    forest: Forest
    nodes: Int32Array
    ways: Int32Array  # the one of each node
    edges: Int32Array
    number: Int32Array  # of each node of the whole, -1: it is in another tree

    @classmethod
    def best(cls, forest: Forest) -> SingleTree:
        """The tree of a forest with the highest log probability."""
        best = viterbi(forest)
        return cls._of_choice(forest, best.root, np.array(best.choice, np.int32))

    @classmethod
    def with_edges(cls, forest: Forest, root: NodeId, edges: Iterable[EdgeId]) -> SingleTree:
        """The most probable tree below a root that has these edges."""
        ways = np.array(viterbi(forest).choice, np.int32)
        for edge in edges:
            ways[edge.node] = edge.way
        return cls._of_choice(forest, root, ways)

    @classmethod
    def _of_choice(cls, forest: Forest, root: NodeId, ways: Int32Array) -> SingleTree:
        whole = forest.arrays
        nodes = np.array(_nodes_below(root, whole.children[whole.edge_start[:-1] + ways].tolist()), np.int32)
        number = np.full(len(forest) + 1, NO_CHILD, np.int32)  # the last is for children that are none
        number[nodes] = np.arange(len(nodes), dtype=np.int32)
        edges = whole.edge_start[nodes] + ways[nodes]
        tree = restrict(forest, nodes, edges, [root])
        return cls(tree, nodes, ways[nodes], edges, number[:-1])

    def equals(self, other: SingleTree) -> bool:
        """Whether both are the same tree of one forest."""
        return np.array_equal(self.edges, other.edges)

    def edge(self, edge: EdgeId) -> EdgeId:
        """An edge of the tree as one of the forest."""
        return EdgeId(NodeId(int(self.nodes[edge.node])), int(self.ways[edge.node]))

    def node(self, node: NodeId) -> NodeId:
        """A node of the tree as one of the forest."""
        return NodeId(int(self.nodes[node]))


def _nodes_below(root: int, children: list[list[int]]) -> list[int]:
    """The nodes of a tree in their order; `children` are those of every node, by the edge that the tree has."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += [child for child in children[node] if child != NO_CHILD]
    return sorted(found)


def has_choice(forest: Forest) -> bool:
    """Whether a forest has more than one tree."""
    return len(forest.arrays.log_prob) > len(forest) or len(forest.arrays.roots) > 1


def weights_on(source: SingleTree, target: SingleTree, weights: Weights) -> Weights:
    """The tables of two forests for a tree of each."""

    def of(table: FloatArray, *places: Int32Array) -> FloatArray:
        return np.ascontiguousarray(table[np.ix_(*places)])

    steps = np.arange(len(weights.source_step), dtype=np.int32)
    return replace(
        weights,
        pair=of(weights.pair, source.nodes, target.nodes),
        source_step=of(weights.source_step, steps, source.nodes),
        target_step=of(weights.target_step, steps, target.nodes),
        source_null=of(weights.source_null, source.nodes),
        target_null=of(weights.target_null, target.nodes),
        source_inside=of(weights.source_inside, source.nodes),
        target_inside=of(weights.target_inside, target.nodes),
        source_edge=of(weights.source_edge, source.edges),
        target_edge=of(weights.target_edge, target.edges),
    )


def seeds_on(source: SingleTree, target: SingleTree, seeds: Seeds) -> Seeds:
    """The seeds of two forests that are nodes of these trees."""
    one, other = source.number[seeds.source], target.number[seeds.target]
    held = (one >= 0) & (other >= 0)
    return Seeds(one[held], other[held], seeds.value[held], seeds.kind[held])


def derivation_from(source: SingleTree, target: SingleTree, derivation: Derivation) -> Derivation:
    """A derivation of the trees as one of the forests."""
    return replace(
        derivation,
        pairs=tuple(
            AlignedNodes(source.node(p.source), target.node(p.target), p.step, p.supports, p.posterior)
            for p in derivation.pairs
        ),
        source_edges=tuple(map(source.edge, derivation.source_edges)),
        target_edges=tuple(map(target.edge, derivation.target_edges)),
        source_nulls=tuple(map(source.node, derivation.source_nulls)),
        target_nulls=tuple(map(target.node, derivation.target_nulls)),
    )


def joined(forests: Found, trees: Found, count: int) -> Found:
    """What was found over forests and over trees: the `count` best that differ in their pairs, completed ones last.

    Ties go to the forests.
    """
    rows = [(found.completed, -grains(each.score), each) for found in (forests, trees) for each in found.derivations]
    rows.sort(key=lambda row: row[:2])
    seen: set[frozenset[tuple[NodeId, NodeId]]] = set()
    kept: list[Derivation] = []
    for completed, _, each in rows:
        pairs = frozenset((pair.source, pair.target) for pair in each.pairs)
        if pairs not in seen and len(kept) < count and completed == rows[0][0]:
            seen.add(pairs)
            kept.append(each)
    return Found(
        tuple(kept),
        rows[0][0] if rows else forests.completed,
        forests.states + trees.states,
        forests.beam_cuts + trees.beam_cuts,
        forests.trace_bounds + trees.trace_bounds,
    )
