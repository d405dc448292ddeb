"""Inference on the lattice of a sentence pair: twins of `lattice.py`, same signatures and results.

Sums over previous states are taken after subtracting the largest term, as products with exp(transitions), so that a
step costs N exponentials and not N^2. All tables stay in log space between steps.
"""

from libc.math cimport INFINITY, exp, log
from libcpp.vector cimport vector

from forestalign.log_space cimport log_add

import numpy as np


cdef struct LatticeShape:
    int source_count
    int source_max
    int target_count
    int target_max


cdef LatticeShape lattice_shape(const double[:, :, :, ::1] segments) noexcept:
    return LatticeShape(segments.shape[0], segments.shape[1], segments.shape[2], segments.shape[3])


cdef double largest(const double[::1] values) noexcept nogil:
    cdef double top = -INFINITY
    cdef Py_ssize_t place
    for place in range(values.shape[0]):
        top = max(top, values[place])
    return top


cdef void log_product(const double[::1] values, const double[:, :] matrix, double[::1] out) noexcept nogil:
    """out[b] = log of the sum over e of exp(values[e]) * matrix[e, b]."""
    cdef double weight, top = largest(values)
    cdef Py_ssize_t e, b
    out[:] = 0.0
    if top == -INFINITY:
        out[:] = -INFINITY
        return
    for e in range(values.shape[0]):
        weight = exp(values[e] - top)
        if weight > 0.0:
            for b in range(out.shape[0]):
                out[b] += weight * matrix[e, b]
    for b in range(out.shape[0]):
        out[b] = top + log(out[b]) if out[b] > 0.0 else -INFINITY


cdef void extend(
    const LatticeShape *shape, int i, const double[:, :, :, ::1] segments, const double[::1] starts, double[:, ::1] ends
) noexcept nogil:
    """Paths that enter a segment at source word i, added to where it ends."""
    cdef int s, b, t
    for s in range(min(shape.source_max, shape.source_count - i)):
        for b in range(shape.target_count):
            for t in range(min(shape.target_max, shape.target_count - b)):
                ends[i + s + 1, b + t] = log_add(ends[i + s + 1, b + t], starts[b] + segments[i, s, b, t])


def forward(const double[:, :, :, ::1] segments, const double[::1] nulls, const double[:, ::1] transitions):
    """Log sums of the paths so far, by ends and by starts, and of all paths."""
    cdef LatticeShape shape = lattice_shape(segments)
    cdef int i, null = shape.target_count
    cdef const double[:, ::1] factors = np.exp(transitions)
    ends = np.full((shape.source_count + 1, null + 2), -np.inf)
    starts, final = np.full((shape.source_count, null + 1), -np.inf), np.empty(1)
    cdef double[:, ::1] end_view = ends, start_view = starts
    cdef double[::1] final_view = final
    end_view[0, null + 1] = 0.0
    with nogil:
        for i in range(shape.source_count):
            log_product(end_view[i], factors, start_view[i])
            end_view[i + 1, null] = start_view[i, null] + nulls[i]
            extend(&shape, i, segments, start_view[i], end_view)
        log_product(end_view[shape.source_count], factors[:, null + 1:], final_view)
    return ends, starts, final_view[0]


cdef void enter(
    const LatticeShape *shape, int i, const double[:, :, :, ::1] segments, const double[:, ::1] after,
    double[::1] before,
) noexcept nogil:
    """Paths to come from a segment that begins at source word i, by the target word it begins with."""
    cdef int s, b, t
    for s in range(min(shape.source_max, shape.source_count - i)):
        for b in range(shape.target_count):
            for t in range(min(shape.target_max, shape.target_count - b)):
                before[b] = log_add(before[b], segments[i, s, b, t] + after[i + s + 1, b + t])


def backward(const double[:, :, :, ::1] segments, const double[::1] nulls, const double[:, ::1] transitions):
    """Log sums of the paths to come, by ends and by starts."""
    cdef LatticeShape shape = lattice_shape(segments)
    cdef int i, null = shape.target_count
    cdef const double[:, :] turned = np.exp(transitions)[:, : null + 1].T
    after = np.full((shape.source_count + 1, null + 2), -np.inf)
    before = np.full((shape.source_count, null + 1), -np.inf)
    after[shape.source_count] = transitions[:, null + 1]
    cdef double[:, ::1] after_view = after, before_view = before
    with nogil:
        for i in range(shape.source_count - 1, -1, -1):
            before_view[i, null] = nulls[i] + after_view[i + 1, null]
            enter(&shape, i, segments, after_view, before_view[i])
            log_product(before_view[i], turned, after_view[i])
    return after, before


cdef void count_segments(
    const LatticeShape *shape, int i, const double[:, :, :, ::1] segments, const double[::1] starts,
    const double[:, ::1] after, double log_total, double[:, :, :, ::1] counts,
) noexcept nogil:
    cdef int s, b, t
    for s in range(min(shape.source_max, shape.source_count - i)):
        for b in range(shape.target_count):
            for t in range(min(shape.target_max, shape.target_count - b)):
                counts[i, s, b, t] = exp(starts[b] + segments[i, s, b, t] + after[i + s + 1, b + t] - log_total)


