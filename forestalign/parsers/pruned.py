"""A forest straight from a chart: every phrase whose marginal reaches a threshold, in every way to build it.

The way of building is pruned too: the words of some children may be joined on the way to a larger phrase only where
the chart's marginal of joining them (the empty label) reaches the threshold. The most probable tree is always kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

import numpy as np

from forestalign.arrays import BoolArray, Float32Array
from forestalign.chart import CHAIN, Chart
from forestalign.forest import Forest, HyperEdge, Node, NodeId, with_marginals
from forestalign.grammar import base_label
from forestalign.tokens import Sentence
from forestalign.trees import Attachment, Tree, assemble, binarisation_plan

# Bounds that keep a hopelessly ambiguous sentence from exploding; real charts stay far below.
MOST_PRODUCTIONS = 200  # sequences of children of one span, best first
MOST_VARIANTS = 64  # combinations of heads of one sequence

Item = tuple[int, int, int]  # first word, last word, label; a bare word has label 0
Production = tuple[Item, ...]


def prune(chart: Chart, shares: Float32Array, sentence: Sentence, best: Tree, threshold: float) -> Forest:
    """The forest of all phrases with at least this marginal. Weights are potentials: a tree weighs its log score."""
    kept = shares >= threshold
    _keep_tree(kept, chart, best)
    builder = _Builder(chart, sentence)
    productions: dict[tuple[int, int], list[tuple[float, Production]]] = {}
    items: dict[tuple[int, int], list[tuple[float, Item]]] = {}
    n = len(chart)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            found = _productions(i, j, kept, productions, items)
            if found:
                productions[i, j] = found
                items[i, j] = list(_items(i, j, kept, chart, found, builder))
    roots = [node for _, item in items[0, n - 1] if item[2] for node in builder.nodes_of[item]]
    return with_marginals(builder.forest(roots))


def _keep_tree(kept: BoolArray, chart: Chart, tree: Tree) -> None:
    """Mark every span of a tree, and every joint of its children."""
    index = {label: i for i, label in enumerate(chart.labels)}
    stack = [tree]
    while stack:
        node = stack.pop()
        chain = [node.label]
        while len(node.children) == 1 and not node.children[0].is_leaf:
            node = node.children[0]
            chain.append(node.label)
        kept[node.begin, node.end - 1, index[CHAIN.join(chain)]] = True
        for child in node.children[1:-1]:
            kept[node.begin, child.end - 1, 0] = True
        for child in node.children:
            if not child.is_leaf:
                stack.append(child)
            elif len(node.children) > 1:
                kept[child.begin, child.begin, 0] = True


def _productions(
    i: int,
    j: int,
    kept: BoolArray,
    productions: dict[tuple[int, int], list[tuple[float, Production]]],
    items: dict[tuple[int, int], list[tuple[float, Item]]],
) -> list[tuple[float, Production]]:
    """Sequences of two or more children that cover a span, best first; the only one of a word is itself."""
    if i == j:
        return [(0.0, ((i, i, 0),))]
    found: list[tuple[float, Production]] = []
    for point in range(i, j):
        right = items.get((point + 1, j), [])
        left: list[tuple[float, Production]] = [(score, (item,)) for score, item in items.get((i, point), [])]
        if point > i and kept[i, point, 0]:
            left += productions.get((i, point), ())
        found += [(a + b, (*head, last)) for a, head in left for b, last in right]
    return sorted(found, key=lambda entry: (-entry[0], entry[1]))[:MOST_PRODUCTIONS]


def _items(
    i: int, j: int, kept: BoolArray, chart: Chart, found: list[tuple[float, Production]], builder: _Builder
) -> Iterator[tuple[float, Item]]:
    """The phrases over a span with the score of the best tree below each; a word may also stand bare."""
    for label in np.flatnonzero(kept[i, j]).tolist():
        item = (i, j, label)
        if label:
            builder.add_phrase(item, [production for _, production in found])
        elif i == j:
            builder.add_word(i)
        else:
            continue
        yield found[0][0] + float(chart.potentials[i, j, label]), item


class _Builder:
    """Nodes and edges as they are found; a phrase may be several nodes that differ in their heads."""

    def __init__(self, chart: Chart, sentence: Sentence):
        self.chart, self.sentence = chart, sentence
        self.chains = [label.split(CHAIN) for label in chart.labels]
        self.nodes: list[Node] = []
        self.ways: list[dict[tuple[int, ...], float]] = []
        self.nodes_of: dict[Item, list[int]] = {}
        self._number: dict[Node, int] = {}

    def add_word(self, i: int) -> int:
        """The leaf of a word."""
        leaf = self._shared(Node(i, i + 1, self.sentence.tokens[i].tag, i, i, is_leaf=True), (), 0.0)
        self.nodes_of[i, i, 0] = [leaf]
        return leaf

    def add_phrase(self, item: Item, productions: Sequence[Production]) -> None:
        """The nodes of a phrase, with one edge (and bar nodes) for each sequence of children and their heads."""
        nodes: dict[int, None] = {}
        weight = float(self.chart.potentials[item])
        for production in productions:
            if item[0] == item[1]:
                leaf = self.add_word(item[0])
                label = "+".join(self.chains[item[2]])
                nodes[self._shared(Node(item[0], item[0] + 1, label, item[0], item[0]), (leaf,), weight)] = None
                continue
            choices = product(*(self.nodes_of[child] for child in production))
            labels = tuple(base_label(self._top_label(child)) for child in production)
            for below in islice(choices, MOST_VARIANTS):
                nodes[self._binarise(item[2], labels, below, weight)] = None
        self.nodes_of[item] = list(nodes)

    def _top_label(self, item: Item) -> str:
        return self.chains[item[2]][0] if item[2] else self.sentence.tokens[item[0]].tag

    def _binarise(self, label: int, labels: tuple[str, ...], below: Sequence[int], weight: float) -> int:
        chain = self.chains[label]
        plan = binarisation_plan(base_label(chain[-1]), labels)
        head = self.nodes[below[plan.head_child]].head

        def join(left: int, right: int, step: Attachment) -> int:
            node = Node(
                self.nodes[left].begin,
                self.nodes[right].end,
                chain[-1] if step.is_bar else "+".join(chain),
                head,
                self.nodes[below[step.semantic_child]].semantic_head,
                step.is_bar,
            )
            return self._shared(node, (left, right), 0.0 if step.is_bar else weight)

        return assemble(plan, below, join)

    def _shared(self, node: Node, children: tuple[int, ...], weight: float) -> int:
        number = self._number.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
            self.ways.append({})
        self.ways[number][children] = weight
        return number

    def forest(self, roots: Sequence[int]) -> Forest:
        """Only what hangs below the roots, numbered children first: nodes were added in that order."""
        reached, stack = set(roots), list(roots)
        while stack:
            for way in self.ways[stack.pop()]:
                stack += set(way) - reached
                reached.update(way)
        order = sorted(
            reached,
            key=lambda old: (self.nodes[old].end - self.nodes[old].begin, not self.nodes[old].is_leaf, self.nodes[old]),
        )
        new = {old: NodeId(number) for number, old in enumerate(order)}
        edges = tuple(
            tuple(
                HyperEdge(tuple(new[child] for child in way), weight) for way, weight in sorted(self.ways[old].items())
            )
            for old in order
        )
        return Forest(
            self.sentence, tuple(self.nodes[old] for old in order), edges, tuple(sorted(new[root] for root in roots))
        )
