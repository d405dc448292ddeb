"""The chart algorithms: twins of `forestalign/chart/plain.py`, which says what is computed.

Tables are [n, n] and hold span (i, j + 1) at [i, j]. Ties of `best_splits` go to the first split.
"""

from libc.math cimport INFINITY, exp, log
from libcpp.vector cimport vector

import numpy as np


cdef struct Tables:
    int n
    const double *any_label
    const double *labelled
    double *split
    double *left
    double *right


cdef inline double at(const double *table, int n, int i, int j) noexcept nogil:
    return table[i * n + j]


cdef double join(const Tables *tables, int i, int j, double *terms) noexcept nogil:
    """Log of the sum over the splits of a span; `terms` is room for n numbers."""
    cdef double top = -INFINITY, total = 0.0
    cdef int k, n = tables.n
    for k in range(i, j):
        terms[k] = at(tables.left, n, i, k) + at(tables.right, n, k + 1, j)
        if terms[k] > top:
            top = terms[k]
    if top == -INFINITY:
        return top
    for k in range(i, j):
        total += exp(terms[k] - top)
    return top + log(total)


cdef void finish_span(Tables *tables, int i, int j) noexcept nogil:
    """`left` and `right` of a span whose `split` is known."""
    cdef int place = i * tables.n + j
    tables.left[place] = tables.any_label[place] + tables.split[place]
    tables.right[place] = tables.left[place] if i == j else tables.labelled[place] + tables.split[place]


cdef void fill_inside(Tables *tables, double *terms) noexcept nogil:
    cdef int width, i, j, n = tables.n
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            if width > 1:
                tables.split[i * n + j] = join(tables, i, j, terms)
            finish_span(tables, i, j)


def inside(const double[:, ::1] any_label, const double[:, ::1] labelled):
    """Log inside scores `split`, `left`, `right`."""
    cdef int n = any_label.shape[0]
    split, left, right = np.zeros((n, n)), np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    cdef double[:, ::1] split_view = split, left_view = left, right_view = right
    cdef vector[double] terms = vector[double](n)
    cdef Tables tables = Tables(
        n, &any_label[0, 0], &labelled[0, 0], &split_view[0, 0], &left_view[0, 0], &right_view[0, 0]
    )
    with nogil:
        fill_inside(&tables, terms.data())
    return split, left, right


cdef void share_out(const Tables *tables, int i, int j, double *as_left, double *as_right) noexcept nogil:
    """Hand the share of a span to the pairs of children it is split into."""
    cdef int k, n = tables.n
    cdef double part, share = as_left[i * n + j] + as_right[i * n + j]
    if share <= 0.0:
        return
    for k in range(i, j):
        part = share * exp(at(tables.left, n, i, k) + at(tables.right, n, k + 1, j) - at(tables.split, n, i, j))
        as_left[i * n + k] += part
        as_right[(k + 1) * n + j] += part


def shares(const double[:, ::1] split, const double[:, ::1] left, const double[:, ::1] right):
    """How often a span is a left child, and how often a right child (or the root)."""
    cdef int width, i, n = split.shape[0]
    as_left, as_right = np.zeros((n, n)), np.zeros((n, n))
    cdef double[:, ::1] left_share = as_left, right_share = as_right
    cdef Tables tables = Tables(n, NULL, NULL, <double *>&split[0, 0], <double *>&left[0, 0], <double *>&right[0, 0])
    right_share[0, n - 1] = 1.0
    with nogil:
        for width in range(n, 1, -1):
            for i in range(n - width + 1):
                share_out(&tables, i, i + width - 1, &left_share[0, 0], &right_share[0, 0])
    return as_left, as_right


cdef void fill_maxima(Tables *tables, short *points) noexcept nogil:
    """`inside` with maxima for sums, and where each span is split."""
    cdef int width, i, j, k, n = tables.n
    cdef double score, top
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            if width > 1:
                top = -INFINITY
                for k in range(i, j):
                    score = at(tables.left, n, i, k) + at(tables.right, n, k + 1, j)
                    if score > top:
                        top = score
                        points[i * n + j] = k
                tables.split[i * n + j] = top
            finish_span(tables, i, j)


def best_splits(const double[:, ::1] any_label, const double[:, ::1] labelled):
    """The last word of the best left child of each span, and the score of the best tree."""
    cdef int n = any_label.shape[0]
    points = np.zeros((n, n), dtype=np.int16)
    cdef short[:, ::1] point_view = points
    cdef double[:, :, ::1] work = np.zeros((3, n, n))
    cdef Tables tables = Tables(
        n, &any_label[0, 0], &labelled[0, 0], &work[0, 0, 0], &work[1, 0, 0], &work[2, 0, 0]
    )
    with nogil:
        fill_maxima(&tables, &point_view[0, 0])
    return points, labelled[0, n - 1] + work[0, 0, n - 1]


cdef void pass_down(const Tables *tables, int i, int j, double *as_left, double *as_right) noexcept nogil:
    """The best tree through a span is a tree through each pair of children it may be split into."""
    cdef int k, n = tables.n
    cdef double through, rest = max(as_left[i * n + j], as_right[i * n + j]) - at(tables.split, n, i, j)
    for k in range(i, j):
        through = rest + at(tables.left, n, i, k) + at(tables.right, n, k + 1, j)
        as_left[i * n + k] = max(as_left[i * n + k], through)
        as_right[(k + 1) * n + j] = max(as_right[(k + 1) * n + j], through)


def best_through(const double[:, ::1] any_label, const double[:, ::1] labelled):
    """Score of the best tree in which a span is a left child, and of the best where it is a right child or the root."""
    cdef int width, i, n = any_label.shape[0]
    as_left, as_right = np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    cdef double[:, ::1] left_view = as_left, right_view = as_right
    cdef double[:, :, ::1] work = np.zeros((3, n, n))
    cdef vector[short] points = vector[short](n * n)
    cdef Tables tables = Tables(
        n, &any_label[0, 0], &labelled[0, 0], &work[0, 0, 0], &work[1, 0, 0], &work[2, 0, 0]
    )
    with nogil:
        fill_maxima(&tables, points.data())
        right_view[0, n - 1] = labelled[0, n - 1] + tables.split[n - 1]
        for width in range(n, 1, -1):
            for i in range(n - width + 1):
                pass_down(&tables, i, i + width - 1, &left_view[0, 0], &right_view[0, 0])
    return as_left, as_right
