"""How alike sentences and stretches of sentences of two texts are: by the words that they share, and by the encoder.

    likeness = (1 - SHARE) * cosine of weighted stems + SHARE * cosine of sentence vectors, as far as it is above NULL

Stems of few sentences weigh more. A stretch is the sum of its sentences; in the sum of vectors a sentence weighs as
much as it has words. Rows are computed when they are asked for, so that memory grows with the texts' lengths alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from forestalign.aligner import Aligner
from forestalign.arrays import FloatArray
from forestalign.grammar import stop_words
from forestalign.lexicon import load_vectors
from forestalign.lexicon.vectors import pooled_vector, projected
from forestalign.machine import with_one_thread
from forestalign.mining.verdicts import load_verdicts
from forestalign.parsers import ChartParser
from forestalign.tokens import Sentence, tokenize
from forestalign.words.similarity import form

LONGEST_STRETCH = 3  # sentences that one may have become, or that may have become one
LONGEST_READ = 4000  # characters of a sentence; what is longer is compared by its beginning
SHARE = 0.5  # of the vectors
NULL = 0.35  # cosine of the vectors of unrelated sentences of one text
_SMALL_WEIGHT = 0.1  # of a function word, beside the logarithms of the others
_VECTOR_CHUNK = 256  # sentences encoded at once
_BLOCK = 64  # rows that are multiplied at once: products one by one take many times as long
Rows = Any  # a sparse matrix, or an array


class _Layer:
    """Rows of both texts, sums of which are compared by their cosine, and the squares of the norms of all stretches."""

    def __init__(self, source: Rows, target: Rows):
        self._source, self._target = source, target
        # by side and length - 1: of the stretch that ends with each sentence
        self.squares = _stretch_squares(source), _stretch_squares(target)
        self._blocks: dict[int, FloatArray] = {}  # the last two that were asked for

    def dots(self, row: int, begin: int, end: int) -> FloatArray:
        """The products of a row with rows of the target."""
        number, place = divmod(row, _BLOCK)
        if number not in self._blocks:
            found = self._source[number * _BLOCK : (number + 1) * _BLOCK] @ self._target.T
            block = np.asarray(found.toarray() if sparse.issparse(found) else found, np.float64)
            self._blocks = {**dict([*self._blocks.items()][-1:]), number: block}
        part: FloatArray = self._blocks[number][place, begin:end]
        return part


def _stretch_squares(rows: Rows) -> list[FloatArray]:
    """The squared norm of the sum of the k rows that end with each row; rows too early for k have fewer."""
    count = rows.shape[0]
    products = [_products(rows, lag) for lag in range(min(LONGEST_STRETCH, count))]
    squares: list[FloatArray] = []
    for length in range(LONGEST_STRETCH):
        total = np.zeros(count)
        for lag, found in enumerate(products[: length + 1]):
            for shift in range(length + 1 - lag):  # the pair of rows i - shift - lag and i - shift
                total[lag + shift :] += (2 if lag else 1) * found[: count - lag - shift]
        squares.append(total)
    return squares


def _products(rows: Rows, lag: int) -> FloatArray:
    """The products of each row with the one `lag` behind it."""
    first, second = rows[: rows.shape[0] - lag], rows[lag:]
    if sparse.issparse(rows):
        return np.asarray(first.multiply(second).sum(axis=1)).ravel()
    return np.asarray((first * second).sum(axis=1))


class Likeness:
    """The likeness of stretches of two texts. Numbers are those of the sentences that it was made of."""

    def __init__(self, source: Sequence[str], target: Sequence[str], aligner: Aligner | None = None):
        """Without an aligner only words count."""
        read = {text: tokenize(text[:LONGEST_READ]) for text in dict.fromkeys([*source, *target])}
        sides = [read[text] for text in source], [read[text] for text in target]
        self.counts = len(source), len(target)
        self._source = source
        self._words = _Layer(*_weighted_stems(*sides))
        vectors = None if aligner is None else _vectors(aligner, *sides)
        self._vectors = None if vectors is None else _Layer(*vectors)

    def are_copies(self, one: int, other: int) -> bool:
        """Whether two source sentences are the same."""
        return self._source[one] == self._source[other]

    @with_one_thread
    def row(self, source: int, length: int, begin: int, end: int) -> list[FloatArray]:
        """Of `length` source sentences that end with `source`: their likeness to 1, 2 … sentences that end with each.

        Stretches that would begin before `begin` count what there is from it on.
        """
        likeness = self._cosines(self._words, source, length, begin, end)
        if self._vectors is None:
            return likeness
        cosines = self._cosines(self._vectors, source, length, begin, end)
        return [
            (1 - SHARE) * one + SHARE * np.maximum(other - NULL, 0) / (1 - NULL)
            for one, other in zip(likeness, cosines, strict=True)
        ]

    def of(self, source: tuple[int, int], target: tuple[int, int]) -> float:
        """The likeness of two stretches of at most LONGEST_STRETCH sentences."""
        rows = self.row(source[1] - 1, source[1] - source[0], target[0], target[1])
        return float(rows[target[1] - target[0] - 1][-1])

    def _cosines(self, layer: _Layer, source: int, length: int, begin: int, end: int) -> list[FloatArray]:
        dots = sum((layer.dots(source - back, begin, end) for back in range(length)), np.zeros(end - begin))
        square = layer.squares[0][length - 1][source]
        found, total = [], np.zeros(end - begin)
        for k in range(LONGEST_STRETCH):
            total[k:] += dots[: max(end - begin - k, 0)]
            norms = np.sqrt(np.maximum(square * layer.squares[1][k][begin:end], 1e-12))
            found.append(total / norms)
        return found


def _weighted_stems(source: Sequence[Sentence], target: Sequence[Sentence]) -> tuple[sparse.csr_matrix, ...]:
    """A row of weights for each sentence, a column for each stem."""
    found_stems = {id(sentence): Counter(_stems(sentence)) for sentence in _told_once([*source, *target])[0]}
    bags = [[found_stems[id(sentence)] for sentence in side] for side in (source, target)]
    frequency = Counter(word for side in bags for bag in side for word in bag)
    count = len(source) + len(target)
    weights = {
        word: _SMALL_WEIGHT if word in stop_words() else math.log(1 + count / found)
        for word, found in frequency.items()
    }
    columns = {word: number for number, word in enumerate(frequency)}
    return tuple(_matrix(side, weights, columns) for side in bags)


def _matrix(bags: Sequence[Counter[str]], weights: dict[str, float], columns: dict[str, int]) -> sparse.csr_matrix:
    values = [number * weights[word] for bag in bags for word, number in bag.items()]
    numbers = [columns[word] for bag in bags for word in bag]
    begins = np.cumsum([0, *(len(bag) for bag in bags)])
    return sparse.csr_matrix((values, numbers, begins), shape=(len(bags), max(len(columns), 1)))


def _stems(sentence: Sentence) -> list[str]:
    words = [word.lower() for word in sentence.words if any(character.isalnum() for character in word)]
    return [word if word in stop_words() else form(word).stem for word in words]


def _vectors(
    aligner: Aligner, source: Sequence[Sentence], target: Sequence[Sentence]
) -> tuple[FloatArray, FloatArray] | None:
    """Unit vectors of all sentences, times their lengths; None where the parser's encoder is not the shipped one."""
    model, vectors = load_verdicts(), load_vectors()
    sentences, places = _told_once([*source, *target])
    rows = np.zeros((len(sentences), len(model.offset)))
    for begin in range(0, len(sentences), _VECTOR_CHUNK):
        for number, sentence in _encode(aligner, sentences[begin : begin + _VECTOR_CHUNK]):
            pooled = pooled_vector(sentence, vectors)
            if pooled is None or len(pooled) != len(model.projection):
                return None
            rows[begin + number] = len(sentence) * projected(pooled, model.projection, model.offset)
    return rows[places[: len(source)]], rows[places[len(source) :]]


def _told_once(sentences: Sequence[Sentence]) -> tuple[list[Sentence], list[int]]:
    """The sentences without copies, and the place of each sentence among them; copies are one object."""
    numbers: dict[int, int] = {}
    places = [numbers.setdefault(id(sentence), len(numbers)) for sentence in sentences]
    firsts = {place: sentence for sentence, place in zip(sentences, places, strict=True)}
    return list(firsts.values()), places


def _encode(aligner: Aligner, sentences: Sequence[Sentence]) -> Iterator[tuple[int, Sentence]]:
    """Sentences with their words' vectors, in any order, without those that the parser refuses."""
    parser = aligner.parser
    if not isinstance(parser, ChartParser):
        parses = enumerate(parser.parse(sentences, forests=False))
        yield from ((number, parse.sentence) for number, parse in parses if not parse.error)
        return
    limit = parser.source.piece_limit
    fitting = [n for n, each in enumerate(sentences) if len(each) and parser.source.piece_count(each) <= limit]
    order = sorted(fitting, key=lambda number: (len(sentences[number]), number))
    for number, sentence, _ in parser.charts(sentences, order):
        yield number, sentence
