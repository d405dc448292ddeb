"""Binary packed forests.

A node is a phrase: (begin, end, label, head token, semantic-head token, is_bar). A word is a leaf; a chain of unary
phrases over one span is one node, its label joined top-down (`S+VP`). Nodes are integers, children before parents.

A forest is arrays first: `ForestArrays` is what parsers fill and what features and search read. Nodes and edges are
thin views of the arrays, made when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NewType

import numpy as np

from forestalign.arrays import AnyArray, BoolArray, FloatArray, Int32Array, IntArray
from forestalign.errors import counted
from forestalign.tokens import Sentence

NodeId = NewType("NodeId", int)
NO_CHILD = -1
BLOCK = 64  # trees in one column of `trees`


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A phrase; two nodes that differ in any field are different phrases."""

    begin: int
    end: int
    label: str
    head: int
    semantic_head: int
    is_bar: bool = False
    is_leaf: bool = False


@dataclass(frozen=True, slots=True)
class HyperEdge:
    """One way to build a node: two children, or one (a phrase over its word). A leaf has one edge without children.

    `trees` is the set of n-best trees that use the edge, as a bit mask (all ones where it is not known).
    """

    children: tuple[NodeId, ...]
    log_prob: float
    trees: int = -1


@dataclass(frozen=True, eq=False)
class ForestArrays:
    """Nodes and edges by number; the edges of node v are `edge_start[v]` to `edge_start[v + 1]`."""

    labels: tuple[str, ...]  # what `label` counts: distinct and sorted
    begin: Int32Array  # [nodes]
    end: Int32Array
    label: Int32Array
    head: Int32Array
    semantic_head: Int32Array
    is_bar: BoolArray
    is_leaf: BoolArray
    edge_start: Int32Array  # [nodes + 1]
    children: Int32Array  # [edges, 2], NO_CHILD where there is none
    log_prob: FloatArray  # [edges]
    trees: IntArray  # [edges, blocks] rows of bits (`bit_rows.pxd`): the trees that use an edge
    roots: Int32Array
    marginals: FloatArray  # [nodes] over the trees of the forest; empty where they are not known

    @cached_property
    def edge_node(self) -> IntArray:
        """The node of each edge."""
        return np.repeat(np.arange(len(self.begin)), self.edge_start[1:] - self.edge_start[:-1])

    def with_fields(self, **fields: FloatArray) -> ForestArrays:
        """The same nodes and edges with other weights."""
        other = ForestArrays.__new__(ForestArrays)
        vars(other).update(vars(self), **fields)
        return other


