"""What is handed on of the root hypotheses; see `_derivations.pyx`."""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from forestalign.phrases.search._hypotheses cimport Hypotheses
from forestalign.phrases.search._lca cimport Side
from forestalign.phrases.search._trace cimport Trace
from forestalign.phrases.scoring.score cimport Step


cdef struct PairRecord:
    int source, target
    Step step


@cython.final
cdef class Derivations:
    cdef Hypotheses hypotheses
    cdef Trace trace
    cdef Side source, target
    cdef vector[int] ranked
    cdef vector[PairRecord] pairs       # of the hypothesis read last, supports before what they support
    cdef vector[vector[int]] supports   # places in `pairs`
    cdef vector[vector[int64_t]] keys   # of each ranked hypothesis: its pairs as numbers, sorted
    cdef vector[int] source_edges, source_nulls

    cdef int read(self, const vector[int]& roots) except -1 nogil
    cdef int rank(self, const vector[int]& roots) except -1 nogil
    cdef bint is_better(self, int one, int other) noexcept nogil
    cdef int read_keys(self) except -1 nogil
    cdef int64_t key_of(self, int source, int target) noexcept nogil
    cdef int read_pairs(self, int h) except -1 nogil
    cdef int read_below(self, int h, size_t mask, vector[int]& tops) except -1 nogil
    cdef int read_supports(self, int h, size_t mask, vector[int]& tops) except -1 nogil
    cdef unordered_map[int64_t, double] posteriors(self) except *
    cdef bint is_new(self, size_t k, list kept) except -1
    cdef list best(self, int count)
    cdef tuple derivation(self, int h, unordered_map[int64_t, double]& shares)
    cdef list named(self, const Side& side, list edges)
    cdef int read_source(self, int h) except -1
    cdef int enter(self, int a) except -1
    cdef int read_edge(self, int edge, int one, int other) except -1
    cdef tuple read_target(self, const uint64_t* row)
