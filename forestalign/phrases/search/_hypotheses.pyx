"""The compiled twin of `hypotheses.py`: hypotheses and the entries of pools, in the order in which they were made.

A hypothesis has a row of bits for its target side (`TargetRow` in `bit_rows.pxd`).
"""

cimport cython
from libc.stdint cimport uint64_t

from forestalign.bit_rows cimport put_all, put_range
from forestalign.phrases.search._lca cimport Ancestry, Meeting
from forestalign.phrases.search._problem cimport Problem


@cython.final
cdef class Hypotheses:
    """All that was made so far; nothing is ever taken away."""

    def __init__(self, Problem problem):
        self.problem, self.layout = problem, problem.layout
        self.source, self.target = problem.source, problem.target

    cdef int materialise(self, const Candidate& new) except -1 nogil:
        """Turn a candidate into a hypothesis."""
        cdef Hypothesis h
        cdef uint64_t* row
        self.rows.resize(self.rows.size() + self.layout.width, 0)
        row = self.row_of(<int>self.all.size())
        h.source, h.target, h.step, h.edge = new.source, new.target, new.step, new.edge
        h.pairs, h.source_value, h.target_value = new.pairs, new.source_value, new.target_value
        h.hope = new.hope
        h.left_entry, h.right_entry, h.left_gives_way = new.left_entry, new.right_entry, new.left_gives_way
        h.left, h.right = -1, -1
        if is_seed(new.step):
            put_range(row, self.target.begin[h.target], self.target.end[h.target])
        else:
            self.rest_on(&h, row, new)
        self.all.push_back(h)
        return 0

    cdef void rest_on(self, Hypothesis* h, uint64_t* row, const Candidate& new) noexcept nogil:
        """Take over what the supports of a candidate cover and opened, and open what the step itself opens."""
        h.left = self.entries[new.left_entry].hypothesis
        put_all(row, self.row_of(h.left), self.layout.width)
        if new.right_entry >= 0:
            h.right = self.entries[new.right_entry].hypothesis
            put_all(row, self.row_of(h.right), self.layout.width)
        self.open_target(row, new)

    cdef void open_target(self, uint64_t* row, const Candidate& new) noexcept nogil:
        """Put the edges that a step opens on the target side into a row."""
        cdef Meeting meeting
        if new.lifted_way >= 0:
            self.open_way(row, self.problem.lifted, new.lifted_way)
        if new.far_way >= 0:
            self.open_way(row, self.problem.far, new.far_way)
        if new.meeting >= 0:
            meeting = self.problem.near.meetings[new.meeting]
            self.open_way(row, self.problem.near, meeting.one)
            self.open_way(row, self.problem.near, meeting.other)
            self.open_edge(row, meeting.edge)

    cdef void open_way(self, uint64_t* row, Ancestry ancestry, int way) noexcept nogil:
        while ancestry.ways[way].edge >= 0:
            self.open_edge(row, ancestry.ways[way].edge)
            way = ancestry.ways[way].previous
