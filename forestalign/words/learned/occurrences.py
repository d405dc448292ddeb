"""Which occurrence a word goes with: *the* with its noun, *was* with its predicate, and *sold* with the only *sold*.

Where conjuncts or clauses change places, words such as *the* stand twice on both sides, and what is next to them says
little. Such a word belongs to a content word, its anchor: the next one above it in the dependency tree. Occurrences of
one word are matched so that they agree with the links of their anchors (the best assignment by probability plus the
probability of the anchors' link), and the probabilities of those that change places change with them. A content word
that stands once on both sides is its own partner, whatever else stands in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forestalign.arrays import Float32Array, IntArray
from forestalign.grammar import stop_words
from forestalign.words.analysis import Analysis

ANCHORED = 0.8  # least probability of a link between anchors that decides
ELSEWHERE = 0.2  # most probability of a link between the anchors of a pair that has to give way
FARTHEST = 3  # steps up the tree to an anchor
COORDINATORS = frozenset({"CC", ","})  # these stand between conjuncts and belong to none
LIKELY_SAME = 0.25  # least probability of a word with itself that its rivals give way to
NO_ANCHOR = -1


def settled_occurrences(probabilities: Float32Array, source: Analysis, target: Analysis) -> Float32Array:
    """The probabilities with those of words that stand elsewhere moved to where they belong."""
    settled = probabilities.copy()
    for i, j in _unique(source, target):
        if probabilities[i, j] >= LIKELY_SAME:
            _give(settled, i, j, max(probabilities[i].max(), probabilities[:, j].max()))
    groups = _repeated(source, target)
    if not groups:
        return settled
    from scipy.optimize import linear_sum_assignment  # a third of a second, which most pairs need not wait for

    anchors = np.array(_anchors(source)), np.array(_anchors(target))
    for rows, columns in groups:
        own, other = anchors[0][rows], anchors[1][columns]
        agreed = settled[own][:, other] * ((own >= 0)[:, None] & (other >= 0)[None, :])
        block = settled[np.ix_(rows, columns)]
        for i, j in zip(*linear_sum_assignment(block + agreed, maximize=True), strict=True):
            rivals = block[i].argmax(), block[:, j].argmax()
            against = max(agreed[i, rivals[0]] * (rivals[0] != j), agreed[rivals[1], j] * (rivals[1] != i))
            if agreed[i, j] >= ANCHORED and against <= ELSEWHERE:
                _give(settled, rows[i], columns[j], max(block[i].max(), block[:, j].max()))
    return settled


def _give(probabilities: Float32Array, i: int, j: int, best: float) -> None:
    """A pair gets the best that either of its words had; its rivals have at most what the pair had."""
    had = probabilities[i, j]
    if had < best:
        probabilities[i] = np.minimum(probabilities[i], had)
        probabilities[:, j] = np.minimum(probabilities[:, j], had)
        probabilities[i, j] = best


def _unique(source: Analysis, target: Analysis) -> list[tuple[int, int]]:
    """Content words that stand once on both sides, in the same form."""
    left, right = _content(source), _content(target)
    return [(left[word], right[word]) for word in sorted(left.keys() & right.keys())]


def _content(analysis: Analysis) -> dict[str, int]:
    words = [token.surface.lower() for token in analysis.sentence.tokens]
    return {
        word: place
        for place, word in enumerate(words)
        if word.isalpha() and word not in stop_words() and words.count(word) == 1
    }


def _repeated(source: Analysis, target: Analysis) -> list[tuple[IntArray, IntArray]]:
    """Places of each function word that both sentences have, one of them more than once."""
    left, right = _places(source), _places(target)
    return [
        (np.array(left[word]), np.array(right[word]))
        for word in sorted(left.keys() & right.keys())
        if max(len(left[word]), len(right[word])) > 1
    ]


def _places(analysis: Analysis) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, token in enumerate(analysis.sentence.tokens):
        if token.surface.lower() in stop_words() and token.tag not in COORDINATORS:
            found.setdefault(token.key, []).append(place)
    return found


def _anchors(analysis: Analysis) -> list[int]:
    """The next content word above each word in the dependency tree."""
    heads, words = analysis.dependencies.heads, [token.surface.lower() for token in analysis.sentence.tokens]
    return [_anchor(place, heads, words) for place in range(len(words))]


def _anchor(place: int, heads: Sequence[int], words: Sequence[str]) -> int:
    for _ in range(FARTHEST):
        place = heads[place]
        if place < 0 or place >= len(words):
            return NO_ANCHOR
        if words[place] not in stop_words():
            return place
    return NO_ANCHOR
