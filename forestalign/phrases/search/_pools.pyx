"""The pools of the source nodes, as `_pool` of `search.py` makes them.

A pool holds the hypotheses of the beam of its node and those of the pools of its children, one edge further up: the
sibling becomes null. As many as a beam holds are kept, shared by gain and prospect; closed and open ones take turns.
"""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libcpp.algorithm cimport nth_element, sort

from forestalign.phrases.search._hypotheses cimport Hypotheses, Hypothesis, PoolEntry, grains
from forestalign.phrases.search._lca cimport sibling_of
from forestalign.phrases.search._ranking cimport Ranking


@cython.final
cdef class Pools:
    """Where the pool of each source node begins and ends among the entries."""

    def __init__(self, Hypotheses hypotheses, Ranking ranking):
        self.hypotheses, self.ranking, self.problem = hypotheses, ranking, hypotheses.problem
        self.source, self.target = hypotheses.source, hypotheses.target
        self.start.assign(self.source.node_count, 0)
        self.end.assign(self.source.node_count, 0)

    cdef int fill(self, int node, int first, int last, int limit) except -1 nogil:
        """The pool of a node: hypotheses `first` to `last`, and those at most `limit` steps below."""
        cdef int h, edge
        self.found.clear()
        for h in range(first, last):
            self.enter(h)
        for edge in range(self.source.edge_start[node], self.source.edge_start[node + 1]):
            if self.source.left[edge] >= 0:
                self.step_up(edge, self.source.left[edge], limit)
            if self.source.right[edge] >= 0:
                self.step_up(edge, self.source.right[edge], limit)
        return self.keep_best(node)

    cdef int enter(self, int h) except -1 nogil:
        """A hypothesis in the pool of its own node."""
        cdef PoolEntry entry
        cdef Hypothesis own = self.hypotheses.all[h]
        entry.hypothesis, entry.target, entry.steps, entry.edge, entry.previous = h, own.target, 0, -1, -1
        entry.begin, entry.end = self.target.begin[own.target], self.target.end[own.target]
        entry.value = own.source_value
        entry.gain, entry.hope = self.ranking.gain_of(own), own.hope
        self.problem.near.paths_from(own.target)
        entry.reach = entry.gain + self.problem.near.reach[own.target]
        self.found.push_back(entry)
        return 0

    cdef int step_up(self, int edge, int child, int limit) except -1 nogil:
        """The pool of a child one edge further up; the sibling becomes null."""
        cdef int a, sibling = sibling_of(self.source, edge, child)
        cdef PoolEntry entry
        for a in range(self.start[child], self.end[child]):
            entry = self.hypotheses.entries[a]
            entry.steps += sibling >= 0
            if entry.steps > limit:
                continue
            entry.value += self.source.edge_value[edge]
            if sibling >= 0:
                entry.value += self.source.null_value[sibling]
            entry.edge, entry.previous = edge, a
            entry.gain += entry.value - self.hypotheses.entries[a].value
            entry.reach = entry.gain + self.problem.near.reach[entry.target]
            self.found.push_back(entry)
        return 0

    cdef int keep_best(self, int node) except -1 nogil:
        """The best entries by rank, target, source and steps."""
        cdef size_t k, count = self.found.size(), room = self.problem.limits.beam
        cdef PoolKey key
        cdef PoolEntry* entry
        self.order.clear()
        for k in range(count):
            entry = &self.found[k]
            key.first = -grains(self.ranking.of_entry(node, entry[0]))
            key.second.first = (<int64_t>entry.target << 32) | self.hypotheses.all[entry.hypothesis].source
            key.second.second = (<int64_t>entry.steps << 32) | <int64_t>k
            self.order.push_back(key)
        if self.problem.rest != NULL:
            sort(self.order.begin(), self.order.end())
            self.find_opened()
            self.share_places(room if room else count)
            self.take_turns()
        else:
            if room and count > room:
                nth_element(self.order.begin(), self.order.begin() + room, self.order.end())
                self.order.resize(room)
            sort(self.order.begin(), self.order.end())
        self.start[node] = <int>self.hypotheses.entries.size()
        for k in range(self.order.size()):
            self.keep(<size_t>(<uint64_t>self.order[k].second.second & <uint64_t>0xFFFFFFFF))
        self.end[node] = <int>self.hypotheses.entries.size()
        return 0

    cdef int find_opened(self) except -1 nogil:
        """The open entries, best prospect first."""
        cdef size_t k
        cdef BeamKey key
        self.opened.clear()
        for k in range(self.order.size()):
            if self.entry_of(self.order[k]).hope > 0.0:
                key.first = -grains(self.entry_of(self.order[k]).gain + self.entry_of(self.order[k]).hope)
                key.second = <int64_t>k
                self.opened.push_back(key)
        sort(self.opened.begin(), self.opened.end())
        return 0

    cdef int share_places(self, size_t room) except -1 nogil:
        """`shared_places`: which entries of `order` are kept."""
        cdef size_t k, count = self.order.size(), left = min(room, count)
        cdef size_t by_gain = min(count, room - <size_t>(room * self.problem.limits.prospect_share))
        self.is_kept.assign(count, 0)
        for k in range(by_gain):
            self.is_kept[k] = 1
        left -= min(left, by_gain)
        for k in range(self.opened.size()):
            if left and not self.is_kept[<size_t>self.opened[k].second]:
                self.is_kept[<size_t>self.opened[k].second] = 1
                left -= 1
        for k in range(by_gain, count):
            if left and not self.is_kept[k]:
                self.is_kept[k] = 1
                left -= 1
        return 0

    cdef int take_turns(self) except -1 nogil:
        """`interleaved`: a closed entry, an open one, and so on; of those that are kept."""
        cdef size_t k = 0, o = 0, count = self.order.size()
        self.ranked.clear()
        while k < count or o < self.opened.size():
            while k < count and not (self.is_kept[k] and self.entry_of(self.order[k]).hope <= 0.0):
                k += 1
            if k < count:
                self.ranked.push_back(self.order[k])
                k += 1
            while o < self.opened.size() and not self.is_kept[<size_t>self.opened[o].second]:
                o += 1
            if o < self.opened.size():
                self.ranked.push_back(self.order[<size_t>self.opened[o].second])
                o += 1
        self.order.swap(self.ranked)
        return 0

    cdef int keep(self, size_t place) except -1 nogil:
        self.hypotheses.entries.push_back(self.found[place])
        return 0
