# mypy: ignore-errors
# cython: infer_types=True
"""The nodes and edges of shared subtrees, binarised. Cython compiles this file, or Python runs it as it is.

The trees come as shared subtrees, children first. A subtree lies in every tree in which one of its parents lies, so
one pass from the roots down gives the trees of each, and one pass up makes its node and the edges of its binarisation.
"""

from __future__ import annotations

import numpy as np

from forestalign.grammar import base_label
from forestalign.trees import CHAIN, binarisation_plan

try:
    import cython
except ImportError:
    from forestalign.compiled import plain_cython as cython
if cython.compiled:
    from cython.cimports.libcpp.vector import vector
else:
    from forestalign.compiled import plain_vector as vector

MOST_PLANS = 1 << 16  # productions that are kept; a long run meets ever new ones


@cython.cclass
class Labels:
    """Labels and tags by number, and how the productions over them are binarised, each worked out once.

    A label is a chain of categories, the highest first; label 0 is the empty one. Tag t has the number -1 - t.
    """

    names: tuple  # of the labels of the forest, sorted
    tops: list  # as parents see them
    lows: list  # as children are attached under them
    tag_tops: list
    whole_name: vector[cython.int]
    bar_name: vector[cython.int]
    tag_name: vector[cython.int]
    plans: dict  # from a label and those of its children to a place in `steps`
    steps: vector[cython.int]  # the head child; a sister and the child that gives the semantic head, outward

    def __init__(self, chains, tags: tuple):
        wholes, lows = [CHAIN.join(chain) for chain in chains], [low for *_, low in chains]
        self.names = tuple(sorted({*wholes[1:], *lows[1:], *tags}))
        number = {name: place for place, name in enumerate(self.names)}
        self.whole_name, self.bar_name = [[number.get(name, 0) for name in column] for column in (wholes, lows)]
        self.tag_name = [number[tag] for tag in tags]
        self.tops, self.lows = [base_label(chain[0]) for chain in chains], [base_label(low) for low in lows]
        self.tag_tops, self.plans = [base_label(tag) for tag in tags], {}
        if not cython.compiled:
            self.steps = vector()

    @cython.cfunc
    def find_plan(self, production: list) -> cython.int:
        """Where the steps of a production begin: a label and those of its children."""
        key = tuple(production)
        found = self.plans.get(key)
        if found is None:
            if len(self.plans) >= MOST_PLANS:
                self.plans.clear()
                self.steps.clear()
            tops = [self.tops[child] if child >= 0 else self.tag_tops[-1 - child] for child in production[1:]]
            plan = binarisation_plan(self.lows[production[0]], tuple(tops))
            found = self.plans[key] = self.steps.size()
            self.steps.push_back(plan.head_child)
            for sister, semantic_child in plan.steps:
                self.steps.push_back(sister)
                self.steps.push_back(semantic_child)
        return found

    def all_names(self) -> tuple:
        """The labels of the forest."""
        return self.names


