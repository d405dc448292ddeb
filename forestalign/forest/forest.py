"""Binary packed forests.

A node is a phrase: (begin, end, label, head token, semantic-head token, is_bar). A word is a leaf; a chain of unary
phrases over one span is one node, its label joined top-down (`S+VP`). Nodes are integers, children before parents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

from forestalign.tokens import Sentence

NodeId = NewType("NodeId", int)


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


@dataclass(frozen=True, slots=True)
class Forest:
    """All parses of one sentence that were kept, packed. `edges[v]` are the ways to build node v.

    >>> from forestalign.forest import count_trees, pack
    >>> from forestalign.trees import ScoredTree, parse_brackets
    >>> tree = parse_brackets("(S (NP (PRP She)) (VP (VBD left)))")
    >>> forest = pack([ScoredTree(tree, 0.0)], Sentence.from_words(["She", "left"]))
    >>> [node.label for node in forest.nodes], count_trees(forest)
    (['PRP', 'VBD', 'NP', 'VP', 'S'], 1)
    """

    sentence: Sentence
    nodes: tuple[Node, ...]
    edges: tuple[tuple[HyperEdge, ...], ...]
    roots: tuple[NodeId, ...]
    marginals: tuple[float, ...] = ()  # probability of each node over the trees of the forest

    def __len__(self) -> int:
        return len(self.nodes)
