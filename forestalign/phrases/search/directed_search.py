"""The search in one direction, or in both: the better one is kept, seen from the source.

The search grows hypotheses from source to target, and what it finds depends on the direction. With option "symmetric"
both are searched, so that swapping the sentences mirrors the result; which of two equally good ones is taken depends on
the sentences, not on their order. Where both sides have one tree only, beams are `WIDER`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.compiled import core
from forestalign.config import AlignConfig
from forestalign.forest import Forest, NodeId, viterbi
from forestalign.grammar import punctuation_tags
from forestalign.phrases.scoring.model import PairScores
from forestalign.phrases.scoring.score import Step, Weights, weigh
from forestalign.phrases.scoring.seeds import Seeds, link_seeds
from forestalign.phrases.search.hypotheses import AlignedNodes, Bounds, Derivation, Found
from forestalign.phrases.search.lca import EdgeId
from forestalign.phrases.search.search import rest_values, search
from forestalign.words.alignment import WordAlignment

Engine = Callable[[Forest, Forest, Seeds, Weights, Bounds], Found]
WIDER = 3  # beams where both sides have one tree only, times those of forests (scripts/score.py search)


@dataclass(frozen=True, slots=True, eq=False)
class DirectedSearch:
    """Two forests, what everything in them is worth, and the seeds to begin with; from source to target."""

    source: Forest
    target: Forest
    weights: Weights
    seeds: Seeds
    config: AlignConfig

    def mirrored(self) -> DirectedSearch:
        """The other direction."""
        return DirectedSearch(self.target, self.source, self.weights.transposed(), self.seeds.transposed(), self.config)

    def best(self) -> Found:
        """What the settings ask for: the alignments of this direction, or of the better one of both.

        There is always at least one; without a usable seed everything is null. Scores are those of whole alignments.
        """
        return self._finished(self._over_forests()[0])

    def both_ways(self) -> tuple[Derivation, ...]:
        """The k best derivations of each direction, all seen from the source, best first; perhaps none."""
        ways = [(found.completed, each) for found in self._over_forests() for each in found.derivations]
        return tuple(each for _, each in sorted(ways, key=lambda way: (way[0], -round(way[1].score, 9))))

    def _over_forests(self) -> list[Found]:
        """What is found in each direction that the settings ask for, seen from the source; the better one first."""
        forth = self._searched()
        if self.config.direction != "symmetric":
            return [forth]
        back = self.mirrored()._searched().mirrored()
        ranks = _rank(self._finished(forth)), _rank(self._finished(back))
        is_forth = ranks[0] > ranks[1] or (ranks[0] == ranks[1] and not comes_first(self.target, self.source))
        return [forth, back] if is_forth else [back, forth]

    def _searched(self) -> Found:
        engine: Engine = search if core("phrases.search._search", self.config.plain) is None else compiled_search
        bounds = Bounds.of(self.config)
        if not (has_choice(self.source) or has_choice(self.target)):
            bounds = bounds.widened(WIDER)
        return engine(self.source, self.target, self.seeds, self.weights, bounds)

    def _finished(self, found: Found) -> Found:
        derivations = tuple(
            replace(
                each,
                score=each.score + self.weights.constant,
                completed=found.completed and not _is_whole(self.source, self.target, each),
            )
            for each in found.derivations
        )
        return replace(found, derivations=derivations or (self._nothing_aligned(),))

    def _nothing_aligned(self) -> Derivation:
        """Both sentences null as a whole, on their best trees."""
        source, target, weights = viterbi(self.source).root, viterbi(self.target).root, self.weights
        score = float(weights.source_null[source] + weights.target_null[target]) + weights.constant
        return Derivation(score, (), (), (), (source,), (target,))


def paper_search(
    source: Forest, target: Forest, links: WordAlignment, scores: PairScores, config: AlignConfig
) -> DirectedSearch:
    """The search by the paper's scores, from the word links."""
    weights = weigh(source, target, scores, config)
    return DirectedSearch(source, target, weights, link_seeds(source, target, links, config), config)


def has_choice(forest: Forest) -> bool:
    """Whether a forest has more than one tree."""
    return len(forest.arrays.log_prob) > len(forest) or len(forest.arrays.roots) > 1


def comes_first(one: Forest, other: Forest) -> bool:
    """The order of two forests, by their words, then by all they hold; equal ones have none."""
    if one.sentence.words != other.sentence.words:
        return one.sentence.words < other.sentence.words
    return _content(one) < _content(other)


def _content(forest: Forest) -> tuple[object, ...]:
    nodes = [(node.begin, node.end, node.label) for node in forest.nodes]
    return nodes, [[(edge.children, edge.log_prob) for edge in edges] for edges in forest.edges]


def _rank(found: Found) -> tuple[bool, bool, float]:
    """What decides between the best alignments of two directions: the larger is better."""
    best = found.derivations[0]
    return bool(best.pairs), not best.completed, round(best.score, 9)


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


# ---- the compiled search: what goes into it and what comes out of it ----


STEPS = tuple(Step)


def compiled_search(
    source: Forest, target: Forest, seeds: Seeds, weights: Weights, bounds: Bounds, prunes: bool = True
) -> Found:
    """What `phrases.search.search.search` finds, by the compiled module, or by the plain one where there is none.

    Without `prunes` every combination is built. That finds the same, more slowly, and is for tests.
    """
    compiled = core("phrases.search._search")
    if compiled is None:
        return search(source, target, seeds, weights, bounds)
    seeds.check(source, target)
    sides = forest_side(source), forest_side(target)
    rows, completed, states, beam_cuts, trace_bounds = compiled.search(
        *sides, seeds, weights, bounds, _rest(source, target, seeds, weights, bounds), prunes
    )
    return Found(tuple(map(_derivation, rows)), completed, states, beam_cuts, trace_bounds)


def _rest(source: Forest, target: Forest, seeds: Seeds, weights: Weights, bounds: Bounds) -> FloatArray | None:
    """What open links are worth to prospects; None where beams go by gain alone."""
    if not bounds.prospect_share:
        return None
    return np.ascontiguousarray(bounds.prospect_links * rest_values(source, target, seeds, weights))


def _derivation(row: tuple[Any, ...]) -> Derivation:
    score, pairs, source_edges, target_edges, source_nulls, target_nulls = row
    return Derivation(
        score=score,
        pairs=tuple(AlignedNodes(s, t, STEPS[step], below, share) for s, t, step, below, share in pairs),
        source_edges=tuple(EdgeId(*edge) for edge in source_edges),
        target_edges=tuple(EdgeId(*edge) for edge in target_edges),
        source_nulls=tuple(source_nulls),
        target_nulls=tuple(target_nulls),
    )


def forest_side(forest: Forest) -> Any:
    """The shape of a forest for the compiled core."""
    compiled = core("phrases.search._lca")
    assert compiled is not None
    arrays = forest.arrays
    roots = np.zeros(len(forest), np.uint8)
    roots[arrays.roots] = 1
    return compiled.ForestSide(
        arrays.edge_start,
        arrays.edge_node.astype(np.int32),
        np.ascontiguousarray(arrays.children[:, 0]),
        np.ascontiguousarray(arrays.children[:, 1]),
        arrays.begin,
        arrays.end,
        roots,
    )