@cython.cclass
class Packer:
    """Nodes and edges as they are found, and which subtrees use each edge."""

    n: cython.int
    labels: Labels
    label: cython.const[cython.int][::1]  # of the subtrees
    children: cython.const[cython.int][::1]
    child_start: cython.const[cython.int][::1]
    node_of: vector[cython.int]
    begin: vector[cython.int]  # of the nodes
    end: vector[cython.int]
    name: vector[cython.int]
    head: vector[cython.int]
    semantic_head: vector[cython.int]
    is_bar: vector[cython.int]
    is_leaf: vector[cython.int]
    chart_label: vector[cython.int]  # 0 of words and bar nodes
    next_node: vector[cython.int]  # another one of the span, -1: none
    first_edge: vector[cython.int]
    first_node: vector[cython.int]  # of the spans
    edge_node: vector[cython.int]
    left: vector[cython.int]  # -1: none
    right: vector[cython.int]
    next_edge: vector[cython.int]  # another one of the node
    used_edge: vector[cython.int]
    used_by: vector[cython.int]  # the subtree that uses it

    def __init__(self, labels: Labels, shared, label, n: cython.int):
        """`shared` are `SharedTrees`; `label` is that of each subtree, of a bare word its tag."""
        number: cython.int
        if not cython.compiled:
            for name in Packer.__annotations__:
                setattr(self, name, vector())
        self.n, self.labels, self.label = n, labels, label
        self.children, self.child_start = shared.children, shared.child_start
        self.first_node.assign(n * (n + 1), -1)
        begins: cython.const[cython.int][::1] = shared.begin
        for number in range(self.label.shape[0]):
            if self.label[number] < 0:
                self.node_of.push_back(self.add_word(begins[number], number))
            else:
                self.node_of.push_back(self.add_phrase(number))

    @cython.cfunc
    def add_word(self, word: cython.int, number: cython.int) -> cython.int:
        """The node of a word under its tag."""
        name = self.labels.tag_name[-1 - self.label[number]]
        node = self.share_node(word, word + 1, name, word, word, False, True, 0)
        self.add_edge(node, -1, -1, number)
        return node

    @cython.cfunc
    def add_phrase(self, number: cython.int) -> cython.int:
        """The node of a phrase: the sisters of the head are attached one by one, the last node is the phrase itself."""
        step: cython.int
        first: cython.int = self.child_start[number]
        count: cython.int = self.child_start[number + 1] - first
        label: cython.int = self.label[number]
        whole: cython.int = self.labels.whole_name[label]
        built: cython.int
        left: cython.int
        right: cython.int
        if count == 1:
            left = self.node_of[self.children[first]]
            built = self.share_node(
                self.begin[left], self.end[left], whole, self.head[left], self.semantic_head[left], False, False, label
            )
            self.add_edge(built, left, -1, number)
            return built
        production = [label]
        for step in range(first, first + count):
            production.append(self.label[self.children[step]])
        plan: cython.int = self.labels.find_plan(production)
        head_child: cython.int = self.labels.steps[plan]
        built = self.node_of[self.children[first + head_child]]
        head: cython.int = self.head[built]
        for step in range(1, count):
            sister: cython.int = self.labels.steps[plan + 2 * step - 1]
            semantic_child: cython.int = self.labels.steps[plan + 2 * step]
            left, right = built, self.node_of[self.children[first + sister]]
            if sister < head_child:
                left, right = right, left
            is_bar: cython.bint = step < count - 1
            built = self.share_node(
                self.begin[left],
                self.end[right],
                self.labels.bar_name[label] if is_bar else whole,
                head,
                self.semantic_head[self.node_of[self.children[first + semantic_child]]],
                is_bar,
                False,
                0 if is_bar else label,
            )
            self.add_edge(built, left, right, number)
        return built

    @cython.cfunc
    def share_node(
        self, begin: cython.int, end: cython.int, name: cython.int, head: cython.int, semantic_head: cython.int,
        is_bar: cython.bint, is_leaf: cython.bint, chart_label: cython.int,
    ) -> cython.int:  # fmt: skip
        """The number of a node, new or known."""
        span: cython.int = begin * (self.n + 1) + end
        node: cython.int = self.first_node[span]
        while node >= 0:
            if (
                self.name[node] == name
                and self.head[node] == head
                and self.semantic_head[node] == semantic_head
                and self.is_bar[node] == is_bar
                and self.is_leaf[node] == is_leaf
            ):
                return node
            node = self.next_node[node]
        node = self.name.size()
        self.begin.push_back(begin)
        self.end.push_back(end)
        self.name.push_back(name)
        self.head.push_back(head)
        self.semantic_head.push_back(semantic_head)
        self.is_bar.push_back(is_bar)
        self.is_leaf.push_back(is_leaf)
        self.chart_label.push_back(chart_label)
        self.first_edge.push_back(-1)
        self.next_node.push_back(self.first_node[span])
        self.first_node[span] = node
        return node

    @cython.cfunc
    def add_edge(self, node: cython.int, left: cython.int, right: cython.int, subtree: cython.int) -> cython.void:
        """A way to build a node, used by all trees of the subtree."""
        edge: cython.int = self.first_edge[node]
        while edge >= 0 and not (self.left[edge] == left and self.right[edge] == right):
            edge = self.next_edge[edge]
        if edge < 0:
            edge = self.left.size()
            self.edge_node.push_back(node)
            self.left.push_back(left)
            self.right.push_back(right)
            self.next_edge.push_back(self.first_edge[node])
            self.first_edge[node] = edge
        self.used_edge.push_back(edge)
        self.used_by.push_back(subtree)

    def node_rows(self) -> object:
        """Begin, end, name, head, semantic head, is bar, is leaf, label of the chart [8, nodes]."""
        k: cython.int
        rows = np.empty((8, self.name.size()), np.int32)
        row: cython.int[:, ::1] = rows
        for k in range(row.shape[1]):
            row[0, k], row[1, k], row[2, k], row[3, k] = self.begin[k], self.end[k], self.name[k], self.head[k]
            row[4, k], row[5, k], row[6, k] = self.semantic_head[k], self.is_bar[k], self.is_leaf[k]
            row[7, k] = self.chart_label[k]
        return rows

    def edge_rows(self) -> object:
        """The node of each edge, its left and its right child [3, edges]."""
        k: cython.int
        rows = np.empty((3, self.left.size()), np.int32)
        row: cython.int[:, ::1] = rows
        for k in range(row.shape[1]):
            row[0, k], row[1, k], row[2, k] = self.edge_node[k], self.left[k], self.right[k]
        return rows

    def edge_trees(self, trees: cython.longlong[:, ::1]) -> object:
        """The trees that use each edge [edges, blocks]; `trees` holds those of which a subtree is the root."""
        k: cython.int
        place: cython.int
        block: cython.int
        found = np.zeros((self.left.size(), trees.shape[1]), np.int64)
        row: cython.longlong[:, ::1] = found
        for k in range(self.label.shape[0] - 1, -1, -1):
            for place in range(self.child_start[k], self.child_start[k + 1]):
                for block in range(trees.shape[1]):
                    trees[self.children[place], block] |= trees[k, block]
        for k in range(cython.cast(cython.int, self.used_edge.size())):
            for block in range(trees.shape[1]):
                row[self.used_edge[k], block] |= trees[self.used_by[k], block]
        return found

    def nodes_of(self, subtrees: cython.const[cython.int][::1]) -> list:
        """The nodes of some subtrees."""
        return [self.node_of[subtrees[k]] for k in range(subtrees.shape[0])]
