"""What hypotheses grow from: pairs of words, and pairs of phrases that no word link need carry (section 4.1).

A word seed is a leaf with a leaf. A phrase seed is any source node with any target node: its words on both sides are
covered by the pair, so they are neither null nor linked, and nothing can be placed inside it.

Profile `best` gives seeds parts: a phrase seed has the strength of each kind of evidence, or is a block of links: a
word with each of whose partners' words it is linked (*gave up* with *quit*).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, Int32Array, IntArray
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.forest import Forest, NodeId
from forestalign.lexicon.word_classes import WordClass
from forestalign.phrases.evidence.phrase_evidence import SPAN, PhraseEvidence
from forestalign.phrases.scoring.schema import (
    LIKELY_LINK,
    NAMES,
    PHRASE_SEED,
    SLICE,
    WORD_SEED,
    Extent,
    NodeArrays,
    Spans,
)
from forestalign.phrases.scoring.score import Step, alignment_share
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment
from forestalign.words.similarity import equal_pairs

LEAST_LINK = 1e-4  # probability that a link counts with at least
WORD, PHRASE = Step.SEED, Step.PHRASE_SEED


@dataclass(frozen=True, slots=True, eq=False)
class Seeds:
    """Seeds as arrays side by side; `value` is added to the pair, `kind` is WORD or PHRASE."""

    source: Int32Array
    target: Int32Array
    value: FloatArray
    kind: Int32Array

    @classmethod
    def of(cls, rows: list[tuple[int, int, float, Step]]) -> Seeds:
        """Seeds from (source node, target node, value, kind)."""
        source, target, value, kind = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(
            np.array(source, np.int32),
            np.array(target, np.int32),
            np.array(value, np.float64),
            np.array(kind, np.int32),
        )

    def __len__(self) -> int:
        return len(self.source)

    def __add__(self, other: Seeds) -> Seeds:
        """The seeds of both, these first."""
        return Seeds(
            np.concatenate([self.source, other.source]),
            np.concatenate([self.target, other.target]),
            np.concatenate([self.value, other.value]),
            np.concatenate([self.kind, other.kind]),
        )

    def transposed(self) -> Seeds:
        """These seeds with source and target swapped."""
        return Seeds(self.target, self.source, self.value, self.kind)

    def check(self, source: Forest, target: Forest) -> None:
        """Refuse seeds that are not nodes of the two forests, and word seeds that are not words."""
        inside = (self.source >= 0) & (self.source < len(source)) & (self.target >= 0) & (self.target < len(target))
        self._refuse(~inside, f"is out of range; the forests have {len(source)} and {len(target)} nodes")
        self._refuse(~np.isfinite(self.value), "has a value that is not a finite number")
        is_known = (self.kind == WORD) | (self.kind == PHRASE)
        self._refuse(~is_known, f"has a kind that is not {int(WORD)} or {int(PHRASE)}")
        are_words = source.arrays.is_leaf[self.source] & target.arrays.is_leaf[self.target]
        self._refuse((self.kind == WORD) & ~are_words, "is of kind WORD, but not both its nodes are words")

    def _refuse(self, bad: BoolArray, why: str) -> None:
        if bad.any():
            k = int(bad.argmax())
            raise UsageError(f"seed ({self.source[k]}, {self.target[k]}, {self.value[k]}, {self.kind[k]}) {why}")


def link_seeds(source: Forest, target: Forest, words: WordAlignment, config: AlignConfig) -> Seeds:
    """A word seed for every link, with `link_weight` log p(link); 1-to-1 comes out of the competition.

    Pr of a pair of words is nearly 1 whenever there is no better partner for either; how likely the link itself is
    would hardly count.
    """
    weight = alignment_share(config) * config.link_weight
    source_leaves, target_leaves = leaves(source), leaves(target)
    likely: dict[tuple[int, int], float] = {}
    for link in words:
        likely[link.source, link.target] = max(link.score, likely.get((link.source, link.target), LEAST_LINK))
    return Seeds.of(
        [
            (one, other, weight * math.log(score), WORD)
            for (i, j), score in sorted(likely.items())
            for one in source_leaves[i]
            for other in target_leaves[j]
        ]
    )


def leaves(forest: Forest) -> list[list[NodeId]]:
    """The leaf nodes of each word; trees of a forest may disagree about a tag."""
    found: list[list[NodeId]] = [[] for _ in forest.sentence.tokens]
    begin = forest.arrays.begin
    for v in np.flatnonzero(forest.arrays.is_leaf).tolist():
        found[begin[v]].append(NodeId(v))
    return found


# ---- the parts of seeds, for learned scores ----


LEAST_IN_BLOCK = 0.25  # probability of each link of a block
LONGEST_BLOCK = 4  # words
LEAST_PARTNER = 0.15  # probability of two phrases by the span score
LONGEST_WITH_LINKS = 3  # words of a phrase that may be a seed though words in it are linked

FUNCTION, PUNCTUATION = int(WordClass.FUNCTION), int(WordClass.PUNCTUATION)
Words = tuple[int, ...]


def is_word_pair(row: PhraseEvidence) -> bool:
    """Whether both phrases are single words."""
    return len(row.source) == 1 == len(row.target)


def same_words(source: Sentence, target: Sentence) -> BoolArray:
    """Whether lemma or form are the same: *shocked* is a form of *shock* in one sentence, an adjective in the other."""
    return equal_pairs(source.keys, target.keys) | equal_pairs(source.lower_words, target.lower_words)


def seed_features(
    one: NodeArrays,
    other: NodeArrays,
    links: FloatArray,
    same: BoolArray,
    evidence: Sequence[PhraseEvidence],
    partners: FloatArray,
) -> tuple[Seeds, FloatArray]:
    """All seeds, without values, and their parts; `same` are equal words, `partners` how likely nodes are partners."""
    words = _word_leaves(one.forest), _word_leaves(other.forest)
    table = links[np.ix_(words[0].place, words[1].place)]
    left, right = np.nonzero(table > 0.0)
    cells = words[0].place[left], words[1].place[right]
    phrases = sorted(_phrase_vectors(one, other, links, evidence, partners).items())
    features = np.zeros((len(left) + len(phrases), len(NAMES)))
    features[: len(left), SLICE["word"]] = _word_values(one, other, table[left, right], same, evidence, cells)
    if phrases:
        features[len(left) :, SLICE["phrase"]] = [strengths for _, strengths in phrases]
    sources, targets = zip(*[nodes for nodes, _ in phrases], strict=True) if phrases else ((), ())
    kinds = np.repeat(np.array([WORD, PHRASE], np.int32), [len(left), len(phrases)])
    return Seeds(
        np.concatenate([words[0].node[left], sources]).astype(np.int32),
        np.concatenate([words[1].node[right], targets]).astype(np.int32),
        np.zeros(len(features)),
        kinds,
    ), features


class _Leaves(NamedTuple):
    """The leaf nodes of a forest in the order of their words; trees may disagree about a tag."""

    node: IntArray
    place: IntArray  # the word of each


def _word_leaves(forest: Forest) -> _Leaves:
    nodes = np.flatnonzero(forest.arrays.is_leaf)
    places = forest.arrays.begin[nodes].astype(np.int64)
    order = np.argsort(places, kind="stable")
    return _Leaves(nodes[order], places[order])


def _word_values(
    one: NodeArrays,
    other: NodeArrays,
    p: FloatArray,
    same: BoolArray,
    evidence: Sequence[PhraseEvidence],
    cells: tuple[IntArray, IntArray],
) -> FloatArray:
    """The parts of word seeds: `p` is how likely each link is, `cells` are its words."""
    left, right = one.classes[cells[0]], other.classes[cells[1]]
    against = {row.relation: np.zeros(same.shape) for row in evidence if row.relation in WORD_SEED}
    for row in evidence:
        if row.relation in against and is_word_pair(row):
            against[row.relation][row.source[0], row.target[0]] = 1.0
    columns = {
        "log p": np.log(p),
        "log odds": np.log(p / (1.0 - p)),
        "count": np.ones(len(p)),
        "both function": (left == FUNCTION) & (right == FUNCTION),
        "both punctuation": (left == PUNCTUATION) & (right == PUNCTUATION),
        "same lemma": same[cells],
        "other class": left != right,
    } | {relation: table[cells] for relation, table in against.items()}
    nothing = np.zeros(len(p))
    return np.column_stack([columns.get(name, nothing) for name in WORD_SEED])


def _phrase_vectors(
    source: NodeArrays,
    target: NodeArrays,
    links: FloatArray,
    evidence: Sequence[PhraseEvidence],
    partners: FloatArray,
) -> dict[tuple[NodeId, NodeId], list[float]]:
    """Phrase seeds: pairs of nodes over exactly the words of the evidence, at least one of several words."""
    place, fresh = PHRASE_SEED.index(SPAN), [float(name == "count") for name in PHRASE_SEED]
    found: dict[tuple[NodeId, NodeId], list[float]] = {}
    for number, strength, one, other in _phrase_places(source.spans, target.spans, links, evidence):
        vector = found.setdefault((one, other), fresh.copy())
        vector[number] = max(vector[number], strength)
    for one, other in likely_partners(source, target, links, partners):
        found.setdefault((one, other), fresh.copy())[place] = float(partners[one, other])
    return found


def likely_partners(
    source: NodeArrays, target: NodeArrays, links: FloatArray, partners: FloatArray
) -> list[tuple[NodeId, NodeId]]:
    """Pairs of nodes that the span score calls partners; longer ones only where no likely link is inside.

    A seed has nothing inside, so it would cost the pairs of linked words.
    """
    one, other = np.nonzero(partners >= LEAST_PARTNER)
    longer = np.maximum(source.lengths[one], target.lengths[other])
    likely = np.zeros((links.shape[0] + 1, links.shape[1] + 1), np.int64)
    likely[1:, 1:] = (links > LIKELY_LINK).cumsum(axis=0).cumsum(axis=1)
    inside = likely[source.end] - likely[source.begin]
    is_free = inside[one, target.end[other]] == inside[one, target.begin[other]]
    kept = (longer > 1) & ((longer <= LONGEST_WITH_LINKS) | is_free)
    return list(zip(one[kept].tolist(), other[kept].tolist(), strict=True))


def _phrase_places(
    left: Spans, right: Spans, links: FloatArray, evidence: Sequence[PhraseEvidence]
) -> Iterator[tuple[int, float, NodeId, NodeId]]:
    """Which number of the phrase group each seed has, how strong it is, and its nodes."""
    block = PHRASE_SEED.index("block of links")
    rows = [(block, strength, one, other) for one, other, strength in _blocks(left, right, links)]
    rows += [
        (PHRASE_SEED.index(row.kind), row.strength, _span(row.source), _span(row.target))
        for row in evidence
        if not is_word_pair(row) and row.relation not in WORD_SEED
    ]
    for place, strength, extent, other_extent in rows:
        for one in left.get(extent, ()):
            for other in right.get(other_extent, ()):
                yield place, strength, one, other


def evidence_of_pairs(source: NodeArrays, target: NodeArrays, evidence: Sequence[PhraseEvidence]) -> FloatArray:
    """The strongest evidence for each pair of nodes, however the pair comes about.

    A seed has nothing inside; this also speaks for a pair that grows from the words in it (*$ 5 million*, *five million
    dollars*).
    """
    table = np.zeros((len(source.begin), len(target.begin)))
    for row in evidence:
        if not is_word_pair(row) and row.relation not in WORD_SEED:
            for one in source.spans.get(_span(row.source), ()):
                for other in target.spans.get(_span(row.target), ()):
                    table[one, other] = max(table[one, other], row.strength)
    return table


def _blocks(left: Spans, right: Spans, links: FloatArray) -> list[tuple[Extent, Extent, float]]:
    """Phrases of several words that are all linked to one word, by their spans, with the mean probability."""
    found = [(several, (word, word + 1), mean) for several, word, mean in _runs(left, links)]
    return found + [((word, word + 1), several, mean) for several, word, mean in _runs(right, links.T)]


def _runs(spans: Spans, links: FloatArray) -> Iterator[tuple[Extent, int, float]]:
    are_high = links >= LEAST_IN_BLOCK
    whole = are_high
    for length in range(2, LONGEST_BLOCK + 1):
        whole = whole[:-1] & are_high[length - 1 :]
        for begin, word in np.argwhere(whole).tolist():
            if (begin, begin + length) in spans:
                yield (begin, begin + length), word, float(links[begin : begin + length, word].mean())


def _span(words: Sequence[int]) -> Extent:
    """Begin and end of adjacent words; nothing that a node could have when they are not adjacent."""
    is_whole = words[-1] - words[0] + 1 == len(words)
    return (words[0], words[-1] + 1) if is_whole else (-1, -1)
