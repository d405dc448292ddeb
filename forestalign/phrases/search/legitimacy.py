"""Definition 3.2: what makes a set of phrase pairs legitimate, one predicate per condition.

Written from the text and slow on purpose. The search never calls it: it judges the search, so it shares no code with
it. Descent is always looked up in the chosen tree, which `_descendants` walks from the root by the alignment's edges.
"""

from __future__ import annotations

from itertools import combinations

from forestalign.forest import Forest, NodeId
from forestalign.phrases.search.hypotheses import Derivation
from forestalign.phrases.search.lca import EdgeId

Descendants = dict[NodeId, frozenset[NodeId]]


def root_pair_is_contained(alignment: Derivation, source: Forest, target: Forest) -> bool:
    """1. The pair of the two roots is aligned."""
    return any(pair.source in source.roots and pair.target in target.roots for pair in alignment.pairs)


def phrases_lie_in_one_tree(alignment: Derivation, source: Forest, target: Forest) -> bool:
    """2. Same-Tree: on each side all aligned and all null phrases belong to one complete parse tree."""
    source_tree = _descendants(source, alignment.source_edges)
    target_tree = _descendants(target, alignment.target_edges)
    if source_tree is None or target_tree is None:
        return False
    sources = {pair.source for pair in alignment.pairs} | set(alignment.source_nulls)
    targets = {pair.target for pair in alignment.pairs} | set(alignment.target_nulls)
    return sources <= source_tree.keys() and targets <= target_tree.keys()


def pairs_are_relevant(alignment: Derivation, source: Forest, target: Forest) -> bool:
    """3. Relevance: a chain of supports leads from every pair to the root pair, each lying below what it supports."""
    source_tree, target_tree = _trees(alignment, source, target)
    pairs = alignment.pairs
    roots = [k for k, pair in enumerate(pairs) if pair.source in source.roots and pair.target in target.roots]
    reached, open_pairs = set(roots), list(roots)
    while open_pairs:
        pair = pairs[open_pairs.pop()]
        for k in pair.supports:
            below_source = pairs[k].source in source_tree[pair.source] - {pair.source}
            below_target = pairs[k].target in target_tree[pair.target] - {pair.target}
            if not (below_source and below_target):
                return False
            if k not in reached:
                reached.add(k)
                open_pairs.append(k)
    return len(reached) == len(pairs)


def pairs_are_consistent(alignment: Derivation) -> bool:
    """4. Consistency: a phrase is aligned with at most one phrase of the other side, and is not null as well."""
    sources = [pair.source for pair in alignment.pairs] + list(alignment.source_nulls)
    targets = [pair.target for pair in alignment.pairs] + list(alignment.target_nulls)
    return len(set(sources)) == len(sources) and len(set(targets)) == len(targets)


def pairs_are_monotonous(alignment: Derivation, source: Forest, target: Forest) -> bool:
    """5. Monotonous: one source phrase lies in another exactly when their target phrases do."""
    source_tree, target_tree = _trees(alignment, source, target)
    for one, other in combinations(alignment.pairs, 2):
        for inner, outer in ((one, other), (other, one)):
            in_source = inner.source in source_tree[outer.source]
            in_target = inner.target in target_tree[outer.target]
            if in_source != in_target:
                return False
    return True


def addable_pairs(alignment: Derivation, source: Forest, target: Forest) -> tuple[tuple[NodeId, NodeId], ...]:
    """6. Maximum Set: the pairs that two aligned pairs could support and that no other pair forbids.

    Empty means that the set is maximal. It is reported, never required: a search for the best score may leave a
    compatible pair out.
    """
    source_tree, target_tree = _trees(alignment, source, target)
    found = set()
    for one, other in combinations(alignment.pairs, 2):
        x = _lowest_common(source_tree, one.source, other.source)
        y = _lowest_common(target_tree, one.target, other.target)
        proper = x not in (one.source, other.source) and y not in (one.target, other.target)
        if proper and _fits(alignment, source_tree, target_tree, x, y):
            found.add((x, y))
    return tuple(sorted(found))


def is_legitimate(alignment: Derivation, source: Forest, target: Forest) -> bool:
    """Conditions 1 to 5 together."""
    return (
        root_pair_is_contained(alignment, source, target)
        and phrases_lie_in_one_tree(alignment, source, target)
        and pairs_are_relevant(alignment, source, target)
        and pairs_are_consistent(alignment)
        and pairs_are_monotonous(alignment, source, target)
    )


def _fits(alignment: Derivation, source_tree: Descendants, target_tree: Descendants, x: NodeId, y: NodeId) -> bool:
    """Would ⟨x, y⟩ keep Consistency and Monotonous?"""
    for pair in alignment.pairs:
        if pair.source == x or pair.target == y:
            return False
        if (pair.source in source_tree[x]) != (pair.target in target_tree[y]):
            return False
        if (x in source_tree[pair.source]) != (y in target_tree[pair.target]):
            return False
    return True


def _lowest_common(tree: Descendants, one: NodeId, other: NodeId) -> NodeId:
    common = [node for node, below in tree.items() if one in below and other in below]
    return min(common, key=lambda node: len(tree[node]))


def _trees(alignment: Derivation, source: Forest, target: Forest) -> tuple[Descendants, Descendants]:
    source_tree = _descendants(source, alignment.source_edges)
    target_tree = _descendants(target, alignment.target_edges)
    assert source_tree is not None, "the chosen source edges are not a tree"
    assert target_tree is not None, "the chosen target edges are not a tree"
    return source_tree, target_tree


def _descendants(forest: Forest, edges: tuple[EdgeId, ...]) -> Descendants | None:
    """Each node of the chosen tree with the nodes below it, itself included; None when the edges are not a tree."""
    chosen = dict(edges)
    # in a forest of one word, the word may be a root beside a phrase over it
    children_of = {child for node, index in edges for child in forest.edges[node][index].children}
    roots = [node for node in chosen if node in forest.roots and node not in children_of]
    if len(chosen) != len(edges) or len(roots) != 1:
        return None
    below: Descendants = {}

    def walk(node: NodeId) -> bool:
        if node not in chosen:
            return False
        children = forest.edges[node][chosen[node]].children
        if not all(walk(child) for child in children):
            return False
        below[node] = frozenset({node}).union(*(below[child] for child in children))
        return True

    return below if walk(roots[0]) and len(below) == len(chosen) else None