class Forest:
    """All parses of one sentence that were kept, packed. `edges[v]` are the ways to build node v.

    >>> from forestalign.forest import count_trees, pack
    >>> from forestalign.trees import ScoredTree, parse_brackets
    >>> tree = parse_brackets("(S (NP (PRP She)) (VP (VBD left)))")
    >>> forest = pack([ScoredTree(tree, 0.0)], Sentence.from_words(["She", "left"]))
    >>> [node.label for node in forest.nodes], count_trees(forest)
    (['PRP', 'VBD', 'NP', 'VP', 'S'], 1)
    """

    __slots__ = ("_edges", "_nodes", "arrays", "sentence")

    def __init__(
        self,
        sentence: Sentence,
        nodes: Sequence[Node] = (),
        edges: Sequence[Sequence[HyperEdge]] = (),
        roots: Sequence[int] = (),
        marginals: Sequence[float] = (),
    ):
        self.sentence = sentence
        self.arrays = _arrays(nodes, edges, roots, marginals)
        self._nodes: tuple[Node, ...] | None = None
        self._edges: tuple[tuple[HyperEdge, ...], ...] | None = None

    @classmethod
    def of_arrays(cls, sentence: Sentence, arrays: ForestArrays) -> Forest:
        """The forest of arrays that somebody has filled."""
        forest = cls.__new__(cls)
        forest.sentence, forest.arrays = sentence, arrays
        forest._nodes = forest._edges = None
        return forest

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every node as an object, made when first asked for."""
        if self._nodes is None:
            found = self.arrays
            columns = (found.head, found.semantic_head, found.is_bar, found.is_leaf)
            names = [found.labels[label] for label in found.label.tolist()]
            rows = zip(found.begin.tolist(), found.end.tolist(), names, *(c.tolist() for c in columns), strict=True)
            self._nodes = tuple(Node(*row) for row in rows)
        return self._nodes

    @property
    def edges(self) -> tuple[tuple[HyperEdge, ...], ...]:
        """The edges of every node as objects, made when first asked for."""
        if self._edges is None:
            found = self.arrays
            rows = zip(found.children.tolist(), found.log_prob.tolist(), _masks(found.trees), strict=True)
            made = [
                HyperEdge(tuple([NodeId(child) for child in below if child != NO_CHILD]), log_prob, trees)
                for below, log_prob, trees in rows
            ]
            starts = found.edge_start.tolist()
            self._edges = tuple(tuple(made[start:end]) for start, end in pairwise(starts))
        return self._edges

    @property
    def roots(self) -> tuple[NodeId, ...]:
        """The nodes that are whole trees, in order."""
        return tuple(NodeId(root) for root in self.arrays.roots.tolist())

    @property
    def marginals(self) -> tuple[float, ...]:
        """Probability of each node over the trees of the forest; empty where they are not known."""
        return tuple(self.arrays.marginals.tolist())

    def over(self, sentence: Sentence) -> Forest:
        """This forest over another sentence of the same length."""
        return Forest.of_arrays(sentence, self.arrays)

    def weighed(self, log_prob: FloatArray) -> Forest:
        """This forest with other weights of its edges."""
        return Forest.of_arrays(self.sentence, self.arrays.with_fields(log_prob=log_prob))

    def with_node_marginals(self, marginals: FloatArray) -> Forest:
        """This forest with the probabilities of its nodes."""
        return Forest.of_arrays(self.sentence, self.arrays.with_fields(marginals=marginals))

    def __len__(self) -> int:
        return len(self.arrays.begin)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Forest):
            return NotImplemented
        return self is other or self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def __repr__(self) -> str:
        return f"<Forest of {counted(len(self), 'node')} over {self.sentence.text!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Forest.of_arrays, (self.sentence, self.arrays)

    def _value(self) -> tuple[object, ...]:
        return self.sentence, self.nodes, self.edges, self.roots, self.marginals


def restrict(forest: Forest, nodes: AnyArray, edges: AnyArray, roots: Sequence[int]) -> Forest:
    """The part of a forest that has these nodes and edges, by their sorted numbers; marginals stay what they were."""
    whole = forest.arrays
    number = np.full(len(forest) + 1, NO_CHILD, np.int32)  # the last is for children that are none
    number[nodes] = np.arange(len(nodes), dtype=np.int32)
    counts = np.bincount(number[whole.edge_node[edges]], minlength=len(nodes))
    arrays = replace(
        whole,
        **{name: getattr(whole, name)[nodes] for name in _OF_NODES},
        edge_start=np.concatenate([[0], counts.cumsum()]).astype(np.int32),
        children=number[whole.children[edges]],
        log_prob=whole.log_prob[edges],
        trees=whole.trees[edges],
        roots=number[np.asarray(roots)],
        marginals=whole.marginals[nodes] if len(whole.marginals) else whole.marginals,
    )
    return Forest.of_arrays(forest.sentence, arrays)


_OF_NODES = ("begin", "end", "label", "head", "semantic_head", "is_bar", "is_leaf")


def _arrays(
    nodes: Sequence[Node], edges: Sequence[Sequence[HyperEdge]], roots: Sequence[int], marginals: Sequence[float]
) -> ForestArrays:
    labels = sorted({node.label for node in nodes})
    number = {label: k for k, label in enumerate(labels)}
    rows = [(node.begin, node.end, number[node.label], node.head, node.semantic_head) for node in nodes]
    begin, end, label, head, semantic_head = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 5).T)
    flat = [edge for ways in edges for edge in ways]
    padded = [(*edge.children, NO_CHILD, NO_CHILD)[:2] for edge in flat]
    return ForestArrays(
        tuple(labels),
        begin,
        end,
        label,
        head,
        semantic_head,
        np.array([node.is_bar for node in nodes], np.bool_),
        np.array([node.is_leaf for node in nodes], np.bool_),
        np.cumsum([0, *(len(ways) for ways in edges)], dtype=np.int32),
        np.array(padded, np.int32).reshape(-1, 2),
        np.array([edge.log_prob for edge in flat], np.float64),
        _blocks([edge.trees for edge in flat]),
        np.array(roots, np.int32),
        np.array(marginals, np.float64),
    )


def _blocks(masks: Sequence[int]) -> IntArray:
    """Masks in blocks of 64 trees. The last block has room for a sign, which only "not known" sets."""
    count = max((mask.bit_length() for mask in masks), default=0) // BLOCK + 1
    data = b"".join(mask.to_bytes(8 * count, "little", signed=True) for mask in masks)
    return np.frombuffer(data, "<i8").astype(np.int64).reshape(-1, count)


def _masks(blocks: IntArray) -> list[int]:
    if blocks.shape[1] == 1:
        masks: list[int] = blocks[:, 0].tolist()
        return masks
    return [int.from_bytes(row.astype("<i8").tobytes(), "little", signed=True) for row in blocks]
