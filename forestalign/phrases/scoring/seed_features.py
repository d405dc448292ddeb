"""What hypotheses of profile `best` grow from, with their parts: linked words, and phrases beside the links.

A phrase seed has the strength of each kind of evidence, or is a block of links: a word with each of whose partners'
words it is linked (*gave up* with *quit*).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, IntArray
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
from forestalign.phrases.scoring.seeds import PHRASE, WORD, Seeds
from forestalign.tokens import Sentence
from forestalign.words.similarity import equal_pairs

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
