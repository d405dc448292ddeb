"""Compiled twins of the functions in `lattice`, same signatures and results; the tests run both.

Sums over previous states are taken after subtracting the largest term, as products with exp(transitions), so that a
step costs N exponentials and not N^2. All tables stay in log space between steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Array = npt.NDArray[np.float64]


@njit(cache=True, nogil=True)
def _log_add(x: float, y: float) -> float:
    if x == -np.inf:
        return y
    if y == -np.inf:
        return x
    if x > y:
        return x + float(np.log1p(np.exp(y - x)))
    return y + float(np.log1p(np.exp(x - y)))


@njit(cache=True, nogil=True)
def _log_product(values: Array, matrix: Array, out: Array) -> None:
    """out[b] = log of the sum over e of exp(values[e]) * matrix[e, b]."""
    top = values.max()
    out[:] = 0.0
    if top == -np.inf:
        out[:] = -np.inf
        return
    for e in range(values.shape[0]):
        weight = np.exp(values[e] - top)
        if weight > 0.0:
            for b in range(out.shape[0]):
                out[b] += weight * matrix[e, b]
    for b in range(out.shape[0]):
        out[b] = top + np.log(out[b]) if out[b] > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def _forward(segments: Array, nulls: Array, factors: Array) -> tuple[Array, Array, float]:
    source_count, source_max, target_count, target_max = segments.shape
    null = target_count
    ends = np.full((source_count + 1, target_count + 2), -np.inf)
    starts = np.full((source_count, target_count + 1), -np.inf)
    ends[0, null + 1] = 0.0
    for i in range(source_count):
        _log_product(ends[i], factors, starts[i])
        ends[i + 1, null] = starts[i, null] + nulls[i]
        for s in range(min(source_max, source_count - i)):
            for b in range(target_count):
                for t in range(min(target_max, target_count - b)):
                    score = starts[i, b] + segments[i, s, b, t]
                    ends[i + s + 1, b + t] = _log_add(ends[i + s + 1, b + t], score)
    final = np.empty(1)
    _log_product(ends[source_count], factors[:, null + 1 :], final)
    return ends, starts, final[0]


@njit(cache=True, nogil=True)
def forward(segments: Array, nulls: Array, transitions: Array) -> tuple[Array, Array, float]:
    return _forward(segments, nulls, np.exp(transitions))


@njit(cache=True, nogil=True)
def _backward(segments: Array, nulls: Array, transitions: Array, factors: Array) -> tuple[Array, Array]:
    source_count, source_max, target_count, target_max = segments.shape
    null = target_count
    after = np.full((source_count + 1, target_count + 2), -np.inf)
    before = np.full((source_count, target_count + 1), -np.inf)
    turned = np.ascontiguousarray(factors[:, : null + 1].T)
    after[source_count] = transitions[:, null + 1]
    for i in range(source_count - 1, -1, -1):
        before[i, null] = nulls[i] + after[i + 1, null]
        for s in range(min(source_max, source_count - i)):
            for b in range(target_count):
                for t in range(min(target_max, target_count - b)):
                    score = segments[i, s, b, t] + after[i + s + 1, b + t]
                    before[i, b] = _log_add(before[i, b], score)
        _log_product(before[i], turned, after[i])
    return after, before


@njit(cache=True, nogil=True)
def backward(segments: Array, nulls: Array, transitions: Array) -> tuple[Array, Array]:
    return _backward(segments, nulls, transitions, np.exp(transitions))


@njit(cache=True, nogil=True)
def marginals(segments: Array, nulls: Array, transitions: Array) -> tuple[float, Array, Array, Array]:
    source_count, source_max, target_count, target_max = segments.shape
    null = target_count
    factors = np.exp(transitions)
    ends, starts, log_partition = _forward(segments, nulls, factors)
    after, before = _backward(segments, nulls, transitions, factors)
    segment_counts = np.zeros_like(segments)
    null_counts = np.zeros(source_count)
    transition_counts = np.zeros_like(transitions)
    for i in range(source_count):
        null_counts[i] = np.exp(starts[i, null] + nulls[i] + after[i + 1, null] - log_partition)
        for s in range(min(source_max, source_count - i)):
            for b in range(target_count):
                for t in range(min(target_max, target_count - b)):
                    score = starts[i, b] + segments[i, s, b, t] + after[i + s + 1, b + t]
                    segment_counts[i, s, b, t] = np.exp(score - log_partition)
        _add_steps(ends[i], before[i], log_partition, transition_counts)
    transition_counts *= factors
    for e in range(null + 2):
        transition_counts[e, null + 1] = np.exp(ends[source_count, e] + transitions[e, null + 1] - log_partition)
    return log_partition, segment_counts, null_counts, transition_counts


@njit(cache=True, nogil=True)
def _add_steps(ends: Array, before: Array, log_partition: float, counts: Array) -> None:
    """counts[e, b] += exp(ends[e] + before[b] - log_partition), with one exponential per row and column."""
    top = before.max()
    if top == -np.inf:
        return
    right = np.exp(before - top)
    for e in range(ends.shape[0]):
        left = np.exp(ends[e] + top - log_partition)
        if left > 0.0:
            for b in range(before.shape[0]):
                counts[e, b] += left * right[b]


@njit(cache=True, nogil=True)
def viterbi(segments: Array, nulls: Array, transitions: Array) -> tuple[float, npt.NDArray[np.int64]]:
    source_count, source_max, target_count, target_max = segments.shape
    null = target_count
    ends = np.full((source_count + 1, target_count + 2), -np.inf)
    ends[0, null + 1] = 0.0
    came_from = np.full((source_count + 1, target_count + 1), -1, np.int64)
    lengths = np.zeros((source_count + 1, target_count + 1, 2), np.int64)
    starts = np.empty(null + 1)
    best = np.empty(null + 1, np.int64)
    for i in range(source_count):
        _best_steps(ends[i], transitions, starts, best)
        if starts[null] + nulls[i] > ends[i + 1, null]:
            ends[i + 1, null] = starts[null] + nulls[i]
            came_from[i + 1, null] = best[null]
            lengths[i + 1, null, 0] = 1
            lengths[i + 1, null, 1] = 0
        for s in range(min(source_max, source_count - i)):
            for t in range(min(target_max, target_count)):
                for b in range(target_count - t):
                    score = starts[b] + segments[i, s, b, t]
                    if score > ends[i + s + 1, b + t]:
                        ends[i + s + 1, b + t] = score
                        came_from[i + s + 1, b + t] = best[b]
                        lengths[i + s + 1, b + t, 0] = s + 1
                        lengths[i + s + 1, b + t, 1] = t + 1
    final = ends[source_count] + transitions[:, null + 1]
    e = int(np.argmax(final))
    return final[e], _trace_back(came_from, lengths, source_count, e)


@njit(cache=True, nogil=True)
def _best_steps(ends: Array, transitions: Array, starts: Array, best: npt.NDArray[np.int64]) -> None:
    starts[:] = -np.inf
    best[:] = 0
    for e in range(ends.shape[0]):
        if ends[e] == -np.inf:
            continue
        for b in range(starts.shape[0]):
            score = ends[e] + transitions[e, b]
            if score > starts[b]:
                starts[b] = score
                best[b] = e


@njit(cache=True, nogil=True)
def _trace_back(
    came_from: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], source_count: int, end: int
) -> npt.NDArray[np.int64]:
    rows = np.empty((source_count, 4), np.int64)
    count, i, e = 0, source_count, end
    while i > 0:
        s, t = lengths[i, e]
        rows[count, 0] = i - s
        rows[count, 1] = s
        rows[count, 2] = e - t + 1 if t > 0 else 0
        rows[count, 3] = t
        count += 1
        i, e = i - s, came_from[i, e]
    return rows[:count][::-1].copy()


@njit(cache=True, nogil=True)
def segment_scores(
    words: Array,
    block: Array,
    sizes: Array,
    source_kinds: npt.NDArray[np.int64],
    target_kinds: npt.NDArray[np.int64],
    kind_scores: Array,
    layers: npt.NDArray[np.float32],
    span_weights: Array,
) -> Array:
    source_count, target_count = words.shape
    source_max, target_max = sizes.shape
    scores = np.full((source_count, source_max, target_count, target_max), -np.inf)
    for i in range(source_count):
        for s in range(min(source_max, source_count - i)):
            for b in range(target_count):
                total = 0.0  # of the block, a column more with each t
                for t in range(min(target_max, target_count - b)):
                    for p in range(s + 1):
                        total += block[i + p, b + t]
                    score = sizes[s, t] + kind_scores[source_kinds[i, s], target_kinds[b, t]]
                    if s > 0 or t > 0:
                        score += total * max(s + 1, t + 1) / ((s + 1) * (t + 1))
                    if s == t:
                        for k in range(s + 1):
                            score += words[i + k, b + k]
                    for f in range(span_weights.shape[0]):
                        score += layers[i, s, b, t, f] * span_weights[f]
                    scores[i, s, b, t] = score
    return scores


@njit(cache=True, nogil=True)
def spread_segments(
    counts: Array,
    source_kinds: npt.NDArray[np.int64],
    target_kinds: npt.NDArray[np.int64],
    kind_count: int,
    layers: npt.NDArray[np.float32],
) -> tuple[Array, Array, Array, Array, Array]:
    source_count, source_max, target_count, target_max = counts.shape
    words = np.zeros((source_count, target_count))
    block = np.zeros((source_count, target_count))
    sizes = np.zeros((source_max, target_max))
    kinds = np.zeros((kind_count, kind_count))
    span = np.zeros(layers.shape[4])
    for i in range(source_count):
        for s in range(min(source_max, source_count - i)):
            for b in range(target_count):
                for t in range(min(target_max, target_count - b)):
                    count = counts[i, s, b, t]
                    if count == 0.0:
                        continue
                    sizes[s, t] += count
                    kinds[source_kinds[i, s], target_kinds[b, t]] += count
                    if s > 0 or t > 0:
                        share = count * max(s + 1, t + 1) / ((s + 1) * (t + 1))
                        for p in range(s + 1):
                            for q in range(t + 1):
                                block[i + p, b + q] += share
                    if s == t:
                        for k in range(s + 1):
                            words[i + k, b + k] += count
                    for f in range(span.shape[0]):
                        span[f] += count * layers[i, s, b, t, f]
    return words, block, sizes, kinds, span
