"""The best trees of two sentences that say the same, each seen in the light of the other.

What a sentence says about the other (`projection`) is added to the other's chart as potentials of spans. The k best
trees of that chart, which may be far down the parser's own list, are packed into a forest, in which attachments get
their share too; the best tree of the forest is chosen. Where a sentence has no chart, its forest stands for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.chart import kbest
from forestalign.forest import (
    Forest,
    ForestDerivation,
    edge_marginals,
    pack_chart,
    tree_of,
    viterbi,
    with_marginals,
)
from forestalign.forest.forest import restrict
from forestalign.parsers import Parse
from forestalign.reranking.projection import SURE, TreeEvidence, mutual_evidence
from forestalign.reranking.tree_features import Weights, edge_features, with_evidence
from forestalign.trees import ScoredTree, Tree
from forestalign.words.alignment import WordAlignment

TREES = 30  # of a chart with potentials that are packed
LEAST_SHARE = 0.02  # of all trees, for an edge to be searched
LEAST_LINK = 0.5  # probability of a link that carries evidence


class ParsedPair(NamedTuple):
    """Two parses, with their charts where there are some, and the links between their words."""

    source: Parse
    target: Parse
    words: WordAlignment
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reranked:
    """The parser's tree and the chosen one, with their log probabilities by the parser, as `parse --nbest` has them."""

    best: ScoredTree
    chosen: ScoredTree


@dataclass(frozen=True, slots=True)
class RerankedPair:
    """Both sentences of a pair."""

    source: Reranked
    target: Reranked
    id: str = ""


class WeighedForest(NamedTuple):
    """A forest by the parser's weights, the features of its edges, and the same forest with what these add."""

    plain: Forest
    features: FloatArray
    weighed: Forest


def rerank(pair: ParsedPair, weights: Weights) -> RerankedPair:
    """Each side's best tree with the evidence of the other."""
    source, target = weighed_sides(pair, weights)
    return RerankedPair(_chosen(pair.source, source), _chosen(pair.target, target), pair.id)


def mutual_forests(pair: ParsedPair, weights: Weights) -> tuple[Forest, Forest]:
    """The forests of both sides, each weighed with what the other says."""
    source, target = weighed_sides(pair, weights)
    return prune(source.weighed, LEAST_SHARE), prune(target.weighed, LEAST_SHARE)


def weighed_sides(pair: ParsedPair, weights: Weights, sure: float = SURE) -> tuple[WeighedForest, WeighedForest]:
    """The trees of each side, weighed with what the other's parser says about the other."""
    links = WordAlignment(tuple([link for link in pair.words if link.score >= LEAST_LINK]))
    about_source, about_target = mutual_evidence(pair.source.forest, pair.target.forest, links, sure)
    return _weighed(pair.source, about_source, weights), _weighed(pair.target, about_target, weights)


def _weighed(parse: Parse, evidence: TreeEvidence, weights: Weights) -> WeighedForest:
    forest = parse.forest
    if parse.chart is not None:
        trees = kbest(with_evidence(parse.chart, evidence, weights), parse.sentence.words, TREES, log_z=0.0)
        forest = pack_chart(parse.chart, trees, parse.sentence)
    features = edge_features(forest, evidence)
    return WeighedForest(forest, features, forest.weighed(forest.arrays.log_prob + features @ weights))


def prune(forest: Forest, least: float) -> Forest:
    """The forest without edges that have less than this share of all trees, with the marginals of what is left.

    Each node that is left keeps its best edge, and the best tree stays whole.
    """
    arrays, best, shares = forest.arrays, viterbi(forest), edge_marginals(forest)
    kept = shares >= least
    kept[arrays.edge_start[:-1] + np.array(best.choice, np.int32)] = True
    left, right = arrays.children.T.tolist()
    is_kept, starts = kept.tolist(), arrays.edge_start.tolist()
    reached = [False] * (len(forest) + 1)  # the last is for children that are none
    for root in arrays.roots.tolist():
        reached[root] = root == best.root or shares[starts[root] : starts[root + 1]].sum() >= least
    for node in range(len(forest) - 1, -1, -1):
        if reached[node]:
            for edge in range(starts[node], starts[node + 1]):
                if is_kept[edge]:
                    reached[left[edge]] = reached[right[edge]] = True
    nodes = np.flatnonzero(reached[:-1])
    edges = np.flatnonzero(kept & np.array(reached)[arrays.edge_node])
    return with_marginals(restrict(forest, nodes, edges, [root for root in forest.roots if reached[root]]))


def _chosen(parse: Parse, forests: WeighedForest) -> Reranked:
    found = viterbi(forests.weighed)
    tree = tree_of(forests.plain, found.root, found.choice)
    return Reranked(parse.trees[0], ScoredTree(tree, log_prob_of(parse, tree, _weight(forests.plain, found))))


def _weight(forest: Forest, derivation: ForestDerivation) -> float:
    """The weight of a derivation in a forest whose edges may weigh something else than where it was found."""
    total, pending = 0.0, [derivation.root]
    while pending:
        edge = forest.edges[pending[-1]][derivation.choice[pending.pop()]]
        total += edge.log_prob
        pending += edge.children
    return total


def log_prob_of(parse: Parse, tree: Tree, weight: float) -> float:
    """The log probability of a tree by the parser, from its weight in a forest: one definition for all its trees.

    Weights of two trees differ as their log probabilities do, so the best tree's tells all others. Trees of a list that
    was given have the scores that came with them.
    """
    if parse.chart is None:
        for scored in parse.trees:
            if scored.tree == tree:
                return scored.log_prob
    return parse.trees[0].log_prob + weight - viterbi(parse.forest).log_prob
