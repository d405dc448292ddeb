"""From two forests to phrase alignments: the search in the wanted direction, k best, posteriors, the chosen trees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from forestalign.alignment import PhraseAlignment, PhrasePair, SearchStatistics, WordAlignment, WordLink
from forestalign.config import AlignConfig
from forestalign.fast_search import can_run, fast_search
from forestalign.forest import Forest, NodeId, log_partition, viterbi
from forestalign.grammar import punctuation_tags
from forestalign.hypotheses import Derivation, Found, PairTree, Root, Step, null_nodes
from forestalign.lca import EdgeId
from forestalign.model import PairScores
from forestalign.search import search
from forestalign.tokens import Span

LEAST_LINK = 1e-4  # probability that a link counts with at least

Edges = tuple[tuple[NodeId, int], ...]
Keys = frozenset[tuple[NodeId, NodeId]]


def align_phrases(
    source: Forest, target: Forest, words: WordAlignment, scores: PairScores, config: AlignConfig
) -> tuple[PhraseAlignment, ...]:
    """The `config.kbest` best alignments, best first; always at least one.

    Without a usable link the one has no pairs, everything is null and `reached_root` is false. With option "symmetric"
    both directions are searched and the better one is kept, so that swapping the sentences mirrors the result.
    """
    searched = with_links(source, target, words, scores, config.link_weight)
    found = _search(source, target, words, searched, config)
    alignments = _assemble(source, target, scores, found, config)
    if config.direction != "symmetric":
        return alignments
    backwards = WordAlignment(tuple(sorted(WordLink(w.target, w.source, w.score, w.stage) for w in words)))
    mirrored = _search(target, source, backwards, searched.transposed(), config)
    others = tuple(map(_mirrored, _assemble(target, source, scores.transposed(), mirrored, config)))
    return max(alignments, others, key=lambda found: _preference(found[0]))


def with_links(source: Forest, target: Forest, words: WordAlignment, scores: PairScores, weight: float) -> PairScores:
    """The scores with `weight` log p(link) added to each pair of linked words.

    Pr of a pair of words is nearly 1 whenever there is no better partner for either; how likely the link itself is
    would hardly count.
    """
    pair = scores.pair.copy()
    one, other = _leaves(source), _leaves(target)
    for link in words:
        for leaf in one[link.source]:
            pair[leaf, other[link.target]] += weight * math.log(max(link.score, LEAST_LINK))
    return PairScores(pair, scores.source_null, scores.target_null)


def _leaves(forest: Forest) -> list[list[NodeId]]:
    """The leaves of each word; trees of the user's may tag it differently."""
    found: list[list[NodeId]] = [[] for _ in forest.sentence.tokens]
    for v, node in enumerate(forest.nodes):
        if node.is_leaf:
            found[node.begin].append(NodeId(v))
    return found


def _search(source: Forest, target: Forest, words: WordAlignment, scores: PairScores, config: AlignConfig) -> Found:
    if config.plain or not can_run(source, target, config):
        return search(source, target, words, scores, config)
    return fast_search(source, target, words, scores, config)


def _preference(alignment: PhraseAlignment) -> tuple[bool, bool, float]:
    """Two-sided roots before completed ones, then by score."""
    return alignment.reached_root, not alignment.completed, round(alignment.log_score, 9)


def _assemble(
    source: Forest, target: Forest, scores: PairScores, found: Found, config: AlignConfig
) -> tuple[PhraseAlignment, ...]:
    statistics = SearchStatistics(found.states, found.beam_cuts, found.trace_bounds)
    if not found.roots:
        return (_nothing_aligned(source, target, scores, config, statistics),)
    posteriors = _posteriors(found)
    alignments = []
    for k in _distinct(found.roots, config.kbest):
        alignment = _alignment(source, target, scores, found.derive(k), posteriors, config)
        completed = found.completed and not _is_whole(source, target, alignment)
        alignments.append(replace(alignment, completed=completed, statistics=statistics))
    return tuple(alignments)


def _is_whole(source: Forest, target: Forest, alignment: PhraseAlignment) -> bool:
    """Does the support of a completed root leave out nothing but punctuation at the edges?

    The paper's trees keep such marks outside the root, ours attach them outermost; so this counts as reaching the root.
    """
    supports = [alignment.pairs[k] for k in alignment.pairs[-1].supports]
    return bool(supports) and all(
        _is_punctuation(forest, node)
        for forest, nulls, spans in (
            (source, alignment.source_null_nodes, [pair.source for pair in supports]),
            (target, alignment.target_null_nodes, [pair.target for pair in supports]),
        )
        for node in nulls
        if forest.nodes[node].end <= min(spans).begin or forest.nodes[node].begin >= max(span.end for span in spans)
    )


def _is_punctuation(forest: Forest, node: NodeId) -> bool:
    return forest.nodes[node].is_leaf and forest.nodes[node].label in punctuation_tags()


def _distinct(roots: Sequence[Root], count: int) -> list[int]:
    """The first `count` that differ in their pairs, not only in how the null phrases are built."""
    seen: set[Keys] = set()
    kept: list[int] = []
    known: dict[int, Keys] = {}
    for k, root in enumerate(roots):
        keys = _keys(root.pairs, known)
        if keys not in seen:
            seen.add(keys)
            kept.append(k)
        if len(kept) >= max(count, 1):
            break
    return kept


