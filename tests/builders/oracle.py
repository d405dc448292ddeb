"""The best phrase alignment by enumeration: all pairs of trees, all 1-to-1 sets of links, all sets of lifts.

It follows the definition of H(L), not the algorithm: a set of links determines its pairs, its null phrases and so its
score. Nothing is shared with the search but the additive tables of values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product

from forestalign.forest import Forest
from forestalign.phrases.scoring.score import Step, Weights
from forestalign.phrases.scoring.seeds import Seeds
from forestalign.phrases.search.hypotheses import Bounds


@dataclass
class OneTree:
    """One tree of a forest."""

    forest: Forest
    choice: dict[int, int]
    root: int
    parent: dict[int, int] = field(default_factory=dict)
    below: dict[int, set[int]] = field(default_factory=dict)

    def __post_init__(self):
        def walk(node):
            self.below[node] = {node}
            for child in self.children(node):
                self.parent[child] = node
                walk(child)
                self.below[node] |= self.below[child]

        walk(self.root)

    def children(self, node):
        return self.forest.edges[node][self.choice[node]].children

    def words(self, node):
        return set(range(self.forest.nodes[node].begin, self.forest.nodes[node].end))

    def lca(self, nodes):
        return min((v for v in self.below if set(nodes) <= self.below[v]), key=lambda v: len(self.below[v]))

    def steps(self, top, node):
        """Generations from top down to node; a unary step is free."""
        count = 0
        while node != top:
            node = self.parent[node]
            count += len(self.children(node)) == 2
        return count

    def leaf(self, word):
        return next(v for v in self.below if self.forest.nodes[v].is_leaf and self.forest.nodes[v].begin == word)


@dataclass(frozen=True)
class Element:
    """A seed: a pair of nodes with the words it covers."""

    source: int
    target: int
    source_words: frozenset[int]
    target_words: frozenset[int]
    value: float
    step: Step


def trees_of(forest: Forest) -> Iterator[OneTree]:
    def ways(node):
        for index, edge in enumerate(forest.edges[node]):
            for below in product(*(list(ways(child)) for child in edge.children)):
                choice = {node: index}
                for part in below:
                    choice.update(part)
                yield choice

    for root in forest.roots:
        for choice in ways(root):
            yield OneTree(forest, choice, root)


@dataclass(frozen=True)
class Best:
    score: float
    sets: frozenset  # the arg-max sets of (source node, target node) pairs


def best_alignment(
    source: Forest, target: Forest, seeds: Seeds, weights: Weights, bounds: Bounds, completing: bool = False
) -> Best:
    """The best two-sided root, or with `completing` the best alignment lifted to the root."""
    top, sets = -math.inf, set()
    for source_tree in trees_of(source):
        for target_tree in trees_of(target):
            elements = elements_of(source_tree, target_tree, seeds)
            for size in range(1, len(elements) + 1):
                for chosen in combinations(elements, size):
                    for score, pairs in alignments(source_tree, target_tree, chosen, weights, bounds, completing):
                        if score > top + 1e-9:
                            top, sets = score, set()
                        if score > top - 1e-9:
                            sets.add(pairs)
    return Best(top, frozenset(sets))


def elements_of(source_tree, target_tree, seeds) -> list[Element]:
    """The seeds whose nodes are in both trees, words and phrases alike."""
    return [
        Element(x, y, frozenset(source_tree.words(x)), frozenset(target_tree.words(y)), value, Step(kind))
        for x, y, value, kind in zip(
            seeds.source.tolist(), seeds.target.tolist(), seeds.value.tolist(), seeds.kind.tolist(), strict=True
        )
        if x in source_tree.below and y in target_tree.below
    ]


def alignments(source_tree, target_tree, chosen, weights, bounds, completing):
    """Score and pairs of every alignment that rests on exactly these elements; none when they do not fit."""
    if not one_to_one(chosen):
        return
    sets = {frozenset({e}) for e in chosen}
    branching = []
    for x in source_tree.below:
        below = [frozenset(e for e in chosen if e.source in source_tree.below[c]) for c in source_tree.children(x)]
        if len(below) == 2 and all(below):
            branching.append((x, *below))
            sets.add(below[0] | below[1])

    def node_of(tree, group, side):
        nodes = [getattr(e, side) for e in group]
        return nodes[0] if len(nodes) == 1 else tree.lca(nodes)

    def touching(tree, node, side):
        return frozenset(e for e in chosen if getattr(e, f"{side}_words") & tree.words(node))

    alive = {}
    for group in sets:
        x, y = node_of(source_tree, group, "source"), node_of(target_tree, group, "target")
        if touching(target_tree, y, "target") == group and touching(source_tree, x, "source") == group:
            alive[group] = (x, y)
    everything = frozenset(chosen)
    if everything not in alive:
        return
    root = (source_tree.root, target_tree.root)
    if not completing and alive[everything] != root:
        return
    # chains of lifts on every pair but the root
    options = []
    for group, pair in alive.items():
        chains = [()]
        if bounds.lifts and not (group == everything and not completing):
            chains += lift_chains(source_tree, target_tree, group, pair, touching, bounds.gap)
        options.append([(group, chain) for chain in chains])
    for picked in product(*options):
        chains = dict(picked)
        tops = {group: (chains[group][-1] if chains[group] else alive[group]) for group in alive}
        if not gaps_hold(source_tree, target_tree, branching, tops, node_of, bounds):
            continue
        pairs = [pair for group in alive for pair in (alive[group], *chains[group])]
        if completing:
            whole = tops[everything]
            if whole[0] == root[0] or whole[1] == root[1]:
                pairs.remove(whole)
            pairs.append(root)
        yield score_of(source_tree, target_tree, chosen, pairs, weights, completing), frozenset(pairs)


def one_to_one(chosen) -> bool:
    for side in ("source_words", "target_words"):
        words = [w for e in chosen for w in getattr(e, side)]
        if len(words) != len(set(words)):
            return False
    return True


def lift_chains(source_tree, target_tree, group, pair, touching, gap):
    x, y = pair
    for higher_x in source_tree.below:
        if higher_x in (x, source_tree.root) or x not in source_tree.below[higher_x]:
            continue
        if source_tree.steps(higher_x, x) > gap or touching(source_tree, higher_x, "source") != group:
            continue
        for higher_y in target_tree.below:
            if higher_y == y or y not in target_tree.below[higher_y]:
                continue
            if target_tree.steps(higher_y, y) > gap or touching(target_tree, higher_y, "target") != group:
                continue
            lifted = (higher_x, higher_y)
            yield (lifted,)
            for longer in lift_chains(source_tree, target_tree, group, lifted, touching, gap):
                yield (lifted, *longer)


def gaps_hold(source_tree, target_tree, branching, tops, node_of, bounds) -> bool:
    for x, left, right in branching:
        ends = []
        for group in (left, right):
            top = tops.get(group)
            if top is None:
                top = (node_of(source_tree, group, "source"), node_of(target_tree, group, "target"))
            if source_tree.steps(x, top[0]) > bounds.gap:
                return False
            ends.append(top[1])
        one, other = ends
        if target_tree.words(one).isdisjoint(target_tree.words(other)):
            y = target_tree.lca(ends)
            if max(target_tree.steps(y, one), target_tree.steps(y, other)) > bounds.gap:
                return False
        elif bounds.monotonic:
            return False
    return True


def score_of(source_tree, target_tree, chosen, pairs, weights, completing) -> float:
    covered = {e.source for e in chosen}, {e.target for e in chosen}
    score = side_value(source_tree, covered[0], weights.source_null, weights.source_inside, weights.source_edge)
    score += side_value(target_tree, covered[1], weights.target_null, weights.target_inside, weights.target_edge)
    seeds = {(e.source, e.target): e for e in chosen}
    for x, y in pairs:
        score += float(weights.pair[x, y])
        step = step_of(source_tree, target_tree, (x, y), pairs, seeds, completing)
        score += float(weights.source_step[step, x] + weights.target_step[step, y])
        if step in (Step.SEED, Step.PHRASE_SEED):
            score += seeds[x, y].value
    return score


def step_of(source_tree, target_tree, pair, pairs, seeds, completing) -> Step:
    """What makes a pair, read off the pairs inside it."""
    if completing and pair == (source_tree.root, target_tree.root):
        return Step.COMPLETION
    if pair in seeds:
        return seeds[pair].step
    inner = [p for p in pairs if p != pair and p[0] in source_tree.below[pair[0]]]
    maximal = [p for p in inner if not any(q != p and p[0] in source_tree.below[q[0]] for q in inner)]
    if len(maximal) == 1:
        return Step.LIFT
    if len(maximal) > 2:
        return Step.NON_COMPOSITIONAL
    (_, first), (_, second) = sorted(maximal, key=lambda p: min(source_tree.words(p[0])))
    is_straight = min(target_tree.words(first)) < min(target_tree.words(second))
    return Step.STRAIGHT if is_straight else Step.INVERTED


def side_value(tree, covered, null_values, inside_values, edge_values) -> float:
    numbers = iter(range(len(edge_values)))
    edge_number = {(v, way): next(numbers) for v, edges in enumerate(tree.forest.edges) for way in range(len(edges))}

    def walk(node):
        if node in covered:
            return inside_values[node]
        if not tree.below[node] & covered:
            return null_values[node]
        return edge_values[edge_number[node, tree.choice[node]]] + sum(walk(child) for child in tree.children(node))

    return walk(tree.root)
