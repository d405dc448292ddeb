"""Packing of n-best trees into a forest.

Equal subtrees of the list are met once only, and binarised once (`packer`). The trees of a chart come with their
subtrees shared; those of given trees are found here: each distinct one is its label over its distinct children.

Head-outward order is not marked on bar nodes, so a packed forest may hold a derivation with left and right sisters in
an order that no plan has; its n-ary tree is a proper tree all the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from forestalign.arrays import Int32Array
from forestalign.chart import CHAIN, BestTrees, Chart, SharedTrees
from forestalign.errors import NoParseError
from forestalign.forest.derivations import log_sum, with_marginals
from forestalign.forest.forest import BLOCK, Forest, ForestArrays
from forestalign.forest.packer import Labels, Packer
from forestalign.tokens import Sentence, plain_form
from forestalign.trees import CHAIN as TREE_CHAIN
from forestalign.trees import ScoredTree, Tree, collapse_chain

_SMALLEST = 1e-300  # keeps the log weight of a hopeless tree finite


def pack(trees: Sequence[ScoredTree], sentence: Sentence) -> Forest:
    """Share equal nodes of the trees; see `Forest`.

    Edges get the relative frequencies of the list under softmax(log_prob), and edges of a root are multiplied by the
    frequency of that root: p(edge) / p(node), and p(edge) for a root, so that all trees add up to at most one.
    """
    if not trees:
        raise NoParseError("no trees to pack; expected at least one")
    listed = _Listed(sentence.words)
    roots = [listed.add(scored.tree) for scored in trees]
    arrays = _pack(listed.labels(), listed.shared(roots), np.array(listed.label, np.int32), len(sentence))[0]
    total = log_sum([scored.log_prob for scored in trees])
    probabilities = [math.exp(scored.log_prob - total) for scored in trees]
    masks = [edge.trees for edges in Forest.of_arrays(sentence, arrays).edges for edge in edges]
    mass_of = {
        mask: max(_SMALLEST, sum(p for index, p in enumerate(probabilities) if mask >> index & 1))
        for mask in set(masks)
    }
    mass = np.array([mass_of[mask] for mask in masks])
    node_mass = np.bincount(arrays.edge_node, mass)
    node_mass[(arrays.end - arrays.begin == len(sentence)) & ~arrays.is_leaf] = 1.0  # the roots
    log_prob = np.log(mass / node_mass[arrays.edge_node])
    return with_marginals(Forest.of_arrays(sentence, arrays.with_fields(log_prob=log_prob)))


def pack_chart(chart: Chart, trees: BestTrees, sentence: Sentence) -> Forest:
    """The forest of the best trees of a chart; a phrase weighs its potential, so that a tree weighs its log score."""
    shared = trees.shared
    tags = chart.tag_scores.argmax(1).astype(np.int32)
    label = np.where(shared.label == 0, -1 - tags[shared.begin], shared.label)
    arrays, chart_label = _pack(_chart_labels(chart.labels, chart.tags), shared, label, len(sentence))
    score = np.where(chart_label > 0, chart.potentials[arrays.begin, arrays.end - 1, chart_label], 0.0)
    log_prob = score[arrays.edge_node].astype(np.float64)
    return with_marginals(Forest.of_arrays(sentence, arrays.with_fields(log_prob=log_prob)))


@lru_cache(maxsize=16)
def _chart_labels(labels: tuple[str, ...], tags: tuple[str, ...]) -> Labels:
    return Labels([label.split(CHAIN) for label in labels], tags)


def _pack(labels: Labels, shared: SharedTrees, label: Int32Array, n: int) -> tuple[ForestArrays, Int32Array]:
    """The forest without weights, and the label of the parser's chart of each node, 0 for words and bar nodes."""
    packer = Packer(labels, shared, label, n)
    nodes = np.asarray(packer.node_rows())
    starts, children, places = packer.edge_rows()
    begin, end, name, head, semantic_head, chart_label, *_ = nodes
    is_bar, is_leaf = nodes[6:].astype(bool)
    arrays = ForestArrays(
        labels.all_names(), begin, end, name, head, semantic_head, is_bar, is_leaf, starts, children,
        np.zeros(len(places)), np.asarray(packer.edge_trees(shared.roots, BLOCK))[places],
        np.array(sorted(set(packer.nodes_of(shared.roots))), np.int32), np.empty(0),
    )  # fmt: skip
    return arrays, chart_label


class _Listed:
    """The distinct subtrees of given trees, children before parents."""

    def __init__(self, words: Sequence[str]):
        self.label: list[int] = []  # of a bare word -1 - its tag
        self._words = words
        self._spans: list[tuple[int, int]] = []
        self._children: list[tuple[int, ...]] = []
        self._chains: dict[str, int] = {"": 0}
        self._tags: dict[str, int] = {}
        self._number_of_tree: dict[int, int] = {}  # by identity: lists often share the very objects
        self._number_of_shape: dict[tuple[str, object], int] = {}

    def add(self, tree: Tree) -> int:
        """The subtree that is a whole tree; its words must be those of the sentence."""
        if (tree.begin, tree.end) != (0, len(self._words)):
            raise NoParseError(f"a tree covers {tree.begin}-{tree.end}, expected 0-{len(self._words)}")
        known = self._number_of_tree
        order: list[tuple[Tree, str, tuple[Tree, ...]]] = []
        stack = [tree]
        while stack:
            node = stack.pop()
            if id(node) not in known:
                _, _, label, lowest = (0, 0, node.label, node) if len(node.children) != 1 else collapse_chain(node)
                order.append((node, label, lowest.children))
                stack.extend(lowest.children)
        for node, label, below in reversed(order):
            children = tuple([known[id(child)] for child in below])
            known[id(node)] = self._add_subtree(node, label, children)
        return known[id(tree)]

    def _add_subtree(self, node: Tree, label: str, children: tuple[int, ...]) -> int:
        shape = (label, children or node.begin)
        if shape not in self._number_of_shape:
            if node.word is None:
                self.label.append(self._chains.setdefault(label, len(self._chains)))
            elif plain_form(node.word) == self._words[node.begin]:
                self.label.append(-1 - self._tags.setdefault(label, len(self._tags)))
            else:
                raise NoParseError(
                    f"word {node.begin} of a tree is {node.word!r}, expected {self._words[node.begin]!r}"
                )
            self._number_of_shape[shape] = len(self._spans)
            self._spans.append((node.begin, node.end))
            self._children.append(children)
        return self._number_of_shape[shape]

    def labels(self) -> Labels:
        """The labels and tags that were met."""
        return Labels([chain.split(TREE_CHAIN) for chain in self._chains], tuple(self._tags))

    def shared(self, roots: Sequence[int]) -> SharedTrees:
        """The subtrees in arrays."""
        begin, end = np.array(self._spans, np.int32).T
        children = np.array([child for below in self._children for child in below], np.int32)
        starts = np.cumsum([0, *map(len, self._children)], dtype=np.int32)
        return SharedTrees(
            np.ascontiguousarray(begin), np.ascontiguousarray(end), np.array(self.label, np.int32), children, starts,
            np.array(roots, np.int32),
        )  # fmt: skip
