# The compiled twin of search.py: the same search over structs and bit sets, with the same options and order of ties.
#
# What cannot enter the beam is left out before it is built: it is known how much a way up can bring at most.

@cython.final
cdef class Search(Beams):
    """One search, with its roots."""

    cdef vector[int] seed_start, seed_order
    cdef vector[uint64_t] row
    cdef vector[double] top_value  # by step: the most that a pair of the present source node is worth
    cdef double most_delta  # the most that one edge of the target can bring
    cdef bint at_roots  # only root pairs are wanted
    cdef bint completed
    cdef vector[int] roots

    def __init__(self, ForestSide source, ForestSide target, weights, seeds, bounds):
        self.source_arrays, self.target_arrays = source, target
        self.weights = weights
        self.source = source.side(weights.source_edge, weights.source_null, weights.source_inside)
        self.target = target.side(weights.target_edge, weights.target_null, weights.target_inside)
        self.pair, self.source_step, self.target_step = weights.pair, weights.source_step, weights.target_step
        self.seed_source, self.seed_target = seeds.source, seeds.target
        self.seed_kind, self.seed_value = seeds.kind, seeds.value
        self.set_limits(bounds, weights)
        self.words = blocks_for(self.target.end[self.target_root()])
        self.nodes = blocks_for(self.target.node_count)
        self.width = self.words + self.nodes + blocks_for(self.target.edge_count)
        self.near, self.lifted, self.far = Ancestry(), Ancestry(), Ancestry()
        with nogil:
            self.prepare()
            self.run()

    cdef int set_limits(self, bounds, weights) except -1:
        self.limits.beam, self.limits.gap, self.limits.paths = bounds.beam, min(bounds.gap, UNLIMITED), bounds.paths
        self.limits.variants, self.limits.cube = bounds.variants, bounds.cube
        self.limits.trace_states, self.limits.monotonic = bounds.trace_states, bounds.monotonic
        self.limits.lifts, self.limits.strict = bounds.lifts, bounds.strict
        self.limits.pair_null_word, self.limits.pair_constant = weights.pair_null_word, weights.pair_constant
        return 0

    cdef int target_root(self) noexcept nogil:
        """Some root; all span the whole sentence."""
        cdef int v = self.target.node_count - 1
        while v > 0 and not self.target.is_root[v]:
            v -= 1
        return v

    cdef int prepare(self) except -1 nogil:
        cdef int e, v, head
        self.near.prepare(self.target, self.limits.gap - 1, self.limits.paths)
        self.lifted.prepare(self.target, self.limits.gap, self.limits.paths)
        self.far.prepare(self.target, UNLIMITED, self.limits.paths)
        self.alike_first.assign(self.target.node_count, -1)
        self.row.resize(self.width)
        self.scratch.resize(2 * self.words)
        self.top_value.resize(STEP_COUNT)
        self.most_delta = 0.0
        for e in range(self.target.edge_count):
            if self.target.right[e] >= 0:
                head = self.target.head[e]
                self.most_delta = max(
                    self.most_delta,
                    self.target.edge_value[e] + self.target.null_value[self.target.left[e]]
                    + self.target.null_value[self.target.right[e]] - self.target.null_value[head],
                )
        self.order_seeds()
        return 0

    cdef int order_seeds(self) except -1 nogil:
        """Seeds by source node, in their order."""
        cdef int k, v, count = <int>self.seed_source.shape[0]
        cdef vector[int] filled
        self.seed_start.assign(self.source.node_count + 1, 0)
        for k in range(count):
            self.seed_start[self.seed_source[k] + 1] += 1
        for v in range(self.source.node_count):
            self.seed_start[v + 1] += self.seed_start[v]
        filled = self.seed_start
        self.seed_order.resize(count)
        for k in range(count):
            v = self.seed_source[k]
            self.seed_order[filled[v]] = k
            filled[v] += 1
        return 0

    cdef int run(self) except -1 nogil:
        """Beams bottom-up, then the roots: as they are, else without a gap, else completed."""
        cdef int node
        self.beam_start.assign(self.source.node_count + 1, 0)
        self.pool_start.assign(self.source.node_count, 0)
        self.pool_end.assign(self.source.node_count, 0)
        for node in range(self.source.node_count):
            self.open_beam()
            self.seed(node)
            self.grow(node)
            self.cut()
            self.beam_start[node + 1] = <int>self.hypotheses.size()
            self.pool(node, self.limits.gap - 1)
        self.find_roots(0)
        if self.roots.empty():
            self.roots_without_gap()
        if self.roots.empty():
            self.completions()
        return 0

    # ---- seeds ----

    cdef int seed(self, int node) except -1 nogil:
        cdef int k, s
        cdef BeamCandidate seed
        seed.source, seed.other, seed.detail, seed.edge = node, -1, -1, -1
        for k in range(self.seed_start[node], self.seed_start[node + 1]):
            s = self.seed_order[k]
            seed.one, seed.target, seed.step = s, self.seed_target[s], self.seed_kind[s]
            seed.pairs = self.pair_value(node, seed.target, seed.step, 0) + self.seed_value[s]
            seed.source_value = self.source.inside_value[node]
            seed.target_value = self.target.inside_value[seed.target]
            self.add(seed)
        return 0

    # ---- growing ----

    cdef int grow(self, int node) except -1 nogil:
        """Everything that the pools below a node support."""
        cdef int edge, a, b, width, left, right
        self.find_top_values(node)
        for edge in range(self.source.edge_start[node], self.source.edge_start[node + 1]):
            left, right = self.source.left[edge], self.source.right[edge]
            if right >= 0:
                for a in range(self.pool_start[left], self.pool_end[left]):
                    width = self.pool_end[right] - self.pool_start[right]
                    if self.limits.cube:
                        width = min(width, self.limits.cube // (a - self.pool_start[left] + 1))
                    self.states += width
                    for b in range(self.pool_start[right], self.pool_start[right] + width):
                        self.combine(node, edge, a, b)
            if self.limits.lifts and not self.source.is_root[node]:
                if left >= 0:
                    self.lift(node, edge, left)
                if right >= 0:
                    self.lift(node, edge, right)
        return 0

    cdef int find_top_values(self, int node) except -1 nogil:
        """The most that a pair of a source node can be worth, by step."""
        cdef int step, y
        cdef double best
        for step in range(STEP_COUNT):
            best = -MOST
            for y in range(self.target.node_count):
                best = max(best, self.pair[node, y] + self.target_step[step, y])
            self.top_value[step] = best + self.source_step[step, node] - self.limits.pair_constant
            if self.limits.pair_null_word < 0.0:
                self.top_value[step] = MOST  # a reward for null words is not bounded here
        return 0

    cdef inline int combine(self, int node, int edge, int a, int b) except -1 nogil:
        """ALIGN: two hypotheses under the two children of a source edge."""
        cdef PoolEntry* one = &self.entries[a]
        cdef PoolEntry* other = &self.entries[b]
        cdef int step
        cdef double most
        if self.limits.strict and not self.trees_meet(edge, a, b):
            return 0
        if one.end <= other.begin or other.end <= one.begin:
            step = STRAIGHT if one.begin < other.begin else INVERTED
            most = one.reach + other.reach + self.source.edge_value[edge] + self.most_delta + self.top_value[step]
            if most < self.least:
                self.beam_cuts += 1
                return 0
            return self.compose(node, edge, a, b, step)
        if self.limits.monotonic:
            return 0
        if one.end - one.begin >= other.end - other.begin:
            return self.nest(node, edge, a, b, a, b)
        return self.nest(node, edge, a, b, b, a)

    cdef int compose(self, int node, int edge, int a, int b, int step) except -1 nogil:
        cdef Hypothesis* m = &self.hypotheses[self.entries[a].hypothesis]
        cdef Hypothesis* n = &self.hypotheses[self.entries[b].hypothesis]
        cdef BeamCandidate new
        cdef Pair[int, int] rows
        cdef int k
        cdef Meeting* meeting
        self.near.meet(m.target, n.target, &rows)
        new.source, new.one, new.other, new.edge, new.step = node, a, b, edge, step
        new.source_value = self.entries[a].value + self.entries[b].value + self.source.edge_value[edge]
        for k in range(rows.first, rows.second):
            meeting = &self.near.meetings[k]
            if self.at_roots and not self.target.is_root[meeting.node]:
                continue
            if self.limits.strict and not self.meeting_trees(m, n, meeting):
                continue
            new.target, new.detail = meeting.node, k
            new.target_value = meeting.value + m.target_value + n.target_value
            new.pairs = self.pair_value(
                node, meeting.node, step,
                self.null_words(node, meeting.node, m.source_count + n.source_count, m.target_count + n.target_count),
            ) + m.pairs + n.pairs
            self.add(new)
        return 0

    cdef int nest(self, int node, int edge, int a, int b, int outside, int inside) except -1 nogil:
        """A non-compositional step: the target of entry `inside` is that of entry `outside` or lies in it."""
        cdef int outer = self.entries[outside].hypothesis, inner = self.entries[inside].hypothesis
        cdef int y = self.entries[outside].target, n = self.entries[inside].target, place, k
        cdef double kept = 0.0
        cdef Pair[int, int] ways
        if self.hypotheses[outer].step >= PHRASE_SEED or self.hypotheses[outer].left < 0:
            return 0
        if self.at_roots and not self.target.is_root[y]:
            return 0
        if not self.agree(outer, inner):
            return 0
        place = self.locate(outer, y, n)
        # the pair of `outer` itself always dissolves
        if place < 0 or not (self.survive(outer, inner, &kept) and self.survive(inner, outer, &kept)):
            return 0
        if place == n:
            return self.nest_by(node, edge, a, b, y, kept, -1)
        self.far.paths_from(n)
        ways = self.far.ways_to(n, place)
        if self.limits.trace_states and ways.second - ways.first > self.limits.trace_states:
            self.trace_bounds += 1
            ways.second = ways.first + self.limits.trace_states
        for k in range(ways.first, ways.second):
            self.nest_by(node, edge, a, b, y, kept, k)
        return 0

    cdef int nest_by(self, int node, int edge, int a, int b, int y, double kept, int way) except -1 nogil:
        """The step with one way up to the null phrase that is filled; -1: none is needed."""
        cdef Hypothesis* m = &self.hypotheses[self.entries[a].hypothesis]
        cdef Hypothesis* n = &self.hypotheses[self.entries[b].hypothesis]
        cdef BeamCandidate new
        cdef int k
        if self.limits.strict and not self.nested_trees(m, n, way):
            return 0
        for k in range(self.width):
            self.row[k] = self.bits_of(self.entries[a].hypothesis)[k] | self.bits_of(self.entries[b].hypothesis)[k]
        if way >= 0:
            self.open_way(self.row.data(), self.far, way)
        new.source, new.target, new.step, new.one, new.other, new.detail = node, y, NON_COMPOSITIONAL, a, b, way
        new.edge = edge
        new.source_value = self.entries[a].value + self.entries[b].value + self.source.edge_value[edge]
        new.target_value = self.opened(self.row.data())
        new.pairs = kept + self.pair_value(
            node, y, NON_COMPOSITIONAL,
            self.null_words(node, y, m.source_count + n.source_count, m.target_count + n.target_count),
        )
        return self.add(new)

    cdef int lift(self, int node, int edge, int child) except -1 nogil:
        """One support alone, everything off both paths null."""
        cdef int a, sibling = sibling_of(&self.source, edge, child)
        cdef double more = self.source.edge_value[edge]
        cdef PoolEntry* one
        if sibling >= 0:
            more += self.source.null_value[sibling]
        for a in range(self.pool_start[child], self.pool_end[child]):
            one = &self.entries[a]
            if one.steps + (sibling >= 0) > self.limits.gap:
                continue
            self.states += 1
            if self.limits.strict and not self.trees_meet(edge, a, a):
                continue
            self.lifted.paths_from(one.target)
            if one.gain + more + self.lifted.reach[one.target] + self.top_value[LIFT] < self.least:
                self.beam_cuts += 1
                continue
            self.lift_by(node, edge, a, sibling)
        return 0

    cdef int lift_by(self, int node, int edge, int a, int sibling) except -1 nogil:
        """The lifts of one entry through one edge."""
        cdef Hypothesis* h = &self.hypotheses[self.entries[a].hypothesis]
        cdef BeamCandidate new
        cdef Way* way
        cdef int k
        new.source, new.step, new.one, new.other, new.edge = node, LIFT, a, -1, edge
        new.source_value = self.entries[a].value + self.source.edge_value[edge]
        if sibling >= 0:
            new.source_value += self.source.null_value[sibling]
        for k in range(self.lifted.first[h.target], self.lifted.last[h.target]):
            way = &self.lifted.ways[k]
            if way.top == h.target or (self.limits.strict and not self.way_trees(h, self.lifted, k)):
                continue
            new.target, new.detail = way.top, k
            new.target_value = way.value + h.target_value
            new.pairs = self.pair_value(
                node, way.top, LIFT, self.null_words(node, way.top, h.source_count, h.target_count)
            ) + h.pairs
            self.add(new)
        return 0

    # ---- roots ----

    cdef int find_roots(self, int first) except -1 nogil:
        """The root pairs among the hypotheses from `first` on."""
        cdef int h
        self.roots.clear()
        for h in range(first, <int>self.hypotheses.size()):
            if self.source.is_root[self.hypotheses[h].source] and self.target.is_root[self.hypotheses[h].target]:
                self.roots.push_back(h)
        return 0

    cdef int roots_without_gap(self) except -1 nogil:
        """Try the roots again with µg unbounded; each has its own beam, as every source phrase has."""
        cdef int node, first = <int>self.hypotheses.size()
        self.limits.gap = UNLIMITED
        self.near.prepare(self.target, UNLIMITED, self.limits.paths)
        self.near.known.clear()
        for node in range(self.source.node_count):
            self.pool(node, UNLIMITED)
        self.at_roots = True
        for node in range(self.source.node_count):
            if self.source.is_root[node]:
                self.open_beam()
                self.grow(node)
                self.cut()
        return self.find_roots(first)

    cdef int completions(self) except -1 nogil:
        """Lift any hypothesis to a root pair, all nulls on the way charged."""
        cdef int node, a, first = <int>self.hypotheses.size()
        self.completed = True
        for node in range(self.source.node_count):
            if self.source.is_root[node]:
                self.open_beam()
                for a in range(self.pool_start[node], self.pool_end[node]):
                    self.complete(node, a)
                self.cut()
        return self.find_roots(first)

    cdef int complete(self, int root, int a) except -1 nogil:
        """A hypothesis that already has one of the two roots gives way to the root pair with its supports."""
        cdef Hypothesis* h = &self.hypotheses[self.entries[a].hypothesis]
        cdef BeamCandidate new
        cdef Way* way
        cdef int k
        cdef double kept = h.pairs
        new.source, new.step, new.one, new.edge = root, COMPLETION, a, -1
        new.other = h.source == root or self.target.is_root[h.target]
        new.source_value = self.entries[a].value
        if new.other:
            kept = self.support_value(self.entries[a].hypothesis)
        self.far.paths_from(h.target)
        for k in range(self.far.first[h.target], self.far.last[h.target]):
            way = &self.far.ways[k]
            if not self.target.is_root[way.top] or (self.limits.strict and not self.way_trees(h, self.far, k)):
                continue
            new.target, new.detail = way.top, k
            new.target_value = way.value + h.target_value
            new.pairs = kept + self.pair_value(
                root, way.top, COMPLETION, self.null_words(root, way.top, h.source_count, h.target_count)
            )
            self.add(new)
        return 0
