"""Hypotheses, what they are worth, and the seeds they grow from (section 4.1, 5.3 and 5.4 of the paper).

All scores of the reading are sums, so they are folded into a few tables once (`Weights`): the value of a pair, of a
null phrase on each side, of an edge, and the price of a non-compositional pair. Then

    S(h) = pairs + maximal null phrases of both sides + opened edges - price * non-compositional pairs

With option parse_score "tree" the tables hold (1 - µp) of the alignment's part and µp of the parser's: the edges' log
probabilities, and for a null phrase its Viterbi inside score. With "local" the pairs hold log((1-µp) Pr + µp ϱϱ).
With penalty "literal" the null words are charged at every pair above them and each pair costs µn once more (5.3).

Departure: a hypothesis of a phrase seed or a lift cannot be opened by a non-compositional step. Opening one would leave
exactly what its plain link, or the hypothesis that was lifted, gives anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from forestalign.alignment import WordAlignment
from forestalign.config import AlignConfig
from forestalign.forest import Forest, NodeId
from forestalign.lca import Ancestry, EdgeId
from forestalign.model import FloatArray, PairScores


class Step(Enum):
    """How a pair came about."""

    SEED = "seed"
    PHRASE_SEED = "phrase seed"
    STRAIGHT = "straight"
    INVERTED = "inverted"
    LIFT = "lift"
    NON_COMPOSITIONAL = "non-compositional"
    COMPLETION = "completion"

    @property
    def is_opaque(self) -> bool:
        return self in (Step.PHRASE_SEED, Step.LIFT, Step.COMPLETION)


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The additive values of everything a hypothesis consists of."""

    pair: FloatArray
    source_null: list[float]
    target_null: list[float]
    source_edge: list[list[float]]
    target_edge: list[list[float]]
    noncompositional: float  # price of a non-compositional pair
    pair_null_word: float  # price of a null word, at every pair above it ("literal")
    pair_constant: float  # price of every pair ("literal")


def weigh(source: Forest, target: Forest, scores: PairScores, config: AlignConfig) -> Weights:
    """Fold penalties and parse scores into one table each."""
    tree_share = config.parse_weight if config.parse_score == "tree" else 0.0
    share = 1.0 - tree_share
    pair = scores.pair
    if config.parse_score == "local" and config.parse_weight > 0.0:
        marginals = np.outer(source.marginals, target.marginals)
        mixed = (1.0 - config.parse_weight) * np.exp(pair) + config.parse_weight * marginals
        pair = np.log(np.maximum(mixed, 1e-300))
    is_literal = config.penalty == "literal"
    per_word = 0.0 if is_literal else config.null_penalty
    return Weights(
        pair=np.ascontiguousarray(share * pair),
        source_null=_null_values(source, scores.source_null, per_word, tree_share),
        target_null=_null_values(target, scores.target_null, per_word, tree_share),
        source_edge=_edge_values(source, tree_share),
        target_edge=_edge_values(target, tree_share),
        noncompositional=share * config.null_penalty * config.noncompositional_penalty,
        pair_null_word=share * config.null_penalty if is_literal else 0.0,
        pair_constant=share * config.null_penalty if is_literal else 0.0,
    )


def _null_values(forest: Forest, log_null: FloatArray, per_word: float, tree_share: float) -> list[float]:
    best = best_inside(forest) if tree_share else [0.0] * len(forest)
    return [
        (1.0 - tree_share) * (float(log_null[v]) - per_word * (node.end - node.begin)) + tree_share * best[v]
        for v, node in enumerate(forest.nodes)
    ]


def _edge_values(forest: Forest, tree_share: float) -> list[list[float]]:
    return [[tree_share * edge.log_prob for edge in edges] for edges in forest.edges]


def best_inside(forest: Forest) -> list[float]:
    """Log probability of the best tree below each node."""
    best: list[float] = []
    for edges in forest.edges:
        best.append(max(edge.log_prob + sum(best[child] for child in edge.children) for edge in edges))
    return best


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """One derivation of a pair. Linked words and trees are bit masks; opened edges include those of dissolved pairs."""

    source: NodeId
    target: NodeId
    step: Step
    supports: tuple[Hypothesis, ...]
    value: float  # of the pair itself, the price of being non-compositional included
    source_value: float  # nulls and edges of the source side
    target_value: float  # nulls and edges of the target side
    source_words: int
    target_words: int
    source_edges: frozenset[EdgeId]
    target_edges: frozenset[EdgeId]
    source_nulls: tuple[NodeId, ...]
    segment_nulls: tuple[NodeId, ...]  # target nulls that lie in no support: Φ of Algorithm 4.2
    source_trees: int
    target_trees: int

    @property
    def score(self) -> float:
        """S(h)."""
        return sum(part.value for part in self.parts()) + self.source_value + self.target_value

    def parts(self) -> Iterator[Hypothesis]:
        """This pair and all pairs below it, supports before what they support."""
        for support in self.supports:
            yield from support.parts()
        yield self

    def finished(self) -> Derivation:
        return Derivation(
            self.score,
            self.pair_tree(),
            self.source_edges,
            self.target_edges,
            self.source_nulls,
            self.source_trees,
            self.target_trees,
            self.target_words,
        )

    def pair_tree(self) -> PairTree:
        supports = tuple(support.pair_tree() for support in self.supports)
        return PairTree(self.source, self.target, self.step, supports)


