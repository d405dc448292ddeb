# The compiled twin of hypotheses.py: what a hypothesis is, and where hypotheses and pools are kept.
#
# A hypothesis has a row of bits for its covered target words, its opened target nodes and its opened target edges.

cdef double GRAIN = 1e9
cdef double MOST = 9e9     # values beyond are as good as this
cdef double SLACK = 1e-6   # sums in another order differ by less

cdef enum StepCode:
    SEED, STRAIGHT, INVERTED, NON_COMPOSITIONAL, PHRASE_SEED, LIFT, COMPLETION, STEP_COUNT


cdef struct Limits:
    int beam, gap, paths, variants, cube, trace_states
    bint monotonic, lifts, strict
    double pair_null_word, pair_constant


cdef struct Hypothesis:
    int source, target         # nodes
    int step
    int source_count           # covered words
    int target_count
    int edge                   # of the source, whose children's pools support it; -1: none
    int left, right            # hypotheses, -1: none
    int left_entry, right_entry  # where the pools have them
    bint left_gives_way        # completion: the pair of `left` is no part of this
    double pairs               # value of all pairs below and of this one
    double source_value        # edges, null phrases and covered nodes
    double target_value


cdef struct PoolEntry:
    # a hypothesis seen from a source node above it (Placed)
    int hypothesis
    int target
    int begin, end             # target span
    int steps
    int edge                   # the last edge of the way up, -1: none
    int previous               # the entry below it
    double value               # of the source side
    double gain
    double reach               # the most that its target can gain on the way to a meeting, gain included


cdef struct BeamCandidate:
    int source, target
    int step
    int one, other             # entries; for a seed `one` is its number
    int detail                 # the way or the meeting on the target side, -1: none
    int edge
    double pairs, source_value, target_value
    int64_t grains             # of the gain


cdef inline int64_t grains(double value) noexcept nogil:
    """A value as a whole number of grains, by which values are compared."""
    return llrint(max(-MOST, min(MOST, value)) * GRAIN)


