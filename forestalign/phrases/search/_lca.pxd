"""Ways up a forest, and the lowest common ancestors they meet at; see `_lca.pyx`."""

cimport cython
from libc.stdint cimport int64_t
from libcpp.pair cimport pair as Pair
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector


cdef struct Side:
    # one forest and its values; edge e builds node head[e] from left[e] and right[e] (-1: none)
    int node_count
    int edge_count
    const int* edge_start
    const int* head
    const int* left
    const int* right
    const int* begin
    const int* end
    const unsigned char* is_root
    const int* parent_start
    const int* parent_edge
    const double* edge_value
    const double* null_value
    const double* inside_value


cdef inline int sibling_of(const Side& side, int edge, int child) noexcept nogil:
    """The other child of an edge; -1: the edge is unary."""
    return side.right[edge] if side.left[edge] == child else side.left[edge]


@cython.final
cdef class ForestSide:
    cdef object arrays  # hold what `shape` points into
    cdef Side shape  # without values
    cdef vector[int] parent_start
    cdef vector[int] parent_edge

    cdef int find_parents(self) except -1
    cdef void note_parent(self, int child, int edge, vector[int]& filled) noexcept
    cdef Side side(self, const double* edge, const double* null, const double* inside) noexcept


cdef struct Way:
    int top
    int steps
    int edge      # the last edge climbed, -1: none
    int previous  # the way below it
    double value  # of edges and null phrases


cdef struct Meeting:
    int node
    int edge      # whose two children the ways lead to
    int one       # ways
    int other
    double value


cdef struct Waiting:
    # a way that was found, in the list of its top
    Way way
    int next


@cython.final
cdef class Ancestry:
    cdef Side side
    cdef int limit, paths
    cdef vector[Way] ways
    cdef vector[int] first, last  # the ways of each node, by top, best first; -1: not known
    cdef vector[double] reach  # the most that a way up can bring beyond leaving both its ends null
    cdef vector[Meeting] meetings
    cdef unordered_map[int64_t, Pair[int, int]] known
    cdef vector[Waiting] waiting
    cdef vector[int] waiting_first, waiting_last
    cdef vector[Way] sorted_ways
    cdef vector[Meeting] found

    cdef int prepare(self, const Side& side, int limit, int paths) except -1 nogil

    cdef inline int paths_from(self, int node) except -1 nogil:
        """Have the ways from a node ready: rows first[node] to last[node]."""
        if self.first[node] < 0:
            self.climb(node)
        return 0

    cdef int climb(self, int node) except -1 nogil
    cdef int wait(self, const Way& way) except -1 nogil
    cdef int keep_best(self, int top) except -1 nogil
    cdef int climb_on(self, int top, int begin) except -1 nogil
    cdef Pair[int, int] ways_to(self, int node, int top) noexcept nogil
    cdef int meet(self, int one, int other, Pair[int, int]* rows) except -1 nogil
    cdef int meet_anew(self, int one, int other) except -1 nogil
    cdef int meet_by(self, int edge, int begin, int end, int other) except -1 nogil
    cdef int keep_meetings(self) except -1 nogil
