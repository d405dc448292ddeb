"""Packing of n-best trees into a forest.

Equal subtrees of the list are met once only: each distinct one (its label and its distinct children) is an *item*, and
only new items are binarised. The trees that hold an item are found by one pass from the roots down.

Head-outward order is not marked on bar nodes, so a packed forest may hold a derivation that `binarise` would not give
(left and right sisters in another order); its n-ary tree is a proper tree all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from forestalign.chart import CHAIN, BestTrees, Chart
from forestalign.compiled import core
from forestalign.errors import NoParseError
from forestalign.forest.derivations import log_sum, with_marginals
from forestalign.forest.forest import Forest, ForestArrays, HyperEdge, Node, NodeId
from forestalign.forest.packing_tables import packing_tables
from forestalign.grammar import base_label
from forestalign.tokens import Sentence, plain_form
from forestalign.trees import Attachment, ScoredTree, Tree, assemble, binarisation_plan, collapse_chain, plain_labels

NodeScore = Callable[[int, int, str], float]
_SMALLEST = 1e-300  # keeps the log weight of a hopeless tree finite


def pack(trees: Sequence[ScoredTree], sentence: Sentence, node_score: NodeScore | None = None) -> Forest:
    """Share equal nodes of the trees; see `Forest`.

    With `node_score(begin, end, label)` every hyperedge of a phrase weighs the score of that phrase (label as in the
    forest, chains joined by `+`); words and bar nodes weigh nothing. Without it, edges get the relative frequencies of
    the list under softmax(log_prob), and edges of a root are multiplied by the frequency of that root.
    """
    if not trees:
        raise NoParseError("no trees to pack; expected at least one")
    packer = _Packer(sentence.words)
    items = [packer.add(scored.tree) for scored in trees]
    ways = packer.ways(items)
    if node_score is None:
        log_probs = _relative_frequencies(packer.nodes, ways, [scored.log_prob for scored in trees], len(sentence))
    else:
        log_probs = _node_scores(packer.nodes, ways, node_score)
    roots = {packer.node_of_item(item) for item in items}
    return with_marginals(_number(sentence, packer.nodes, ways, log_probs, roots))


def pack_chart(chart: Chart, trees: BestTrees, sentence: Sentence, plain: bool = False) -> Forest:
    """The forest of the best trees of a chart; a phrase weighs its potential, so that a tree weighs its log score.

    The same as `pack` with the potentials as scores; the compiled core packs what the trees share, without the trees.
    """
    compiled = core("forest._packing", plain)
    if compiled is None:
        return pack(trees, sentence, node_score(chart))
    tables, shared = packing_tables(chart.labels, chart.tags), trees.shared
    tags = chart.tag_scores.argmax(1).astype(np.int32)
    packer = compiled.Packer(tables.binarisation, np.ascontiguousarray(chart.potentials), shared, tags)
    found: tuple[Any, ...] = (*packer.node_arrays(), *packer.edge_arrays(), packer.roots(shared.roots), np.empty(0))
    arrays = ForestArrays(tables.labels, *found)
    return with_marginals(Forest.of_arrays(sentence, arrays))


def node_score(chart: Chart) -> NodeScore:
    """The potential of a forest node: (begin, end, chain joined by `+`)."""
    index = {label.replace(CHAIN, "+"): i for i, label in enumerate(chart.labels)}

    def score(begin: int, end: int, label: str) -> float:
        return float(chart.potentials[begin, end - 1, index[label]])

    return score


_Way = tuple[int, ...]  # the children of a hyperedge, in the packer's own numbers
_Ways = list[dict[_Way, int]]  # for each node: how it is built, and the set of trees that do so
_LogProbs = list[dict[_Way, float]]


class _Packer:
    """Distinct subtrees of the n-best list, each with its node and the edges that its own binarisation adds."""

    def __init__(self, words: Sequence[str]):
        self.nodes: list[Node] = []
        self._words = words
        self._number: dict[tuple[int, int, str, int, int, bool, bool], int] = {}
        self._item_of_tree: dict[int, int] = {}  # by identity: lists often share the very objects
        self._item_of_shape: dict[tuple[str, object], int] = {}
        self._items: list[tuple[int, tuple[int, ...], list[tuple[int, _Way]]]] = []  # node, child items, own edges

    def node_of_item(self, item: int) -> int:
        return self._items[item][0]

    def add(self, tree: Tree) -> int:
        """The item of a whole tree; its words must be those of the sentence."""
        if (tree.begin, tree.end) != (0, len(self._words)):
            raise NoParseError(f"a tree covers {tree.begin}-{tree.end}, expected 0-{len(self._words)}")
        known = self._item_of_tree
        order: list[tuple[Tree, str, Tree]] = []
        stack = [tree]
        while stack:
            node = stack.pop()
            if id(node) not in known:
                label, lowest = (node.label, node) if len(node.children) != 1 else collapse_chain(node)[2:]
                order.append((node, label, lowest))
                stack.extend(lowest.children)
        for node, label, lowest in reversed(order):
            if node.word is not None:
                known[id(node)] = self._leaf(node)
                continue
            children = tuple([known[id(child)] for child in lowest.children])
            item = self._item_of_shape.get((label, children))
            known[id(node)] = self._phrase(label, lowest, children) if item is None else item
        return known[id(tree)]

    def _leaf(self, leaf: Tree) -> int:
        item = self._item_of_shape.get((leaf.label, leaf.begin))
        if item is None:
            if plain_form(leaf.word or "") != self._words[leaf.begin]:
                raise NoParseError(
                    f"word {leaf.begin} of a tree is {leaf.word!r}, expected {self._words[leaf.begin]!r}"
                )
            node = self._shared(leaf.begin, leaf.end, leaf.label, leaf.begin, leaf.begin, is_leaf=True)
            item = self._new_item((leaf.label, leaf.begin), node, (), [(node, ())])
        return item

    def _phrase(self, label: str, lowest: Tree, children: tuple[int, ...]) -> int:
        """A new item: its node, and its bar nodes if it has more than two children."""
        below = [self.node_of_item(child) for child in children]
        nodes = self.nodes
        if len(below) == 1:
            only = nodes[below[0]]
            node = self._shared(only.begin, only.end, label, only.head, only.semantic_head)
            return self._new_item((label, children), node, children, [(node, (below[0],))])
        plan = binarisation_plan(base_label(lowest.label), plain_labels(lowest))
        head = nodes[below[plan.head_child]].head
        edges: list[tuple[int, _Way]] = []

        def join(left: int, right: int, step: Attachment) -> int:
            semantic_head = nodes[below[step.semantic_child]].semantic_head
            name = lowest.label if step.is_bar else label
            node = self._shared(nodes[left].begin, nodes[right].end, name, head, semantic_head, step.is_bar)
            edges.append((node, (left, right)))
            return node

        return self._new_item((label, children), assemble(plan, below, join), children, edges)

    def _shared(
        self,
        begin: int,
        end: int,
        label: str,
        head: int,
        semantic_head: int,
        is_bar: bool = False,
        is_leaf: bool = False,
    ) -> int:
        key = (begin, end, label, head, semantic_head, is_bar, is_leaf)
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = len(self.nodes)
            self.nodes.append(Node(*key))
        return number

    def _new_item(
        self, shape: tuple[str, object], node: int, children: tuple[int, ...], edges: list[tuple[int, _Way]]
    ) -> int:
        item = self._item_of_shape[shape] = len(self._items)
        self._items.append((node, children, edges))
        return item

    def ways(self, root_items: Sequence[int]) -> _Ways:
        """Which trees use which edge: an item lies in every tree in which one of its parents lies."""
        trees = [0] * len(self._items)
        for index, root in enumerate(root_items):
            trees[root] |= 1 << index
        ways: _Ways = [{} for _ in self.nodes]
        for item in range(len(trees) - 1, -1, -1):
            mask = trees[item]
            _, children, edges = self._items[item]
            for child in children:
                trees[child] |= mask
            for node, way in edges:
                ways[node][way] = ways[node].get(way, 0) | mask
        return ways


def _node_scores(nodes: Sequence[Node], ways: _Ways, node_score: NodeScore) -> _LogProbs:
    log_probs: _LogProbs = []
    for node, node_ways in zip(nodes, ways, strict=True):
        score = 0.0 if node.is_bar or node.is_leaf else node_score(node.begin, node.end, node.label)
        log_probs.append(dict.fromkeys(node_ways, score))
    return log_probs


def _relative_frequencies(
    nodes: Sequence[Node], ways: _Ways, tree_log_probs: Sequence[float], word_count: int
) -> _LogProbs:
    """p(edge) / p(node), and p(edge) for a root, so that the weights of all trees add up to at most one."""
    total = log_sum(tree_log_probs)
    probabilities = [math.exp(log_prob - total) for log_prob in tree_log_probs]
    mass_of = {
        mask: max(_SMALLEST, sum(p for index, p in enumerate(probabilities) if mask >> index & 1))
        for mask in {mask for node_ways in ways for mask in node_ways.values()}
    }
    log_probs: _LogProbs = []
    for node, node_ways in zip(nodes, ways, strict=True):
        is_root = node.end - node.begin == word_count and not node.is_leaf
        node_mass = 1.0 if is_root else sum([mass_of[mask] for mask in node_ways.values()])
        log_probs.append({way: math.log(mass_of[mask] / node_mass) for way, mask in node_ways.items()})
    return log_probs


def _number(sentence: Sentence, nodes: Sequence[Node], ways: _Ways, log_probs: _LogProbs, roots: set[int]) -> Forest:
    """Children before parents: by length, words before the phrases over them, then by the node's own fields."""
    keys = [
        (node.end - node.begin, not node.is_leaf, node.begin, node.label, node.head, node.semantic_head, node.is_bar)
        for node in nodes
    ]
    order = sorted(range(len(nodes)), key=keys.__getitem__)
    number = [NodeId(0)] * len(nodes)
    for new, old in enumerate(order):
        number[old] = NodeId(new)
    edges = []
    for old in order:
        found = [
            HyperEdge(tuple([number[child] for child in way]), log_probs[old][way], mask)
            for way, mask in ways[old].items()
        ]
        edges.append(tuple(sorted(found, key=lambda edge: edge.children)))
    numbered_roots = tuple(sorted(number[root] for root in roots))
    return Forest(sentence, tuple(nodes[old] for old in order), tuple(edges), numbered_roots)
