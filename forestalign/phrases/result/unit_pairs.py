"""Partners among all stretches of text, be they nodes or not: *The board agreed* with *the board 's agreement*.

The search aligns nodes. What one would quote as a phrase often is none: a verb with what belongs to it but without its
adjuncts, a noun with half of its complement. So after the search

    units       the stretches that look most like a phrase by themselves: by the tags at their edges, by the
                dependencies that they cut, by the nodes that they are
    scores      of all pairs of units, as `span_scores` gives them to nodes, with weights of their own
    confidence  of the best pairs: how sure the scores are in both directions, how much they agree with the alignment

The weights are grammar/unit_scores.npz, learned by scripts/train_units.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from forestalign.arrays import AnyArray, BoolArray, FloatArray, IntArray
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.inputs import read_arrays, reading
from forestalign.lexicon.findings import SIMILAR
from forestalign.meaning.readings import Reading
from forestalign.phrases.evidence.phrase_evidence import SPAN, PhraseEvidence
from forestalign.phrases.scoring.schema import CATEGORIES, NodeArrays
from forestalign.phrases.scoring.span_scores import (
    LinkShares,
    Shape,
    SpansToScore,
    SpanWeights,
    both_ways,
    can_score,
    checked_weights,
    log_sums,
    score_spans,
)
from forestalign.phrases.search.hypotheses import Derivation

MOST_WORDS = 16  # of a unit that is not the whole sentence
MOST_UNITS = 64
LEAST_SCORE = -6.0  # log p of both directions together, of a pair whose confidence is asked for
LOWEST_MARGIN = -8.0
LEAST_SHARED = 0.3  # of the words, by weight, that the alignment joins: unrelated sentences have no partners to give
SURE = 0.6  # confidence from which a pair is given
WIDTH, HIDDEN = 17, 24  # of the network from features of pairs to confidence
TABLES: dict[str, Shape] = {
    "opening": (None,), "closing": (None,), "inward": (None,), "outward": (None,), "roots": (5,),
    "node": (2 * len(CATEGORIES) + 2,), "length": (MOST_WORDS + 2,),
}  # fmt: skip
NETWORK: dict[str, Shape] = {
    "mean": (WIDTH,), "spread": (WIDTH,), "layer": (HIDDEN, WIDTH), "layer_bias": (HIDDEN,), "last": (HIDDEN + 1,)
}  # fmt: skip
Nodes = tuple[NodeArrays, NodeArrays]
Numbers = Mapping[str, int]


class UnitWeights(NamedTuple):
    """The learned weights; 0 is the number of any other tag or relation, and of the edge of a sentence."""

    tags: Numbers
    relations: Numbers
    spans: SpanWeights
    own: SpanWeights  # by the names of TABLES and NETWORK

    @classmethod
    def of(cls, arrays: Mapping[str, AnyArray]) -> UnitWeights:
        """The arrays of a file; ValueError where one is missing or has another shape."""
        names = [arrays[each].tolist() if each in arrays else [] for each in ("tags", "relations")]
        tags, relations = ({name: k + 1 for k, name in enumerate(each)} for each in names)
        edges, arcs = (len(tags) + 1) ** 2, 2 * len(relations) + 2
        sizes = dict.fromkeys(("opening", "closing"), (edges,)) | dict.fromkeys(("inward", "outward"), (arcs,))
        return cls(tags, relations, checked_weights(arrays), checked_weights(arrays, TABLES | NETWORK | sizes))

    def confidence(self, features: FloatArray) -> FloatArray:
        """How likely pairs are partners, from their features."""
        scaled, last = (features - self.own["mean"]) / self.own["spread"], self.own["last"]
        hidden = np.tanh(scaled @ self.own["layer"].T + self.own["layer_bias"])
        return np.asarray(1.0 / (1.0 + np.exp(-(hidden @ last[:-1] + last[-1]))))


class Stretches(NamedTuple):
    """All stretches of a sentence, and which rows of `TABLES` say how much each looks like a phrase."""

    begin: IntArray
    end: IntArray
    rows: tuple[IntArray, ...]  # of `opening`, `closing`, `roots`, `node` and `length`
    arcs: IntArray  # relation and direction of each dependency
    inward: BoolArray  # [stretches, arcs] whether the dependent alone is left outside
    outward: BoolArray  # whether the head alone is

    def plausible(self, tables: Mapping[str, AnyArray]) -> FloatArray:
        """The score of each stretch."""
        cut = self.inward @ tables["inward"][self.arcs] + self.outward @ tables["outward"][self.arcs]
        names = ("opening", "closing", "roots", "node", "length")
        return np.asarray(sum((tables[name][row] for name, row in zip(names, self.rows, strict=True)), cut))


def stretches_of(side: SpansToScore, reading: Reading, tags: Numbers, relations: Numbers) -> Stretches:
    """The stretches that begin and end with a word and are not too long."""
    count, is_word = len(side.content), side.content > 0.0
    begin, end = np.triu_indices(count + 1, 1)
    is_short = (end - begin <= MOST_WORDS) | ((begin == 0) & (end >= count - 1))
    kept = is_short & is_word[begin] & is_word[end - 1]
    begin, end = begin[kept], end[kept]
    around = np.array([0, *[tags.get(tag, 0) for tag in reading.sentence.tags], 0])
    names = [name.partition(":")[0] for name in reading.dependencies.relations]
    heads, places = np.array(reading.dependencies.heads), np.arange(count)
    kinds = 2 * np.array([relations.get(name, 0) for name in names]) + (places > heads)
    dependents = np.flatnonzero(heads >= 0)
    holds = (places >= begin[:, None]) & (places < end[:, None])
    held, governed = holds[:, dependents], holds[:, heads[dependents]]
    roots = (held & ~governed).sum(axis=1) + holds[:, heads < 0].sum(axis=1)
    nodes = np.zeros((count + 1, count + 1), np.int64)
    nodes[side.begin, side.end] = 2 * (side.category + 1) + side.is_bar.astype(np.int64)
    edges = (around[place] * (len(tags) + 1) + around[place + 1] for place in (begin, end))
    rows = (*edges, np.minimum(roots, 4), nodes[begin, end], np.minimum(end - begin, MOST_WORDS + 1))
    return Stretches(begin, end, rows, kinds[dependents], governed & ~held, held & ~governed)


def choose_units(side: SpansToScore, found: Stretches, tables: Mapping[str, AnyArray]) -> SpansToScore:
    """The most plausible stretches, as spans that are scored; what is no node has a category of its own."""
    plausible = found.plausible(tables)
    best = np.sort(np.argsort(-plausible.round(6), kind="stable")[:MOST_UNITS])
    node = found.rows[3][best]
    is_bar, spans = np.where(node > 0, node % 2, 1).astype(np.float64), (found.begin[best], found.end[best])
    return SpansToScore(side.vectors, side.content, *spans, node // 2 - 1, is_bar, best, plausible[best] / 4.0)


def likely_pairs(
    nodes: Nodes, readings: tuple[Reading, Reading], links: FloatArray, derivation: Derivation
) -> tuple[PhraseEvidence, ...]:
    """Units that are sure partners and no pair of an alignment, each in one pair; `links` with those of blocks."""
    weights = load_unit_weights()
    if not can_score(nodes[0].forest, nodes[1].forest, weights.spans):
        return ()
    sides = [SpansToScore.of(each) for each in nodes]
    found = [stretches_of(*each, weights.tags, weights.relations) for each in zip(sides, readings, strict=True)]
    if not all(len(each.begin) for each in found):
        return ()
    one, other = (choose_units(*each, weights.own) for each in zip(sides, found, strict=True))
    left, right, features = candidate_pairs(one, other, links, nodes, derivation, weights.spans)
    sure = weights.confidence(features).round(6)
    pairs, taken = [], (set[int](), set[int]())
    for doubt, k, m in sorted(zip((-sure).tolist(), left.tolist(), right.tolist(), strict=True)):
        if -doubt >= SURE and k not in taken[0] and m not in taken[1]:
            taken[0].add(k)
            taken[1].add(m)
            words = tuple(range(one.begin[k], one.end[k])), tuple(range(other.begin[m], other.end[m]))
            said = [
                sorted(each.forest.sentence.words[i].lower() for i in own)
                for each, own in zip(nodes, words, strict=True)
            ]
            if said[0] != said[1]:  # *The dog bit* is not *bit the dog*
                pairs.append(PhraseEvidence(*words, SPAN, SIMILAR, -doubt))
    return tuple(pairs)


def candidate_pairs(
    one: SpansToScore,
    other: SpansToScore,
    links: FloatArray,
    nodes: Nodes,
    derivation: Derivation,
    weights: SpanWeights,
) -> tuple[IntArray, IntArray, FloatArray]:
    """The pairs of units that the scores find likely and the alignment does not have, one side of several words.

    They are numbers of units on both sides, and the features of each pair.
    """
    assert one.plausible is not None
    assert other.plausible is not None
    scores, nulls = score_spans(one, other, links, weights)
    forth = scores - np.logaddexp(log_sums(scores), nulls[0][:, None])
    back = scores - np.logaddexp(log_sums(scores.T), nulls[1][:, None]).T
    known, words = _aligned(nodes, derivation, (one, other))
    is_long = (one.lengths[:, None] > 1.0) | (other.lengths > 1.0)
    shared = (
        words.max(axis=1) @ one.content / one.content.sum() + words.max(axis=0) @ other.content / other.content.sum()
    )
    is_asked = is_long & (known == 0.0) & (shared >= 2.0 * LEAST_SHARED)
    left, right = np.nonzero((forth + back > LEAST_SCORE) & is_asked)
    own, their = LinkShares(one, other, words), LinkShares(other, one, words.T)
    sure, other_sure = known.max(axis=1)[:, None], known.max(axis=0)
    layers = [
        *both_ways(forth, back),
        *both_ways(_margins(forth), _margins(back.T).T),
        *both_ways(one.plausible[:, None], other.plausible),
        one.is_bar[:, None] + other.is_bar,
        *both_ways(sure, other_sure),
        (sure > 0.0) * 1.0 + (other_sure > 0.0),
        own.leaving / own.floor[:, None] + (their.leaving / their.floor[:, None]).T,
        own.inside / own.floor[:, None] + (their.inside / their.floor[:, None]).T,
        np.log(one.lengths[:, None] * other.lengths),
        np.abs(np.log(one.lengths[:, None] / other.lengths)),
        np.minimum(one.lengths[:, None], other.lengths) == 1.0,
        (one.category[:, None] == other.category) & (other.category >= 0),
        scores,
    ]
    return left, right, np.column_stack([layer[left, right] for layer in layers])


def _margins(table: FloatArray) -> FloatArray:
    """How far each score is above the best other one of its row; below it for all but the best."""
    if table.shape[1] < 2:
        return np.zeros_like(table)
    second, best = np.partition(table, -2, axis=1)[:, -2:, None].transpose(1, 0, 2)
    return np.asarray(table - np.maximum(np.where(table == best, second, best), LOWEST_MARGIN))


def _aligned(nodes: Nodes, derivation: Derivation, units: Sequence[SpansToScore]) -> tuple[FloatArray, FloatArray]:
    """How sure an alignment is of each pair of units, 0 where it has none, and of the words that its leaves join."""
    sure = np.array([pair.posterior for pair in derivation.pairs])
    chosen = [pair.source for pair in derivation.pairs], [pair.target for pair in derivation.pairs]
    numbers, spans = [], []
    for side, unit, own in zip(nodes, units, chosen, strict=True):
        is_word, count = unit.content > 0.0, len(unit.content)
        ahead = np.minimum.accumulate(np.append(np.where(is_word, np.arange(count), count), count)[::-1])[::-1]
        behind = np.maximum.accumulate(np.append(0, np.where(is_word, np.arange(1, count + 1), 0)))
        grid = np.full((count + 1, count + 1), len(unit.begin))
        grid[unit.begin, unit.end] = np.arange(len(unit.begin))
        begin, end = ahead[side.begin[own]], behind[side.end[own]]  # without marks of punctuation
        numbers.append(grid[begin, end])
        spans.append([slice(*span) for span in zip(begin.tolist(), end.tolist(), strict=True)])
    words = np.zeros([len(unit.content) for unit in units])
    for pair, span, other_span, share in zip(derivation.pairs, *spans, sure.tolist(), strict=True):
        if not pair.supports:
            words[span, other_span] = share
    known = np.zeros([len(unit.begin) + 1 for unit in units])
    np.maximum.at(known, tuple(numbers), np.maximum(sure, 1e-6))
    return known[:-1, :-1], words


@cache
def load_unit_weights() -> UnitWeights:
    """The shipped weights."""
    return read_unit_weights(grammar_root() / "unit_scores.npz")


def read_unit_weights(path: Path) -> UnitWeights:
    """The weights of a file, checked."""
    with reading(path, "file of unit scores", GrammarError):
        return UnitWeights.of(read_arrays(path))
