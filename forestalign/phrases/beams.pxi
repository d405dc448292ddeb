# Beams and pools of the compiled search, as in search.py.

cdef class Beams(Trace):
    """The candidates of one source node on their way into its beam, and the pools made of beams."""

    cdef const int[::1] seed_source, seed_target, seed_kind
    cdef const double[::1] seed_value
    cdef vector[int] beam_start, pool_start, pool_end
    cdef vector[BeamCandidate] candidates, kept
    cdef vector[Pair[int64_t, int64_t]] order
    cdef vector[Pair[int64_t, Pair[int64_t, int64_t]]] pool_order
    cdef vector[PoolEntry] rough
    cdef vector[uint64_t] rough_trees
    cdef vector[int] alike_first, alike_next
    cdef vector[uint64_t] chosen_words, scratch
    cdef int64_t threshold  # grains below which nothing enters the beam
    cdef double least  # the same as a gain, with some slack
    cdef int64_t states, beam_cuts, trace_bounds

    @cython.final
    cdef void open_beam(self) noexcept nogil:
        self.candidates.clear()
        self.threshold = grains(-MOST) - 1
        self.least = -2 * MOST

    @cython.final
    cdef inline int add(self, BeamCandidate& new) except -1 nogil:
        """Take a candidate unless the beam is full of better ones."""
        cdef double gain = new.pairs + new.source_value + new.target_value - self.target.null_value[new.target]
        if gain < self.least:
            self.beam_cuts += 1
            return 0
        new.grains = grains(gain)
        if new.grains < self.threshold:
            self.beam_cuts += 1
            return 0
        self.candidates.push_back(new)
        if self.limits.beam and self.candidates.size() >= <size_t>(2 * self.limits.beam + 32):
            self.rank()
            if self.candidates.size() == <size_t>self.limits.beam:
                self.threshold = self.candidates.back().grains
                self.least = self.threshold / GRAIN - SLACK
        return 0

    @cython.final
    cdef int cut(self) except -1 nogil:
        """The beam: best by gain, not too many alike; they become hypotheses."""
        cdef size_t k
        self.rank()
        for k in range(self.candidates.size()):
            self.materialise(self.candidates[k])
        return 0

    @cython.final
    cdef int rank(self) except -1 nogil:
        """Sort the candidates by gain, target and words, and leave those that the beam holds."""
        cdef size_t k, count = self.candidates.size()
        cdef size_t room = self.limits.beam if self.limits.beam else count
        cdef size_t sorted_count = 0
        self.order.resize(count)
        for k in range(count):
            self.order[k].first = -self.candidates[k].grains
            self.order[k].second = (<int64_t>self.candidates[k].target << 32) | <int64_t>k
        self.kept.clear()
        self.chosen_words.clear()
        self.alike_next.clear()
        for k in range(count):
            if self.kept.size() >= room:
                break
            if k == sorted_count:
                sorted_count = self.sort_from(k, k + room + room // 2)
            self.choose(self.candidates[lower_half(self.order[k].second)])
        for k in range(self.kept.size()):
            self.alike_first[self.kept[k].target] = -1
        self.beam_cuts += <int64_t>(count - self.kept.size())
        self.candidates.swap(self.kept)
        return 0

    @cython.final
    cdef int choose(self, const BeamCandidate& candidate) except -1 nogil:
        """Keep a candidate unless there are enough like it."""
        cdef int k = self.alike_first[candidate.target], alike = 0
        if self.limits.variants:
            self.words_of(candidate, self.scratch.data())
            while k >= 0:
                alike += self.are_equal(&self.chosen_words[k * self.words], self.scratch.data())
                k = self.alike_next[k]
            if alike >= self.limits.variants:
                return 0
            self.chosen_words.insert(
                self.chosen_words.end(), self.scratch.begin(), self.scratch.begin() + self.words
            )
            self.alike_next.push_back(self.alike_first[candidate.target])
            self.alike_first[candidate.target] = <int>self.kept.size()
        self.kept.push_back(candidate)
        return 0

    @cython.final
    cdef bint are_equal(self, const uint64_t* one, const uint64_t* other) noexcept nogil:
        cdef int k
        for k in range(self.words):
            if one[k] != other[k]:
                return False
        return True

    @cython.final
    cdef size_t sort_from(self, size_t first, size_t end) except? 0 nogil:
        """Bring the candidates from `first` to about `end` into their order; where the ordered part ends.

        Most of the rest is never looked at. The part ends where no tie is cut in two.
        """
        cdef size_t count = self.order.size()
        if end < count:
            nth_element(self.order.begin() + first, self.order.begin() + end, self.order.end())
            sort(self.order.begin() + first, self.order.begin() + end)
            while end > first and self.is_tied(end - 1, end):
                end -= 1
        if end >= count or end == first:
            end = count
            sort(self.order.begin() + first, self.order.end())
        self.order_by_words(first, end)
        return end

    @cython.final
    cdef int order_by_words(self, size_t first, size_t end) except -1 nogil:
        """Candidates of the same gain and target by their words; such runs are short."""
        cdef size_t k, place
        cdef Pair[int64_t, int64_t] moved
        for k in range(first + 1, end):
            place = k
            while place > first and self.is_tied(place - 1, place) and self.has_more_words(place - 1, place):
                moved = self.order[place]
                self.order[place] = self.order[place - 1]
                self.order[place - 1] = moved
                place -= 1
        return 0

    @cython.final
    cdef inline bint is_tied(self, size_t one, size_t other) noexcept nogil:
        return (
            self.order[one].first == self.order[other].first
            and self.order[one].second >> 32 == self.order[other].second >> 32
        )

    @cython.final
    cdef bint has_more_words(self, size_t one, size_t other) noexcept nogil:
        """Compare the words of two candidates as numbers."""
        cdef uint64_t* first = self.scratch.data()
        cdef uint64_t* second = first + self.words
        cdef int k
        self.words_of(self.candidates[lower_half(self.order[one].second)], first)
        self.words_of(self.candidates[lower_half(self.order[other].second)], second)
        for k in range(self.words - 1, -1, -1):
            if first[k] != second[k]:
                return first[k] > second[k]
        return False

    @cython.final
    cdef void words_of(self, const BeamCandidate& candidate, uint64_t* words) noexcept nogil:
        """The target words that a candidate covers."""
        cdef int k
        for k in range(self.words):
            words[k] = 0
        if candidate.edge < 0 and candidate.step != COMPLETION:
            put_range(words, self.target.begin[candidate.target], self.target.end[candidate.target])
            return
        put_all(words, self.bits_of(self.entries[candidate.one].hypothesis), self.words)
        if candidate.other >= 0 and candidate.step != COMPLETION:
            put_all(words, self.bits_of(self.entries[candidate.other].hypothesis), self.words)

    @cython.final
    cdef int pool(self, int node, int limit) except -1 nogil:
        """The hypotheses at most `limit` steps below a node, seen from it."""
        cdef int h, edge
        self.rough.clear()
        self.rough_trees.clear()
        for h in range(self.beam_start[node], self.beam_start[node + 1]):
            self.enter(h)
        for edge in range(self.source.edge_start[node], self.source.edge_start[node + 1]):
            if self.source.left[edge] >= 0:
                self.step_up(edge, self.source.left[edge], limit)
            if self.source.right[edge] >= 0:
                self.step_up(edge, self.source.right[edge], limit)
        return self.keep_pool(node)

    @cython.final
    cdef int enter(self, int h) except -1 nogil:
        """A hypothesis in the pool of its own node."""
        cdef PoolEntry entry
        cdef Hypothesis* own = &self.hypotheses[h]
        cdef int k, blocks = self.source.tree_blocks
        entry.hypothesis, entry.target, entry.steps, entry.edge, entry.previous = h, own.target, 0, -1, -1
        entry.begin, entry.end = self.target.begin[own.target], self.target.end[own.target]
        entry.value = own.source_value
        entry.gain = own.pairs + own.source_value + own.target_value - self.target.null_value[own.target]
        self.near.paths_from(own.target)
        entry.reach = entry.gain + self.near.reach[own.target]
        self.rough.push_back(entry)
        for k in range(blocks):
            self.rough_trees.push_back(self.source_trees[h * blocks + k])
        return 0

    @cython.final
    cdef int step_up(self, int edge, int child, int limit) except -1 nogil:
        """The pool of a child one edge further up; the sibling becomes null."""
        cdef int a, steps, sibling = sibling_of(&self.source, edge, child)
        cdef double more = self.source.edge_value[edge]
        cdef PoolEntry entry
        for a in range(self.pool_start[child], self.pool_end[child]):
            entry = self.entries[a]
            entry.steps += sibling >= 0
            if entry.steps > limit or (self.limits.strict and not self.trees_meet(edge, a, a)):
                continue
            entry.value += more
            if sibling >= 0:
                entry.value += self.source.null_value[sibling]
            entry.edge, entry.previous = edge, a
            entry.gain += entry.value - self.entries[a].value
            entry.reach = entry.gain + self.near.reach[entry.target]
            self.rough.push_back(entry)
            self.add_rough_trees(edge, a)
        return 0

    @cython.final
    cdef int add_rough_trees(self, int edge, int a) except -1 nogil:
        cdef int k, blocks = self.source.tree_blocks
        for k in range(blocks):
            self.rough_trees.push_back(
                self.entry_trees[<size_t>a * blocks + k] & self.source.edge_trees[edge * blocks + k]
            )
        return 0

    @cython.final
    cdef int keep_pool(self, int node) except -1 nogil:
        """The best entries by gain, target, source and steps."""
        cdef size_t k, count = self.rough.size()
        cdef Pair[int64_t, Pair[int64_t, int64_t]] key
        cdef PoolEntry* entry
        self.pool_order.clear()
        for k in range(count):
            entry = &self.rough[k]
            key.first = -grains(entry.gain)
            key.second.first = (<int64_t>entry.target << 32) | self.hypotheses[entry.hypothesis].source
            key.second.second = (<int64_t>entry.steps << 32) | <int64_t>k
            self.pool_order.push_back(key)
        if self.limits.beam and count > <size_t>self.limits.beam:
            nth_element(
                self.pool_order.begin(), self.pool_order.begin() + self.limits.beam, self.pool_order.end()
            )
            self.pool_order.resize(self.limits.beam)
        sort(self.pool_order.begin(), self.pool_order.end())
        self.pool_start[node] = <int>self.entries.size()
        for k in range(self.pool_order.size()):
            self.add_entry(lower_half(self.pool_order[k].second.second))
        self.pool_end[node] = <int>self.entries.size()
        return 0

    @cython.final
    cdef int add_entry(self, size_t place) except -1 nogil:
        cdef int k, blocks = self.source.tree_blocks
        self.entries.push_back(self.rough[place])
        for k in range(blocks):
            self.entry_trees.push_back(self.rough_trees[place * blocks + k])
        return 0
