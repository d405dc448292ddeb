"""A baseline for phrases: the constrained edit distance of two unordered trees (Zhang 1996), on 1-best trees.

Deleting and inserting a node cost 1. Replacing a node by one of the other tree costs 2 (1 - Dice), from the word links
below the two nodes,

    Dice(i, j) = 2 |links between i and j| / (|links of i| + |links of j|)

so that it never pays without a link, and LABEL more where the labels differ. Mappings are constrained: separate
subtrees go to separate subtrees, but sisters may change places. With F(i) the children of i and |.| the number of nodes
below,

    D(T(i), T(j)) = min of  |T(j)| - |T(k)| + D(T(i), T(k))   for a child k of j; the same for a child of i
                            D(F(i), F(j)) + min(cost(i, j), 2)
    D(F(i), F(j)) = min of  |F(j)| - |F(k)| + D(F(i), F(k))   for a child k of j; the same for a child of i
                            the cheapest matching of the children, each unmatched one for |T|

Trees are binarised, so a node has at most two children, and all matchings of theirs can be tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.forest import Forest, NodeId, one_best
from forestalign.phrases.scoring.score import Step
from forestalign.phrases.search.hypotheses import AlignedNodes, Derivation, Found
from forestalign.tokens import Span
from forestalign.words.alignment import WordAlignment

LABEL = 0.1  # decides between nodes over the same links: *the plan* goes with *the plan* and not with *by the plan*
Cost = Callable[[int, int], float]
Mapping = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class EditTree:
    """The children of each node, in an order in which children come before parents; the last node is the root."""

    children: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The nodes of each subtree, its root included."""
        sizes: list[int] = []
        for children in self.children:
            sizes.append(1 + sum(sizes[child] for child in children))
        return tuple(sizes)


class _Best(NamedTuple):
    """A distance, and the cells that it is made of."""

    cost: float
    trees: tuple[tuple[int, int], ...] = ()
    forests: tuple[tuple[int, int], ...] = ()
    maps: bool = False


def constrained_mapping(source: EditTree, target: EditTree, cost: Cost) -> tuple[float, Mapping]:
    """The distance of two trees and the nodes that are mapped to each other, sorted."""
    trees: dict[tuple[int, int], _Best] = {}
    forests: dict[tuple[int, int], _Best] = {}
    sizes = source.sizes, target.sizes
    for i, left in enumerate(source.children):
        for j, right in enumerate(target.children):
            forests[i, j] = min(_forest_ways(i, j, (left, right), sizes, trees, forests), key=lambda way: way.cost)
            trees[i, j] = min(_tree_ways(i, j, (left, right), sizes, trees, forests, cost), key=lambda way: way.cost)
    root = len(source.children) - 1, len(target.children) - 1
    return trees[root].cost, tuple(sorted(_mapped(root, trees, forests)))


_Table = dict[tuple[int, int], _Best]
_Children = tuple[tuple[int, ...], tuple[int, ...]]
_Sizes = tuple[tuple[int, ...], tuple[int, ...]]


def _tree_ways(
    i: int, j: int, children: _Children, sizes: _Sizes, trees: _Table, forests: _Table, cost: Cost
) -> Iterator[_Best]:
    replacing = cost(i, j)
    if replacing < math.inf:
        yield _Best(forests[i, j].cost + replacing, forests=((i, j),), maps=True)
    yield _Best(forests[i, j].cost + 2.0, forests=((i, j),))  # one deleted, the other inserted
    for k in children[1]:
        yield _Best(sizes[1][j] - sizes[1][k] + trees[i, k].cost, trees=((i, k),))
    for k in children[0]:
        yield _Best(sizes[0][i] - sizes[0][k] + trees[k, j].cost, trees=((k, j),))


def _forest_ways(i: int, j: int, children: _Children, sizes: _Sizes, trees: _Table, forests: _Table) -> Iterator[_Best]:
    left, right = children
    below = sizes[0][i] + sizes[1][j] - 2.0
    for matching in _matchings(left, right):
        saved = sum(sizes[0][a] + sizes[1][b] - trees[a, b].cost for a, b in matching)
        yield _Best(below - saved, trees=matching)
    for k in right:
        yield _Best(sizes[1][j] - sizes[1][k] + forests[i, k].cost, forests=((i, k),))
    for k in left:
        yield _Best(sizes[0][i] - sizes[0][k] + forests[k, j].cost, forests=((k, j),))


