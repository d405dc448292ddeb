"""Profile `best`: one sentence, prepared for the questions that are asked about pairs of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from unicodedata import name

import numpy as np

from forestalign.arrays import BoolArray, Float32Array, Int8Array, IntArray
from forestalign.grammar import stop_words
from forestalign.lexicon import PairList, WordNet, WordVectors, load_vectors
from forestalign.lexicon.wordnet import UNKNOWN, Entry
from forestalign.tokens import KEPT_WORDS, Sentence
from forestalign.words.analysis import ROOT, Analysis, canonical_label
from forestalign.words.word_vectors import Metric, Projected, rows_of, unit_rows

CONTENT, STOP, PUNCTUATION, MIXED = range(4)
UNEQUAL = 4  # added to the kind of a pair
LENGTH_RATIO = 0.6  # below it, as in text and hypothesis, the shorter sentence is a part of the longer one
CLITICS = frozenset({"'s", "'d", "'ll", "'re", "'ve", "'m", "n't"})
WINDOW = 3  # Algorithm 2
NEAR, REGION = 1.5, 6.0  # tokens over which support falls by a factor of e


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is asked about pairs of words."""

    wordnet: WordNet
    vectors: WordVectors
    pairs: PairList | None = None
    metric: Metric | None = None
    centre: Float32Array | None = None  # of the middle layers; None is the shipped one


@dataclass(frozen=True)
class WordSide:
    """One sentence, prepared: plain lists for look-ups, arrays for everything else."""

    words: tuple[str, ...]
    lemmas: tuple[str, ...]
    kinds: Int8Array
    entries: list[Entry]
    static: Float32Array
    contextual: Float32Array | None
    projected: Projected | None  # None without contextual vectors
    is_content: BoolArray
    heads: IntArray
    relations: list[str]
    is_foreign: BoolArray  # written in letters of which neither vectors nor lexicon know anything

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def around(self) -> tuple[Float32Array, ...]:
        """1 where k is a content word within three tokens of i; what falls with their distance, fast and slowly."""
        within, near, region = _distances(len(self))
        return within * self.is_content, near, region

    @cached_property
    def parent(self) -> Float32Array:
        """1 where k is the parent of i."""
        parent: Float32Array = np.equal.outer(self.heads, np.arange(len(self))).astype(np.float32)
        return parent

    @property
    def is_root(self) -> Float32Array:
        """1 for words without a parent."""
        return np.asarray(self.heads == ROOT, np.float32)


def prepare(analysis: Analysis, lexicon: Lexicon) -> WordSide:
    """Everything about the words of one sentence that evidence is gathered from."""
    sentence = analysis.sentence
    words, lemmas = sentence.lower_words, sentence.keys
    kinds = list(map(kind_of, words))
    entries = [
        lexicon.wordnet.entry(lemma) if kind == CONTENT else UNKNOWN for lemma, kind in zip(lemmas, kinds, strict=True)
    ]
    static = lexicon.vectors.matrix(words)
    contextual = _contextual(sentence, lexicon)
    return WordSide(
        words,
        lemmas,
        np.array(kinds, dtype=np.int8),
        entries,
        static,
        contextual,
        None if contextual is None else _projected(sentence, words, static, lexicon),
        np.array([kind == CONTENT for kind in kinds]),
        np.array(analysis.dependencies.heads, dtype=np.int64),
        list(map(canonical_label, analysis.dependencies.relations)),
        np.array(list(map(is_foreign, words))),
    )


@lru_cache(maxsize=64)
def _distances(count: int) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Within the window or not, and two falling functions of the distance of two tokens."""
    distance = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(np.float32)
    apart = distance > 0
    near, region = (np.exp(-distance / np.float32(scale)) * apart for scale in (NEAR, REGION))
    return ((distance <= WINDOW) & apart).astype(np.float32), near, region


@lru_cache(maxsize=KEPT_WORDS)
def kind_of(word: str) -> int:
    """Content word, stop word or punctuation, by its lower-case form."""
    if word in CLITICS or word in stop_words():
        return STOP
    return CONTENT if any(character.isalnum() for character in word) or word in {"%", "$"} else PUNCTUATION


@lru_cache(maxsize=KEPT_WORDS)
def is_foreign(word: str) -> bool:
    """With letters, but none of the Latin script."""
    letters = [character for character in word if character.isalpha()]
    return bool(letters) and not any(name(letter, "").startswith("LATIN") for letter in letters)


def pair_kinds(source: WordSide, target: WordSide) -> Int8Array:
    """The kind of both words where it is the same, else MIXED; UNEQUAL is added where one sentence is far longer."""
    same = source.kinds[:, None] == target.kinds[None, :]
    shorter, longer = sorted((len(source), len(target)))
    unequal = UNEQUAL if shorter < LENGTH_RATIO * longer else 0
    return (np.where(same, source.kinds[:, None], MIXED) + unequal).astype(np.int8)


def _contextual(sentence: Sentence, lexicon: Lexicon) -> Float32Array | None:
    """Unit rows of the last layer; None where the model was not fitted to such an encoder."""
    if sentence.vectors is None or sentence.context_vectors is None or not len(sentence):
        return None
    size = sentence.context_vectors.shape[1] + load_vectors().dimensions + 1
    if lexicon.metric is not None and size != len(lexicon.metric.projection):
        return None
    return unit_rows(sentence.vectors)


def _projected(sentence: Sentence, words: Sequence[str], static: Float32Array, lexicon: Lexicon) -> Projected | None:
    """By the metric, which knows the shipped static vectors only, whatever the user's are."""
    if sentence.context_vectors is None or lexicon.metric is None:
        return None
    if lexicon.vectors is not load_vectors():
        static = load_vectors().matrix(words)
    return lexicon.metric.of(rows_of(unit_rows(sentence.context_vectors), static))
