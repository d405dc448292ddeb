"""The pools of the source nodes: the hypotheses below a node, seen from it; see `_pools.pyx`."""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libcpp.pair cimport pair as Pair
from libcpp.vector cimport vector

from forestalign.phrases.search._hypotheses cimport Hypotheses, PoolEntry
from forestalign.phrases.search._lca cimport Side
from forestalign.phrases.search._problem cimport Problem
from forestalign.phrases.search._ranking cimport Ranking

# best rank first, then the lower target and source, then fewer steps, then what was made first:
# (-rank, (target and source, steps and place)), packed
ctypedef Pair[int64_t, Pair[int64_t, int64_t]] PoolKey
ctypedef Pair[int64_t, int64_t] BeamKey


@cython.final
cdef class Pools:
    cdef Problem problem
    cdef Side source, target
    cdef Hypotheses hypotheses
    cdef Ranking ranking
    cdef vector[int] start, end  # by node: places in `hypotheses.entries`
    cdef vector[PoolEntry] found
    cdef vector[PoolKey] order, ranked
    cdef vector[BeamKey] opened  # (-prospect, place in `order`), best first
    cdef vector[char] is_kept

    cdef int fill(self, int node, int first, int last, int limit) except -1 nogil
    cdef int enter(self, int h) except -1 nogil
    cdef int step_up(self, int edge, int child, int limit) except -1 nogil
    cdef int keep_best(self, int node) except -1 nogil
    cdef int find_opened(self) except -1 nogil
    cdef int share_places(self, size_t room) except -1 nogil
    cdef int take_turns(self) except -1 nogil
    cdef inline PoolEntry* entry_of(self, const PoolKey& key) noexcept nogil:
        return &self.found[<size_t>(<uint64_t>key.second.second & <uint64_t>0xFFFFFFFF)]

    cdef int keep(self, size_t place) except -1 nogil