@dataclass(frozen=True, slots=True)
class PairTree:
    """A pair of a finished derivation with the pairs that support it."""

    source: NodeId
    target: NodeId
    step: Step
    supports: tuple[PairTree, ...]

    def parts(self) -> Iterator[PairTree]:
        """All pairs, supports before what they support."""
        for support in self.supports:
            yield from support.parts()
        yield self


@dataclass(frozen=True, slots=True)
class Derivation:
    """A root hypothesis without what the search needed to find it."""

    score: float
    pairs: PairTree
    source_edges: frozenset[EdgeId]
    target_edges: frozenset[EdgeId]
    source_nulls: tuple[NodeId, ...]
    source_trees: int
    target_trees: int
    target_words: int


@dataclass(frozen=True, slots=True)
class Root:
    """A root hypothesis: its score and its tree of pairs."""

    score: float
    pairs: PairTree


@dataclass(frozen=True, slots=True)
class Found:
    """Root hypotheses, best first; none when no link was usable. `derive` gives the whole derivation of one of them."""

    roots: tuple[Root, ...]
    derive: Callable[[int], Derivation]
    completed: bool
    states: int
    beam_cuts: int
    trace_bounds: int


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A hypothesis seen from a source node above it: what the way down to it leaves null is already counted."""

    hypothesis: Hypothesis
    steps: int
    value: float
    edges: frozenset[EdgeId] = frozenset()
    nulls: tuple[NodeId, ...] = ()
    trees: int = -1


def span_mask(forest: Forest, node: NodeId) -> int:
    """The words under a node as bits."""
    return (1 << forest.nodes[node].end) - (1 << forest.nodes[node].begin)


def null_nodes(forest: Forest, edges: Iterable[EdgeId], words: int) -> tuple[NodeId, ...]:
    """Children of opened nodes that are neither opened nor linked words: the maximal null phrases."""
    edges = list(edges)
    opened = {edge.node for edge in edges}
    nulls = []
    for edge in edges:
        for child in forest.edges[edge.node][edge.way].children:
            node = forest.nodes[child]
            if child not in opened and not (node.is_leaf and words >> node.begin & 1):
                nulls.append(child)
    return tuple(sorted(nulls))


class Seeds:
    """The hypotheses that word links give: leaf with leaf, and a leaf with a multiword phrase of the other side."""

    def __init__(self, source: Ancestry, target: Ancestry, weights: Weights, words: WordAlignment, config: AlignConfig):
        self.source, self.target, self.weights, self.config = source, target, weights, config
        self.links = sorted(set(words.pairs))
        self.source_leaves, self.target_leaves = _leaves(source.forest), _leaves(target.forest)

    def all(self) -> Iterator[Hypothesis]:
        """Every seed; all of W is seeded, 1-to-1 comes out of the competition."""
        for i, j in self.links:
            for source in self.source_leaves[i]:
                for target in self.target_leaves[j]:
                    yield self._seed(Step.SEED, Opened(source, 1 << i), Opened(target, 1 << j))
        if self.config.phrase_seeds:
            yield from self._phrase_seeds()

    def _phrase_seeds(self) -> Iterator[Hypothesis]:
        for j, opened in phrase_openings(self.source, self.links, self.config.gap):
            for leaf in self.target_leaves[j]:
                yield self._seed(Step.PHRASE_SEED, opened, Opened(leaf, 1 << j))
        for i, opened in phrase_openings(self.target, [(j, i) for i, j in self.links], self.config.gap):
            for leaf in self.source_leaves[i]:
                yield self._seed(Step.PHRASE_SEED, Opened(leaf, 1 << i), opened)

    def _seed(self, step: Step, source: Opened, target: Opened) -> Hypothesis:
        null_words = _word_count(self.source.forest, source) + _word_count(self.target.forest, target)
        return Hypothesis(
            source=source.node,
            target=target.node,
            step=step,
            supports=(),
            value=pair_value(self.weights, source.node, target.node, null_words, False),
            source_value=source.value,
            target_value=target.value,
            source_words=source.words,
            target_words=target.words,
            source_edges=frozenset(source.edges),
            target_edges=frozenset(target.edges),
            source_nulls=source.nulls,
            segment_nulls=target.nulls,
            source_trees=source.trees,
            target_trees=target.trees,
        )


@dataclass(frozen=True, slots=True)
class Opened:
    """A phrase opened down to the words that are linked; everything else in it is null."""

    node: NodeId
    words: int
    value: float = 0.0
    edges: tuple[EdgeId, ...] = ()
    nulls: tuple[NodeId, ...] = ()
    trees: int = -1
    depths: tuple[tuple[int, int], ...] = ()  # linked words and how many generations below they are


def pair_value(weights: Weights, source: NodeId, target: NodeId, null_words: int, is_noncompositional: bool) -> float:
    """log Pr with whatever is charged to the pair itself."""
    value = float(weights.pair[source, target]) - weights.pair_null_word * null_words - weights.pair_constant
    return value - weights.noncompositional if is_noncompositional else value


def phrase_openings(ancestry: Ancestry, links: list[tuple[int, int]], gap: int) -> Iterator[tuple[int, Opened]]:
    """Words of the other side with the multiword phrases they may stand for.

    Either the phrase's semantic head is linked to the word, at most `gap` below the phrase; or all linked words of the
    phrase are linked to the word, the phrase is their LCA, and one of them is at most `gap` below.
    `links` are (word of this side, word of the other side).
    """
    forest = ancestry.forest
    linked_to: dict[int, list[int]] = {}  # by word of this side
    linked_from: dict[int, int] = {}  # by word of the other side, as bits
    for i, j in links:
        linked_to.setdefault(i, []).append(j)
        linked_from[j] = linked_from.get(j, 0) | 1 << i
    linked = sum(1 << i for i in linked_to)
    known: dict[tuple[NodeId, int], list[Opened]] = {}
    for v, node in enumerate(forest.nodes):
        if node.end - node.begin < 2:
            continue
        inside = span_mask(forest, NodeId(v)) & linked
        heads = linked_to.get(node.semantic_head, [])
        for j in sorted({*heads, *_common_partners(inside, linked_from)}):
            own = inside & linked_from[j]
            for opened in _open(ancestry, NodeId(v), own, known):
                depths = dict(opened.depths)
                is_near_head = j in heads and depths[node.semantic_head] <= gap
                is_only = own == inside and _is_lca(forest, opened) and min(depths.values()) <= gap
                if is_near_head or is_only:
                    yield j, opened


def _common_partners(inside: int, linked_from: dict[int, int]) -> list[int]:
    """Words that all of several linked words are linked to."""
    if inside.bit_count() < 2:
        return []
    return [j for j, words in linked_from.items() if words & inside == inside]


def _open(ancestry: Ancestry, node: NodeId, words: int, known: dict[tuple[NodeId, int], list[Opened]]) -> list[Opened]:
    """The ways to open a phrase down to the leaves of `words`, best first."""
    if (node, words) not in known:
        known[node, words] = _open_anew(ancestry, node, words, known)
    return known[node, words]


def _open_anew(
    ancestry: Ancestry, node: NodeId, words: int, known: dict[tuple[NodeId, int], list[Opened]]
) -> list[Opened]:
    forest = ancestry.forest
    if forest.nodes[node].is_leaf:
        return [Opened(node, words, depths=((forest.nodes[node].begin, 0),))]
    ways: list[Opened] = []
    for index, edge in enumerate(forest.edges[node]):
        partial = [Opened(node, words, ancestry.edge_values[node][index], (EdgeId(node, index),), (), edge.trees)]
        for child in edge.children:
            inside = words & span_mask(forest, child)
            below = (
                _open(ancestry, child, inside, known)
                if inside
                else [Opened(child, 0, ancestry.null_values[child], (), (child,))]
            )
            partial = [_join(one, other, len(edge.children) - 1) for one in partial for other in below]
        ways += partial
    ways.sort(key=lambda way: (-way.value, way.edges))
    return ways[: ancestry.paths] if ancestry.paths else ways


def _join(upper: Opened, lower: Opened, steps: int) -> Opened:
    return Opened(
        upper.node,
        upper.words,
        upper.value + lower.value,
        upper.edges + lower.edges,
        upper.nulls + lower.nulls,
        upper.trees & lower.trees,
        upper.depths + tuple((word, depth + steps) for word, depth in lower.depths),
    )


def _is_lca(forest: Forest, opened: Opened) -> bool:
    """Both children of the top edge hold linked words."""
    node, index = opened.edges[0]
    children = forest.edges[node][index].children
    return len(children) == 2 and all(opened.words & span_mask(forest, child) for child in children)


def _leaves(forest: Forest) -> list[list[NodeId]]:
    """The leaf nodes of each word; trees of a forest may disagree about a tag."""
    leaves: list[list[NodeId]] = [[] for _ in forest.sentence.tokens]
    for v, node in enumerate(forest.nodes):
        if node.is_leaf:
            leaves[node.begin].append(NodeId(v))
    return leaves


def _word_count(forest: Forest, opened: Opened) -> int:
    node = forest.nodes[opened.node]
    return node.end - node.begin - opened.words.bit_count()
