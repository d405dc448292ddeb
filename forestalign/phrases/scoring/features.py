"""The features of all local parts that derivations of two forests can have, and the tables of the search from them.

`schema` says what the parts and their features are, `seeds` gives those of the words and phrases that hypotheses grow
from. How likely word links are beside their rivals is said here alone, for all parts (`CompetingLinks`).

A link is rarely alone. *received* is a candidate for *enjoyed* in *received an award and enjoyed a share*, but where
*received* itself stands on the other side, that candidate is nobody's loss. So a link counts in full for what lies
*inside* a pair (a word may have several partners there: *gave up*, *quit*), and for what *leaves* a pair or stays null
only as far as nothing explains it away:

- by a stronger link of either of its words: q(i, j) = p(i, j) (1 - strongest rival that is stronger)
- by a partner inside the pair: a word i of τs is linked out of ⟨τs, τt⟩ with

      out(i, τt) = min(1, Σ q(i, j) over j outside τt) · (1 - min(1, Σ p(i, j) over j in τt))

Everything is symmetric in source and target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, IntArray
from forestalign.forest import Forest, best_inside, log_partition
from forestalign.lexicon.word_classes import WordClass
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence, block_links, discount_links
from forestalign.phrases.scoring.model import PairScores
from forestalign.phrases.scoring.schema import (
    CATEGORIES,
    CLASSES,
    LEAST_LINK,
    LIKELY_LINK,
    LOWEST_LOG_PR,
    MOST_LINK,
    NULL,
    PAIR,
    SLICE,
    STEPS,
    NodeArrays,
)
from forestalign.phrases.scoring.score import Step, Weights, edge_log_probs
from forestalign.phrases.scoring.seeds import Seeds, evidence_of_pairs, is_word_pair, same_words, seed_features
from forestalign.phrases.scoring.span_scores import LOWEST, span_log_probs
from forestalign.words.alignment import WordAlignment


@dataclass(frozen=True, slots=True, eq=False)
class SideFeatures:
    """Parts of one forest: its null phrases, and log probabilities of what is opened, covered or null."""

    null: FloatArray  # [nodes, len(NULL)]
    inside: FloatArray  # [nodes], the best tree below
    edge: FloatArray  # by edge, numbered through
    log_partition: float
    nodes: NodeArrays

    @property
    def categories(self) -> IntArray:
        """Of each node, by numbers of CATEGORIES."""
        return self.nodes.categories


@dataclass(frozen=True, slots=True, eq=False)
class DerivationFeatures:
    """All parts that derivations of one pair of forests can have."""

    pair: FloatArray  # [source nodes, target nodes, len(PAIR)]
    source: SideFeatures
    target: SideFeatures
    seeds: Seeds  # without values
    seed_features: FloatArray  # [seeds, all NAMES]
    links: CompetingLinks


def derivation_features(
    source: Forest,
    target: Forest,
    words: WordAlignment,
    scores: PairScores,
    evidence: Sequence[PhraseEvidence] = (),
    has_rivals: bool = True,
) -> DerivationFeatures:
    """The parts of two forests with their links, log Pr and evidence; `has_rivals`: links compete."""
    one, other = NodeArrays.of(source), NodeArrays.of(target)
    links = np.zeros((len(source.sentence), len(target.sentence)))
    for link in words:
        links[link.source, link.target] = min(max(link.score, LEAST_LINK), MOST_LINK)
    for row in evidence:
        if is_word_pair(row) and row.relation == "equal":
            i, j = row.source[0], row.target[0]
            links[i, j] = max(links[i, j], min(row.strength, MOST_LINK))
    spans = span_log_probs(one, other, block_links(source, target, words, evidence))
    links = discount_links(links, source, target, evidence)
    same = same_words(source.sentence, target.sentence)
    seeds, rows = seed_features(one, other, links, same, evidence, np.exp(spans))
    competing = CompetingLinks.of(links, has_rivals)
    support = evidence_of_pairs(one, other, evidence)
    return DerivationFeatures(
        _pair_features(one, other, competing, scores, support, spans - LOWEST),
        _side_features(one, *_linked(competing, same), scores.source_null),
        _side_features(other, *_linked(competing.mirrored(), same.T), scores.target_null),
        seeds,
        rows,
        competing,
    )


def _linked(competing: CompetingLinks, same: BoolArray) -> tuple[FloatArray, FloatArray]:
    """How likely each word has a partner, beside all rivals; and one that is the same word."""
    free = competing.beside_rivals
    return free.max(axis=1, initial=0.0), (free * same).max(axis=1, initial=0.0)


def _pair_features(
    one: NodeArrays,
    other: NodeArrays,
    competing: CompetingLinks,
    scores: PairScores,
    evidence: FloatArray,
    spans: FloatArray,
) -> FloatArray:
    forth, back = competing.shares(other), competing.mirrored().shares(one)
    inside, leaving = forth.of_pairs(one), forth.out_of(one) + back.out_of(other).T
    lengths, others = one.end - one.begin, other.end - other.begin
    layers = {
        "log pr": np.maximum(scores.pair, LOWEST_LOG_PR),
        "count": np.ones_like(inside),
        "links leaving": leaving,
        "likely links leaving": competing.likely().leaving(one, other),
        "bar nodes": one.bars[:, None] + other.bars[None, :],
        "same label": one.same_labels(other),
        "same category": one.categories[:, None] == other.categories[None, :],
        "links inside": 2.0 * inside / np.maximum(2.0 * inside + leaving, LEAST_LINK),
        "length ratio": np.minimum.outer(lengths, others) / np.maximum.outer(lengths, others),
        "punctuation at an edge": one.punctuated[:, None] + other.punctuated[None, :],
        **_word_places(one, other, competing.links, (forth, back)),
        "one word with several": (lengths == 1)[:, None] != (others == 1)[None, :],
        "evidence": evidence,
        "span score": spans,
    }
    features = np.empty((*inside.shape, len(PAIR)))
    for number, name in enumerate(PAIR):
        features[..., number] = layers[name]
    return features


def _word_places(
    one: NodeArrays, other: NodeArrays, links: FloatArray, shares: tuple[PhraseLinks, PhraseLinks]
) -> dict[str, FloatArray]:
    """Whether the heads are linked to each other, inside the pair at all, or elsewhere; edges without a link inside."""
    forth, back = shares[0].held, shares[1].held.T
    edges = forth[one.begin] + forth[one.end - 1] + back[:, other.begin] + back[:, other.end - 1]
    return {
        "heads linked": links[one.head][:, other.head],
        "heads held": forth[one.head] + back[:, other.head],
        "heads linked elsewhere": shares[0].out[one.head] + shares[1].out.T[:, other.head],
        "edges without link": 4.0 - edges,
    }


def _side_features(side: NodeArrays, linked: FloatArray, identical: FloatArray, log_null: FloatArray) -> SideFeatures:
    """Null phrases: what their words lose, summed over the words of each phrase, and what kind of phrase they are."""
    words = dict.fromkeys(NULL, np.zeros(len(side.classes)))
    for number, name in enumerate(CLASSES):
        words[name] = (side.classes == number).astype(np.float64)
        words[f"linked {name}"] = words[name] * linked
    words["lost links"] = -np.log(1.0 - linked)
    words["lost identical words"] = identical * (side.classes != WordClass.PUNCTUATION)
    rows = np.column_stack([words[name] for name in NULL])
    sums = np.vstack([np.zeros(len(NULL)), rows.cumsum(axis=0)])
    null = sums[side.end] - sums[side.begin]
    null[:, NULL.index("log pr")], null[:, NULL.index("count")] = np.maximum(log_null, LOWEST_LOG_PR), 1.0
    for number, category in enumerate(CATEGORIES):
        null[:, NULL.index(f"phrase {category}")] = side.categories == number
    inside = best_inside(side.forest)
    edges, whole = edge_log_probs(side.forest), log_partition(side.forest)
    return SideFeatures(null, inside, edges, whole, side)


def weigh_features(features: DerivationFeatures, weights: FloatArray) -> tuple[Weights, Seeds]:
    """The tables and seed values that w gives."""
    parse = float(weights[SLICE["parse"]][0])
    steps, by_category = np.zeros((len(Step), 1)), np.zeros((len(Step), len(CATEGORIES)))
    steps[list(STEPS), 0] = weights[SLICE["step"]]
    by_category[list(STEPS)] = weights[SLICE["category"]].reshape(len(STEPS), len(CATEGORIES))
    source, target = features.source, features.target
    tables = Weights(
        pair=np.ascontiguousarray(features.pair @ weights[SLICE["pair"]]),
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
    seeds = features.seeds
    return tables, Seeds(seeds.source, seeds.target, features.seed_features @ weights, seeds.kind)


# ---- links beside their rivals ----


@dataclass(frozen=True, slots=True, eq=False)
class CompetingLinks:
    """p of all links, and q, what is left of it beside stronger rivals; [source words, target words]."""

    links: FloatArray
    beside_rivals: FloatArray
    has_rivals: bool = True  # False: nothing explains a link away

    @classmethod
    def of(cls, links: FloatArray, has_rivals: bool = True) -> CompetingLinks:
        """The links of two sentences."""
        return cls(links, beside_rivals(links) if has_rivals else links, has_rivals)

    def likely(self) -> CompetingLinks:
        """The likely links alone, all alike; one that has a stronger rival leaves nothing."""
        likely = (self.links > LIKELY_LINK).astype(np.float64)
        if not self.has_rivals:
            return CompetingLinks(likely, likely, False)
        return CompetingLinks(likely, likely * (strongest_rivals(self.links) <= self.links))

    def mirrored(self) -> CompetingLinks:
        """Seen from the other sentence."""
        return CompetingLinks(self.links.T, self.beside_rivals.T, self.has_rivals)

    def shares(self, other: NodeArrays) -> PhraseLinks:
        """What the links of each word do for each phrase of the other side."""
        inside = _sums_in(self.links, other)
        elsewhere = self.beside_rivals.sum(axis=1)[:, None] - _sums_in(self.beside_rivals, other)
        held = np.minimum(inside, 1.0)
        explained = held if self.has_rivals else 0.0
        return PhraseLinks(inside, held, np.clip(elsewhere, 0.0, 1.0) * (1.0 - explained))

    def leaving(self, one: NodeArrays, other: NodeArrays) -> FloatArray:
        """How many words of each pair, on both sides, are linked out of it."""
        return self.shares(other).out_of(one) + self.mirrored().shares(one).out_of(other).T


class PhraseLinks(NamedTuple):
    """The links of each word (row) and each phrase of the other side (column)."""

    inside: FloatArray  # their sum
    held: FloatArray  # how likely the word is linked into the phrase
    out: FloatArray  # out(i, τt)

    def of_pairs(self, one: NodeArrays) -> FloatArray:
        """Sum of the links inside each pair."""
        return _sums_in(self.inside.T, one).T

    def out_of(self, one: NodeArrays) -> FloatArray:
        """How many words of each phrase of this side are linked out of its pair with each of the other side."""
        return _sums_in(self.out.T, one).T


def beside_rivals(links: FloatArray) -> FloatArray:
    """q: every link times one minus the strongest rival that is stronger.

    >>> beside_rivals(np.array([[0.9, 0.5], [0.2, 0.0]])).round(2).tolist()
    [[0.9, 0.05], [0.02, 0.0]]
    """
    rivals = strongest_rivals(links)
    return np.asarray(links * (1.0 - np.where(rivals > links, rivals, 0.0)))


def strongest_rivals(links: FloatArray) -> FloatArray:
    """The strongest other link of either word, for each pair of words."""
    return np.maximum(_strongest_others(links), _strongest_others(links.T).T)


def _strongest_others(links: FloatArray) -> FloatArray:
    """The strongest link of each row without the cell itself."""
    if links.shape[1] < 2:
        return np.zeros_like(links)
    second, first = np.partition(links, -2, axis=1)[:, -2:].T
    return np.asarray(np.where(links == first[:, None], second[:, None], first[:, None]))


def _sums_in(rows: FloatArray, side: NodeArrays) -> FloatArray:
    """The sum of each row over the words of each phrase, by prefix sums."""
    sums = np.zeros((rows.shape[0], rows.shape[1] + 1))
    sums[:, 1:] = rows.cumsum(axis=1)
    return np.asarray(sums[:, side.end] - sums[:, side.begin])
