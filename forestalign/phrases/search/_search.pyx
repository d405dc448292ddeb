"""The compiled twin of `search.py`: the same search over structs and bit sets, with the same options and order of ties.

Its parts: `_problem` (what is given), `_hypotheses` (what was made), `_beam` and `_pools` (what is kept), `_ranking`
(in which order, and what is left out unbuilt), `_trace` (non-compositional steps), `_derivations` (what is handed on).
"""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libcpp.pair cimport pair as Pair
from libcpp.vector cimport vector

from forestalign.phrases.search._beam cimport Beam
from forestalign.phrases.search._derivations cimport Derivations
from forestalign.phrases.search._hypotheses cimport (
    Candidate,
    Hypotheses,
    Hypothesis,
    PoolEntry,
    is_opaque,
    new_candidate,
)
from forestalign.phrases.search._lca cimport Ancestry, ForestSide, Meeting, Side, Way, sibling_of
from forestalign.phrases.search._pools cimport Pools
from forestalign.phrases.search._problem cimport Limits, Problem, Seed
from forestalign.phrases.search._ranking cimport Ranking
from forestalign.phrases.search._trace cimport Trace
from forestalign.phrases.search.lca cimport UNLIMITED
from forestalign.phrases.scoring.score cimport COMPLETION, INVERTED, LIFT, NON_COMPOSITIONAL, STRAIGHT, Step


