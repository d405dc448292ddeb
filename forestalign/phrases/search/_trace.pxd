"""What becomes of two hypotheses when the target of one lies in that of the other; see `_trace.pyx`."""

cimport cython
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from forestalign.bit_rows cimport TargetRow, common_count, opened_edges, opened_nodes, share
from forestalign.phrases.search._hypotheses cimport Hypotheses
from forestalign.phrases.search._lca cimport Side


@cython.final
cdef class Trace:
    cdef Hypotheses hypotheses
    cdef Side target
    cdef TargetRow layout
    cdef vector[uint64_t] masks  # rows of forbidden words, a stack

    cdef inline bint agree(self, int one, int other) noexcept nogil:
        """Same-Tree: every node that both opened is built by the same edge; and no target word is covered twice."""
        cdef const uint64_t* first = self.hypotheses.row_of(one)
        cdef const uint64_t* second = self.hypotheses.row_of(other)
        if share(first, second, self.layout.words):
            return False
        return common_count(
            opened_nodes(self.layout, first), opened_nodes(self.layout, second), self.layout.nodes
        ) == common_count(
            opened_edges(self.layout, first), opened_edges(self.layout, second), self.layout.edges
        )

    cdef int locate(self, int outer, int outer_node, int inner_node) noexcept nogil
    cdef int chosen_edge(self, const uint64_t* row, int node) noexcept nogil
    cdef int child_around(self, int edge, int node) noexcept nogil
    cdef bint survive(self, int top, int other, double* total) except -1 nogil
    cdef bint survive_mask(self, int h, size_t mask, double* total) except -1 nogil
    cdef size_t forbid(self, size_t mask, int other) except? 0 nogil
    cdef double opened(self, const uint64_t* row) noexcept nogil
    cdef double unopened_value(self, const uint64_t* row, int node) noexcept nogil
    cdef double support_value(self, int h) except? -1.0 nogil
