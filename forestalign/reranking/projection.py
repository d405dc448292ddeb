"""What one sentence says about the trees of the other: its phrases and its governors, seen through the word links.

Spans of the sentence in question are tables [n, n] that hold span (i, j + 1) at [i, j], as in charts. The image of a
span is the stretch of the other sentence from the first to the last partner of its words. An image with a partner of
a word outside the span is scattered; any other may be widened by words that have no partner. Punctuation has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, IntArray
from forestalign.forest import Forest
from forestalign.grammar import base_label, is_small_word, punctuation_tags
from forestalign.reranking.forest_shares import category_spans, flattened, governors, span_table
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment


@dataclass(frozen=True, slots=True, eq=False)
class TreeEvidence:
    """What the other sentence says; spans with less than two partners are 0 everywhere."""

    together: FloatArray  # probability that the image of a span, widened or not, is a phrase over there
    apart: FloatArray  # that it is none, although nothing lies between the partners
    crossed: FloatArray  # that a phrase over there cuts through the image
    scattered: FloatArray  # 1 where the image is scattered
    by_category: Mapping[str, FloatArray]  # like `together`, for phrases of one category
    exact: FloatArray  # 1 where all content words of a span have the same word as partner, and its image has no others
    governs: FloatArray  # [word, governor] probability that the partner of the second governs that of the first
    same: FloatArray  # [word] 1 where a word has the same word as partner


def category_of(label: str) -> str:
    """The category of the lowest phrase of a chain, without function labels: what is compared.

    >>> category_of("SBAR+S+VP"), category_of("NP-SBJ")
    ('VP', 'NP')
    """
    return base_label(label.replace("::", "+").rpartition("+")[2])


def evidence_for(sentence: Sentence, other: Forest, links: WordAlignment) -> TreeEvidence:
    """What a parsed sentence says about another; `links` go from the other way's source, `sentence`, to `other`."""
    other = flattened(other)
    matrix = _without_punctuation(links, sentence, other.sentence)
    same = (matrix > 0) & _same_words(sentence, other.sentence)
    images = _images(matrix > 0)
    shares = span_table(other)
    free = ~_any(matrix > 0, 0)
    together = _at_images(_widened(shares, free), images)
    crossed = np.minimum(_at_images(_crossings(shares), images), 1.0)
    whole = (images.counts >= 2) & ~images.scattered
    return TreeEvidence(
        together=together,
        apart=np.where(whole, 1.0 - together, 0.0),
        crossed=crossed,
        scattered=((images.counts >= 2) & images.scattered).astype(np.float64),
        by_category={
            name: _at_images(_widened(table, free), images)
            for name, table in category_spans(other, category_of).items()
        },
        exact=_exact(same, images, ~_is_small(sentence), ~_is_small(other.sentence)),
        governs=_projected_governors(matrix, sentence, other),
        same=_any(same, 1).astype(np.float64),
    )


def _without_punctuation(links: WordAlignment, source: Sentence, target: Sentence) -> FloatArray:
    matrix = links.matrix(len(source), len(target))
    matrix[_is_punctuation(source)] = 0.0
    matrix[:, _is_punctuation(target)] = 0.0
    return matrix


def _is_punctuation(sentence: Sentence) -> BoolArray:
    return np.array([tag in punctuation_tags() for tag in sentence.tags], dtype=bool)


def _any(flags: BoolArray, axis: int) -> BoolArray:
    return np.asarray(flags.any(axis))


# ---- spans ----


@dataclass(frozen=True, slots=True, eq=False)
class _Images:
    """First and last word of the image of each span, how many of its words have a partner, and what is scattered."""

    first: IntArray
    last: IntArray
    counts: IntArray
    scattered: BoolArray


def _images(linked: BoolArray) -> _Images:
    first, last = _reach(linked)
    back_first, back_last = _reach(linked.T)
    begin, end = np.indices(first.shape)
    counts = np.where(begin <= end, _sums(_any(linked, 1)), 0)
    has_image = counts > 0
    low, high = np.where(has_image, first, 0), np.where(has_image, last, 0)
    scattered = has_image & ((back_first[low, high] < begin) | (back_last[low, high] > end))
    return _Images(low, high, counts, scattered)


