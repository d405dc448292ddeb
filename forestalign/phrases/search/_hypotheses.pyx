"""The compiled twin of `hypotheses.py`: hypotheses and the entries of pools, in the order in which they were made.

A hypothesis has a row of bits for its target side (`TargetRow` in `bit_rows.pxd`) and, where trees are asked about
(`strict`), one for the n-best trees that hold all that it opened on either side.
"""

cimport cython
from libc.stdint cimport uint64_t

from forestalign.bit_rows cimport keep_common, put_all, put_range, share, size_of
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
            h.source_count = self.source.end[h.source] - self.source.begin[h.source]
        else:
            self.rest_on(&h, row, new)
        h.target_count = size_of(row, self.layout.words)
        self.all.push_back(h)
        if self.problem.limits.strict:
            self.add_trees(new, h)
        return 0

    cdef void rest_on(self, Hypothesis* h, uint64_t* row, const Candidate& new) noexcept nogil:
        """Take over what the supports of a candidate cover and opened, and open what the step itself opens."""
        h.left = self.entries[new.left_entry].hypothesis
        h.source_count = self.all[h.left].source_count
        put_all(row, self.row_of(h.left), self.layout.width)
        if new.right_entry >= 0:
            h.right = self.entries[new.right_entry].hypothesis
            h.source_count += self.all[h.right].source_count
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

    # ---- n-best trees (strict) ----

    cdef bint trees_meet(self, int edge, int one, int other) noexcept nogil:
        """Is there a tree with a source edge and the source sides of two entries?"""
        cdef const uint64_t* first = self.entry_trees_of(one)
        cdef const uint64_t* second = self.entry_trees_of(other)
        cdef const uint64_t* third = self.source_edge_trees(edge)
        cdef int k
        for k in range(self.source.tree_blocks):
            if first[k] & second[k] & third[k]:
                return True
        return False

    cdef bint meeting_has_tree(self, int one, int other, const Meeting& meeting) noexcept nogil:
        """Is there a tree with a meeting and the target sides of two hypotheses?"""
        cdef int k, blocks = self.target.tree_blocks
        cdef const uint64_t* first = self.target_trees_of(one)
        cdef const uint64_t* second = self.target_trees_of(other)
        cdef const uint64_t* first_way = self.problem.near.trees_of(meeting.one)
        cdef const uint64_t* second_way = self.problem.near.trees_of(meeting.other)
        cdef const uint64_t* edge = self.target.edge_trees + <size_t>meeting.edge * blocks
        for k in range(blocks):
            if first[k] & second[k] & first_way[k] & second_way[k] & edge[k]:
                return True
        return False

    cdef bint nesting_has_tree(self, int one, int other, int far_way) noexcept nogil:
        """Is there a tree with the target sides of two hypotheses and a way (-1: none)?"""
        cdef const uint64_t* first = self.target_trees_of(one)
        cdef const uint64_t* second = self.target_trees_of(other)
        cdef const uint64_t* third = self.problem.far.trees_of(far_way) if far_way >= 0 else first
        cdef int k
        for k in range(self.target.tree_blocks):
            if first[k] & second[k] & third[k]:
                return True
        return False

    cdef bint climb_has_tree(self, const Candidate& new) noexcept nogil:
        """Is there a tree with the target side of the only support of a candidate and its way?"""
        cdef const uint64_t* below = self.target_trees_of(self.entries[new.left_entry].hypothesis)
        if new.lifted_way >= 0:
            return share(below, self.problem.lifted.trees_of(new.lifted_way), self.target.tree_blocks)
        return share(below, self.problem.far.trees_of(new.far_way), self.target.tree_blocks)

    cdef int add_trees(self, const Candidate& new, const Hypothesis& h) except -1 nogil:
        """The trees of the newest hypothesis: at first all, then those that hold whatever it rests on."""
        cdef size_t source = self.source_trees.size(), target = self.target_trees.size()
        self.source_trees.resize(source + self.source.tree_blocks, ~<uint64_t>0)
        self.target_trees.resize(target + self.target.tree_blocks, ~<uint64_t>0)
        if not is_seed(new.step):
            self.keep_source_trees(self.source_trees.data() + source, new)
            self.keep_target_trees(self.target_trees.data() + target, new, h)
        return 0

    cdef void keep_source_trees(self, uint64_t* row, const Candidate& new) noexcept nogil:
        cdef int blocks = self.source.tree_blocks
        keep_common(row, self.entry_trees_of(new.left_entry), blocks)
        if new.right_entry >= 0:
            keep_common(row, self.entry_trees_of(new.right_entry), blocks)
        if new.edge >= 0:
            keep_common(row, self.source_edge_trees(new.edge), blocks)

    cdef void keep_target_trees(self, uint64_t* row, const Candidate& new, const Hypothesis& h) noexcept nogil:
        cdef int blocks = self.target.tree_blocks
        cdef Meeting meeting
        keep_common(row, self.target_trees_of(h.left), blocks)
        if h.right >= 0:
            keep_common(row, self.target_trees_of(h.right), blocks)
        if new.lifted_way >= 0:
            keep_common(row, self.problem.lifted.trees_of(new.lifted_way), blocks)
        if new.far_way >= 0:
            keep_common(row, self.problem.far.trees_of(new.far_way), blocks)
        if new.meeting >= 0:
            meeting = self.problem.near.meetings[new.meeting]
            keep_common(row, self.problem.near.trees_of(meeting.one), blocks)
            keep_common(row, self.problem.near.trees_of(meeting.other), blocks)
            keep_common(row, self.target.edge_trees + <size_t>meeting.edge * blocks, blocks)