def _matchings(left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    """All ways to match the shorter list with parts of the longer one; leaving a pair out never costs less."""
    if len(left) <= len(right):
        yield from (tuple(zip(left, chosen, strict=True)) for chosen in permutations(right, len(left)))
    else:
        yield from (tuple(zip(chosen, right, strict=True)) for chosen in permutations(left, len(right)))


def _mapped(root: tuple[int, int], trees: _Table, forests: _Table) -> Iterator[tuple[int, int]]:
    stack = [(trees, root)]
    while stack:
        table, cell = stack.pop()
        best = table[cell]
        if best.maps:
            yield cell
        stack += [(trees, below) for below in best.trees]
        stack += [(forests, below) for below in best.forests]


# ---- phrases ----


def align_by_edits(source: Forest, target: Forest, links: WordAlignment) -> tuple[Found, FloatArray]:
    """The phrases that the cheapest edits keep or replace, on the best tree of each forest, and what each pair costs.

    Costs are below nought, as log probabilities are; pairs that are not kept have none.
    """
    source, target = one_best(source), one_best(target)
    cost = link_costs(source, target, links)
    distance, mapping = constrained_mapping(edit_tree(source), edit_tree(target), cost)
    costs = np.full((len(source), len(target)), -np.inf)
    for i, j in mapping:
        costs[i, j] = -cost(i, j)
    nulls = _nulls(source, {i for i, _ in mapping}), _nulls(target, {j for _, j in mapping})
    derivation = Derivation(-distance, tuple(_aligned_nodes(source, target, mapping)), (), (), *nulls)
    return Found((derivation,), False, 0, 0, 0), costs


def edit_tree(forest: Forest) -> EditTree:
    """The tree of a forest that has one."""
    return EditTree(tuple(edges[0].children for edges in forest.edges))


def link_costs(source: Forest, target: Forest, links: WordAlignment) -> Cost:
    """2 (1 - Dice) of the links below two nodes, more where their labels differ; infinite where they share none."""
    source_links = [_links_below(links.pairs, 0, _span(source, NodeId(node))) for node in range(len(source))]
    target_links = [_links_below(links.pairs, 1, _span(target, NodeId(node))) for node in range(len(target))]

    def cost(i: int, j: int) -> float:
        shared = len(source_links[i] & target_links[j])
        if not shared:
            return math.inf
        dice = 2.0 * shared / (len(source_links[i]) + len(target_links[j]))
        return 2.0 * (1.0 - dice) + LABEL * (source.nodes[i].label != target.nodes[j].label)

    return cost


def _links_below(links: Sequence[tuple[int, int]], side: int, span: Span) -> frozenset[tuple[int, int]]:
    return frozenset(link for link in links if span.begin <= link[side] < span.end)


def _span(forest: Forest, node: NodeId) -> Span:
    return Span(forest.nodes[node].begin, forest.nodes[node].end)


def _aligned_nodes(source: Forest, target: Forest, mapping: Mapping) -> Iterator[AlignedNodes]:
    """In the order of the source, in which children come before parents; a pair rests on the nearest ones below."""
    waiting: list[tuple[int, NodeId, NodeId]] = []  # pairs that no pair rests on yet
    for number, (i, j) in enumerate(mapping):
        below = [item for item in waiting if _is_below(source, item[1], NodeId(i))]
        waiting = [item for item in waiting if item not in below]
        below.sort(key=lambda item: _span(source, item[1]))
        targets = [_span(target, item[2]) for item in below]
        step = Step.INVERTED if len(targets) > 1 and targets != sorted(targets) else Step.STRAIGHT
        waiting.append((number, NodeId(i), NodeId(j)))
        yield AlignedNodes(NodeId(i), NodeId(j), step, tuple(item[0] for item in below), 1.0)


def _is_below(forest: Forest, node: NodeId, ancestor: NodeId) -> bool:
    """In one tree, and for a node that comes before: its span lies inside."""
    inner, outer = forest.nodes[node], forest.nodes[ancestor]
    return outer.begin <= inner.begin and inner.end <= outer.end


def _nulls(forest: Forest, mapped: set[int]) -> tuple[NodeId, ...]:
    """The largest nodes without a mapped node in them."""
    is_null: list[bool] = []
    tops: set[int] = set()
    for node, edges in enumerate(forest.edges):
        children = edges[0].children
        is_null.append(node not in mapped and all(is_null[child] for child in children))
        if is_null[-1]:
            tops = (tops - set(children)) | {node}
    return tuple(NodeId(node) for node in sorted(tops))
