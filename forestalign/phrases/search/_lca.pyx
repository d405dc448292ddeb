"""The compiled twin of `lca.py`: ways up a forest, and the lowest common ancestors they meet at."""

cimport cython
from cython.operator cimport dereference
from libc.stdint cimport int64_t
from libcpp.algorithm cimport stable_sort
from libcpp.pair cimport pair as Pair
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector


@cython.final
cdef class ForestSide:
    """The shape of one forest as arrays, made once and used in both directions."""

    def __init__(
        self, const int[::1] edge_start, const int[::1] head, const int[::1] left, const int[::1] right,
        const int[::1] begin, const int[::1] end, const unsigned char[::1] is_root,
    ):
        self.arrays = (edge_start, head, left, right, begin, end, is_root)
        self.shape.node_count, self.shape.edge_count = <int>begin.shape[0], <int>head.shape[0]
        self.shape.edge_start, self.shape.head = &edge_start[0], &head[0]
        self.shape.left, self.shape.right = &left[0], &right[0]
        self.shape.begin, self.shape.end, self.shape.is_root = &begin[0], &end[0], &is_root[0]
        self.find_parents()
        self.shape.parent_start, self.shape.parent_edge = self.parent_start.data(), self.parent_edge.data()

    cdef int find_parents(self) except -1:
        """The edges above each node, in their order."""
        cdef int e, v
        cdef vector[int] filled
        self.parent_start.assign(self.shape.node_count + 1, 0)
        for e in range(self.shape.edge_count):
            if self.shape.left[e] >= 0:
                self.parent_start[self.shape.left[e] + 1] += 1
            if self.shape.right[e] >= 0:
                self.parent_start[self.shape.right[e] + 1] += 1
        for v in range(self.shape.node_count):
            self.parent_start[v + 1] += self.parent_start[v]
        filled = self.parent_start
        self.parent_edge.resize(self.parent_start[self.shape.node_count])
        for e in range(self.shape.edge_count):
            self.note_parent(self.shape.left[e], e, filled)
            self.note_parent(self.shape.right[e], e, filled)
        return 0

    cdef void note_parent(self, int child, int edge, vector[int]& filled) noexcept:
        if child >= 0:
            self.parent_edge[filled[child]] = edge
            filled[child] += 1

    cdef Side side(self, const double* edge, const double* null, const double* inside) noexcept:
        """The forest with its values, which must outlive it."""
        cdef Side side = self.shape
        side.edge_value, side.null_value, side.inside_value = edge, null, inside
        return side


cdef bint is_better_way(const Way& one, const Way& other) noexcept nogil:
    return one.value > other.value or (one.value == other.value and one.steps < other.steps)


cdef bint meets_before(const Meeting& one, const Meeting& other) noexcept nogil:
    return one.node < other.node or (one.node == other.node and one.value > other.value)


