"""The candidates of one source node on their way into its beam; see `_beam.pyx`."""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libcpp.pair cimport pair as Pair
from libcpp.vector cimport vector

from forestalign.phrases.search._hypotheses cimport Candidate, Hypotheses, grains
from forestalign.phrases.search._problem cimport Problem
from forestalign.phrases.search._ranking cimport Ranking
from forestalign.phrases.scoring.score cimport NON_COMPOSITIONAL, STRAIGHT, Step

# best rank first, then the lower target, then what was made first: (-rank, target and place, packed)
ctypedef Pair[int64_t, int64_t] BeamKey


@cython.final
cdef class LineUp:
    cdef Hypotheses hypotheses
    cdef size_t room  # 0: there is no end of it
    cdef size_t most_waiting  # so many candidates are ranked at once
    cdef int words  # blocks
    cdef int variants
    cdef vector[Candidate] candidates, kept
    cdef vector[BeamKey] order
    cdef vector[int] alike_first  # by target: the last of `kept` that has it, -1: none
    cdef vector[int] alike_next  # of each of `kept`: the one before it with its target
    cdef vector[uint64_t] kept_words, scratch
    cdef int64_t threshold  # the rank below which nothing enters the beam
    cdef double least  # the same as a value, with some slack
    cdef int64_t cuts

    cdef void open(self) noexcept nogil

    cdef inline int add(self, Candidate& new, double value) except -1 nogil:
        """Take a candidate of this value unless there are enough better ones."""
        if value < self.least:
            self.cuts += 1
            return 0
        new.rank = grains(value)
        if new.rank < self.threshold:
            self.cuts += 1
            return 0
        self.candidates.push_back(new)
        if self.candidates.size() >= self.most_waiting:
            self.narrow()
        return 0

    cdef int narrow(self) except -1 nogil
    cdef int rank(self) except -1 nogil
    cdef int choose(self, const Candidate& candidate) except -1 nogil
    cdef size_t sort_from(self, size_t first, size_t end) except? 0 nogil
    cdef int order_by_words(self, size_t first, size_t end) except -1 nogil
    cdef bint is_tied(self, size_t one, size_t other) noexcept nogil
    cdef bint has_more_words(self, size_t one, size_t other) noexcept nogil
    cdef void words_of(self, const Candidate& candidate, uint64_t* words) noexcept nogil


@cython.final
cdef class Beam:
    cdef Hypotheses hypotheses
    cdef Problem problem
    cdef Ranking ranking
    cdef LineUp by_gain, by_prospect
    cdef bint has_prospects
    cdef int64_t made  # candidates of the present source node
    cdef vector[uint64_t] words
    cdef vector[Candidate] kept

    cdef void open(self) noexcept nogil
    cdef inline bint can_give_way(self, Step step) noexcept nogil:
        """OPENED of `search.py`."""
        return STRAIGHT <= step <= NON_COMPOSITIONAL

    cdef inline bint may_take(self, double most, int node, Step step) noexcept nogil:
        """Whether a step that comes to so much at most, its own pair apart, can enter by either ranking."""
        if most + self.ranking.top_value[<int>step] >= self.by_gain.least:
            return True
        if self.has_prospects and most + self.problem.most_rest[node] >= self.by_prospect.least:
            return True
        self.by_gain.cuts += 1
        return False

    cdef inline int add(self, Candidate& new) except -1 nogil:
        """Take a candidate unless the beam is full of better ones by either ranking."""
        cdef double gain = self.ranking.of_candidate(new)
        self.made += 1
        new.number = self.made
        if self.has_prospects and self.can_give_way(new.step):
            self.add_open(new, gain)
        return self.by_gain.add(new, gain)

    cdef int add_open(self, Candidate& new, double gain) except -1 nogil
    cdef double hope_of(self, const Candidate& new) noexcept nogil
    cdef int close(self) except -1 nogil
    cdef int share_places(self) except -1 nogil
    cdef bint is_kept(self, const Candidate& candidate) noexcept nogil
