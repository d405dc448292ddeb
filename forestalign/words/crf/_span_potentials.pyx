"""Potentials of span pairs from their parts, and expected counts back to the parts: twins of `span_potentials.py`."""

from libc.stdint cimport int64_t

import numpy as np


cdef inline double block_share(int s, int t) noexcept nogil:
    """Of each cell of a block: `max(s, t) * mean`, with lengths one more than s and t."""
    return <double>max(s + 1, t + 1) / ((s + 1) * (t + 1))


def segment_scores(
    const double[:, :] words, const double[:, :] block, const double[:, :] sizes,
    const int64_t[:, :] source_kinds, const int64_t[:, :] target_kinds, const double[:, :] kind_scores,
    const float[:, :, :, :, :] layers, const double[:] span_weights,
):
    """Psi [M, Ls, N, Lt]; -inf for segments that would leave a sentence."""
    cdef int source_count = words.shape[0], target_count = words.shape[1], i, s, b, t, p
    cdef int source_max = sizes.shape[0], target_max = sizes.shape[1]
    cdef double total, score
    scores = np.full((source_count, source_max, target_count, target_max), -np.inf)
    cdef double[:, :, :, ::1] view = scores
    with nogil:
        for i in range(source_count):
            for s in range(min(source_max, source_count - i)):
                for b in range(target_count):
                    total = 0.0  # of the block, a column more with each t
                    for t in range(min(target_max, target_count - b)):
                        for p in range(s + 1):
                            total += block[i + p, b + t]
                        score = sizes[s, t] + kind_scores[source_kinds[i, s], target_kinds[b, t]]
                        if s > 0 or t > 0:
                            score += total * block_share(s, t)
                        if s == t:
                            for p in range(s + 1):
                                score += words[i + p, b + p]
                        for p in range(<int>span_weights.shape[0]):
                            score += layers[i, s, b, t, p] * span_weights[p]
                        view[i, s, b, t] = score
    return scores


cdef void spread_words(
    double count, int i, int s, int b, int t, double[:, ::1] words, double[:, ::1] block
) noexcept nogil:
    """The count of one span pair, over its diagonal and its block."""
    cdef int p, q
    cdef double share = count * block_share(s, t)
    if s > 0 or t > 0:
        for p in range(s + 1):
            for q in range(t + 1):
                block[i + p, b + q] += share
    if s == t:
        for p in range(s + 1):
            words[i + p, b + p] += count


def spread_segments(
    const double[:, :, :, :] counts, const int64_t[:, :] source_kinds, const int64_t[:, :] target_kinds,
    int kind_count, const float[:, :, :, :, :] layers,
):
    """The gradient of `segment_scores`: words, block, sizes, kinds, span weights."""
    cdef int source_count = counts.shape[0], source_max = counts.shape[1], i, s, b, t, f
    cdef int target_count = counts.shape[2], target_max = counts.shape[3]
    cdef double count
    words, block = np.zeros((source_count, target_count)), np.zeros((source_count, target_count))
    sizes, kinds = np.zeros((source_max, target_max)), np.zeros((kind_count, kind_count))
    span = np.zeros(layers.shape[4])
    cdef double[:, ::1] word_view = words, block_view = block, size_view = sizes, kind_view = kinds
    cdef double[::1] span_view = span
    with nogil:
        for i in range(source_count):
            for s in range(min(source_max, source_count - i)):
                for b in range(target_count):
                    for t in range(min(target_max, target_count - b)):
                        count = counts[i, s, b, t]
                        if count == 0.0:
                            continue
                        size_view[s, t] += count
                        kind_view[source_kinds[i, s], target_kinds[b, t]] += count
                        spread_words(count, i, s, b, t, word_view, block_view)
                        for f in range(<int>span_view.shape[0]):
                            span_view[f] += count * layers[i, s, b, t, f]
    return words, block, sizes, kinds, span
