"""Two sentences as their spans are judged: what each word counts and is, and what is known about pairs of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.grammar import punctuation_tags, stop_words
from forestalign.lexicon import WordNet, WordVectors
from forestalign.lexicon.wordnet import meeting
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence
from forestalign.tokens import Sentence, Token
from forestalign.words.alignment import WordAlignment
from forestalign.words.word_vectors import centred

LEAST_WEIGHT = 0.05  # of the commonest word that is not punctuation
TRAILING = ".,;:!?\"'"  # that other people's tokens may end in


@dataclass(frozen=True, slots=True, eq=False)
class SpanSide:
    """One sentence, by word: how much it counts, what it is, and its vectors, of unit length."""

    sentence: Sentence
    weight: FloatArray
    content: FloatArray  # the weight of content words, else 0
    keys: tuple[str, ...]  # lemmas in lower case
    contextual: FloatArray
    static: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class SpanContext:
    """Two sentences and all that is known about pairs of their words."""

    source: SpanSide
    target: SpanSide
    links: FloatArray
    contextual: FloatArray
    static: FloatArray
    antonyms: FloatArray
    hypernyms: FloatArray  # 1 where the source word is the more general one, -1 the other way round
    evidence: tuple[PhraseEvidence, ...]


@dataclass(frozen=True, slots=True)
class SpanLexicon:
    """What is asked about words outside their sentences."""

    wordnet: WordNet
    vectors: WordVectors


def span_context(
    source: Sentence,
    target: Sentence,
    links: WordAlignment,
    evidence: Sequence[PhraseEvidence],
    lexicon: SpanLexicon,
) -> SpanContext:
    """Everything about two tagged sentences that pairs of their spans are judged by."""
    one, other = _contextual(source, target)
    left, right = _side(source, one, lexicon.vectors), _side(target, other, lexicon.vectors)
    antonyms, hypernyms = _relations(left, right, lexicon.wordnet)
    return SpanContext(
        left,
        right,
        links.matrix(len(source), len(target)),
        left.contextual @ right.contextual.T,
        left.static @ right.static.T,
        antonyms,
        hypernyms,
        tuple(evidence),
    )


def _contextual(source: Sentence, target: Sentence) -> tuple[FloatArray, FloatArray]:
    """Centred vectors in context; nothing where the parser gave none."""
    pair = centred(source, target)
    if pair is None:
        return np.zeros((len(source), 1)), np.zeros((len(target), 1))
    return unit_rows(pair[0].astype(np.float64)), unit_rows(pair[1].astype(np.float64))


def unit_rows(rows: FloatArray) -> FloatArray:
    """Rows of length one."""
    unit: FloatArray = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
    return unit


def _side(sentence: Sentence, contextual: FloatArray, vectors: WordVectors) -> SpanSide:
    marks = punctuation_tags()
    weight = np.array(
        [0.0 if token.tag in marks else max(vectors.idf(token.form), LEAST_WEIGHT) for token in sentence.tokens]
    )
    is_content = np.array([_is_content(token) for token in sentence.tokens], np.float64)
    keys = tuple(token.key.rstrip(TRAILING) or token.form for token in sentence.tokens)
    static = vectors.matrix(sentence.words).astype(np.float64)
    return SpanSide(sentence, weight, weight * is_content, keys, contextual, static)


def _is_content(token: Token) -> bool:
    """Nouns, adjectives, adverbs, numbers, and verbs that are not auxiliaries."""
    if token.tag.startswith("VB"):
        return token.form.lower() not in stop_words()
    return token.tag[:2] in ("NN", "JJ", "RB", "CD", "FW")


def _relations(left: SpanSide, right: SpanSide, wordnet: WordNet) -> tuple[FloatArray, FloatArray]:
    antonyms, hypernyms = np.zeros((2, len(left.keys), len(right.keys)))
    rows, columns = np.flatnonzero(left.content).tolist(), np.flatnonzero(right.content).tolist()
    words, others = ([side.keys[k] for k in places] for side, places in ((left, rows), (right, columns)))
    entries, other_entries = list(map(wordnet.entry, words)), list(map(wordnet.entry, others))
    synsets, other_synsets = [each.synsets for each in entries], [each.synsets for each in other_entries]
    for a, b in meeting([each.antonyms for each in entries], [{other.lower()} for other in others]):
        antonyms[rows[a], columns[b]] = words[a] != others[b]
    for a, b in meeting(synsets, [each.hypernyms for each in other_entries]):
        hypernyms[rows[a], columns[b]] += 1.0
    for a, b in meeting([each.hypernyms for each in entries], other_synsets):
        hypernyms[rows[a], columns[b]] -= 1.0
    for a, b in meeting(synsets, other_synsets):  # the same word, or synonyms
        hypernyms[rows[a], columns[b]] = 0.0
    return antonyms, hypernyms
