"""From what the search found to results: derivations of two forests as alignments, seen from the side that was asked.

Phrase pairs are made once, for the direction that won; what decides between the directions is asked of derivations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from forestalign.forest import Forest, NodeId, viterbi
from forestalign.forest.forest import NO_CHILD
from forestalign.grammar import punctuation_tags
from forestalign.phrases.hypotheses import AlignedNodes, Derivation, Found
from forestalign.phrases.model import FloatArray
from forestalign.phrases.region import EdgeId
from forestalign.phrases.result import PhraseAlignment, PhrasePair, SearchStatistics
from forestalign.phrases.score import Step, Weights
from forestalign.tokens import Span

Edges = tuple[tuple[NodeId, int], ...]
Calibration = Callable[[Sequence[float]], Sequence[float]]
Preference = tuple[bool, bool, float]
INVERTED, NON_COMPOSITIONAL = Step.INVERTED, Step.NON_COMPOSITIONAL


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """Two forests as they were searched, and how derivations of them become results.

    With `is_turned` the search took the user's target for its source. `calibration` makes posteriors into shares of
    right pairs.
    """

    source: Forest
    target: Forest
    weights: Weights
    log_probs: FloatArray  # of all pairs, shown to the user
    is_turned: bool = False
    calibration: Calibration | None = None

    def mirrored(self, weights: Weights) -> Assembly:
        """The other direction, by its weights."""
        return replace(
            self,
            source=self.target,
            target=self.source,
            weights=weights,
            log_probs=self.log_probs.T,
            is_turned=not self.is_turned,
        )

    def preference(self, found: Found) -> Preference:
        """What decides between the best alignments of two directions: the larger is better."""
        if not found.derivations:
            return False, True, round(self._null_score(*self._roots()), 9)
        best = found.derivations[0]
        return True, not self._is_completed(found, best), round(best.score + self.weights.constant, 9)

    def alignments(self, found: Found) -> tuple[PhraseAlignment, ...]:
        """The alignments of all derivations; at least one, without pairs where nothing was found."""
        statistics = SearchStatistics(found.states, found.beam_cuts, found.trace_bounds)
        if not found.derivations:
            return (self._nothing_aligned(statistics),)
        pairs = _PairMaker(self)
        return tuple(
            self._alignment(each, pairs, self._is_completed(found, each), statistics) for each in found.derivations
        )

    def _is_completed(self, found: Found, derivation: Derivation) -> bool:
        return found.completed and not _is_whole(self.source, self.target, derivation)

    def _alignment(
        self, derivation: Derivation, pairs: _PairMaker, completed: bool, statistics: SearchStatistics
    ) -> PhraseAlignment:
        root = derivation.pairs[-1]
        sides = (
            (self.source, root.source, derivation.source_nulls, derivation.source_edges, derivation.source_trees),
            (self.target, root.target, derivation.target_nulls, derivation.target_edges, derivation.target_trees),
        )
        edges = [_whole_tree(forest, node, opened, trees) for forest, node, _, opened, trees in sides]
        nulls = derivation.source_nulls, derivation.target_nulls
        score = derivation.score + self.weights.constant
        return self._result(pairs.pairs(derivation), nulls, edges, score, completed, statistics)

    def _nothing_aligned(self, statistics: SearchStatistics) -> PhraseAlignment:
        """Both sentences null as a whole, on their best trees."""
        one, other = self._roots()
        edges = [_whole_tree(self.source, one, (), -1), _whole_tree(self.target, other, (), -1)]
        return self._result((), ((one,), (other,)), edges, self._null_score(one, other), False, statistics)

    def _roots(self) -> tuple[NodeId, NodeId]:
        return viterbi(self.source).root, viterbi(self.target).root

    def _null_score(self, one: NodeId, other: NodeId) -> float:
        return float(self.weights.source_null[one] + self.weights.target_null[other]) + self.weights.constant

    def _result(
        self,
        pairs: tuple[PhrasePair, ...],
        nulls: tuple[tuple[NodeId, ...], tuple[NodeId, ...]],
        edges: Sequence[Edges],
        log_score: float,
        completed: bool,
        statistics: SearchStatistics,
    ) -> PhraseAlignment:
        one, other = (1, 0) if self.is_turned else (0, 1)
        spans = _spans(self.source, nulls[0]), _spans(self.target, nulls[1])
        return PhraseAlignment(
            pairs=pairs,
            source_nulls=spans[one],
            target_nulls=spans[other],
            source_null_nodes=nulls[one],
            target_null_nodes=nulls[other],
            source_edges=edges[one],
            target_edges=edges[other],
            log_score=log_score,
            reached_root=bool(pairs),
            completed=completed,
            statistics=statistics,
        )


class _PairMaker:
    """Makes the phrase pairs of derivations."""

    def __init__(self, assembly: Assembly):
        self.assembly = assembly
        self.sides = _ShownNodes(assembly.source), _ShownNodes(assembly.target)

    def pairs(self, derivation: Derivation) -> tuple[PhrasePair, ...]:
        """All pairs of a derivation, supports before what they support."""
        assembly, nodes = self.assembly, derivation.pairs
        posteriors: Sequence[float] = [pair.posterior for pair in nodes]
        if assembly.calibration is not None:
            posteriors = assembly.calibration(posteriors)
        log_probs = assembly.log_probs[[pair.source for pair in nodes], [pair.target for pair in nodes]].tolist()
        rows = zip(nodes, log_probs, posteriors, strict=True)
        return tuple([self._pair(pair, log_prob, posterior) for pair, log_prob, posterior in rows])

    def _pair(self, pair: AlignedNodes, log_prob: float, posterior: float) -> PhrasePair:
        one, other, sides = pair.source, pair.target, self.sides
        if self.assembly.is_turned:
            one, other, sides = other, one, sides[::-1]
        source, target, step = sides[0].node(one), sides[1].node(other), pair.step
        return PhrasePair(
            one,
            other,
            source.span,
            target.span,
            source.label,
            target.label,
            source.is_bar or target.is_bar,
            step is not NON_COMPOSITIONAL,
            step is INVERTED,
            log_prob,
            pair.supports,
            posterior,
            step.label,
            source_text=source.text,
            target_text=target.text,
        )


class _ShownNode(NamedTuple):
    span: Span
    label: str
    is_bar: bool
    text: str


class _ShownNodes:
    """What users see of the nodes of a forest; each is made when it is first asked for."""

    def __init__(self, forest: Forest):
        self._forest = forest
        self._known: dict[int, _ShownNode] = {}

    def node(self, node: int) -> _ShownNode:
        """One of them."""
        found = self._known.get(node)
        if found is None:
            arrays = self._forest.arrays
            span = Span(int(arrays.begin[node]), int(arrays.end[node]))
            label, is_bar = arrays.labels[arrays.label[node]], bool(arrays.is_bar[node])
            found = self._known[node] = _ShownNode(span, label, is_bar, self._forest.sentence.phrase(span))
        return found


def _is_whole(source: Forest, target: Forest, derivation: Derivation) -> bool:
    """Does the support of a completed root leave out nothing but punctuation at the edges?

    The paper's trees keep such marks outside the root, ours attach them outermost; so this counts as reaching the root.
    """
    supports = [derivation.pairs[k] for k in derivation.pairs[-1].supports]
    return bool(supports) and all(
        _is_punctuation(forest, node)
        for forest, nulls, nodes in (
            (source, derivation.source_nulls, [pair.source for pair in supports]),
            (target, derivation.target_nulls, [pair.target for pair in supports]),
        )
        for node in nulls
        if forest.arrays.end[node] <= forest.arrays.begin[nodes].min()
        or forest.arrays.begin[node] >= forest.arrays.end[nodes].max()
    )


def _is_punctuation(forest: Forest, node: NodeId) -> bool:
    arrays = forest.arrays
    return bool(arrays.is_leaf[node]) and arrays.labels[arrays.label[node]] in punctuation_tags()


def _whole_tree(forest: Forest, root: NodeId, opened: Iterable[EdgeId], trees: int) -> Edges:
    """The opened edges, and below null and covered phrases the parser's best derivation, or that of a shared tree.

    `trees` are the n-best trees to choose from in strict mode, -1 else.
    """
    chosen = {edge.node: edge.way for edge in opened}
    best = viterbi(forest).choice
    tree = (trees & -trees) if trees > 0 else 0
    starts, children = forest.arrays.edge_start.tolist(), forest.arrays.children.tolist()
    edges: list[tuple[NodeId, int]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        index = chosen.get(node, best[node])
        if tree and node not in chosen:
            index = next((k for k, edge in enumerate(forest.edges[node]) if edge.trees & tree), index)
        edges.append((node, index))
        stack.extend([NodeId(child) for child in children[starts[node] + index] if child != NO_CHILD])
    return tuple(sorted(edges))


def _spans(forest: Forest, nodes: Iterable[NodeId]) -> tuple[Span, ...]:
    arrays = forest.arrays
    return tuple(sorted(Span(int(arrays.begin[node]), int(arrays.end[node])) for node in nodes))
