"""Word similarity (section 3.1): 1 for the same word, `level` (the paper's ppdbSim) for a known pair, else 0.

Sources, each a switch of `Sources`: exact form, lemma, stem; WordNet synonyms and derivations; static vectors over a
threshold; a PPDB-format pair list of the user's; any function of two words. The published program's rules stand
around them, in its order:

 a. the same, lower-cased, without full stops, hyphens and commas: 1       e. a stop word and another word: 0
 b. the same Snowball stem: 1                                              f. punctuation and another token: 0
 c. two different numbers in digits: 0                                     g. a pair of one of the sources: level
 d. two different numbers, both in words: 0

The paper's own similarity has only: exact word or lemma 1, a listed pair level (`veto` False, `stem` False).

The word links W of section 6.1 of Arase and Tsujii (2017): every pair that the dictionaries know, many to many.

Two words are linked if they have the same form or lemma, if WordNet knows them as synonyms or derivations, or if the
cosine of their vectors exceeds a threshold. The paper sets the threshold to the 100th highest similarity between
words of its training corpus; `similarity_threshold` computes it so. Function words and punctuation are linked by form
or lemma only: their vectors are all alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np

from forestalign.arrays import BoolArray, FloatArray
from forestalign.grammar import stop_words
from forestalign.lexicon import PairList, WordNet, WordVectors
from forestalign.tokens import KEPT_WORDS, Sentence
from forestalign.words.alignment import WordAlignment, WordLink, is_content

PUNCTUATION = frozenset(
    ["(", ")", ".", ",", "-", "?", "!", ";", "_", ":", "{", "}", "[", "]", "/", "...", '"', "'", "-lrb-", "-rrb-"]
)  # the published list
PPDB_SIM = 0.9  # section 3.3.5
VECTOR_THRESHOLD = 0.7  # a grid on the word sets
CACHE_SIZE = 1 << 15  # pairs of words kept; bounded, so that memory stays flat over long input


@dataclass(frozen=True, slots=True)
class Sources:
    """Where similarity comes from."""

    exact: bool = True
    lemma: bool = True
    stem: bool = True
    veto: bool = True  # rules c to f
    wordnet: WordNet | None = None
    vectors: WordVectors | None = None
    vector_threshold: float = VECTOR_THRESHOLD
    pairs: PairList | None = None
    function: Callable[[str, str], bool] | None = None
    level: float = PPDB_SIM


@dataclass(frozen=True, slots=True)
class Form:
    """What the rules ask of one word or lemma."""

    raw: str
    lower: str
    canonical: str
    is_digits: bool
    is_stop: bool
    is_punctuation: bool

    @property
    def stem(self) -> str:
        """The Snowball stem."""
        return stem(self.lower)


@dataclass(frozen=True)
class WordSimilarity:
    """Similarity of words, and of all pairs of two sentences."""

    sources: Sources
    _known: dict[tuple[str, str, bool, bool], float] = field(default_factory=dict, compare=False, repr=False)

    def words(self, left: str, right: str, left_tag: str = "", right_tag: str = "") -> float:
        """Similarity of two words, or of two lemmas."""
        key = (left, right, left_tag == "CD", right_tag == "CD")
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= CACHE_SIZE:
                self._known.clear()
            found = self._known[key] = self._compare(form(left), form(right), left_tag == right_tag == "CD")
        return found

    def matrix(self, source: Sentence, target: Sentence) -> FloatArray:
        """S(i, j): the larger of the similarities of the words and of the lemmas."""
        result = np.zeros((len(source), len(target)))
        for i, left in enumerate(source.tokens):
            for j, right in enumerate(target.tokens):
                score = self.words(left.form, right.form, left.tag, right.tag)
                if score < 1.0 and self.sources.lemma and left.lemma and right.lemma:
                    score = max(score, self.words(left.lemma, right.lemma, left.tag, right.tag))
                result[i, j] = score
        return result

    def lemma_matrix(self, source: Sentence, target: Sentence) -> FloatArray:
        """Similarity of the lemmas alone, without tags."""
        return np.array([[self.words(left, right) for right in target.lemmas] for left in source.lemmas]).reshape(
            len(source), len(target)
        )

    def _compare(self, left: Form, right: Form, are_numbers: bool) -> float:
        sources = self.sources
        if sources.exact and (left.canonical if sources.veto else left.lower) == (
            right.canonical if sources.veto else right.lower
        ):
            return 1.0
        if sources.stem and left.stem == right.stem:
            return 1.0
        if sources.veto and _vetoed(left, right, are_numbers):
            return 0.0
        return sources.level if self._is_listed(left.lower, right.lower) else 0.0

    def _is_listed(self, left: str, right: str) -> bool:
        sources = self.sources
        if sources.pairs is not None and (left, right) in sources.pairs:
            return True
        if sources.wordnet is not None and (
            sources.wordnet.are_synonyms(left, right) or sources.wordnet.are_derivations(left, right)
        ):
            return True
        if sources.vectors is not None and sources.vectors.cosine(left, right) >= sources.vector_threshold:
            return True
        return sources.function is not None and sources.function(left, right)


def _vetoed(left: Form, right: Form, are_numbers: bool) -> bool:
    """Rules c to f."""
    if left.is_digits and right.is_digits:
        return True
    if are_numbers and not left.is_digits and not right.is_digits:
        return True
    return left.is_stop != right.is_stop or left.is_punctuation or right.is_punctuation


def equal_pairs(left: Sequence[str], right: Sequence[str]) -> BoolArray:
    """Which strings are equal, compared as numbers."""
    numbers = {text: number for number, text in enumerate(right)}
    result: BoolArray = np.equal.outer(list(map(numbers.get, left, repeat(-1))), [numbers[text] for text in right])
    return result


@lru_cache(maxsize=KEPT_WORDS)
def form(word: str) -> Form:
    """Rule a deletes from words longer than one character only, so that a hyphen stays itself."""
    lower = word.lower()
    canonical = lower.translate(_DELETED) if len(word) > 1 else lower
    return Form(word, lower, canonical, canonical.isdigit(), lower in stop_words(), word in PUNCTUATION)


@lru_cache(maxsize=KEPT_WORDS)
def stem(word: str) -> str:
    """The Snowball stem of a lower-case word."""
    return str(_stemmer().stemWord(word))


def same_stems(left: Sequence[str], right: Sequence[str]) -> BoolArray:
    """Which lower-case words have one stem; what begins as no other word does has none in common and is not stemmed.

    >>> same_stems(["runs", "dies"], ["running", "dying", "walk"]).tolist()
    [[True, False, False], [False, True, False]]
    """
    known = sorted({*left, *right})
    starts = [_start(word) for word in known]
    counts = Counter(starts)
    stems = {word: stem(word) if counts[start] > 1 else word for word, start in zip(known, starts, strict=True)}
    return equal_pairs([stems[word] for word in left], [stems[word] for word in right])


def _start(word: str) -> str:
    """What all words of one stem begin with, *dying* and *die*, too: two letters, or a vowel."""
    plain = word.lstrip("'").partition("'")[0]
    return plain[:1] if plain[:1] in "aeiouy" else plain[:2].replace("y", "i")


_DELETED = str.maketrans("", "", ".-,")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    # the same algorithm as nltk's, whose import brings in scipy.stats and more and takes over a second
    import snowballstemmer

    return snowballstemmer.stemmer("english")


# Used when no threshold is given. The paper's rule gives 0.96 on the corpus of the shipped phrase model (its file holds
# the value), which is little more than spelling variants.
DEFAULT_THRESHOLD = 0.8


def dictionary_links(
    source: Sentence,
    target: Sentence,
    wordnet: WordNet,
    vectors: WordVectors | None = None,
    threshold: float = DEFAULT_THRESHOLD,
) -> WordAlignment:
    """All links that some dictionary gives; the stage of a link names it, and its score is 1 or the cosine."""
    cosines = None
    if vectors is not None:
        cosines = vectors.matrix(source.words) @ vectors.matrix(target.words).T
    links = []
    for i, left in enumerate(source.tokens):
        for j, right in enumerate(target.tokens):
            if left.form.lower() == right.form.lower():
                links.append(WordLink(i, j, 1.0, "form"))
            elif left.lemma and left.lemma == right.lemma:
                links.append(WordLink(i, j, 1.0, "lemma"))
            elif not (is_content(left.form) and is_content(right.form)):
                continue
            elif wordnet.are_synonyms(left.key, right.key):
                links.append(WordLink(i, j, 1.0, "synonym"))
            elif wordnet.are_derivations(left.key, right.key):
                links.append(WordLink(i, j, 1.0, "derivation"))
            elif cosines is not None and cosines[i, j] > threshold:
                links.append(WordLink(i, j, float(cosines[i, j]), "vectors"))
    return WordAlignment(tuple(links))


def similarity_threshold(vocabulary: Iterable[str], vectors: WordVectors, rank: int = 100) -> float:
    """The paper's rule: the `rank`-th highest cosine between two different words of a corpus."""
    words = sorted({word.lower() for word in vocabulary if is_content(word) and word in vectors})
    rows = vectors.matrix(words)
    best = np.zeros(0, dtype=np.float32)
    for begin in range(0, len(words), 512):
        block = rows[begin : begin + 512] @ rows.T
        upper = block[np.arange(len(block))[:, None] + begin < np.arange(len(words))[None, :]]
        best = np.sort(np.concatenate([best, upper]))[::-1][:rank]
    return float(best[-1]) if len(best) == rank else 1.0
