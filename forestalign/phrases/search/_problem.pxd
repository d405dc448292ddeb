"""What one search is about: two forests, what everything is worth, how far it may look; see `_problem.pyx`."""

cimport cython
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from forestalign.bit_rows cimport TargetRow
from forestalign.phrases.search._lca cimport Ancestry, ForestSide, Side
from forestalign.phrases.scoring.score cimport Step


cdef struct Limits:
    # `Bounds`; counts of 0 mean "all"
    int beam, gap, paths, variants, cube, trace_states
    bint monotonic, lifts
    double prospect_share


cdef struct Seed:
    int target  # node
    Step step
    double value


@cython.final
cdef class Problem:
    cdef Side source, target
    cdef Limits limits
    cdef TargetRow layout  # of the target side of every hypothesis
    cdef Ancestry near    # ways on the target side within the gap of a composition, one step less than µg
    cdef Ancestry lifted  # within µg
    cdef Ancestry far     # of any length
    cdef const double* pair         # [S, T]
    cdef const double* source_step  # [steps, S]
    cdef const double* target_step  # [steps, T]
    cdef vector[Seed] seeds         # those of a source node follow each other, in their order
    cdef vector[int] seed_start     # [S + 1]
    cdef const double* rest         # [S, target words]: what open links are worth (`search.py`); NULL: no prospects
    cdef int word_count             # of the target
    cdef vector[double] most_rest   # [S]: all of them together
    cdef vector[uint64_t] rest_words  # [S] rows: the target words that have some
    cdef tuple kept  # what the pointers point into

    cdef int set_tables(self, ForestSide source, ForestSide target, weights) except -1
    cdef int set_limits(self, bounds) except -1
    cdef int set_seeds(self, seeds) except -1
    cdef int set_rest(self, rest) except -1
    cdef int target_root(self) noexcept

    cdef inline double pair_value(self, int source, int target, Step step) noexcept nogil:
        """What a pair itself is worth."""
        return (
            self.pair[<size_t>source * self.target.node_count + target]
            + self.source_step[<int>step * self.source.node_count + source]
            + self.target_step[<int>step * self.target.node_count + target]
        )
