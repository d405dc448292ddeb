"""What is handed on of the root hypotheses: the best that differ in their pairs, with posteriors over all of them."""

cimport cython
from libc.math cimport exp
from libc.stdint cimport int64_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from forestalign.bit_rows cimport compare, has, holds_any, opened_edges, opened_nodes
from forestalign.phrases.search._hypotheses cimport Hypotheses, Hypothesis, PoolEntry, grains
from forestalign.phrases.search._lca cimport Side
from forestalign.phrases.search._trace cimport Trace
from forestalign.phrases.scoring.score cimport NON_COMPOSITIONAL


@cython.final
cdef class Derivations:
    """The root hypotheses of a search, best first, and how to read them."""

    def __init__(self, Hypotheses hypotheses, Trace trace):
        self.hypotheses, self.trace = hypotheses, trace
        self.source, self.target = hypotheses.source, hypotheses.target

    cdef int read(self, const vector[int]& roots) except -1 nogil:
        """Take in the roots."""
        self.rank(roots)
        return self.read_keys()

    cdef int rank(self, const vector[int]& roots) except -1 nogil:
        """The roots by score, target and words, then in the order in which they were made."""
        cdef int k, place
        for k in range(<int>roots.size()):
            self.ranked.push_back(roots[k])
            place = k
            while place and self.is_better(self.ranked[place], self.ranked[place - 1]):
                self.ranked[place], self.ranked[place - 1] = self.ranked[place - 1], self.ranked[place]
                place -= 1
        return 0

    cdef bint is_better(self, int one, int other) noexcept nogil:
        cdef int first = self.hypotheses.all[one].target, second = self.hypotheses.all[other].target
        cdef int64_t ahead = grains(self.hypotheses.score(one)) - grains(self.hypotheses.score(other))
        if ahead:
            return ahead > 0
        if first != second:
            return first < second
        return compare(
            self.hypotheses.row_of(one), self.hypotheses.row_of(other), self.hypotheses.layout.words
        ) < 0

    # ---- pairs ----

    cdef int read_keys(self) except -1 nogil:
        cdef size_t k, p
        cdef vector[int64_t] keys
        for k in range(self.ranked.size()):
            self.read_pairs(self.ranked[k])
            keys.clear()
            for p in range(self.pairs.size()):
                keys.push_back(self.key_of(self.pairs[p].source, self.pairs[p].target))
            sort(keys.begin(), keys.end())
            self.keys.push_back(keys)
        return 0

    cdef int64_t key_of(self, int source, int target) noexcept nogil:
        return <int64_t>source * self.target.node_count + target

    cdef int read_pairs(self, int h) except -1 nogil:
        """The pairs of a hypothesis with their supports."""
        cdef vector[int] tops
        self.pairs.clear()
        self.supports.clear()
        self.trace.masks.assign(self.hypotheses.layout.words, 0)
        return self.read_below(h, 0, tops)

    cdef int read_below(self, int h, size_t mask, vector[int]& tops) except -1 nogil:
        """Append the pairs of h that hold no word of a row of masks; `tops` gets the places of the topmost ones."""
        cdef const Hypothesis* own = &self.hypotheses.all[h]
        cdef bint is_alive = not holds_any(
            &self.trace.masks[mask], self.target.begin[own.target], self.target.end[own.target]
        )
        cdef vector[int] below
        cdef PairRecord pair
        if not is_alive:
            return self.read_supports(h, mask, tops)
        self.read_supports(h, mask, below)
        pair.source, pair.target, pair.step = own.source, own.target, own.step
        tops.push_back(<int>self.pairs.size())
        self.pairs.push_back(pair)
        self.supports.push_back(below)
        return 0

    cdef int read_supports(self, int h, size_t mask, vector[int]& tops) except -1 nogil:
        """Read the pairs below that of h, without it; their topmost ones are added to `tops`."""
        cdef const Hypothesis* own = &self.hypotheses.all[h]
        cdef size_t left = mask, right = mask, before = self.trace.masks.size()
        if own.left < 0:
            return 0
        if own.left_gives_way:
            return self.read_supports(own.left, mask, tops)
        if own.step == NON_COMPOSITIONAL:
            left, right = self.trace.forbid(mask, own.right), self.trace.forbid(mask, own.left)
        self.read_below(own.left, left, tops)
        if own.right >= 0:
            self.read_below(own.right, right, tops)
        self.trace.masks.resize(before)
        return 0

    cdef unordered_map[int64_t, double] posteriors(self) except *:
        """Share of the probability mass of all root hypotheses that holds each pair."""
        cdef unordered_map[int64_t, double] shares
        cdef double total = 0.0, mass
        cdef size_t k, p
        for k in range(self.ranked.size()):
            total += exp(self.hypotheses.score(self.ranked[k]) - self.hypotheses.score(self.ranked[0]))
        for k in range(self.ranked.size()):
            mass = exp(self.hypotheses.score(self.ranked[k]) - self.hypotheses.score(self.ranked[0])) / total
            for p in range(self.keys[k].size()):
                shares[self.keys[k][p]] += mass
        return shares

    cdef bint is_new(self, size_t k, list kept) except -1:
        """Does a ranked hypothesis differ in its pairs from those kept?"""
        cdef size_t before
        for before in kept:
            if self.keys[before] == self.keys[k]:
                return False
        return True

    cdef list best(self, int count):
        """The first `count` that differ in their pairs, each as a tuple of what makes a Derivation."""
        cdef unordered_map[int64_t, double] shares = self.posteriors()
        cdef size_t k
        cdef list kept = [], found = []
        for k in range(self.ranked.size()):
            if len(kept) == count:
                break
            if self.is_new(k, kept):
                kept.append(k)
                found.append(self.derivation(self.ranked[k], shares))
        return found

    cdef tuple derivation(self, int h, unordered_map[int64_t, double]& shares):
        """(score, pairs, source edges, target edges, source nulls, target nulls)."""
        cdef size_t p
        cdef list pairs = []
        self.read_pairs(h)
        for p in range(self.pairs.size()):
            pairs.append((
                self.pairs[p].source,
                self.pairs[p].target,
                self.pairs[p].step,
                tuple(self.supports[p]),
                min(1.0, shares[self.key_of(self.pairs[p].source, self.pairs[p].target)]),
            ))
        self.source_edges.clear()
        self.source_nulls.clear()
        self.read_source(h)
        source_edges, source_nulls = sorted(self.source_edges), sorted(self.source_nulls)
        target_edges, target_nulls = self.read_target(self.hypotheses.row_of(h))
        return (
            self.hypotheses.score(h), pairs, self.named(self.source, source_edges),
            self.named(self.target, target_edges), source_nulls, target_nulls,
        )

    cdef list named(self, const Side& side, list edges):
        """Edges as (node, way)."""
        cdef int edge
        return [(side.head[edge], edge - side.edge_start[side.head[edge]]) for edge in edges]

    # ---- the two sides ----

    cdef int read_source(self, int h) except -1:
        """Edges and null phrases of the source side."""
        cdef const Hypothesis* own = &self.hypotheses.all[h]
        cdef int left, right, edge = own.edge
        if own.left < 0:
            return 0
        left = self.enter(own.left_entry)
        right = self.enter(own.right_entry) if own.right >= 0 else left
        if edge >= 0:
            self.read_edge(edge, left, right)
        return 0

    cdef int enter(self, int a) except -1:
        """Follow an entry down to its hypothesis; the node whose pool has it."""
        cdef const PoolEntry* entry = &self.hypotheses.entries[a]
        cdef int node
        if entry.edge < 0:
            self.read_source(entry.hypothesis)
            return self.hypotheses.all[entry.hypothesis].source
        node = self.enter(entry.previous)
        self.read_edge(entry.edge, node, node)
        return self.source.head[entry.edge]

    cdef int read_edge(self, int edge, int one, int other) except -1:
        """An opened edge; its children beside the given ones are null."""
        cdef int left = self.source.left[edge], right = self.source.right[edge]
        self.source_edges.push_back(edge)
        if left != one and left != other:
            self.source_nulls.push_back(left)
        if right >= 0 and right != one and right != other:
            self.source_nulls.push_back(right)
        return 0

    cdef tuple read_target(self, const uint64_t* row):
        """Edges and null phrases of the target side of a row of bits."""
        cdef const uint64_t* nodes = opened_nodes(self.hypotheses.layout, row)
        cdef const uint64_t* opened = opened_edges(self.hypotheses.layout, row)
        cdef int edge
        cdef list edges = [], nulls = []
        for edge in range(self.target.edge_count):
            if has(opened, edge):
                edges.append(edge)
                for child in (self.target.left[edge], self.target.right[edge]):
                    if child >= 0 and not has(nodes, child) and not has(row, self.target.begin[child]):
                        nulls.append(child)
        return edges, sorted(nulls)
