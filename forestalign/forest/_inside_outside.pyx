"""Inside, outside and the best derivation of a packed forest over its arrays: twins of `inside_outside.py`."""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t

from forestalign.log_space cimport log_add

import numpy as np


cdef double edge_weight(
    int edge, const int32_t[:, ::1] children, const double *log_prob, const double *inner
) noexcept nogil:
    """The weight of an edge with all that is below it."""
    cdef double weight = log_prob[edge]
    cdef int side
    for side in range(2):
        if children[edge, side] >= 0:
            weight += inner[children[edge, side]]
    return weight


def inside(const int32_t[::1] edge_start, const int32_t[:, ::1] children, const double[::1] log_prob):
    """Log inside score of each node, children first."""
    cdef int node, edge, count = edge_start.shape[0] - 1
    cdef double top, total, weight
    scores = np.empty(count)
    cdef double[::1] inner = scores
    with nogil:
        for node in range(count):
            top, total = -INFINITY, 0.0
            for edge in range(edge_start[node], edge_start[node + 1]):
                top = max(top, edge_weight(edge, children, &log_prob[0], &inner[0]))
            if edge_start[node + 1] - edge_start[node] != 1 and top != -INFINITY:
                for edge in range(edge_start[node], edge_start[node + 1]):
                    weight = edge_weight(edge, children, &log_prob[0], &inner[0])
                    total += exp(weight - top)
                top += log(total)
            inner[node] = top
    return scores


def outside(
    const int32_t[::1] edge_start, const int32_t[:, ::1] children, const double[::1] log_prob,
    const int32_t[::1] roots, const double[::1] inner,
):
    """Log outside score of each node, parents first; a root begins with log 1."""
    cdef int node, edge, side, child, count = edge_start.shape[0] - 1
    cdef double whole
    scores = np.full(count, -np.inf)
    cdef double[::1] outer = scores
    with nogil:
        for node in range(roots.shape[0]):
            outer[roots[node]] = 0.0
        for node in range(count - 1, -1, -1):
            if outer[node] == -INFINITY:
                continue
            for edge in range(edge_start[node], edge_start[node + 1]):
                for side in range(2):
                    child = children[edge, side]
                    if child >= 0:
                        whole = outer[node] + log_prob[edge]
                        if children[edge, 1 - side] >= 0:
                            whole += inner[children[edge, 1 - side]]
                        outer[child] = log_add(outer[child], whole)
    return scores


def viterbi(const int32_t[::1] edge_start, const int32_t[:, ::1] children, const double[::1] log_prob):
    """The score of the best subtree of each node, and its best edge; ties go to the earlier edge."""
    cdef int node, edge, count = edge_start.shape[0] - 1
    cdef double weight
    scores, choice = np.full(count, -np.inf), np.zeros(count, dtype=np.int32)
    cdef double[::1] best = scores
    cdef int32_t[::1] chosen = choice
    with nogil:
        for node in range(count):
            for edge in range(edge_start[node], edge_start[node + 1]):
                weight = edge_weight(edge, children, &log_prob[0], &best[0])
                if weight > best[node]:
                    best[node], chosen[node] = weight, edge - edge_start[node]
    return scores, choice