cdef void add_steps(
    const double[::1] ends, const double[::1] before, double log_total, double[::1] shares, double[:, ::1] counts
) noexcept nogil:
    """counts[e, b] += exp(ends[e] + before[b] - log_total), with one exponential per row and column."""
    cdef double left, top = largest(before)
    cdef Py_ssize_t e, b
    if top == -INFINITY:
        return
    for b in range(before.shape[0]):
        shares[b] = exp(before[b] - top)
    for e in range(ends.shape[0]):
        left = exp(ends[e] + top - log_total)
        if left > 0.0:
            for b in range(before.shape[0]):
                counts[e, b] += left * shares[b]


def marginals(const double[:, :, :, ::1] segments, const double[::1] nulls, const double[:, ::1] transitions):
    """Log partition function and expected counts of segments, NULL words and transitions."""
    cdef LatticeShape shape = lattice_shape(segments)
    cdef int i, e, null = shape.target_count
    cdef double[:, ::1] ends, starts, after, before
    cdef double log_total
    ends, starts, log_total = forward(segments, nulls, transitions)
    after, before = backward(segments, nulls, transitions)
    counts, null_counts = np.zeros_like(segments), np.zeros(shape.source_count)
    steps = np.zeros((null + 2, null + 2))
    cdef double[:, :, :, ::1] count_view = counts
    cdef double[::1] null_view = null_counts, shares = np.empty(null + 1)
    cdef double[:, ::1] step_view = steps
    with nogil:
        for i in range(shape.source_count):
            null_view[i] = exp(starts[i, null] + nulls[i] + after[i + 1, null] - log_total)
            count_segments(&shape, i, segments, starts[i], after, log_total, count_view)
            add_steps(ends[i], before[i], log_total, shares, step_view)
    steps *= np.exp(transitions)
    for e in range(null + 2):
        step_view[e, null + 1] = exp(ends[shape.source_count, e] + transitions[e, null + 1] - log_total)
    return log_total, counts, null_counts, steps


cdef struct Cut:
    int came_from      # e before the segment
    int length
    int target_length


cdef void best_steps(
    const double[::1] ends, const double[:, ::1] transitions, double[::1] starts, vector[int] &best
) noexcept nogil:
    """The best state before each start; ties go to the smaller e."""
    cdef Py_ssize_t e, b
    cdef double score
    starts[:] = -INFINITY
    for b in range(starts.shape[0]):
        best[b] = 0
    for e in range(ends.shape[0]):
        if ends[e] == -INFINITY:
            continue
        for b in range(starts.shape[0]):
            score = ends[e] + transitions[e, b]
            if score > starts[b]:
                starts[b], best[b] = score, <int>e


cdef void keep_best(double score, double *end, Cut *cut, Cut found) noexcept nogil:
    if score > end[0]:
        end[0], cut[0] = score, found


def viterbi(const double[:, :, :, ::1] segments, const double[::1] nulls, const double[:, ::1] transitions):
    """The best path and its score; ties go to the smaller e, then to the shorter spans."""
    cdef LatticeShape shape = lattice_shape(segments)
    cdef int i, s, t, b, null = shape.target_count, width = null + 2
    cdef double[:, ::1] ends = np.full((shape.source_count + 1, width), -np.inf)
    cdef double[::1] starts = np.empty(null + 1)
    cdef vector[int] best = vector[int](null + 1)
    cdef vector[Cut] cuts = vector[Cut]((shape.source_count + 1) * width, Cut(-1, 0, 0))
    ends[0, null + 1] = 0.0
    with nogil:
        for i in range(shape.source_count):
            best_steps(ends[i], transitions, starts, best)
            keep_best(
                starts[null] + nulls[i], &ends[i + 1, null], &cuts[(i + 1) * width + null], Cut(best[null], 1, 0)
            )
            for s in range(min(shape.source_max, shape.source_count - i)):
                for t in range(min(shape.target_max, null)):
                    for b in range(null - t):
                        keep_best(
                            starts[b] + segments[i, s, b, t], &ends[i + s + 1, b + t],
                            &cuts[(i + s + 1) * width + b + t], Cut(best[b], s + 1, t + 1),
                        )
    final = np.asarray(ends)[shape.source_count] + np.asarray(transitions)[:, null + 1]
    return float(final.max()), traced_back(cuts, shape.source_count, width, int(final.argmax()))


cdef object traced_back(const vector[Cut] &cuts, int i, int width, int e):
    """Rows (begin, length, target, target_length) in source order."""
    cdef Cut cut
    rows = []
    while i > 0:
        cut = cuts[i * width + e]
        target = e - cut.target_length + 1 if cut.target_length else 0
        rows.append((i - cut.length, cut.length, target, cut.target_length))
        i, e = i - cut.length, cut.came_from
    return np.array(rows[::-1], dtype=np.int64).reshape(-1, 4)
