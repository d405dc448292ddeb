"""Sums of probabilities that are kept as logarithms."""

from libc.math cimport INFINITY, exp, log1p


cdef inline double log_add(double one, double other) noexcept nogil:
    if one < other:
        one, other = other, one
    return one if other == -INFINITY else one + log1p(exp(other - one))
