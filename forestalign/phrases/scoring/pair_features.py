"""Features of phrase pairs (section 5.2 of the paper), for all pairs of two forests at once.

A phrase's attributes are the lemma of its semantic head (a_lex) and its reduced category (a_cat). Features 1 to 7:

    1 the four attributes together  `lexical`    5 both heads are prepositions   `preposition`
    2 heads equal or one in the other `surface`  6 the pair of categories        `category`
    3 WordNet synonym or derivation `wordnet`    7 the same category             `same_category`
    4 embedding cosine over a threshold `embedding`

A null phrase has category NULL. Features 1 and 6 have no order: a pair and its mirror image are one feature with one
weight, so that exchanging the sentences mirrors the result. Behind the same interface, each a switch (`FeatureSet`):

    `coverage`   Dice share of the links W that lie in both phrases; for a null phrase how much its words are linked
    `link`       how likely the two heads are linked
    `cosine`     cosine of the mean word vectors of the two phrases
    `length`     the shorter phrase's length divided by the longer's

Links count by their probability: W has unlikely ones too, for the search to choose from. Heads repeat a lot, so
features of heads are computed once per pair of distinct lemmas and spread by indexing. Related lemmas are found by
looking up what they have in common, not pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement

import numpy as np

from forestalign.arrays import BoolArray, Float32Array, GenericArray, Int32Array
from forestalign.forest import Forest
from forestalign.grammar import Category, prepositions, punctuation_tags, reduced_category
from forestalign.lexicon import WordNet, WordVectors
from forestalign.lexicon.wordnet import meeting
from forestalign.words.alignment import WordAlignment

CATEGORIES = tuple(Category)
CATEGORY_INDEX = {category: k for k, category in enumerate(CATEGORIES)}
CATEGORY_PAIRS = tuple(combinations_with_replacement(CATEGORIES, 2))
DENSE = (
    "surface",
    "wordnet",
    "embedding",
    "preposition",
    "same_category",
    "coverage",
    "cosine",
    "length",
    "null_linked",
    "link",
)
EXTRAS = {"coverage": ("coverage", "null_linked"), "link": ("link",), "cosine": ("cosine",), "length": ("length",)}
SEPARATOR = "\n"
SHORTEST_PART = 3  # letters of a head that count as a part of another: "a" is in everything

LexicalKey = tuple[str, str, str, str]  # lemma and category of one phrase and of the other, the smaller first


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """Which features are on, and where the embedding feature starts."""

    lexical: bool = True
    extras: tuple[str, ...] = ("coverage", "link", "cosine", "length")
    embedding_threshold: float = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class PhraseAttributes:
    """Attributes of every node of a forest."""

    lemmas: tuple[str, ...]  # distinct
    lemma: Int32Array  # index into lemmas, by node
    category: Int32Array  # index into CATEGORIES, by node
    head: Int32Array  # the word that is the semantic head, by node
    group: Int32Array  # nodes with the same lemma and category: the same feature vector
    begin: Int32Array
    end: Int32Array

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return len(self.lemma)


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """Features of all pairs; the last row and the last column are the null phrase."""

    dense: Float32Array  # [source + 1, target + 1, len(DENSE)]
    category: Int32Array  # [source + 1, target + 1] index into CATEGORY_PAIRS
    lexical: Int32Array  # [source + 1, target + 1] index into the vocabulary, -1 where there is none
    source: PhraseAttributes
    target: PhraseAttributes


@dataclass(frozen=True)
class FeatureExtractor:
    """Lexical resources and vocabulary."""

    wordnet: WordNet
    vectors: WordVectors
    features: FeatureSet = FeatureSet()
    vocabulary: dict[LexicalKey, int] = field(default_factory=dict)

    @cached_property
    def _partners(self) -> dict[tuple[str, str], dict[tuple[str, str], int]]:
        """The vocabulary by lemma and category of either phrase."""
        found: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
        for (lemma, category, other, other_category), number in self.vocabulary.items():
            found.setdefault((lemma, category), {})[other, other_category] = number
            found.setdefault((other, other_category), {})[lemma, category] = number
        return found

    def extract(self, source: Forest, target: Forest, words: WordAlignment) -> PairFeatures:
        """Features of all pairs of nodes."""
        left, right = attributes(source), attributes(target)
        dense = np.zeros((left.count + 1, right.count + 1, len(DENSE)), np.float32)
        links = words.matrix(len(source.sentence), len(target.sentence)).astype(np.float32)
        pairs = self._head_layers(left, right)
        pairs["same_category"] = left.category[:, None] == right.category[None, :]
        if "coverage" in self.features.extras:
            pairs["coverage"] = _coverage(left, right, links)
            place = DENSE.index("null_linked")
            dense[:-1, -1, place] = _mean(links.max(axis=1, initial=0.0), left)
            dense[-1, :-1, place] = _mean(links.max(axis=0, initial=0.0), right)
        if "link" in self.features.extras:
            pairs["link"] = links[left.head[:, None], right.head[None, :]]
        if "cosine" in self.features.extras:
            pairs["cosine"] = np.maximum(
                self._phrase_vectors(source, left) @ self._phrase_vectors(target, right).T, 0.0
            )
        if "length" in self.features.extras:
            lengths, others = left.end - left.begin, right.end - right.begin
            pairs["length"] = np.minimum.outer(lengths, others) / np.maximum.outer(lengths, others)
        for name, layer in pairs.items():
            dense[:-1, :-1, DENSE.index(name)] = layer
        return PairFeatures(dense, _category_pairs(left, right), self._lexical(left, right), left, right)

    def _head_layers(self, left: PhraseAttributes, right: PhraseAttributes) -> dict[str, GenericArray]:
        """Features 2 to 5, once per pair of distinct lemmas and spread over the pairs of nodes."""
        one, other, known = left.lemmas, right.lemmas, prepositions()
        cosines = self.vectors.matrix(one) @ self.vectors.matrix(other).T
        heads: dict[str, BoolArray] = {
            "surface": parts(one, other),
            "wordnet": self.related(one, other),
            "embedding": cosines > self.features.embedding_threshold,
            "preposition": np.logical_and.outer([a in known for a in one], [b in known for b in other]),
        }
        cells = left.lemma[:, None], right.lemma[None, :]
        return {name: table[cells] for name, table in heads.items()}

    def related(self, left: Sequence[str], right: Sequence[str]) -> BoolArray:
        """Which lemmas are WordNet synonyms or derivations of each other: different ones that share a sense or a root.

        `WordNet.are_synonyms` or `WordNet.are_derivations`, for all pairs.
        """
        marks = np.zeros((len(left), len(right)), np.bool_)
        ours, theirs = list(map(self.wordnet.entry, left)), list(map(self.wordnet.entry, right))
        words, others = [one.lower() for one in left], [other.lower() for other in right]
        roots = [entry.derivations | {other} for entry, other in zip(theirs, others, strict=True)]
        found = meeting([entry.synsets for entry in ours], [entry.synsets for entry in theirs])
        for i, j in found + meeting([entry.derivations for entry in ours], roots):
            marks[i, j] = words[i] != others[j]
        return marks

    def _phrase_vectors(self, forest: Forest, nodes: PhraseAttributes) -> Float32Array:
        """Unit mean vectors of the phrases, by prefix sums over the words."""
        rows, marks = self.vectors.matrix(forest.sentence.keys), punctuation_tags()
        rows[[tag in marks for tag in forest.sentence.tags]] = 0.0
        sums = np.zeros((len(rows) + 1, rows.shape[1]), np.float32)
        np.cumsum(rows, axis=0, out=sums[1:])
        means = sums[nodes.end] - sums[nodes.begin]
        norms = np.linalg.norm(means, axis=1, keepdims=True)
        unit: Float32Array = (means / np.where(norms > 1e-6, norms, 1.0)).astype(np.float32)
        return unit

    def _lexical(self, left: PhraseAttributes, right: PhraseAttributes) -> Int32Array:
        table = np.full((left.count + 1, right.count + 1), -1, np.int32)
        if not self.features.lexical or not self.vocabulary:
            return table
        one, other = _groups(left), {key: j for j, key in enumerate(_groups(right))}
        groups = np.full((len(one), len(other)), -1, np.int32)
        for i, key in enumerate(one):
            for partner, number in self._partners.get(key, {}).items():
                if partner in other:
                    groups[i, other[partner]] = number
        table[:-1, :-1] = groups[left.group[:, None], right.group[None, :]]
        return table


def parts(left: Sequence[str], right: Sequence[str]) -> BoolArray:
    """Which lemmas are equal, or one a part of the other; a part has at least `SHORTEST_PART` letters."""
    marks: BoolArray = np.equal.outer(np.array(left, object), np.array(right, object)).astype(np.bool_)
    _mark_parts(marks, left, right)
    _mark_parts(marks.T, right, left)
    return marks


def _mark_parts(marks: BoolArray, short: Sequence[str], long: Sequence[str]) -> None:
    """Look each lemma up in all lemmas of the other side at once."""
    text = SEPARATOR.join([lemma.replace(SEPARATOR, " ") for lemma in long])
    for i, lemma in enumerate(short):
        if len(lemma) < SHORTEST_PART:
            continue
        place = text.find(lemma)
        while place >= 0:
            marks[i, text.count(SEPARATOR, 0, place)] = True
            place = text.find(lemma, place + 1)


@lru_cache(maxsize=64)
def _label_categories(labels: tuple[str, ...]) -> Int32Array:
    """The reduced category of each label."""
    return np.array([CATEGORY_INDEX[reduced_category(label)] for label in labels], np.int32)


def attributes(forest: Forest) -> PhraseAttributes:
    """Lemma of the semantic head and reduced category of every node."""
    arrays = forest.arrays
    words = forest.sentence.keys
    lemmas = sorted(set(words))
    number = {lemma: k for k, lemma in enumerate(lemmas)}
    lemma = np.array([number[word] for word in words], np.int32)[arrays.semantic_head]
    category = _label_categories(arrays.labels)[arrays.label]
    _, group = np.unique(lemma * len(CATEGORIES) + category, return_inverse=True)
    return PhraseAttributes(
        tuple(lemmas), lemma, category, arrays.semantic_head, group.astype(np.int32), arrays.begin, arrays.end
    )


def linked_keys(source: Forest, target: Forest, words: WordAlignment) -> set[LexicalKey]:
    """Lexical features of phrases whose semantic heads are linked: what the vocabulary is made from."""
    left, right = attributes(source), attributes(target)
    one, other = _keys_by_head(left), _keys_by_head(right)
    return {
        lexical_key(source_key, target_key)
        for link in words
        for source_key in one.get(link.source, ())
        for target_key in other.get(link.target, ())
    }


def lexical_key(one: tuple[str, str], other: tuple[str, str]) -> LexicalKey:
    """The one key of two phrases and of their mirror image."""
    return (*one, *other) if one <= other else (*other, *one)


def _keys_by_head(nodes: PhraseAttributes) -> dict[int, set[tuple[str, str]]]:
    keys: dict[int, set[tuple[str, str]]] = {}
    for head, lemma, category in zip(nodes.head.tolist(), nodes.lemma.tolist(), nodes.category.tolist(), strict=True):
        keys.setdefault(head, set()).add((nodes.lemmas[lemma], CATEGORIES[category].value))
    return keys


def _groups(nodes: PhraseAttributes) -> list[tuple[str, str]]:
    """Lemma and category of each group."""
    _, first = np.unique(nodes.group, return_index=True)
    return [(nodes.lemmas[nodes.lemma[v]], CATEGORIES[nodes.category[v]].value) for v in first]


def _category_pairs(left: PhraseAttributes, right: PhraseAttributes) -> Int32Array:
    null = CATEGORY_INDEX[Category.NULL]
    one = np.append(left.category, null)
    other = np.append(right.category, null)
    pairs: Int32Array = _PAIR_NUMBERS[one[:, None], other[None, :]]
    return pairs


def _pair_numbers() -> Int32Array:
    """Index into CATEGORY_PAIRS by two categories in either order."""
    table = np.zeros((len(CATEGORIES), len(CATEGORIES)), np.int32)
    for number, (one, other) in enumerate(CATEGORY_PAIRS):
        table[CATEGORY_INDEX[one], CATEGORY_INDEX[other]] = table[CATEGORY_INDEX[other], CATEGORY_INDEX[one]] = number
    return table


_PAIR_NUMBERS = _pair_numbers()


def _coverage(left: PhraseAttributes, right: PhraseAttributes, links: Float32Array) -> Float32Array:
    """2 |links inside both| / (|links of one| + |links of the other|), by two-dimensional prefix sums."""
    sums = np.zeros((links.shape[0] + 1, links.shape[1] + 1), np.float32)
    sums[1:, 1:] = links.cumsum(axis=0).cumsum(axis=1)
    rows = sums[left.end] - sums[left.begin]
    inside = rows[:, right.end] - rows[:, right.begin]
    columns = sums[:, right.end] - sums[:, right.begin]
    touching = rows[:, -1][:, None] + columns[-1][None, :]
    shares: Float32Array = 2.0 * inside / np.maximum(touching, 1.0)
    return shares


def _mean(values: Float32Array, nodes: PhraseAttributes) -> Float32Array:
    """Mean over the words of each phrase."""
    sums = np.append(np.float32(0.0), values.cumsum())
    means: Float32Array = (sums[nodes.end] - sums[nodes.begin]) / (nodes.end - nodes.begin)
    return means