@cython.final
cdef class Search:
    """One search, with its roots."""

    cdef Problem problem
    cdef Side source, target
    cdef Limits limits
    cdef Ancestry near, lifted, far
    cdef Hypotheses hypotheses
    cdef Trace trace
    cdef Ranking ranking
    cdef Beam beam
    cdef Pools pools
    cdef vector[int] beam_start  # by source node: where its hypotheses begin
    cdef vector[int] roots
    cdef vector[uint64_t] row
    cdef bint at_roots  # only root pairs are wanted
    cdef bint completed
    cdef int64_t states, trace_bounds

    def __init__(self, Problem problem, bint prunes):
        self.problem, self.source, self.target, self.limits = problem, problem.source, problem.target, problem.limits
        self.near, self.lifted, self.far = problem.near, problem.lifted, problem.far
        self.hypotheses = Hypotheses(problem)
        self.trace = Trace(self.hypotheses)
        self.ranking = Ranking(problem, prunes)
        self.beam, self.pools = Beam(self.hypotheses, self.ranking), Pools(self.hypotheses, self.ranking)
        self.row.resize(problem.layout.width)
        with nogil:
            self.run()

    cdef int run(self) except -1 nogil:
        """Beams bottom-up, then the roots: as they are, else without a gap, else completed."""
        cdef int node
        self.beam_start.assign(self.source.node_count + 1, 0)
        for node in range(self.source.node_count):
            self.beam.open()
            self.seed(node)
            self.grow(node)
            self.beam.close()
            self.beam_start[node + 1] = <int>self.hypotheses.all.size()
            self.pools.fill(node, self.beam_start[node], self.beam_start[node + 1], self.limits.gap - 1)
        self.find_roots(0)
        if self.roots.empty():
            self.roots_without_gap()
        if self.roots.empty():
            self.completions()
        return 0

    cdef int seed(self, int node) except -1 nogil:
        cdef int k
        cdef Seed seed
        cdef Candidate new
        for k in range(self.problem.seed_start[node], self.problem.seed_start[node + 1]):
            seed = self.problem.seeds[k]
            new = new_candidate(node, seed.step)
            new.target = seed.target
            new.pairs = self.problem.pair_value(node, seed.target, seed.step) + seed.value
            new.source_value, new.target_value = self.source.inside_value[node], self.target.inside_value[seed.target]
            self.beam.add(new)
        return 0

    # ---- growing ----

    cdef int grow(self, int node) except -1 nogil:
        """Everything that the pools below a node support."""
        cdef int edge, left, right
        self.ranking.look_at(node)
        for edge in range(self.source.edge_start[node], self.source.edge_start[node + 1]):
            left, right = self.source.left[edge], self.source.right[edge]
            if right >= 0:
                self.combine_pools(node, edge, left, right)
            if self.limits.lifts and not self.source.is_root[node]:
                if left >= 0:
                    self.lift_pool(node, edge, left)
                if right >= 0:
                    self.lift_pool(node, edge, right)
        return 0

    cdef int combine_pools(self, int node, int edge, int left, int right) except -1 nogil:
        """The pools of the two children of a source edge, entry by entry."""
        cdef int a, b, width, first = self.pools.start[left], second = self.pools.start[right]
        for a in range(first, self.pools.end[left]):
            width = self.pools.end[right] - second
            if self.limits.cube:
                width = min(width, self.limits.cube // (a - first + 1))
            self.states += width
            for b in range(second, second + width):
                self.combine(node, edge, a, b)
        return 0

    cdef inline int combine(self, int node, int edge, int a, int b) except -1 nogil:
        """ALIGN: two hypotheses under the two children of a source edge."""
        cdef PoolEntry* one = &self.hypotheses.entries[a]
        cdef PoolEntry* other = &self.hypotheses.entries[b]
        cdef Step step
        if one.end <= other.begin or other.end <= one.begin:
            step = STRAIGHT if one.begin < other.begin else INVERTED
            if not self.beam.may_take(self.ranking.most_of_composition(one[0], other[0], edge), node, step):
                return 0
            return self.compose(node, edge, a, b, step)
        if self.limits.monotonic:
            return 0
        if one.end - one.begin >= other.end - other.begin:
            return self.nest(node, edge, a, b, one[0], other[0])
        return self.nest(node, edge, a, b, other[0], one[0])

    cdef inline Candidate supported(self, int node, int edge, int a, int b, Step step) noexcept nogil:
        """A candidate with two supports and the value of its source side."""
        cdef Candidate new = new_candidate(node, step)
        new.edge, new.left_entry, new.right_entry = edge, a, b
        new.source_value = (
            self.hypotheses.entries[a].value + self.hypotheses.entries[b].value + self.source.edge_value[edge]
        )
        return new

    cdef int compose(self, int node, int edge, int a, int b, Step step) except -1 nogil:
        cdef int one = self.hypotheses.entries[a].hypothesis, other = self.hypotheses.entries[b].hypothesis
        cdef Hypothesis* m = &self.hypotheses.all[one]
        cdef Hypothesis* n = &self.hypotheses.all[other]
        cdef int k
        cdef Candidate new = self.supported(node, edge, a, b, step)
        cdef Pair[int, int] rows
        cdef Meeting* meeting
        self.near.meet(m.target, n.target, &rows)
        for k in range(rows.first, rows.second):
            meeting = &self.near.meetings[k]
            if self.at_roots and not self.target.is_root[meeting.node]:
                continue
            new.target, new.meeting = meeting.node, k
            new.target_value = meeting.value + m.target_value + n.target_value
            new.own = self.problem.pair_value(node, meeting.node, step)
            new.pairs = new.own + m.pairs + n.pairs
            self.beam.add(new)
        return 0

    cdef int nest(
        self, int node, int edge, int a, int b, const PoolEntry& outside, const PoolEntry& inside
    ) except -1 nogil:
        """A non-compositional step: the target of entry `inside` is that of entry `outside` or lies in it."""
        cdef int outer = outside.hypothesis, inner = inside.hypothesis, place, k
        cdef double kept = 0.0
        cdef Candidate new
        cdef Pair[int, int] ways
        if is_opaque(self.hypotheses.all[outer].step) or self.hypotheses.all[outer].left < 0:
            return 0
        if self.at_roots and not self.target.is_root[outside.target]:
            return 0
        if not self.trace.agree(outer, inner):
            return 0
        place = self.trace.locate(outer, outside.target, inside.target)
        # the pair of `outer` itself always dissolves
        if place < 0 or not (self.trace.survive(outer, inner, &kept) and self.trace.survive(inner, outer, &kept)):
            return 0
        new = self.supported(node, edge, a, b, NON_COMPOSITIONAL)
        new.target = outside.target
        if place == inside.target:
            return self.nest_by(new, kept, -1)
        self.far.paths_from(inside.target)
        ways = self.far.ways_to(inside.target, place)
        if self.limits.trace_states and ways.second - ways.first > self.limits.trace_states:
            self.trace_bounds += 1
            ways.second = ways.first + self.limits.trace_states
        for k in range(ways.first, ways.second):
            self.nest_by(new, kept, k)
        return 0

    cdef int nest_by(self, Candidate& new, double kept, int way) except -1 nogil:
        """The step with one way up to the null phrase that is filled (-1: none is needed); `kept` is of its pairs."""
        cdef int one = self.hypotheses.entries[new.left_entry].hypothesis
        cdef int other = self.hypotheses.entries[new.right_entry].hypothesis
        cdef int k
        for k in range(self.problem.layout.width):
            self.row[k] = self.hypotheses.row_of(one)[k] | self.hypotheses.row_of(other)[k]
        if way >= 0:
            self.hypotheses.open_way(self.row.data(), self.far, way)
        new.far_way = way
        new.target_value = self.trace.opened(self.row.data())
        new.own = self.problem.pair_value(new.source, new.target, NON_COMPOSITIONAL)
        new.pairs = kept + new.own
        return self.beam.add(new)

    cdef int lift_pool(self, int node, int edge, int child) except -1 nogil:
        """One support alone, everything off both paths null."""
        cdef int a, sibling = sibling_of(self.source, edge, child)
        cdef double more = self.source.edge_value[edge]
        cdef PoolEntry* one
        if sibling >= 0:
            more += self.source.null_value[sibling]
        for a in range(self.pools.start[child], self.pools.end[child]):
            one = &self.hypotheses.entries[a]
            if one.steps + (sibling >= 0) > self.limits.gap:
                continue
            self.states += 1
            self.lifted.paths_from(one.target)
            if self.ranking.most_of_lift(one[0], more) < self.beam.by_gain.least:
                self.beam.by_gain.cuts += 1
                continue
            self.lift(node, edge, a, sibling)
        return 0

    cdef int lift(self, int node, int edge, int a, int sibling) except -1 nogil:
        """The lifts of one entry through one edge."""
        cdef Candidate new = new_candidate(node, LIFT)
        cdef Hypothesis* h = &self.hypotheses.all[self.hypotheses.entries[a].hypothesis]
        cdef int k
        new.edge, new.left_entry = edge, a
        new.source_value = self.hypotheses.entries[a].value + self.source.edge_value[edge]
        if sibling >= 0:
            new.source_value += self.source.null_value[sibling]
        for k in range(self.lifted.first[h.target], self.lifted.last[h.target]):
            if self.lifted.ways[k].top != h.target:
                new.lifted_way = k
                self.climb(new, h[0], self.lifted.ways[k], h.pairs)
        return 0

    cdef inline int climb(self, Candidate& new, const Hypothesis& h, const Way& way, double pairs) except -1 nogil:
        """A candidate with one support, whose pairs are worth so much, by a way up from the target of that."""
        new.target = way.top
        new.target_value = way.value + h.target_value
        new.pairs = pairs + self.problem.pair_value(new.source, way.top, new.step)
        return self.beam.add(new)

    # ---- roots ----

    cdef int find_roots(self, int first) except -1 nogil:
        """The root pairs among the hypotheses from `first` on."""
        cdef int h
        cdef Hypothesis* own
        self.roots.clear()
        for h in range(first, <int>self.hypotheses.all.size()):
            own = &self.hypotheses.all[h]
            if self.source.is_root[own.source] and self.target.is_root[own.target]:
                self.roots.push_back(h)
        return 0

    cdef int roots_without_gap(self) except -1 nogil:
        """Try the roots again with µg unbounded; each has its own beam, as every source phrase has."""
        cdef int node, first = <int>self.hypotheses.all.size()
        self.near.prepare(self.target, UNLIMITED, self.limits.paths)
        for node in range(self.source.node_count):
            self.pools.fill(node, self.beam_start[node], self.beam_start[node + 1], UNLIMITED)
        self.at_roots = True
        for node in range(self.source.node_count):
            if self.source.is_root[node]:
                self.beam.open()
                self.grow(node)
                self.beam.close()
        return self.find_roots(first)

    cdef int completions(self) except -1 nogil:
        """Lift any hypothesis to a root pair, all nulls on the way charged."""
        cdef int node, a, first = <int>self.hypotheses.all.size()
        self.completed = True
        for node in range(self.source.node_count):
            if self.source.is_root[node]:
                self.beam.open()
                for a in range(self.pools.start[node], self.pools.end[node]):
                    self.complete(node, a)
                self.beam.close()
        return self.find_roots(first)

    cdef int complete(self, int root, int a) except -1 nogil:
        """A hypothesis that already has one of the two roots gives way to the root pair with its supports."""
        cdef Hypothesis* h = &self.hypotheses.all[self.hypotheses.entries[a].hypothesis]
        cdef Candidate new = new_candidate(root, COMPLETION)
        cdef double pairs = h.pairs
        cdef int k
        new.left_entry, new.source_value = a, self.hypotheses.entries[a].value
        new.left_gives_way = h.source == root or self.target.is_root[h.target]
        if new.left_gives_way:
            pairs = self.trace.support_value(self.hypotheses.entries[a].hypothesis)
        self.far.paths_from(h.target)
        for k in range(self.far.first[h.target], self.far.last[h.target]):
            if self.target.is_root[self.far.ways[k].top]:
                new.far_way = k
                self.climb(new, h[0], self.far.ways[k], pairs)
        return 0


def search(ForestSide source, ForestSide target, seeds, weights, bounds, rest=None, bint prunes=True):
    """One search: its best derivations as tuples, whether they were completed, states, beam cuts, trace bounds.

    `rest` are the values of open links (`search.py`); without them beams go by gain alone. Without `prunes`
    nothing is left out unbuilt (see `_ranking`); the same is found, more slowly.
    """
    cdef Search found = Search(Problem(source, target, seeds, weights, bounds, rest), prunes)
    cdef Derivations derivations = Derivations(found.hypotheses, found.trace)
    with nogil:
        derivations.read(found.roots)
    return (
        derivations.best(bounds.kbest), bool(found.completed), found.states, found.beam.by_gain.cuts, found.trace_bounds
    )