def _reach(linked: BoolArray) -> tuple[IntArray, IntArray]:
    """The first and the last partner of the words of each span; past the end and -1 where there is none."""
    n, m = linked.shape
    has = _any(linked, 1)
    own_first = np.where(has, linked.argmax(1), m)
    own_last = np.where(has, m - 1 - linked[:, ::-1].argmax(1), -1)
    first, last = np.full((n, n), m), np.full((n, n), -1)
    for i in range(n):
        first[i, i:] = np.minimum.accumulate(own_first[i:])
        last[i, i:] = np.maximum.accumulate(own_last[i:])
    return first, last


def _exact(same: BoolArray, images: _Images, content: BoolArray, other_content: BoolArray) -> FloatArray:
    """Whether neither a span nor its image has a content word that is not the same word on both sides."""
    odd, other_odd = content & ~_any(same, 1), other_content & ~_any(same, 0)
    own, theirs = _sums(odd), _sums(other_odd)
    begin, end = np.indices(own.shape)
    inside = (own == 0) & (theirs[images.first, images.last] == 0) & (begin <= end)
    return np.asarray(inside & (images.counts >= 2), dtype=np.float64)


def _sums(flags: BoolArray) -> IntArray:
    """How many words of each span are flagged."""
    before = np.cumsum(np.concatenate([[0], flags]))
    return np.asarray(before[1:][None, :] - before[:-1][:, None])


def _at_images(table: FloatArray, images: _Images) -> FloatArray:
    return np.where((images.counts >= 2) & ~images.scattered, table[images.first, images.last], 0.0)


def _widened(shares: FloatArray, free: BoolArray) -> FloatArray:
    """The largest share of a span or of one that has more free words at its edges."""
    best = shares.copy()
    for i in range(1, len(best)):
        if free[i - 1]:
            best[i] = np.maximum(best[i], best[i - 1])
    for j in range(len(best) - 2, -1, -1):
        if free[j + 1]:
            best[:, j] = np.maximum(best[:, j], best[:, j + 1])
    return best


def _crossings(shares: FloatArray) -> FloatArray:
    """How many phrases are expected to cross each span: to share words with it and to have others, as it does."""
    n = len(shares)
    found = np.zeros((n, n))
    begin, end = np.arange(n)[:, None], np.arange(n)[None, :]
    for i, j in zip(*np.nonzero(shares), strict=True):
        from_left = (i < begin) & (begin <= j) & (j < end)
        from_right = (begin < i) & (i <= end) & (end < j)
        found += shares[i, j] * (from_left | from_right)
    return found


# ---- governors ----


def _projected_governors(matrix: FloatArray, sentence: Sentence, other: Forest) -> FloatArray:
    content = matrix.copy()
    content[_is_small(sentence)] = 0.0
    content[:, _is_small(other.sentence)] = 0.0
    near = _nearest(governors(other), _any(content > 0, 0))
    strongest = content / np.maximum(content.max(1, initial=0.0, keepdims=True), 1.0)
    return np.asarray(np.minimum(strongest @ near @ strongest.T, 1.0))


def _is_small(sentence: Sentence) -> BoolArray:
    """Words that carry no attachment of their own, punctuation included."""
    small = [is_small_word(token.form.lower(), token.tag) for token in sentence.tokens]
    return np.array(small, dtype=bool) | _is_punctuation(sentence)


def _same_words(source: Sentence, target: Sentence) -> BoolArray:
    """Which words have the same lemma."""
    return np.asarray(np.array(source.lemmas)[:, None] == np.array(target.lemmas)[None, :])


STEPS = 6  # words without a partner that may stand between a word and what governs it


def _nearest(direct: FloatArray, linked: BoolArray) -> FloatArray:
    """Probability that a word is the nearest governor with a partner, over governors that have none."""
    found = np.where(linked[None, :], direct, 0.0)
    open_ways = np.where(linked[None, :], 0.0, direct)
    step = open_ways
    for _ in range(STEPS):
        found = found + step @ np.where(linked[None, :], direct, 0.0)
        step = step @ open_ways
    return np.minimum(found, 1.0)
