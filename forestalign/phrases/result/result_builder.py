"""From what the search found to results: derivations of two forests as alignments, with all that is said of a pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from forestalign.arrays import FloatArray
from forestalign.forest import Forest, NodeId, viterbi
from forestalign.forest.derivations import nodes_below
from forestalign.phrases.result.alignment import (
    DIGITS,
    DiscontinuousPair,
    PhraseAlignment,
    PhrasePair,
    SearchStatistics,
    chosen_tree,
)
from forestalign.phrases.result.discontinuous_pairs import AlignedSpans
from forestalign.phrases.result.pair_relations import Annotated, PairRelations
from forestalign.phrases.scoring.score import Step
from forestalign.phrases.search.hypotheses import AlignedNodes, Derivation, Found
from forestalign.phrases.search.lca import EdgeId
from forestalign.tokens import Span, TextSpan

INVERTED, NON_COMPOSITIONAL = Step.INVERTED, Step.NON_COMPOSITIONAL


@dataclass(frozen=True, slots=True, eq=False)
class ResultBuilder:
    """Two forests that were searched, and what is to be said of their pairs."""

    source: Forest
    target: Forest
    log_probs: FloatArray  # of all pairs
    relations: PairRelations

    def alignments(self, found: Found) -> tuple[PhraseAlignment, ...]:
        """The alignments of all derivations."""
        statistics = SearchStatistics(found.states, found.beam_cuts, found.trace_bounds)
        sides = _ShownNodes(self.source), _ShownNodes(self.target)
        return tuple(self._alignment(each, sides, statistics) for each in found.derivations)

    def _alignment(
        self, derivation: Derivation, sides: tuple[_ShownNodes, _ShownNodes], statistics: SearchStatistics
    ) -> PhraseAlignment:
        pairs, scattered = self._pairs(derivation, sides)
        joined = [one for one in scattered if not one.is_likeness]
        top = derivation.pairs[-1] if derivation.pairs else None
        is_root = top is not None and top.source in self.source.roots and top.target in self.target.roots
        roots = (top.source, top.target) if top and is_root else (viterbi(self.source).root, viterbi(self.target).root)
        whole = replace(
            derivation,
            source_edges=_whole_tree(self.source, roots[0], derivation.source_edges),
            target_edges=_whole_tree(self.target, roots[1], derivation.target_edges),
        )
        return PhraseAlignment(
            pairs=pairs,
            source_nulls=_nulls(self.source, derivation.source_nulls, (one.source for one in joined)),
            target_nulls=_nulls(self.target, derivation.target_nulls, (one.target for one in joined)),
            source_tree=chosen_tree(self.source, whole.source_edges),
            target_tree=chosen_tree(self.target, whole.target_edges),
            log_score=round(float(derivation.score), DIGITS),
            reached_root=is_root,
            completed=derivation.completed,
            scattered=scattered,
            derivation=whole,
            statistics=statistics,
        )

    def _pairs(
        self, derivation: Derivation, sides: tuple[_ShownNodes, _ShownNodes]
    ) -> tuple[tuple[PhrasePair, ...], tuple[DiscontinuousPair, ...]]:
        """All pairs, supports before what they support, and the words that belong together beside them."""
        nodes = derivation.pairs
        shares = [pair.posterior for pair in nodes]
        log_probs = self.log_probs[[pair.source for pair in nodes], [pair.target for pair in nodes]].tolist()
        shown = [(sides[0].node(pair.source), sides[1].node(pair.target)) for pair in nodes]
        annotated, scattered = self.relations.annotated(
            [AlignedSpans(one.span, other.span, pair.supports) for pair, (one, other) in zip(nodes, shown, strict=True)]
        )
        rows = zip(nodes, shown, annotated, log_probs, shares, strict=True)
        return tuple([_pair(*row) for row in rows]), scattered


def _pair(
    nodes: AlignedNodes,
    shown: tuple[_ShownNode, _ShownNode],
    annotated: Annotated,
    log_prob: float,
    confidence: float | None,
) -> PhrasePair:
    source, target = shown
    return PhrasePair(
        source.span,
        target.span,
        source.label,
        target.label,
        source.is_bar or target.is_bar,
        nodes.step is not NON_COMPOSITIONAL,
        nodes.step is INVERTED,
        round(log_prob, DIGITS),
        nodes.supports,
        None if confidence is None else round(confidence, DIGITS),
        annotated.evidence,
        annotated.relation,
    )


class _ShownNode(NamedTuple):
    span: TextSpan
    label: str
    is_bar: bool


class _ShownNodes:
    """What users see of the nodes of a forest; each is made when it is first asked for."""

    def __init__(self, forest: Forest):
        self._forest = forest
        self._known: dict[int, _ShownNode] = {}

    def node(self, node: int) -> _ShownNode:
        """Span, label and text of a node, as users see them."""
        found = self._known.get(node)
        if found is None:
            arrays = self._forest.arrays
            span = self._forest.sentence.span(int(arrays.begin[node]), int(arrays.end[node]))
            label, is_bar = arrays.labels[arrays.label[node]], bool(arrays.is_bar[node])
            found = self._known[node] = _ShownNode(span, label, is_bar)
        return found


def _whole_tree(forest: Forest, root: NodeId, opened: Iterable[EdgeId]) -> tuple[EdgeId, ...]:
    """The opened edges, and below null and covered phrases the parser's best derivation."""
    choice = list(viterbi(forest).choice)
    for node, way in opened:
        choice[node] = way
    return tuple([EdgeId(NodeId(node), choice[node]) for node, _ in nodes_below(forest, root, choice)])


def _nulls(forest: Forest, nodes: Iterable[NodeId], scattered: Iterable[Sequence[int]]) -> tuple[Span, ...]:
    """The spans of null phrases; words that belong together with others, though they are not a phrase, are none."""
    arrays, others = forest.arrays, {word for words in scattered for word in words}
    spans = sorted(Span(int(arrays.begin[node]), int(arrays.end[node])) for node in nodes)
    return tuple(span for span in spans if not others.issuperset(range(*span)))
