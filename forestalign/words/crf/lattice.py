"""The lattice of one sentence pair in one direction, and exact inference on it (sections 3.1 and 3.2 of both papers).

A path cuts the source sentence into segments; each segment is deleted (NULL, one word) or aligned to one span of the
target. The token CRF is the case where both kinds of span have one word.

    M, N           source and target word counts
    Ls, Lt         longest source and target span
    Psi            potentials: `segments[i, s, b, t]` aligns source [i, i+s+1) to target [b, b+t+1); `nulls[i]`
    f(a', a)       distortion, `transitions[e, b]`: from the last target word e of the previous state to the first
                   target word b of the next; index N is NULL, index N+1 is the start (as e) or the end (as b)

    Psi(i, s, b, t) = diagonal of word scores (spans of equal length)
                    + max(s, t) * mean of block scores
                    + size(s, t) + chunks(kind of source span, kind of target span) + layers * weights

Departure: the papers give O(Ls Lt^2 M N^2). Because the distortion looks only at the words e and b, the sum over
previous states is taken once per (e, b), and the cost is O(M N^2 + Ls Lt M N); the result is the same, exactly. Sums
over states are products with exp(f) after the largest term is taken away, so that a step costs N exponentials.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from forestalign.arrays import BoolArray, Float32Array, FloatArray, IntArray

LEAST = float(np.finfo(np.float64).min)  # in place of -inf, which cannot be taken away from itself

Links = frozenset[tuple[int, int]]


class Segment(NamedTuple):
    """Source words [begin, begin + length) aligned to target words [target, target + target_length); 0 is NULL."""

    begin: int
    length: int
    target: int
    target_length: int


@dataclass(frozen=True, slots=True)
class Lattice:
    """Log potentials of one pair. Segments that would leave a sentence hold -inf."""

    segments: FloatArray  # [M, Ls, N, Lt]
    nulls: FloatArray  # [M]
    transitions: FloatArray  # [N + 2, N + 2]


@dataclass(frozen=True, slots=True)
class Marginals:
    """The log partition function and the expected count of every part of a path."""

    log_partition: float
    segments: FloatArray
    nulls: FloatArray
    transitions: FloatArray


def allowed_segments(source_count: int, source_max: int, target_count: int, target_max: int) -> BoolArray:
    """Which cells of a segment table stay inside both sentences."""
    source_end = np.arange(source_count)[:, None] + np.arange(1, source_max + 1)
    target_end = np.arange(target_count)[:, None] + np.arange(1, target_max + 1)
    inside_source, inside_target = source_end <= source_count, target_end <= target_count
    return np.asarray(inside_source[:, :, None, None] & inside_target[None, None])


def path_score(lattice: Lattice, path: tuple[Segment, ...]) -> float:
    """The log potential of one path: its segments and the steps between them."""
    null = lattice.transitions.shape[0] - 2
    previous, score = null + 1, 0.0
    for segment in path:
        if segment.target_length:
            begin, end = segment.target, segment.target + segment.target_length - 1
            score += lattice.segments[segment.begin, segment.length - 1, begin, segment.target_length - 1]
        else:
            begin = end = null
            score += lattice.nulls[segment.begin]
        score += lattice.transitions[previous, begin]
        previous = end
    return float(score + lattice.transitions[previous, null + 1])


# ---- sums over paths, and the best one ----


def _sizes(shape: tuple[int, ...]) -> Iterator[tuple[int, int, int, int]]:
    """Each pair of span lengths (less one) that fits, with the number of places on each side."""
    rows, source_max, columns, target_max = shape
    for s in range(min(source_max, rows)):
        for t in range(min(target_max, columns)):
            yield s, t, rows - s, columns - t


def _log_sum(scores: FloatArray) -> FloatArray:
    """The log of the sum over the last axis."""
    if scores.shape[-1] == 1:  # the token model
        single: FloatArray = scores[..., 0]
        return single
    top = np.maximum(scores.max(axis=-1), LEAST)  # without any path the sum is 0
    result: FloatArray = top + np.log(np.exp(scores - top[..., None]).sum(axis=-1))
    return result


def _log_product(values: FloatArray, factors: FloatArray) -> FloatArray:
    """log of the sum over e of exp(values[e]) * factors[e, b]."""
    top = max(values.max(), LEAST)
    result: FloatArray = top + np.log(np.exp(values - top) @ factors)
    return result


def _by_end(segments: FloatArray) -> FloatArray:
    """Psi by the last words: [source end, target end, Ls * Lt], long source spans first, then short target spans."""
    rows, source_max, columns, target_max = segments.shape
    found = np.full((rows, columns, source_max, target_max), -np.inf)
    for s, t, row_count, column_count in _sizes(segments.shape):
        found[s:, t:, source_max - 1 - s, t] = segments[:row_count, s, :column_count, t]
    return found.reshape(rows, columns, source_max * target_max)


class _Entered:
    """`starts` while it is filled, and for each end what the segments that end there began with."""

    def __init__(self, shape: tuple[int, ...]):
        rows, source_max, columns, target_max = shape
        self._table = np.full((rows + source_max - 1, columns + target_max - 1), -np.inf)
        self._inner = self._table[source_max - 1 :, target_max - 1 :]
        self._windows = sliding_window_view(self._table, (source_max, target_max))[..., ::-1]

    def enter(self, i: int, starts: FloatArray) -> FloatArray:
        """The starts of source word i are known; those of the segments that end with it, in the order of `_by_end`."""
        self._inner[i] = starts
        window: FloatArray = self._windows[i]
        return window.reshape(len(window), -1)


@np.errstate(divide="ignore")
def forward(lattice: Lattice) -> tuple[FloatArray, FloatArray, float]:
    """Log sums of the paths so far: `ends[i, e]` after i words in state end e, `starts[i, b]` about to enter b.

    starts[i, b] = logsum over e of  ends[i, e] + f(e, b)
    ends[i + 1, e] = logsum over s, t of  starts[i - s, e - t] + Psi(i - s, s, e - t, t)
    """
    source_count, _, null, _ = lattice.segments.shape
    ends = np.full((source_count + 1, null + 2), -np.inf)
    starts = np.full((source_count, null + 1), -np.inf)
    factors, by_end, entered = np.exp(lattice.transitions), _by_end(lattice.segments), _Entered(lattice.segments.shape)
    ends[0, null + 1] = 0.0
    for i in range(source_count):
        starts[i] = _log_product(ends[i], factors[:, : null + 1])
        ends[i + 1, null] = starts[i, null] + lattice.nulls[i]
        ends[i + 1, :null] = _log_sum(entered.enter(i, starts[i, :null]) + by_end[i])
    return ends, starts, float(_log_product(ends[source_count], factors[:, null + 1 :])[0])


@np.errstate(divide="ignore")
def backward(lattice: Lattice) -> tuple[FloatArray, FloatArray]:
    """Log sums of the paths to come: `after[i, e]` from state end e with i words done, `before[i, b]` entering b."""
    factors = np.exp(lattice.transitions)[:, :-1].T
    return _completions(lattice, _log_sum, lambda before: _log_product(before, factors))


def best_completions(lattice: Lattice) -> tuple[FloatArray, FloatArray]:
    """`backward` for the best path in place of the sum of all."""
    steps = lattice.transitions[:, :-1]
    return _completions(lattice, lambda scores: scores.max(axis=-1), lambda before: (steps + before).max(axis=1))


def _completions(
    lattice: Lattice, add: Callable[[FloatArray], FloatArray], step: Callable[[FloatArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """`backward` in a semiring: `add` goes over segments, `step` over transitions.

    before[i, b] = add over s, t of  Psi(i, s, b, t) + after[i + s + 1, b + t]
    """
    source_count, source_max, null, target_max = lattice.segments.shape
    table = np.full((source_count + source_max, null + target_max + 1), -np.inf)
    after = np.full((source_count + 1, null + 2), -np.inf)
    before = np.full((source_count, null + 1), -np.inf)
    by_start = np.ascontiguousarray(lattice.segments.swapaxes(1, 2)).reshape(source_count, null, -1)
    windows = sliding_window_view(table, (source_max, target_max))
    after[source_count] = lattice.transitions[:, null + 1]
    for i in range(source_count - 1, -1, -1):
        table[i + 1, :null] = after[i + 1, :null]
        before[i, null] = lattice.nulls[i] + after[i + 1, null]
        before[i, :null] = add(by_start[i] + windows[i + 1, :null].reshape(null, -1))
        after[i] = step(before[i])
    return after, before


def marginals(lattice: Lattice) -> Marginals:
    """Log partition function and expected counts of segments, NULL words and transitions."""
    segments, transitions = lattice.segments, lattice.transitions
    source_count, null = segments.shape[0], segments.shape[2]
    ends, starts, log_partition = forward(lattice)
    after, before = backward(lattice)
    counts = np.zeros_like(segments)
    for s, t, rows, columns in _sizes(segments.shape):
        scores = starts[:rows, :columns] + segments[:rows, s, :columns, t] + after[s + 1 :, t:null]
        counts[:rows, s, :columns, t] = np.exp(scores - log_partition)
    null_counts = np.exp(starts[:, null] + lattice.nulls + after[1:, null] - log_partition)
    top = np.maximum(before.max(axis=1, keepdims=True), LEAST)
    steps = np.zeros_like(transitions)
    steps[:, : null + 1] = np.exp(ends[:-1] + top - log_partition).T @ np.exp(before - top)
    steps *= np.exp(transitions)
    steps[:, null + 1] = np.exp(ends[source_count] + transitions[:, null + 1] - log_partition)
    return Marginals(log_partition, counts, null_counts, steps)


def viterbi(lattice: Lattice) -> tuple[float, tuple[Segment, ...]]:
    """The best path and its score.

    V_i(a) = max over a', s of  V_{i-s}(a') + Psi_i(a', a, s)

    Ties go to the smaller e, then to the longer source span, then to the shorter target span.
    """
    source_count, source_max, null, target_max = lattice.segments.shape
    by_end, entered = _by_end(lattice.segments), _Entered(lattice.segments.shape)
    ends = np.full((source_count + 1, null + 2), -np.inf)
    ends[0, null + 1] = 0.0
    best = np.zeros((source_count, null + 1), np.int64)  # e before source word i, by the b that follows
    cuts = np.zeros((source_count, null), np.int64)  # the segment that ends here, by its place in `_by_end`
    for i in range(source_count):
        steps = ends[i][:, None] + lattice.transitions[:, : null + 1]
        best[i] = steps.argmax(axis=0)
        starts = steps.max(axis=0)
        scores = entered.enter(i, starts[:null]) + by_end[i]
        cuts[i] = scores.argmax(axis=1)
        ends[i + 1, :null] = scores.max(axis=1)
        ends[i + 1, null] = starts[null] + lattice.nulls[i]
    final = ends[source_count] + lattice.transitions[:, null + 1]
    e, i, path = int(final.argmax()), source_count - 1, list[Segment]()
    score = float(final[e])
    while i >= 0:
        begin, b, length = i, e, 0
        if e < null:
            long, length = divmod(int(cuts[i, e]), target_max)
            begin, b, length = i - (source_max - 1 - long), e - length, length + 1
        path.append(Segment(begin, i - begin + 1, b if length else 0, length))
        i, e = begin - 1, int(best[begin, b])
    return score, tuple(reversed(path))


# ---- potentials of span pairs from their parts, and expected counts back to the parts ----


def segment_scores(
    words: FloatArray,
    block: FloatArray,
    sizes: FloatArray,
    source_kinds: IntArray,
    target_kinds: IntArray,
    kind_scores: FloatArray,
    layers: Float32Array,
    span_weights: FloatArray,
) -> FloatArray:
    """words, block [M, N]; sizes [Ls, Lt]; kinds [M, Ls], [N, Lt]; layers [M, Ls, N, Lt, features] -> Psi."""
    shape = (words.shape[0], sizes.shape[0], words.shape[1], sizes.shape[1])
    layers = layers[:, : shape[1], :, : shape[3]]
    scores = layers @ span_weights + sizes[None, :, None]
    scores += kind_scores[source_kinds[:, : shape[1], None, None], target_kinds[None, None, :, : shape[3]]]
    for s, t, rows, columns in _sizes(shape):
        view = scores[:rows, s, :columns, t]
        for k in range(s + 1) if s == t else ():
            view += words[k : k + rows, k : k + columns]
        if s or t:
            share = max(s + 1, t + 1) / ((s + 1) * (t + 1))
            for p, q in np.ndindex(s + 1, t + 1):
                view += share * block[p : p + rows, q : q + columns]
    scores[~allowed_segments(*shape)] = -np.inf
    return np.asarray(scores)


def spread_segments(
    counts: FloatArray, source_kinds: IntArray, target_kinds: IntArray, kind_count: int, layers: Float32Array
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """The gradient of `segment_scores`: counts [M, Ls, N, Lt] -> words, block, sizes, kinds, span weights."""
    shape = counts.shape
    words, block = np.zeros((shape[0], shape[2])), np.zeros((shape[0], shape[2]))
    for s, t, rows, columns in _sizes(shape):
        view = counts[:rows, s, :columns, t]
        for k in range(s + 1) if s == t else ():
            words[k : k + rows, k : k + columns] += view
        if s or t:
            share = max(s + 1, t + 1) / ((s + 1) * (t + 1))
            for p, q in np.ndindex(s + 1, t + 1):
                block[p : p + rows, q : q + columns] += share * view
    pairs = source_kinds[:, : shape[1], None, None] * kind_count + target_kinds[None, None, :, : shape[3]]
    kinds = np.asarray(np.bincount(pairs.ravel(), counts.ravel(), kind_count**2), np.float64)
    span = np.tensordot(counts, layers[:, : shape[1], :, : shape[3]], axes=4)
    return words, block, np.asarray(counts.sum(axis=(0, 2))), kinds.reshape(kind_count, kind_count), np.asarray(span)


# ---- the k best alignments ----


Partial = tuple[float, tuple[Segment, ...], float, int, int]  # minus the bound, path, score, words done, state end


def links_of(path: tuple[Segment, ...]) -> Links:
    """The word links of a path: every word of an aligned source span with every word of its target span."""
    return frozenset(
        (i, j)
        for begin, length, target, target_length in path
        for i in range(begin, begin + length)
        for j in range(target, target + target_length)
    )


def best_paths(lattice: Lattice) -> Iterator[tuple[float, tuple[Segment, ...]]]:
    """All paths with their scores, in falling order; equal scores in the order of their segments.

    A partial path is extended in the order of its score plus the best score of its completion. That bound is exact, so
    complete paths leave the heap in the order of their scores, and only paths among the k best are ever followed far.
    """
    source_count, null = len(lattice.nulls), lattice.transitions.shape[0] - 2
    after, _ = best_completions(lattice)
    heap: list[Partial] = [(-float(after[0, null + 1]), (), 0.0, 0, null + 1)]
    while heap:
        bound, path, score, done, end = heapq.heappop(heap)
        if done == source_count:
            yield -bound, path
            continue
        for step in _extensions(lattice, after, path, score, done, end):
            heapq.heappush(heap, step)


def _extensions(
    lattice: Lattice, after: FloatArray, path: tuple[Segment, ...], score: float, done: int, end: int
) -> Iterator[Partial]:
    null = lattice.transitions.shape[0] - 2
    total = score + lattice.transitions[end, null] + lattice.nulls[done]
    yield -(total + after[done + 1, null]), (*path, Segment(done, 1, 0, 0)), total, done + 1, null
    scores = score + lattice.transitions[end, :null, None] + lattice.segments[done]
    for s, b, t in zip(*np.nonzero(scores > -np.inf), strict=True):
        total, length, last = float(scores[s, b, t]), int(s) + 1, int(b + t)
        segment = Segment(done, length, int(b), int(t) + 1)
        yield -(total + after[done + length, last]), (*path, segment), total, done + length, last


def k_best(lattice: Lattice, count: int) -> list[tuple[float, tuple[Segment, ...]]]:
    """The `count` best paths with different word links (two paths can differ in their cuts alone)."""
    return list(islice(_different(best_paths(lattice)), count))


def _different(
    paths: Iterator[tuple[float, tuple[Segment, ...]]],
) -> Iterator[tuple[float, tuple[Segment, ...]]]:
    seen: set[Links] = set()
    for score, path in paths:
        links = links_of(path)
        if links not in seen:
            seen.add(links)
            yield score, path
