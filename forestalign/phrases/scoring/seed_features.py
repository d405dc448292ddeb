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
from forestalign.phrases.scoring.schema import LIKELY_LINK, NAMES, PHRASE_SEED, SLICE, WORD_SEED, NodeArrays
from forestalign.phrases.scoring.seeds import PHRASE, WORD, Seeds
from forestalign.tokens import Sentence

LEAST_IN_BLOCK = 0.25  # probability of each link of a block
LONGEST_BLOCK = 4  # words
LEAST_PARTNER = 0.15  # probability of two phrases by the span score
LONGEST_WITH_LINKS = 3  # words of a phrase that may be a seed though words in it are linked

FUNCTION, PUNCTUATION = int(WordClass.FUNCTION), int(WordClass.PUNCTUATION)
Words = tuple[int, ...]
Extent = tuple[int, int]  # begin and end
Spans = dict[Extent, list[NodeId]]


def is_word_pair(row: PhraseEvidence) -> bool:
    """Whether both phrases are single words."""
    return len(row.source) == 1 == len(row.target)


def same_words(source: Sentence, target: Sentence) -> BoolArray:
    """Whether lemma or form are the same: *shocked* is a form of *shock* in one sentence, an adjective in the other."""
    keys = [np.array([token.key for token in side.tokens], object) for side in (source, target)]
    forms = [np.array([token.form.lower() for token in side.tokens], object) for side in (source, target)]
    same: BoolArray = (keys[0][:, None] == keys[1]) | (forms[0][:, None] == forms[1])
    return same


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
    left, right = _by_span(source.forest), _by_span(target.forest)
    place = PHRASE_SEED.index(SPAN)
    found: dict[tuple[NodeId, NodeId], list[float]] = {}
    for number, strength, one, other in _phrase_places(left, right, links, evidence):
        vector = found.setdefault((one, other), [float(name == "count") for name in PHRASE_SEED])
        vector[number] = max(vector[number], strength)
    for one, other in likely_partners(source, target, links, partners):
        vector = found.setdefault((one, other), [float(name == "count") for name in PHRASE_SEED])
        vector[place] = float(partners[one, other])
    return found


def likely_partners(
    source: NodeArrays, target: NodeArrays, links: FloatArray, partners: FloatArray
) -> list[tuple[NodeId, NodeId]]:
    """Pairs of nodes that the span score calls partners; longer ones only where no likely link is inside.

    A seed has nothing inside, so it would cost the pairs of linked words.
    """
    rows = np.argwhere(partners >= LEAST_PARTNER)
    found = []
    for one, other in rows.tolist():
        lengths = source.end[one] - source.begin[one], target.end[other] - target.begin[other]
        if max(lengths) > 1:
            inside = links[source.begin[one] : source.end[one], target.begin[other] : target.end[other]]
            if max(lengths) <= LONGEST_WITH_LINKS or inside.max(initial=0.0) <= LIKELY_LINK:
                found.append((NodeId(one), NodeId(other)))
    return found


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


def evidence_of_pairs(source: Forest, target: Forest, evidence: Sequence[PhraseEvidence]) -> FloatArray:
    """The strongest evidence for each pair of nodes, however the pair comes about.

    A seed has nothing inside; this also speaks for a pair that grows from the words in it (*$ 5 million*, *five million
    dollars*).
    """
    table = np.zeros((len(source), len(target)))
    left, right = (_by_span(source), _by_span(target)) if evidence else ({}, {})
    for row in evidence:
        if not is_word_pair(row) and row.relation not in WORD_SEED:
            for one in left.get(_span(row.source), ()):
                for other in right.get(_span(row.target), ()):
                    table[one, other] = max(table[one, other], row.strength)
    return table


def _blocks(left: Spans, right: Spans, links: FloatArray) -> list[tuple[Extent, Extent, float]]:
    """Phrases of several words that are all linked to one word, by their spans, with the mean probability."""
    found = [(several, (word, word + 1), mean) for several, word, mean in _runs(left, links)]
    return found + [((word, word + 1), several, mean) for several, word, mean in _runs(right, links.T)]


def _runs(spans: Spans, links: FloatArray) -> Iterator[tuple[Extent, int, float]]:
    if ((links >= LEAST_IN_BLOCK).sum(axis=0) < 2).all():
        return
    for begin, end in sorted(spans):
        if 1 < end - begin <= LONGEST_BLOCK:
            block = links[begin:end]
            for word in np.flatnonzero(block.min(axis=0) >= LEAST_IN_BLOCK).tolist():
                yield (begin, end), word, float(block[:, word].mean())


def _span(words: Sequence[int]) -> Extent:
    """Begin and end of adjacent words; nothing that a node could have when they are not adjacent."""
    is_whole = words[-1] - words[0] + 1 == len(words)
    return (words[0], words[-1] + 1) if is_whole else (-1, -1)


def _by_span(forest: Forest) -> Spans:
    found: Spans = {}
    arrays = forest.arrays
    for v, span in enumerate(zip(arrays.begin.tolist(), arrays.end.tolist(), strict=True)):
        found.setdefault(span, []).append(NodeId(v))
    return found
