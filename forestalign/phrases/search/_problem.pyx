"""What one search is about: two forests, what everything in them is worth, and how far it may look.

Made from `Weights`, `Seeds` and `Bounds`, whose arrays it keeps; everything else of the search asks it.
"""

cimport cython
from libcpp.vector cimport vector

from forestalign.bit_rows cimport put, target_row
from forestalign.phrases.search._lca cimport Ancestry, ForestSide
from forestalign.phrases.search.lca cimport UNLIMITED
from forestalign.phrases.scoring.score cimport Step


@cython.final
cdef class Problem:
    """Two forests with their values, the seeds, the bounds, and the ways up the target forest."""

    def __init__(self, ForestSide source, ForestSide target, seeds, weights, bounds, rest):
        self.set_tables(source, target, weights)
        self.set_limits(bounds)
        self.set_seeds(seeds)
        self.layout = target_row(
            self.target.end[self.target_root()], self.target.node_count, self.target.edge_count
        )
        self.set_rest(rest)
        self.near, self.lifted, self.far = Ancestry(), Ancestry(), Ancestry()
        self.near.prepare(self.target, self.limits.gap - 1, self.limits.paths)
        self.lifted.prepare(self.target, self.limits.gap, self.limits.paths)
        self.far.prepare(self.target, UNLIMITED, self.limits.paths)

    cdef int set_tables(self, ForestSide source, ForestSide target, weights) except -1:
        cdef const double[:, ::1] pair = weights.pair
        cdef const double[:, ::1] source_step = weights.source_step, target_step = weights.target_step
        cdef const double[::1] source_edge = weights.source_edge, target_edge = weights.target_edge
        cdef const double[::1] source_null = weights.source_null, target_null = weights.target_null
        cdef const double[::1] source_inside = weights.source_inside, target_inside = weights.target_inside
        self.source = source.side(&source_edge[0], &source_null[0], &source_inside[0])
        self.target = target.side(&target_edge[0], &target_null[0], &target_inside[0])
        self.pair, self.source_step, self.target_step = &pair[0, 0], &source_step[0, 0], &target_step[0, 0]
        self.kept = (source, target, weights)
        return 0

    cdef int set_limits(self, bounds) except -1:
        self.limits.beam, self.limits.gap, self.limits.paths = bounds.beam, min(bounds.gap, UNLIMITED), bounds.paths
        self.limits.variants, self.limits.cube = bounds.variants, bounds.cube
        self.limits.trace_states, self.limits.monotonic = bounds.trace_states, bounds.monotonic
        self.limits.lifts = bounds.lifts
        self.limits.prospect_share = bounds.prospect_share
        return 0

    cdef int set_seeds(self, seeds) except -1:
        cdef const int[::1] source = seeds.source, target = seeds.target, kind = seeds.kind
        cdef const double[::1] value = seeds.value
        cdef Py_ssize_t k, count = source.shape[0]
        cdef int v
        cdef vector[int] filled
        self.seed_start.assign(self.source.node_count + 1, 0)
        for k in range(count):
            self.seed_start[source[k] + 1] += 1
        for v in range(self.source.node_count):
            self.seed_start[v + 1] += self.seed_start[v]
        filled = self.seed_start
        self.seeds.resize(count)
        for k in range(count):
            self.seeds[filled[source[k]]] = Seed(target[k], <Step>kind[k], value[k])
            filled[source[k]] += 1
        return 0

    cdef int set_rest(self, rest) except -1:
        """Without `rest`, nothing has a prospect."""
        cdef const double[:, ::1] values
        cdef int v, j
        self.word_count = self.target.end[self.target_root()]
        self.rest = NULL
        if rest is None:
            return 0
        values = rest
        self.rest = &values[0, 0]
        self.most_rest.assign(self.source.node_count, 0.0)
        self.rest_words.assign(<size_t>self.source.node_count * self.layout.words, 0)
        for v in range(self.source.node_count):
            for j in range(self.word_count):
                if values[v, j] > 0.0:
                    self.most_rest[v] += values[v, j]
                    put(&self.rest_words[<size_t>v * self.layout.words], j)
        self.kept = (*self.kept, rest)
        return 0

    cdef int target_root(self) noexcept:
        """Some root; all span the whole sentence."""
        cdef int v = self.target.node_count - 1
        while v > 0 and not self.target.is_root[v]:
            v -= 1
        return v
