"""The best phrase alignment by enumeration: all pairs of trees, all 1-to-1 sets of links, all sets of lifts.

It follows the definition of H(L), not the algorithm: a set of links determines its pairs, its null phrases and so its
score. Nothing is shared with the search but the additive tables of values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product

from forestalign.alignment import WordAlignment
from forestalign.config import AlignConfig
from forestalign.forest import Forest
from forestalign.hypotheses import Weights


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
    """A link, or a phrase seed: a pair of nodes with the words it links."""

    source: int
    target: int
    source_words: frozenset[int]
    target_words: frozenset[int]
    is_phrase: bool = False


def trees_of(forest: Forest, strict: bool = False) -> Iterator[OneTree]:
    def ways(node):
        for index, edge in enumerate(forest.edges[node]):
            for below in product(*(list(ways(child)) for child in edge.children)):
                choice, trees = {node: index}, edge.trees
                for part, part_trees in below:
                    choice.update(part)
                    trees &= part_trees
                yield choice, trees

    for root in forest.roots:
        for choice, trees in ways(root):
            if trees or not strict:
                yield OneTree(forest, choice, root)


@dataclass(frozen=True)
class Best:
    score: float
    sets: frozenset  # the arg-max sets of (source node, target node) pairs


def best_alignment(
    source: Forest,
    target: Forest,
    links: WordAlignment,
    weights: Weights,
    config: AlignConfig,
    completing: bool = False,
) -> Best:
    """The best two-sided root, or with `completing` the best alignment lifted to the root."""
    top, sets = -math.inf, set()
    for source_tree in trees_of(source, config.strict):
        for target_tree in trees_of(target, config.strict):
            elements = elements_of(source_tree, target_tree, links, config)
            for size in range(1, len(elements) + 1):
                for chosen in combinations(elements, size):
                    for score, pairs in alignments(source_tree, target_tree, chosen, weights, config, completing):
                        if score > top + 1e-9:
                            top, sets = score, set()
                        if score > top - 1e-9:
                            sets.add(pairs)
    return Best(top, frozenset(sets))


def elements_of(source_tree, target_tree, links, config) -> list[Element]:
    pairs = sorted(set(links.pairs))
    elements = [Element(source_tree.leaf(i), target_tree.leaf(j), frozenset({i}), frozenset({j})) for i, j in pairs]
    if config.phrase_seeds:
        for node, words, j in phrase_seeds(source_tree, pairs, config.gap):
            elements.append(Element(node, target_tree.leaf(j), words, frozenset({j}), True))
        for node, words, i in phrase_seeds(target_tree, [(j, i) for i, j in pairs], config.gap):
            elements.append(Element(source_tree.leaf(i), node, frozenset({i}), words, True))
    return elements


def phrase_seeds(tree, pairs, gap):
    for node in tree.below:
        inside = tree.words(node)
        if len(inside) < 2:
            continue
        for other in sorted({j for _, j in pairs}):
            own = frozenset(i for i, j in pairs if j == other and i in inside)
            near = {i for i in own if tree.steps(node, tree.leaf(i)) <= gap}
            is_head = tree.forest.nodes[node].semantic_head in near
            only = own == {i for i, _ in pairs if i in inside}
            is_all = len(own) > 1 and only and near and tree.lca([tree.leaf(i) for i in own]) == node
            if is_head or is_all:
                yield node, own, other


def alignments(source_tree, target_tree, chosen, weights, config, completing):
    """Score and pairs of every alignment that rests on exactly these elements; none when they do not fit."""
    if not one_to_one(chosen):
        return
    sets = {frozenset({e}) for e in chosen}
    branching = []
    for x in source_tree.below:
        below = [frozenset(e for e in chosen if e.source in source_tree.below[c]) for c in source_tree.children(x)]
        if any(e.source in source_tree.below[x] and e.is_phrase and x in source_tree.below[e.source] for e in chosen):
            continue
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
        elif len(group) == 1:
            return  # a phrase seed cannot be opened
    everything = frozenset(chosen)
    if everything not in alive:
        return
    root = (source_tree.root, target_tree.root)
    if not completing and (len(chosen) < 2 or alive[everything] != root):
        return
    # chains of lifts on every pair but the root
    options = []
    for group, pair in alive.items():
        chains = [()]
        if config.lifts and not (group == everything and not completing):
            chains += lift_chains(source_tree, target_tree, group, pair, touching, config.gap)
        options.append([(group, chain) for chain in chains])
    for picked in product(*options):
        chains = dict(picked)
        tops = {group: (chains[group][-1] if chains[group] else alive[group]) for group in alive}
        if not gaps_hold(source_tree, target_tree, branching, tops, node_of, config):
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


def gaps_hold(source_tree, target_tree, branching, tops, node_of, config) -> bool:
    for x, left, right in branching:
        ends = []
        for group in (left, right):
            top = tops.get(group)
            if top is None:
                top = (node_of(source_tree, group, "source"), node_of(target_tree, group, "target"))
            if source_tree.steps(x, top[0]) > config.gap:
                return False
            ends.append(top[1])
        one, other = ends
        if target_tree.words(one).isdisjoint(target_tree.words(other)):
            y = target_tree.lca(ends)
            if max(target_tree.steps(y, one), target_tree.steps(y, other)) > config.gap:
                return False
        elif config.monotonic:
            return False
    return True


def score_of(source_tree, target_tree, chosen, pairs, weights, completing) -> float:
    source_words = {w for e in chosen for w in e.source_words}
    target_words = {w for e in chosen for w in e.target_words}
    score = side_value(source_tree, source_words, weights.source_null, weights.source_edge)
    score += side_value(target_tree, target_words, weights.target_null, weights.target_edge)
    root = (source_tree.root, target_tree.root)
    for x, y in pairs:
        inner = [(a, b) for a, b in pairs if (a, b) != (x, y) and a in source_tree.below[x]]
        maximal = [p for p in inner if not any(q != p and p[0] in source_tree.below[q[0]] for q in inner)]
        nulls = len(source_tree.words(x) - source_words) + len(target_tree.words(y) - target_words)
        score += float(weights.pair[x, y]) - weights.pair_constant - weights.pair_null_word * nulls
        if len(maximal) > 2 and not (completing and (x, y) == root):
            score -= weights.noncompositional
    return score


def side_value(tree, words, null_values, edge_values) -> float:
    def walk(node):
        if not tree.words(node) & words:
            return null_values[node]
        if tree.forest.nodes[node].is_leaf:
            return 0.0
        return edge_values[node][tree.choice[node]] + sum(walk(child) for child in tree.children(node))

    return walk(tree.root)