def _posteriors(found: Found) -> dict[tuple[NodeId, NodeId], float]:
    """Share of the beam's probability mass at the root that holds each pair."""
    top = found.roots[0].score
    masses = [math.exp(root.score - top) for root in found.roots]
    total = sum(masses)
    shares: dict[tuple[NodeId, NodeId], float] = {}
    known: dict[int, Keys] = {}
    for root, mass in zip(found.roots, masses, strict=True):
        for key in _keys(root.pairs, known):
            shares[key] = shares.get(key, 0.0) + mass / total
    return {key: min(share, 1.0) for key, share in shares.items()}


def _keys(tree: PairTree, known: dict[int, Keys]) -> Keys:
    """The pairs of a tree; trees that several roots share are looked at once."""
    if id(tree) not in known:
        own = frozenset({(tree.source, tree.target)})
        known[id(tree)] = own.union(*(_keys(support, known) for support in tree.supports))
    return known[id(tree)]


def _alignment(
    source: Forest,
    target: Forest,
    scores: PairScores,
    derivation: Derivation,
    posteriors: dict[tuple[NodeId, NodeId], float],
    config: AlignConfig,
) -> PhraseAlignment:
    order = list(derivation.pairs.parts())
    index = {id(pair): k for k, pair in enumerate(order)}
    pairs = tuple(
        _phrase_pair(source, target, scores, pair, tuple(index[id(s)] for s in pair.supports), posteriors)
        for pair in order
    )
    target_nulls = null_nodes(target, derivation.target_edges, derivation.target_words)
    source_nulls = tuple(sorted(derivation.source_nulls))
    return PhraseAlignment(
        pairs=pairs,
        source_nulls=_spans(source, source_nulls),
        target_nulls=_spans(target, target_nulls),
        source_null_nodes=source_nulls,
        target_null_nodes=target_nulls,
        source_edges=_whole_tree(
            source, derivation.pairs.source, derivation.source_edges, derivation.source_trees, config.strict
        ),
        target_edges=_whole_tree(
            target, derivation.pairs.target, derivation.target_edges, derivation.target_trees, config.strict
        ),
        log_score=derivation.score - _parse_constant(source, target, config),
        reached_root=True,
    )


def _phrase_pair(
    source: Forest,
    target: Forest,
    scores: PairScores,
    pair: PairTree,
    supports: tuple[int, ...],
    posteriors: dict[tuple[NodeId, NodeId], float],
) -> PhrasePair:
    one, other = source.nodes[pair.source], target.nodes[pair.target]
    return PhrasePair(
        source_node=pair.source,
        target_node=pair.target,
        source=Span(one.begin, one.end),
        target=Span(other.begin, other.end),
        source_label=one.label,
        target_label=other.label,
        is_bar=one.is_bar or other.is_bar,
        compositional=pair.step is not Step.NON_COMPOSITIONAL,
        inverted=pair.step is Step.INVERTED,
        log_prob=float(scores.pair[pair.source, pair.target]),
        supports=supports,
        posterior=posteriors[pair.source, pair.target],
    )


def _nothing_aligned(
    source: Forest, target: Forest, scores: PairScores, config: AlignConfig, statistics: SearchStatistics
) -> PhraseAlignment:
    """Both sentences null as a whole, on their best trees."""
    one, other = viterbi(source).root, viterbi(target).root
    null_words = len(source.sentence) + len(target.sentence)
    score = float(scores.source_null[one] + scores.target_null[other]) - config.null_penalty * null_words
    return PhraseAlignment(
        pairs=(),
        source_nulls=_spans(source, (one,)),
        target_nulls=_spans(target, (other,)),
        source_null_nodes=(one,),
        target_null_nodes=(other,),
        source_edges=_whole_tree(source, one, frozenset(), -1, False),
        target_edges=_whole_tree(target, other, frozenset(), -1, False),
        log_score=score,
        reached_root=False,
        statistics=statistics,
    )


def _parse_constant(source: Forest, target: Forest, config: AlignConfig) -> float:
    """What turns the edges' weights into log probabilities of the two trees."""
    if config.parse_score != "tree" or config.parse_weight == 0.0:
        return 0.0
    return config.parse_weight * (log_partition(source) + log_partition(target))


def _whole_tree(forest: Forest, root: NodeId, opened: frozenset[EdgeId], trees: int, strict: bool) -> Edges:
    """The opened edges, and below null phrases the parser's best derivation (in strict mode that of a shared tree)."""
    chosen = {edge.node: edge.way for edge in opened}
    best = viterbi(forest).choice
    tree = (trees & -trees) if strict and trees > 0 else 0
    edges: list[tuple[NodeId, int]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        index = chosen.get(node, best[node])
        if node not in chosen and tree:
            index = next((k for k, edge in enumerate(forest.edges[node]) if edge.trees & tree), index)
        edges.append((node, index))
        stack.extend(forest.edges[node][index].children)
    return tuple(sorted(edges))


def _spans(forest: Forest, nodes: Iterable[NodeId]) -> tuple[Span, ...]:
    return tuple(sorted(Span(forest.nodes[node].begin, forest.nodes[node].end) for node in nodes))


def _mirrored(alignment: PhraseAlignment) -> PhraseAlignment:
    """The alignment with source and target swapped."""
    return replace(
        alignment,
        pairs=tuple(
            replace(
                pair,
                source_node=pair.target_node,
                target_node=pair.source_node,
                source=pair.target,
                target=pair.source,
                source_label=pair.target_label,
                target_label=pair.source_label,
            )
            for pair in alignment.pairs
        ),
        source_nulls=alignment.target_nulls,
        target_nulls=alignment.source_nulls,
        source_null_nodes=alignment.target_null_nodes,
        target_null_nodes=alignment.source_null_nodes,
        source_edges=alignment.target_edges,
        target_edges=alignment.source_edges,
    )