@cython.final
cdef class Ancestry:
    """Ways of at most `limit` steps up one forest, and where they meet; computed when asked for and kept."""

    cdef int prepare(self, const Side& side, int limit, int paths) except -1 nogil:
        """Forget all ways; what was found before keeps its place."""
        self.side, self.limit, self.paths = side, limit, paths
        self.known.clear()
        self.first.assign(side.node_count, -1)
        self.last.assign(side.node_count, -1)
        self.reach.assign(side.node_count, 0.0)
        self.waiting_first.assign(side.node_count, -1)
        self.waiting_last.assign(side.node_count, -1)
        return 0

    cdef int climb(self, int node) except -1 nogil:
        cdef int top = node, highest = node, row, begin
        cdef Way start
        self.first[node] = <int>self.ways.size()
        self.waiting.clear()
        start.top, start.steps, start.edge, start.previous, start.value = node, 0, -1, -1, 0.0
        self.wait(start)
        # ids grow upwards, so the lowest waiting node has all its ways
        while top <= highest:
            if self.waiting_first[top] >= 0:
                begin = <int>self.ways.size()
                self.keep_best(top)
                highest = max(highest, self.climb_on(top, begin))
            top += 1
        self.last[node] = <int>self.ways.size()
        for row in range(self.first[node], self.last[node]):
            self.reach[node] = max(
                self.reach[node],
                self.ways[row].value + self.side.null_value[node] - self.side.null_value[self.ways[row].top],
            )
        return 0

    cdef int wait(self, const Way& way) except -1 nogil:
        """Put a way into the list of its top."""
        cdef Waiting entry
        cdef int place = <int>self.waiting.size()
        entry.way, entry.next = way, -1
        self.waiting.push_back(entry)
        if self.waiting_first[way.top] < 0:
            self.waiting_first[way.top] = place
        else:
            self.waiting[self.waiting_last[way.top]].next = place
        self.waiting_last[way.top] = place
        return 0

    cdef int keep_best(self, int top) except -1 nogil:
        """Take over the best ways that wait at a top."""
        cdef size_t k, count
        cdef int place = self.waiting_first[top]
        self.waiting_first[top] = -1
        self.sorted_ways.clear()
        while place >= 0:
            self.sorted_ways.push_back(self.waiting[place].way)
            place = self.waiting[place].next
        count = self.sorted_ways.size()
        if count > 1:
            stable_sort(self.sorted_ways.begin(), self.sorted_ways.end(), &is_better_way)
        if self.paths and count > <size_t>self.paths:
            count = self.paths
        for k in range(count):
            self.ways.push_back(self.sorted_ways[k])
        return 0

    cdef int climb_on(self, int top, int begin) except -1 nogil:
        """Lengthen the ways from `begin` on by the edges above their top; the highest head."""
        cdef int p, edge, sibling, row, highest = top, end = <int>self.ways.size()
        cdef Way longer
        for p in range(self.side.parent_start[top], self.side.parent_start[top + 1]):
            edge = self.side.parent_edge[p]
            sibling = sibling_of(self.side, edge, top)
            for row in range(begin, end):
                longer.top, longer.edge, longer.previous = self.side.head[edge], edge, row
                longer.steps = self.ways[row].steps + (sibling >= 0)
                longer.value = self.ways[row].value + self.side.edge_value[edge]
                if sibling >= 0:
                    longer.value += self.side.null_value[sibling]
                if longer.steps <= self.limit:
                    self.wait(longer)
                    highest = max(highest, longer.top)
        return highest

    cdef Pair[int, int] ways_to(self, int node, int top) noexcept nogil:
        """First and last row of the ways from `node`, which are ready, to `top`."""
        cdef int low = self.first[node], high = self.last[node], middle
        cdef Pair[int, int] rows
        while low < high:
            middle = (low + high) >> 1
            if self.ways[middle].top < top:
                low = middle + 1
            else:
                high = middle
        rows.first = low
        while low < self.last[node] and self.ways[low].top == top:
            low += 1
        rows.second = low
        return rows

    cdef int meet(self, int one, int other, Pair[int, int]* rows) except -1 nogil:
        """First and last row of the LCAs of two nodes with disjoint spans; lowest first, best first."""
        cdef int64_t key = <int64_t>one * self.side.node_count + other
        cdef unordered_map[int64_t, Pair[int, int]].iterator place = self.known.find(key)
        if place != self.known.end():
            rows[0] = dereference(place).second
            return 0
        rows.first = <int>self.meetings.size()
        self.meet_anew(one, other)
        rows.second = <int>self.meetings.size()
        self.known[key] = rows[0]
        return 0

    cdef int meet_anew(self, int one, int other) except -1 nogil:
        cdef int row, last, p
        self.paths_from(one)
        self.paths_from(other)
        self.found.clear()
        row = self.first[one]
        while row < self.last[one]:
            last = row
            while last < self.last[one] and self.ways[last].top == self.ways[row].top:
                last += 1
            for p in range(
                self.side.parent_start[self.ways[row].top], self.side.parent_start[self.ways[row].top + 1]
            ):
                self.meet_by(self.side.parent_edge[p], row, last, other)
            row = last
        stable_sort(self.found.begin(), self.found.end(), &meets_before)
        return self.keep_meetings()

    cdef int meet_by(self, int edge, int begin, int end, int other) except -1 nogil:
        """The meetings of some ways to one child of an edge with those from `other` to its other child."""
        cdef int row, back, sibling = sibling_of(self.side, edge, self.ways[begin].top)
        cdef Pair[int, int] backs
        cdef Meeting meeting
        if sibling < 0 or self.side.begin[sibling] > self.side.begin[other]:
            return 0
        if self.side.end[sibling] < self.side.end[other]:
            return 0
        backs = self.ways_to(other, sibling)
        meeting.node, meeting.edge = self.side.head[edge], edge
        for row in range(begin, end):
            for back in range(backs.first, backs.second):
                meeting.one, meeting.other = row, back
                meeting.value = self.ways[row].value + self.ways[back].value + self.side.edge_value[edge]
                self.found.push_back(meeting)
        return 0

    cdef int keep_meetings(self) except -1 nogil:
        """The best of each node."""
        cdef size_t k
        cdef int same = 0
        for k in range(self.found.size()):
            same = same + 1 if k and self.found[k].node == self.found[k - 1].node else 1
            if not self.paths or same <= self.paths:
                self.meetings.push_back(self.found[k])
        return 0
