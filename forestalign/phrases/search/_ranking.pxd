"""By what beams and pools are ordered, and the most that a step can come to; see `_ranking.pyx`."""

cimport cython
from libcpp.vector cimport vector

from forestalign.phrases.search._hypotheses cimport Candidate, Hypothesis, PoolEntry
from forestalign.phrases.search._lca cimport Side
from forestalign.phrases.search._problem cimport Problem
from forestalign.phrases.scoring.score cimport LIFT, Step


@cython.final
cdef class Ranking:
    cdef Problem problem
    cdef Side source, target
    cdef readonly bint prunes
    cdef double most_delta  # the most that one edge of the target can bring
    cdef vector[double] top_value  # by step: the most that a pair of the present source node is worth

    cdef int prepare(self) except -1 nogil
    cdef int look_at(self, int node) except -1 nogil

    # ---- the order ----

    cdef inline double gain_of(self, const Hypothesis& h) noexcept nogil:
        return h.pairs + h.source_value + h.target_value - self.target.null_value[h.target]

    cdef inline double of_candidate(self, const Candidate& new) noexcept nogil:
        """By what a beam is ordered: the gain of a candidate."""
        return new.pairs + new.source_value + new.target_value - self.target.null_value[new.target]

    cdef inline double of_entry(self, int node, const PoolEntry& entry) noexcept nogil:
        """By what the pool of a source node is ordered: the gain of an entry."""
        return entry.gain

    # ---- the bounds ----

    cdef inline double most_of_composition(
        self, const PoolEntry& one, const PoolEntry& other, int edge
    ) noexcept nogil:
        """No composition of two entries under a source edge has a higher gain, its own pair apart."""
        return one.reach + other.reach + self.source.edge_value[edge] + self.most_delta

    cdef inline double most_of_lift(self, const PoolEntry& entry, double source_value) noexcept nogil:
        """No lift of an entry by a source edge, worth so much with the null phrase beside it, has a higher rank."""
        return entry.gain + source_value + self.problem.lifted.reach[entry.target] + self.top_value[<int>LIFT]
