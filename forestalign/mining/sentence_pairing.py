"""Two versions of a text: cut into sentences, and the sentences paired in order by the words that they share.

The pairing that maximises the sum of (similarity - LEAST) over pairs, each sentence in one pair at most and no two
pairs crossing; a sentence that is left over then joins the pair beside it where that makes the two sides more alike.
The work is proportional to the product of both lengths, the memory to their sum (Hirschberg's division).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from forestalign.grammar import stop_words
from forestalign.tokens import tokenize

Array = npt.NDArray[np.float64]
LEAST = 0.2  # of the similarity of a pair: less is what unrelated sentences of one text have
_SMALL_WEIGHT = 0.1  # of a function word, beside the logarithms of the others
_PARAGRAPH = re.compile(r"\n\s*\n")
# an end, closing quotes and brackets, white space, and something that can begin a sentence
_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sen|Rep|Gov|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Jr|Sr|vs|No|Nos|Fig|Inc|Ltd|Co|Corp"
    r"|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|e\.g|i\.e|cf|approx)|\b[A-Z](?:\.[A-Z])*)\.$"
)


class SentencePair(NamedTuple):
    """Numbers of the sentences of both sides, half-open; an empty side has no partner."""

    source: tuple[int, int]
    target: tuple[int, int]


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, on one line each; empty lines always end one.

    >>> split_sentences('Mr. Smith left. "Why?" she asked.')
    ['Mr. Smith left.', '"Why?" she asked.']
    """
    return [sentence for paragraph in _PARAGRAPH.split(text) for sentence in _sentences(" ".join(paragraph.split()))]


def _sentences(paragraph: str) -> Iterator[str]:
    begin = 0
    for match in _END.finditer(paragraph):
        if not _ABBREVIATION.search(paragraph[begin : match.start()]):
            yield paragraph[begin : match.end()].strip()
            begin = match.end()
    if rest := paragraph[begin:].strip():
        yield rest


def pair_sentences(source: Sequence[str], target: Sequence[str]) -> list[SentencePair]:
    """All sentences of both sides in order: pairs, and sentences without a partner."""
    similarity = _Similarity(source, target)
    matched = list(_matched(similarity, (0, len(source)), (0, len(target))))
    return list(_with_neighbours(similarity, matched))


class _Similarity:
    """The cosine of the words of two stretches of sentences; words of few sentences weigh more."""

    def __init__(self, source: Sequence[str], target: Sequence[str]):
        self._bags = tuple([Counter(_words(text)) for text in side] for side in (source, target))
        self.counts = len(source), len(target)
        frequency = Counter(word for side in self._bags for bag in side for word in bag)
        self._weights = {
            word: _SMALL_WEIGHT if word in stop_words() else math.log(1 + sum(self.counts) / count)
            for word, count in frequency.items()
        }
        places: dict[str, list[tuple[int, float]]] = {}
        for number, bag in enumerate(self._bags[1]):
            norm = self._norm(bag)
            for word, count in bag.items():
                places.setdefault(word, []).append((number, count * self._weights[word] / norm))
        self._places = {
            word: (np.array([number for number, _ in found]), np.array([share for _, share in found]))
            for word, found in places.items()
        }

    def _norm(self, bag: Counter[str]) -> float:
        return math.sqrt(sum((count * self._weights[word]) ** 2 for word, count in bag.items())) or 1.0

    def row(self, number: int, begin: int, end: int) -> Array:
        """The similarity of one source sentence to target sentences."""
        bag = self._bags[0][number]
        norm, row = self._norm(bag), np.zeros(self.counts[1])
        for word, count in bag.items():
            if word in self._places:
                numbers, shares = self._places[word]
                row[numbers] += count * self._weights[word] / norm * shares
        return row[begin:end]

    def of(self, pair: SentencePair) -> float:
        """The similarity of two stretches."""
        left, right = (
            sum((bags[number] for number in range(*span)), Counter[str]())
            for bags, span in zip(self._bags, pair, strict=True)
        )
        dot = sum(count * right[word] * self._weights[word] ** 2 for word, count in left.items())
        return dot / (self._norm(left) * self._norm(right))


def _words(text: str) -> list[str]:
    return [word.lower() for word in tokenize(text).words if any(character.isalnum() for character in word)]


def _matched(similarity: _Similarity, source: tuple[int, int], target: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The best pairs of single sentences: the source is halved, and the target where both halves score best."""
    if source[0] == source[1] or target[0] == target[1]:
        return
    if source[1] - source[0] == 1:
        row = similarity.row(source[0], *target)
        best = int(np.argmax(row))
        if row[best] > LEAST:
            yield source[0], target[0] + best
        return
    middle = (source[0] + source[1]) // 2
    head = _last_scores(similarity, range(source[0], middle), target, False)
    tail = _last_scores(similarity, range(source[1] - 1, middle - 1, -1), target, True)
    cut = target[0] + int(np.argmax(head + tail[::-1]))
    yield from _matched(similarity, (source[0], middle), (target[0], cut))
    yield from _matched(similarity, (middle, source[1]), (cut, target[1]))


def _last_scores(similarity: _Similarity, numbers: range, target: tuple[int, int], is_reversed: bool) -> Array:
    """best(j): the score of these source sentences with the first (reversed: the last) j target sentences.

    best(i, j) = max of best(i - 1, j), best(i, j - 1), best(i - 1, j - 1) + similarity(i, j) - LEAST
    """
    best = np.zeros(target[1] - target[0] + 1)
    for number in numbers:
        row = similarity.row(number, *target) - LEAST
        following = best.copy()
        following[1:] = np.maximum(best[1:], best[:-1] + (row[::-1] if is_reversed else row))
        best = np.maximum.accumulate(following)
    return best


def _with_neighbours(similarity: _Similarity, matched: Sequence[tuple[int, int]]) -> Iterator[SentencePair]:
    """Pairs with the sentences between them: each joins a pair where that helps, or stays alone."""
    ends = [*matched[1:], similarity.counts]
    pairs = [SentencePair((i, i + 1), (j, j + 1)) for i, j in matched]
    position = (0, 0)
    for index, pair in enumerate(pairs):
        pair = _grown(similarity, pair, position, ends[index])
        yield from _alone(position, (pair.source[0], pair.target[0]))
        yield pair
        position = pair.source[1], pair.target[1]
    yield from _alone(position, similarity.counts)


def _alone(begin: tuple[int, int], end: tuple[int, int]) -> Iterator[SentencePair]:
    yield from (SentencePair((i, i + 1), (begin[1], begin[1])) for i in range(begin[0], end[0]))
    yield from (SentencePair((end[0], end[0]), (j, j + 1)) for j in range(begin[1], end[1]))


def _grown(similarity: _Similarity, pair: SentencePair, lows: tuple[int, int], highs: tuple[int, int]) -> SentencePair:
    """A pair with neighbours that no other pair has, one after the other, as long as its sides get more alike."""
    while True:
        options = [
            SentencePair((pair.source[0] - left, pair.source[1] + right), pair.target)
            for left, right in ((1, 0), (0, 1))
            if pair.source[0] - left >= lows[0] and pair.source[1] + right <= highs[0]
        ] + [
            SentencePair(pair.source, (pair.target[0] - left, pair.target[1] + right))
            for left, right in ((1, 0), (0, 1))
            if pair.target[0] - left >= lows[1] and pair.target[1] + right <= highs[1]
        ]
        best = max(options, key=similarity.of, default=pair)
        if similarity.of(best) <= similarity.of(pair):
            return pair
        pair = best