cdef class Hypotheses:
    """Hypotheses and the entries of pools, in the order in which they were made."""

    cdef Side source, target
    cdef Limits limits
    cdef ForestSide source_arrays, target_arrays  # hold what `source` and `target` point into
    cdef object weights
    cdef const double[:, ::1] pair, source_step, target_step
    cdef Ancestry near, lifted, far
    cdef int words, nodes, width  # blocks of words, of nodes and of a whole row of bits
    cdef vector[Hypothesis] hypotheses
    cdef vector[uint64_t] bits
    cdef vector[uint64_t] source_trees, target_trees  # rows of the hypotheses (strict)
    cdef vector[PoolEntry] entries
    cdef vector[uint64_t] entry_trees

    @cython.final
    cdef inline uint64_t* bits_of(self, int h) noexcept nogil:
        return &self.bits[<size_t>h * self.width]

    @cython.final
    cdef int materialise(self, const BeamCandidate& new) except -1 nogil:
        """Turn a candidate into a hypothesis."""
        cdef Hypothesis h
        cdef int place = <int>self.hypotheses.size()
        self.bits.resize(self.bits.size() + self.width, 0)
        h.source, h.target, h.step, h.edge = new.source, new.target, new.step, new.edge
        h.pairs, h.source_value, h.target_value = new.pairs, new.source_value, new.target_value
        h.left, h.right, h.left_entry, h.right_entry, h.left_gives_way = -1, -1, -1, -1, False
        if new.step == SEED or new.step == PHRASE_SEED:
            put_range(self.bits_of(place), self.target.begin[h.target], self.target.end[h.target])
            h.source_count = self.source.end[h.source] - self.source.begin[h.source]
        else:
            h.left_entry, h.left = new.one, self.entries[new.one].hypothesis
            h.source_count = self.hypotheses[h.left].source_count
            put_all(self.bits_of(place), self.bits_of(h.left), self.width)
            if new.step == COMPLETION:
                h.left_gives_way = new.other
            elif new.other >= 0:
                h.right_entry, h.right = new.other, self.entries[new.other].hypothesis
                h.source_count += self.hypotheses[h.right].source_count
                put_all(self.bits_of(place), self.bits_of(h.right), self.width)
            self.open_detail(self.bits_of(place), new)
        h.target_count = self.count_words(place)
        self.hypotheses.push_back(h)
        if self.limits.strict:
            self.add_trees(new)
        return 0

    @cython.final
    cdef int count_words(self, int h) noexcept nogil:
        cdef int k, count = 0
        for k in range(self.words):
            count += popcount(self.bits_of(h)[k])
        return count

    @cython.final
    cdef void open_detail(self, uint64_t* row, const BeamCandidate& new) noexcept nogil:
        """Put the edges that a step opens on the target side into a row of bits."""
        if new.detail < 0:
            return
        if new.step == LIFT:
            self.open_way(row, self.lifted, new.detail)
        elif new.step == COMPLETION or new.step == NON_COMPOSITIONAL:
            self.open_way(row, self.far, new.detail)
        else:
            self.open_way(row, self.near, self.near.meetings[new.detail].one)
            self.open_way(row, self.near, self.near.meetings[new.detail].other)
            self.open_edge(row, self.near.meetings[new.detail].edge)

    @cython.final
    cdef inline void open_edge(self, uint64_t* row, int edge) noexcept nogil:
        put(row + self.words, self.target.head[edge])
        put(row + self.words + self.nodes, edge)

    @cython.final
    cdef void open_way(self, uint64_t* row, Ancestry ancestry, int way) noexcept nogil:
        while ancestry.ways[way].edge >= 0:
            self.open_edge(row, ancestry.ways[way].edge)
            way = ancestry.ways[way].previous

    @cython.final
    cdef inline int null_words(self, int source, int target, int source_count, int target_count) noexcept nogil:
        cdef int width = self.source.end[source] - self.source.begin[source]
        return width + self.target.end[target] - self.target.begin[target] - source_count - target_count

    @cython.final
    cdef inline double pair_value(self, int source, int target, int step, int null_words) noexcept nogil:
        """What a pair itself is worth, and whatever is charged to it."""
        cdef double value = self.pair[source, target] + self.source_step[step, source] + self.target_step[step, target]
        return value - self.limits.pair_constant - self.limits.pair_null_word * null_words

    # ---- n-best trees (strict) ----

    @cython.final
    cdef bint trees_meet(self, int edge, int a, int b) noexcept nogil:
        """Is there a tree with the edge and the source sides of two entries?"""
        cdef int k, blocks = self.source.tree_blocks
        for k in range(blocks):
            if (
                self.entry_trees[<size_t>a * blocks + k] & self.entry_trees[<size_t>b * blocks + k]
                & self.source.edge_trees[edge * blocks + k]
            ):
                return True
        return False

    @cython.final
    cdef bint meeting_trees(self, const Hypothesis* m, const Hypothesis* n, const Meeting* meeting) noexcept nogil:
        """Is there a tree with a meeting and the target sides of two hypotheses?"""
        cdef int k
        for k in range(self.target.tree_blocks):
            if self.target_tree(m, k) & self.target_tree(n, k) & self.meeting_tree(meeting, k):
                return True
        return False

    @cython.final
    cdef bint nested_trees(self, const Hypothesis* m, const Hypothesis* n, int way) noexcept nogil:
        """Is there a tree with the target sides of two hypotheses and, if there is one, a way?"""
        cdef int k
        cdef uint64_t shared
        for k in range(self.target.tree_blocks):
            shared = self.target_tree(m, k) & self.target_tree(n, k)
            if way >= 0:
                shared &= self.far.trees[<size_t>way * self.target.tree_blocks + k]
            if shared:
                return True
        return False

    @cython.final
    cdef bint way_trees(self, const Hypothesis* h, Ancestry ancestry, int way) noexcept nogil:
        """Is there a tree with a way and the target side of a hypothesis?"""
        cdef int k
        for k in range(self.target.tree_blocks):
            if self.target_tree(h, k) & ancestry.trees[<size_t>way * self.target.tree_blocks + k]:
                return True
        return False

    @cython.final
    cdef inline uint64_t target_tree(self, const Hypothesis* h, int block) noexcept nogil:
        return self.target_trees[<size_t>(h - self.hypotheses.data()) * self.target.tree_blocks + block]

    @cython.final
    cdef inline uint64_t meeting_tree(self, const Meeting* meeting, int block) noexcept nogil:
        cdef size_t blocks = self.target.tree_blocks
        return (
            self.near.trees[meeting.one * blocks + block] & self.near.trees[meeting.other * blocks + block]
            & self.target.edge_trees[meeting.edge * blocks + block]
        )

    @cython.final
    cdef int add_trees(self, const BeamCandidate& new) except -1 nogil:
        """The trees of the newest hypothesis."""
        cdef int k
        for k in range(self.source.tree_blocks):
            self.source_trees.push_back(self.new_source_tree(new, k))
        for k in range(self.target.tree_blocks):
            self.target_trees.push_back(self.new_target_tree(new, k))
        return 0

    @cython.final
    cdef uint64_t new_source_tree(self, const BeamCandidate& new, int block) noexcept nogil:
        cdef size_t blocks = self.source.tree_blocks
        cdef uint64_t trees = ~<uint64_t>0
        if new.step == SEED or new.step == PHRASE_SEED:
            return trees
        trees &= self.entry_trees[new.one * blocks + block]
        if new.step != COMPLETION and new.other >= 0:
            trees &= self.entry_trees[new.other * blocks + block]
        if new.edge >= 0:
            trees &= self.source.edge_trees[new.edge * blocks + block]
        return trees

    @cython.final
    cdef uint64_t new_target_tree(self, const BeamCandidate& new, int block) noexcept nogil:
        cdef size_t blocks = self.target.tree_blocks
        cdef uint64_t trees = ~<uint64_t>0
        if new.step == SEED or new.step == PHRASE_SEED:
            return trees
        trees &= self.target_trees[self.entries[new.one].hypothesis * blocks + block]
        if new.step != COMPLETION and new.other >= 0:
            trees &= self.target_trees[self.entries[new.other].hypothesis * blocks + block]
        if new.step == LIFT:
            trees &= self.lifted.trees[new.detail * blocks + block]
        elif new.step == STRAIGHT or new.step == INVERTED:
            trees &= self.meeting_tree(&self.near.meetings[new.detail], block)
        elif new.detail >= 0:
            trees &= self.far.trees[new.detail * blocks + block]
        return trees
