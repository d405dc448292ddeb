"""What a hypothesis is, and where hypotheses and the entries of pools are kept; see `_hypotheses.pyx`."""

cimport cython
from libc.math cimport llrint
from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from forestalign.bit_rows cimport TargetRow, opened_edges, opened_nodes, put
from forestalign.phrases.search._lca cimport Ancestry, Meeting, Side
from forestalign.phrases.search._problem cimport Problem
from forestalign.phrases.search.hypotheses cimport GRAIN, LARGEST_VALUE
from forestalign.phrases.scoring.score cimport PHRASE_SEED, SEED, Step


cdef inline int64_t grains(double value) noexcept nogil:
    """A value as a whole number of grains, by which values are compared."""
    return llrint(max(-LARGEST_VALUE, min(LARGEST_VALUE, value)) * GRAIN)


cdef inline bint is_seed(Step step) noexcept nogil:
    return step == SEED or step == PHRASE_SEED


cdef inline bint is_opaque(Step step) noexcept nogil:
    """`Step.is_opaque`: must it stay whole?"""
    return step >= PHRASE_SEED


cdef struct Hypothesis:
    int source, target           # nodes
    Step step
    int edge                     # of the source, whose children's pools support it; -1: none
    int left, right              # hypotheses, -1: none
    int left_entry, right_entry  # where the pools have them
    bint left_gives_way          # completion: the pair of `left` is no part of this
    double pairs                 # value of all pairs below and of this one
    double source_value          # edges, null phrases and covered nodes
    double target_value
    double hope                  # what its prospect adds to its gain; 0: it is closed


cdef struct PoolEntry:
    # a hypothesis seen from a source node above it (Placed)
    int hypothesis
    int target
    int begin, end               # target span
    int steps
    int edge                     # the last edge of the way up, -1: none
    int previous                 # the entry below it
    double value                 # of the source side
    double gain
    double hope                  # that of the hypothesis
    double reach                 # `gain` with the most that its target can bring on the way to a meeting


cdef struct Candidate:
    # what may become a hypothesis if the beam has room; it opens at most one of `meeting`, `lifted_way`, `far_way`
    int source, target
    Step step
    int edge                     # of the source, -1: none
    int left_entry, right_entry  # -1: none
    int meeting                  # of `near`, on the target side, -1: none
    int lifted_way               # of `lifted`
    int far_way                  # of `far`
    bint left_gives_way
    double pairs, source_value, target_value
    double own                   # value of the pair itself, where it can give way
    double hope
    int64_t number               # among the candidates of its source node
    int64_t rank                 # grains of what beams are ordered by; see `_ranking`


cdef inline Candidate new_candidate(int source, Step step) noexcept nogil:
    """A candidate that rests on nothing yet."""
    cdef Candidate new
    new.source, new.step, new.target, new.edge, new.left_entry, new.right_entry = source, step, -1, -1, -1, -1
    new.meeting, new.lifted_way, new.far_way, new.left_gives_way, new.rank = -1, -1, -1, False, 0
    new.pairs, new.source_value, new.target_value = 0.0, 0.0, 0.0
    new.own, new.hope, new.number = 0.0, 0.0, 0
    return new


@cython.final
cdef class Hypotheses:
    cdef Problem problem
    cdef Side source, target  # those of the problem
    cdef TargetRow layout
    cdef vector[Hypothesis] all
    cdef vector[uint64_t] rows          # the target sides of the hypotheses
    cdef vector[PoolEntry] entries

    cdef inline uint64_t* row_of(self, int h) noexcept nogil:
        """The target side of a hypothesis."""
        return self.rows.data() + <size_t>h * self.layout.width

    cdef inline double score(self, int h) noexcept nogil:
        """S(h)."""
        return self.all[h].pairs + self.all[h].source_value + self.all[h].target_value

    cdef int materialise(self, const Candidate& new) except -1 nogil
    cdef void rest_on(self, Hypothesis* h, uint64_t* row, const Candidate& new) noexcept nogil
    cdef void open_target(self, uint64_t* row, const Candidate& new) noexcept nogil

    cdef inline void open_edge(self, uint64_t* row, int edge) noexcept nogil:
        """Put an edge, and the node that it builds, into the target side of a hypothesis."""
        put(opened_nodes(self.layout, row), self.target.head[edge])
        put(opened_edges(self.layout, row), edge)

    cdef void open_way(self, uint64_t* row, Ancestry ancestry, int way) noexcept nogil
