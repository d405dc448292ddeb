"""All local parts of the derivations of two forests, from parts to the tables of the search, and back.

`part_kinds` says what the parts are, `seed_parts` gives those of words and phrases that hypotheses grow from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.forest import Forest, log_partition
from forestalign.phrases.evidence import PhraseEvidence
from forestalign.phrases.explained_links import explain_links
from forestalign.phrases.hypotheses import Derivation
from forestalign.phrases.model import FloatArray, PairScores
from forestalign.phrases.part_kinds import (
    CATEGORIES,
    CLASSES,
    LEAST,
    LIKELY,
    LOWEST,
    MOST,
    NAMES,
    NULL,
    SLICE,
    STEPS,
    ForestSide,
    Nodes,
)
from forestalign.phrases.score import Step, Weights, best_inside, edge_log_probs
from forestalign.phrases.seed_parts import evidence_of_pairs, is_word_pair, seed_parts
from forestalign.phrases.seeds import Seeds
from forestalign.words.alignment import WordAlignment


@dataclass(frozen=True, slots=True, eq=False)
class SideParts:
    """Parts of one forest: its null phrases, and log probabilities of what is opened, covered or null."""

    null: FloatArray  # [nodes, len(NULL)]
    inside: FloatArray  # [nodes], the best tree below
    edge: FloatArray  # by edge, numbered through
    log_partition: float
    categories: Nodes  # [nodes], their numbers in CATEGORIES


@dataclass(frozen=True, slots=True, eq=False)
class DerivationParts:
    """All parts that derivations of one pair of forests can have."""

    pair: FloatArray  # [source nodes, target nodes, len(PAIR)]
    source: SideParts
    target: SideParts
    seeds: Seeds  # without values
    seed_parts: FloatArray  # [seeds, all NAMES]


def parts_of(
    source: Forest,
    target: Forest,
    words: WordAlignment,
    scores: PairScores,
    evidence: Sequence[PhraseEvidence] = (),
) -> DerivationParts:
    """The parts of two forests with their links, log Pr and evidence."""
    one, other = ForestSide.of(source), ForestSide.of(target)
    links = np.zeros((len(source.sentence), len(target.sentence)))
    for link in words:
        links[link.source, link.target] = min(max(link.score, LEAST), MOST)
    for row in evidence:
        if is_word_pair(row) and row.relation == "equal":
            i, j = row.source[0], row.target[0]
            links[i, j] = max(links[i, j], min(row.strength, MOST))
    links = explain_links(links, source, target, evidence)
    seeds, rows = seed_parts(one, other, links, evidence)
    return DerivationParts(
        _pair_parts(one, other, links, scores, evidence_of_pairs(source, target, evidence)),
        _side_parts(one, links.max(axis=1, initial=0.0), scores.source_null),
        _side_parts(other, links.max(axis=0, initial=0.0), scores.target_null),
        seeds,
        rows,
    )


def _pair_parts(
    one: ForestSide, other: ForestSide, links: FloatArray, scores: PairScores, evidence: FloatArray
) -> FloatArray:
    inside, touching = _held(one, other, links)
    likely_inside, likely_touching = _held(one, other, (links > LIKELY).astype(np.float64))
    lengths, others = one.end - one.begin, other.end - other.begin
    layers = [
        np.maximum(scores.pair, LOWEST),
        np.ones_like(inside),
        touching - 2.0 * inside,
        likely_touching - 2.0 * likely_inside,
        one.bars[:, None] + other.bars[None, :],
        one.same_labels(other),
        one.categories[:, None] == other.categories[None, :],
        2.0 * inside / np.maximum(touching, LEAST),
        np.minimum.outer(lengths, others) / np.maximum.outer(lengths, others),
        one.punctuated[:, None] + other.punctuated[None, :],
        *_word_places(one, other, links),
        (lengths == 1)[:, None] != (others == 1)[None, :],
        evidence,
    ]
    parts = np.empty((*inside.shape, len(layers)))
    for number, layer in enumerate(layers):
        parts[..., number] = layer
    return parts


def _word_places(one: ForestSide, other: ForestSide, links: FloatArray) -> tuple[FloatArray, ...]:
    """Whether the heads are linked to each other, inside the pair at all, or elsewhere; edges without a link inside."""
    forth, back = _linked_inside(links, other), _linked_inside(links.T, one).T
    heads = forth[one.head] + back[:, other.head]
    linked = np.minimum(links.sum(axis=1), 1.0)[one.head][:, None] + np.minimum(links.sum(axis=0), 1.0)[other.head]
    edges = forth[one.begin] + forth[one.end - 1] + back[:, other.begin] + back[:, other.end - 1]
    return links[one.head][:, other.head], heads, linked - heads, 4.0 - edges


def _linked_inside(links: FloatArray, other: ForestSide) -> FloatArray:
    """How likely each word (row) is linked into each phrase of the other side (column)."""
    sums = np.zeros((links.shape[0], links.shape[1] + 1))
    sums[:, 1:] = links.cumsum(axis=1)
    return np.asarray(np.minimum(sums[:, other.end] - sums[:, other.begin], 1.0))


def _held(one: ForestSide, other: ForestSide, links: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum of the links inside each pair, and of those that touch each of its sides, by prefix sums."""
    sums = np.zeros((links.shape[0] + 1, links.shape[1] + 1))
    sums[1:, 1:] = links.cumsum(axis=0).cumsum(axis=1)
    rows = sums[one.end] - sums[one.begin]
    inside = rows[:, other.end] - rows[:, other.begin]
    columns = sums[-1, other.end] - sums[-1, other.begin]
    return inside, rows[:, -1][:, None] + columns[None, :]


