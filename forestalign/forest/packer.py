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


@cython.final
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


@cython.final
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
    chart_label: vector[cython.int]  # 0 of words and bar nodes
    key: vector[
        cython.longlong
    ]  # name, both heads, is bar, is leaf: tells nodes of a span apart and puts them in order
    next_node: vector[cython.int]  # the next one of the span, -1: none
    first_edge: vector[cython.int]
    first_node: vector[cython.int]  # of the spans; words stand below those without length
    order: vector[cython.int]  # the nodes, children before parents
    number: vector[cython.int]  # of the nodes in this order
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
        self.first_node.assign((n + 1) * (n + 1), -1)
        begins: cython.const[cython.int][::1] = shared.begin
        for number in range(self.label.shape[0]):
            if self.label[number] < 0:
                self.node_of.push_back(self.add_word(begins[number], number))
            else:
                self.node_of.push_back(self.add_phrase(number))
        self.number_nodes()

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
        first: cython.int = self.child_start[number]
        count: cython.int = self.child_start[number + 1] - first
        label: cython.int = self.label[number]
        whole: cython.int = self.labels.whole_name[label]
        if count == 1:
            left = self.node_of[self.children[first]]
            built = self.share_node(
                self.begin[left], self.end[left], whole, self.head[left], self.semantic_head[left], False, False, label
            )
            self.add_edge(built, left, -1, number)
            return built
        production = [label, *[self.label[self.children[place]] for place in range(first, first + count)]]
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
            name: cython.int = self.labels.bar_name[label] if is_bar else whole
            own: cython.int = 0 if is_bar else label
            semantic: cython.int = self.semantic_head[self.node_of[self.children[first + semantic_child]]]
            built = self.share_node(self.begin[left], self.end[right], name, head, semantic, is_bar, False, own)
            self.add_edge(built, left, right, number)
        return built

    @cython.cfunc
    def share_node(
        self, begin: cython.int, end: cython.int, name: cython.int, head: cython.int, semantic_head: cython.int,
        is_bar: cython.bint, is_leaf: cython.bint, chart_label: cython.int,
    ) -> cython.int:  # fmt: skip
        """A node, new or known; those of one span stand in the order of their keys."""
        span: cython.int = begin * (self.n + 1) + (begin if is_leaf else end)
        key: cython.longlong = name
        key = ((key * self.n + head) * self.n + semantic_head) * 4 + 2 * is_bar + is_leaf
        before: cython.int = -1
        node: cython.int = self.first_node[span]
        while node >= 0 and self.key[node] < key:
            before, node = node, self.next_node[node]
        if node >= 0 and self.key[node] == key:
            return node
        self.next_node.push_back(node)
        node = self.name.size()
        self.begin.push_back(begin)
        self.end.push_back(end)
        self.name.push_back(name)
        self.head.push_back(head)
        self.semantic_head.push_back(semantic_head)
        self.chart_label.push_back(chart_label)
        self.first_edge.push_back(-1)
        self.key.push_back(key)
        if before < 0:
            self.first_node[span] = node
        else:
            self.next_node[before] = node
        return node

    @cython.cfunc
    def add_edge(self, node: cython.int, left: cython.int, right: cython.int, subtree: cython.int) -> cython.void:
        """A way to build a node, used by all trees of the subtree."""
        edge: cython.int = self.first_edge[node]
        while edge >= 0 and not (self.left[edge] == left and self.right[edge] == right):
            edge = self.next_edge[edge]
        if edge < 0:
            edge = self.left.size()
            self.left.push_back(left)
            self.right.push_back(right)
            self.next_edge.push_back(self.first_edge[node])
            self.first_edge[node] = edge
        self.used_edge.push_back(edge)
        self.used_by.push_back(subtree)

    @cython.cfunc
    def number_nodes(self) -> cython.void:
        """Children before parents: by length, words before the phrases over them, then by the node's own fields."""
        self.number.assign(self.name.size(), 0)
        for width in range(self.n + 1):
            for begin in range(self.n - width + 1):
                node = self.first_node[begin * (self.n + 1) + begin + width]
                while node >= 0:
                    self.number[node] = self.order.size()
                    self.order.push_back(node)
                    node = self.next_node[node]

    def node_rows(self) -> object:
        """Begin, end, name, head, semantic head, label of the chart, is bar, is leaf [8, nodes]."""
        rows = np.empty((8, self.name.size()), np.int32)
        row: cython.int[:, ::1] = rows
        for k in range(row.shape[1]):
            node = self.order[k]
            row[0, k], row[1, k], row[2, k] = self.begin[node], self.end[node], self.name[node]
            row[3, k], row[4, k], row[5, k] = self.head[node], self.semantic_head[node], self.chart_label[node]
            row[6, k], row[7, k] = self.key[node] // 2 % 2, self.key[node] % 2
        return rows

    def edge_rows(self) -> tuple:
        """Where the edges of each node start; their children [edges, 2], which put them in order; their old places."""
        starts = np.zeros(self.name.size() + 1, np.int32)
        tables = np.empty((self.left.size(), 2), np.int32), np.empty(self.left.size(), np.int32)
        start: cython.int[::1] = starts
        child: cython.int[:, ::1] = tables[0]
        place: cython.int[::1] = tables[1]
        for k in range(start.shape[0] - 1):
            start[k + 1] = start[k]
            edge = self.first_edge[self.order[k]]
            while edge >= 0:
                left = self.number[self.left[edge]] if self.left[edge] >= 0 else -1
                right = self.number[self.right[edge]] if self.right[edge] >= 0 else -1
                at = start[k + 1]
                while at > start[k] and (
                    child[at - 1, 0] > left or (child[at - 1, 0] == left and child[at - 1, 1] > right)
                ):
                    child[at, 0], child[at, 1], place[at] = child[at - 1, 0], child[at - 1, 1], place[at - 1]
                    at -= 1
                child[at, 0], child[at, 1], place[at] = left, right, edge
                start[k + 1] += 1
                edge = self.next_edge[edge]
        return starts, *tables

    def edge_trees(self, roots: cython.const[cython.int][::1], block: cython.int) -> object:
        """The trees that use each edge as it was found [edges, blocks]; `roots` are the subtrees that are trees."""
        one: cython.ulonglong = 1
        blocks = roots.shape[0] // block + 1
        tables = [np.zeros((count, blocks), np.uint64) for count in (self.label.shape[0], self.left.size())]
        trees: cython.ulonglong[:, ::1] = tables[0]
        row: cython.ulonglong[:, ::1] = tables[1]
        for k in range(roots.shape[0]):
            trees[roots[k], k // block] |= one << k % block
        for k in range(self.label.shape[0] - 1, -1, -1):
            for place in range(self.child_start[k], self.child_start[k + 1]):
                for column in range(trees.shape[1]):
                    trees[self.children[place], column] |= trees[k, column]
        for k in range(cython.cast(cython.int, self.used_edge.size())):
            for column in range(trees.shape[1]):
                row[self.used_edge[k], column] |= trees[self.used_by[k], column]
        return tables[1].view(np.int64)

    def nodes_of(self, subtrees: cython.const[cython.int][::1]) -> list:
        """The nodes of some subtrees."""
        return [self.number[self.node_of[subtrees[k]]] for k in range(subtrees.shape[0])]
