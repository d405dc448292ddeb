"""What one sentence says about the trees of the other: its phrases and its governors, seen through the word links.

Spans of the sentence in question are tables [n, n] that hold span (i, j + 1) at [i, j], as in charts. The image of a
span is the stretch of the other sentence from the first to the last partner of its words. An image with a partner of
a word outside the span is scattered; any other may be widened by words that have no partner. Punctuation has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, IntArray
from forestalign.forest import Forest, edge_marginals
from forestalign.forest.forest import NO_CHILD
from forestalign.grammar import base_label, is_small_word, punctuation_tags
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment
from forestalign.words.similarity import equal_pairs

TEMPERATURE = 3.0  # parsers are too sure of themselves; what they say about another sentence is flattened
LEAST_SHARE = 1e-4  # shares below it count as none, so that tables stay sparse
SURE = 2.5  # what an exact span counts that stands over there word by word
STEPS = 6  # words without a partner that may stand between a word and what governs it


@dataclass(frozen=True, slots=True, eq=False)
class TreeEvidence:
    """What the other sentence says; spans with less than two partners are 0 everywhere."""

    together: FloatArray  # probability that the image of a span, widened or not, is a phrase over there
    apart: FloatArray  # that it is none, although nothing lies between the partners
    crossed: FloatArray  # that a phrase over there cuts through the image
    scattered: FloatArray  # 1 where the image is scattered
    by_category: Mapping[str, FloatArray]  # like `together`, for phrases of one category
    exact: FloatArray  # above 0 where all content words of a span and of its image have the same word as partner
    governs: FloatArray  # [word, governor] probability that the partner of the second governs that of the first
    same: FloatArray  # [word, governor] above 0 where both have the same word as partner


@lru_cache(maxsize=4096)
def category_of(label: str) -> str:
    """The category of the lowest phrase of a chain, without function labels: what is compared.

    >>> category_of("SBAR+S+VP"), category_of("NP-SBJ")
    ('VP', 'NP')
    """
    return base_label(label.replace("::", "+").rpartition("+")[2])


def mutual_evidence(
    source: Forest, target: Forest, links: WordAlignment, sure: float = SURE
) -> tuple[TreeEvidence, TreeEvidence]:
    """What the target says about the trees of the source, and the source about those of the target."""
    (marks, small), (other_marks, other_small) = _marks(source.sentence), _marks(target.sentence)
    matrix = links.matrix(len(source.sentence), len(target.sentence))
    matrix[marks] = 0.0
    matrix[:, other_marks] = 0.0
    linked, runs = matrix > 0, _runs(equal_pairs(source.sentence.lemmas, target.sentence.lemmas))
    forth, back = _reach(linked), _reach(linked.T)
    images, turned = _images(linked.T, back, forth), np.ascontiguousarray(matrix.T)
    return (
        _evidence(matrix, runs, _images(linked, forth, back), PhraseShares.of(target), (small, other_small), sure),
        _evidence(turned, runs.T, images, PhraseShares.of(source), (other_small, small), sure),
    )


def _evidence(
    matrix: FloatArray,
    runs: IntArray,
    images: _Images,
    shares: PhraseShares,
    small: tuple[BoolArray, BoolArray],
    sure: float,
) -> TreeEvidence:
    """What the sentence of the columns says about that of the rows; `shares` are those of its trees."""
    tables = _widened(shares.spans, ~np.any(matrix > 0, 0))[:, images.first, images.last]
    several = images.counts >= 2
    whole = several & ~images.scattered
    tables[:, ~whole] = 0.0
    same = (matrix > 0) & (runs > 0)
    own, verbatim, exact = same.any(1), *_exact(same, runs, images, small, sure)
    crossed = np.minimum(_crossings(shares.spans[0])[images.first, images.last], 1.0)
    return TreeEvidence(
        together=tables[0],
        apart=np.where(whole, 1.0 - tables[0], 0.0),
        crossed=np.where(whole, crossed, 0.0),
        scattered=(several & images.scattered).astype(np.float64),
        by_category=dict(zip(shares.categories, tables[1:], strict=True)),
        exact=exact,
        governs=_projected_governors(matrix, shares.governors, *small),
        same=np.where(verbatim | verbatim.T, sure, 1.0) * np.outer(own, own),
    )


def _marks(sentence: Sentence) -> tuple[BoolArray, BoolArray]:
    """Which words are punctuation, and which carry no attachment of their own, punctuation included."""
    marks = punctuation_tags()
    punctuation = [tag in marks for tag in sentence.tags]
    words = [word.lower() for word in sentence.written_words]
    small = [is_mark or is_small_word(*word) for is_mark, *word in zip(punctuation, words, sentence.tags, strict=True)]
    return np.array(punctuation, dtype=bool), np.array(small, dtype=bool)


# ---- the trees of the other sentence ----


@dataclass(frozen=True, slots=True, eq=False)
class PhraseShares:
    """How probable phrases and attachments are over the trees of a forest, flattened by the temperature."""

    categories: tuple[str, ...]
    spans: FloatArray  # [1 + categories, n, n]: that a span is a phrase of several words, and one of each category
    governors: FloatArray  # [word, governor]

    @classmethod
    def of(cls, forest: Forest, temperature: float = TEMPERATURE) -> PhraseShares:
        """The tables of a forest."""
        arrays, n = forest.arrays, len(forest.sentence)
        shares = edge_marginals(forest.weighed(arrays.log_prob / temperature))
        numbers, names = _label_categories(arrays.labels)
        of_nodes = np.add.reduceat(shares, arrays.edge_start[:-1])
        phrases = np.flatnonzero(~arrays.is_bar & (arrays.end - arrays.begin > 1))
        category = numbers[arrays.label[phrases]]
        spans = np.zeros((1 + len(names), n, n))
        for table in (np.zeros_like(category), 1 + category):
            np.add.at(spans, (table, arrays.begin[phrases], arrays.end[phrases] - 1), of_nodes[phrases])
        used = np.flatnonzero(np.bincount(category))
        spans = spans[np.concatenate([[0], 1 + used])]
        edges, word, governor = arcs(forest)
        governors = np.zeros((n, n))
        np.add.at(governors, (word, governor), shares[edges])
        return cls(tuple(names[number] for number in used.tolist()), _without_least(spans), _without_least(governors))


@lru_cache(maxsize=64)  # forests of one parser share their labels
def _label_categories(labels: tuple[str, ...]) -> tuple[IntArray, tuple[str, ...]]:
    """The number of the category of each label, and the names of the categories."""
    names = sorted(set(map(category_of, labels)))
    return np.array([names.index(category_of(label)) for label in labels]), tuple(names)


def _without_least(shares: FloatArray) -> FloatArray:
    return np.where(shares < LEAST_SHARE, 0.0, np.minimum(shares, 1.0))


def arcs(forest: Forest) -> tuple[IntArray, IntArray, IntArray]:
    """The edges that attach a word to another, by semantic heads: their numbers, the words and their governors."""
    arrays = forest.arrays
    edges = np.flatnonzero((arrays.children != NO_CHILD).all(1))
    head = arrays.semantic_head[arrays.edge_node[edges]].astype(np.int64)
    left, right = arrays.semantic_head[arrays.children[edges]].astype(np.int64).T
    word = np.where(head == left, right, left)
    kept = (word != head) & ((head == left) | (head == right))
    return edges[kept], word[kept], head[kept]


# ---- spans ----


@dataclass(frozen=True, slots=True, eq=False)
class _Images:
    """First and last word of the image of each span, how many of its words have a partner, and what is scattered."""

    first: IntArray
    last: IntArray
    counts: IntArray
    scattered: BoolArray


Reach = tuple[IntArray, IntArray]  # the first and the last partner of the words of each span


def _images(linked: BoolArray, forth: Reach, back: Reach) -> _Images:
    (first, last), (back_first, back_last) = forth, back
    begin, end = np.indices(first.shape)
    counts = np.where(begin <= end, _sums(np.any(linked, 1)), 0)
    has_image = counts > 0
    low, high = np.where(has_image, first, 0), np.where(has_image, last, 0)
    scattered = has_image & ((back_first[low, high] < begin) | (back_last[low, high] > end))
    return _Images(low, high, counts, scattered)


def _reach(linked: BoolArray) -> Reach:
    """The first and the last partner of the words of each span; past the end and -1 where there is none."""
    n, m = linked.shape
    has, inside = linked.any(1), np.tri(n, dtype=bool).T
    first = np.where(inside & has, linked.argmax(1), m)
    last = np.where(inside & has, m - 1 - linked[:, ::-1].argmax(1), -1)
    return np.minimum.accumulate(first, axis=1), np.maximum.accumulate(last, axis=1)


def _runs(equal: BoolArray) -> IntArray:
    """How many words from a place on are those from a place of the other sentence on."""
    found = np.zeros(np.add(equal.shape, 1), dtype=np.int64)
    for i in range(len(equal) - 1, -1, -1):
        found[i, :-1] = np.where(equal[i], 1 + found[i + 1, 1:], 0)
    return found[:-1, :-1]


def _exact(
    same: BoolArray, runs: IntArray, images: _Images, small: tuple[BoolArray, BoolArray], sure: float
) -> tuple[BoolArray, FloatArray]:
    """Spans of which neither side has a content word that is not the same word on both: which are the same words one by
    one, and what each counts."""
    content = [~side for side in small]
    odd = [own & ~same.any(axis) for axis, own in zip((1, 0), content, strict=True)]
    inside = np.triu((_sums(odd[0]) == 0) & (_sums(odd[1])[images.first, images.last] == 0) & (images.counts >= 2))
    begin, end = np.indices(inside.shape)
    verbatim = inside & (images.last - images.first == end - begin) & (runs[begin, images.first] > end - begin)
    return verbatim, np.where(verbatim, sure, inside)


def _sums(flags: BoolArray) -> IntArray:
    """How many words of each span are flagged."""
    before = np.cumsum(np.concatenate([[0], flags]))
    return np.asarray(before[1:][None, :] - before[:-1][:, None])


def _widened(shares: FloatArray, free: BoolArray) -> FloatArray:
    """The largest share of a span or of one that has more free words at its edges, in each table."""
    best = shares.copy()
    for i in np.flatnonzero(free[:-1]).tolist():
        np.maximum(best[:, i + 1], best[:, i], out=best[:, i + 1])
    for j in np.flatnonzero(free[1:])[::-1].tolist():
        np.maximum(best[:, :, j], best[:, :, j + 1], out=best[:, :, j])
    return best


def _crossings(shares: FloatArray) -> FloatArray:
    """How many phrases are expected to cross each span: to share words with it and to have others, as it does.

    A phrase (i, j + 1) crosses (b, e + 1) from the left if i < b <= j < e, from the right if b < i <= e < j.
    """
    n = len(shares)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = shares.cumsum(axis=0).cumsum(axis=1)
    begin, end = np.arange(n)[:, None], np.arange(n)[None, :]
    from_left = sums[begin, end] - sums[begin, begin]
    from_right = sums[end + 1, n] - sums[begin + 1, n] - sums[end + 1, end + 1] + sums[begin + 1, end + 1]
    return np.asarray(np.maximum(np.triu(from_left + from_right), 0.0))


# ---- governors ----


def _projected_governors(
    matrix: FloatArray, governors: FloatArray, small: BoolArray, other_small: BoolArray
) -> FloatArray:
    content = matrix.copy()
    content[small] = 0.0
    content[:, other_small] = 0.0
    near = _nearest(governors, np.any(content > 0, 0))
    strongest = content / np.maximum(content.max(1, initial=0.0, keepdims=True), 1.0)
    return np.asarray(np.minimum(strongest @ near @ strongest.T, 1.0))


def _nearest(direct: FloatArray, linked: BoolArray) -> FloatArray:
    """Probability that a word is the nearest governor with a partner, over governors that have none."""
    found = np.where(linked[None, :], direct, 0.0)
    open_ways = np.where(linked[None, :], 0.0, direct)
    step, ends = open_ways, found
    for _ in range(STEPS):
        found = found + step @ ends
        step = step @ open_ways
    return np.minimum(found, 1.0)