def _side_parts(side: ForestSide, linked: FloatArray, log_null: FloatArray) -> SideParts:
    count = len(CLASSES)
    rows = np.zeros((len(side.classes), len(NULL)))
    places = np.arange(len(side.classes))
    rows[places, 2 + side.classes] = 1.0
    rows[places, 2 + count + side.classes] = linked
    rows[:, 2 + 2 * count] = -np.log(1.0 - linked)
    sums = np.vstack([np.zeros(len(NULL)), rows.cumsum(axis=0)])
    null = sums[side.end] - sums[side.begin]
    null[:, 0], null[:, 1] = np.maximum(log_null, LOWEST), 1.0
    categories = side.categories
    null[np.arange(len(null)), len(NULL) - len(CATEGORIES) + categories] = 1.0
    inside = np.array(best_inside(side.forest))
    return SideParts(null, inside, edge_log_probs(side.forest), log_partition(side.forest), categories)


def weigh_parts(parts: DerivationParts, weights: FloatArray) -> tuple[Weights, Seeds]:
    """The tables and seed values that w gives."""
    parse = float(weights[SLICE["parse"]][0])
    steps, by_category = np.zeros((len(Step), 1)), np.zeros((len(Step), len(CATEGORIES)))
    steps[list(STEPS), 0] = weights[SLICE["step"]]
    by_category[list(STEPS)] = weights[SLICE["category"]].reshape(len(STEPS), len(CATEGORIES))
    source, target = parts.source, parts.target
    tables = Weights(
        pair=np.ascontiguousarray(parts.pair @ weights[SLICE["pair"]]),
        source_step=np.ascontiguousarray(steps + by_category[:, source.categories]),
        target_step=np.ascontiguousarray(by_category[:, target.categories]),
        source_null=source.null @ weights[SLICE["null"]] + parse * source.inside,
        target_null=target.null @ weights[SLICE["null"]] + parse * target.inside,
        source_inside=parse * source.inside,
        target_inside=parse * target.inside,
        source_edge=parse * source.edge,
        target_edge=parse * target.edge,
        constant=-parse * (source.log_partition + target.log_partition),
    )
    seeds = parts.seeds
    return tables, Seeds(seeds.source, seeds.target, parts.seed_parts @ weights, seeds.kind)


def vector_of(parts: DerivationParts, source: Forest, target: Forest, derivation: Derivation) -> FloatArray:
    """f(h): the sum of the parts of a derivation."""
    vector = np.zeros(len(NAMES))
    seeds = _seed_rows(parts.seeds)
    parse = 0.0
    for pair in derivation.pairs:
        vector[SLICE["pair"]] += parts.pair[pair.source, pair.target]
        if pair.step in STEPS:
            number = STEPS.index(pair.step)
            vector[SLICE["step"].start + number] += 1.0
            for category in (parts.source.categories[pair.source], parts.target.categories[pair.target]):
                vector[SLICE["category"].start + number * len(CATEGORIES) + category] += 1.0
        else:
            vector += parts.seed_parts[seeds[pair.source, pair.target, int(pair.step)]]
            parse += parts.source.inside[pair.source] + parts.target.inside[pair.target]
    for nulls, side in ((derivation.source_nulls, parts.source), (derivation.target_nulls, parts.target)):
        for node in nulls:
            vector[SLICE["null"]] += side.null[node]
            parse += side.inside[node]
    for edges, forest in ((derivation.source_edges, source), (derivation.target_edges, target)):
        parse += sum(forest.edges[edge.node][edge.way].log_prob for edge in edges)
    vector[SLICE["parse"]] = parse
    return vector


def _seed_rows(seeds: Seeds) -> dict[tuple[int, int, int], int]:
    """Where the parts of a seed stand; the last of equal seeds counts, as all have the same parts."""
    rows = zip(seeds.source.tolist(), seeds.target.tolist(), seeds.kind.tolist(), strict=True)
    return {key: k for k, key in enumerate(rows)}
