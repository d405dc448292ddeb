# The compiled twin of lca.py: ways up a forest, and the lowest common ancestors they meet at.

cdef int UNLIMITED = 1 << 30


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
    const uint64_t* edge_trees  # rows of tree_blocks; none unless trees are asked about
    int tree_blocks
    const double* edge_value
    const double* null_value
    const double* inside_value


@cython.final
cdef class ForestSide:
    """The shape of one forest as arrays, made once and used in both directions."""

    cdef const int[::1] edge_start, head, left, right, begin, end
    cdef const unsigned char[::1] is_root
    cdef const uint64_t[:, ::1] trees
    cdef vector[int] parent_start
    cdef vector[int] parent_edge

    def __init__(self, edge_start, head, left, right, begin, end, is_root, trees):
        self.edge_start, self.head, self.left, self.right = edge_start, head, left, right
        self.begin, self.end, self.is_root, self.trees = begin, end, is_root, trees
        self.find_parents()

    cdef int find_parents(self) except -1:
        """The edges above each node, in their order."""
        cdef int e, v, node_count = <int>self.begin.shape[0], edge_count = <int>self.head.shape[0]
        cdef vector[int] filled
        self.parent_start.assign(node_count + 1, 0)
        for e in range(edge_count):
            if self.left[e] >= 0:
                self.parent_start[self.left[e] + 1] += 1
            if self.right[e] >= 0:
                self.parent_start[self.right[e] + 1] += 1
        for v in range(node_count):
            self.parent_start[v + 1] += self.parent_start[v]
        filled = self.parent_start
        self.parent_edge.resize(self.parent_start[node_count])
        for e in range(edge_count):
            self.note_parent(self.left[e], e, filled)
            self.note_parent(self.right[e], e, filled)
        return 0

    cdef void note_parent(self, int child, int edge, vector[int]& filled) noexcept:
        if child >= 0:
            self.parent_edge[filled[child]] = edge
            filled[child] += 1

    cdef Side side(self, const double[::1] edge, const double[::1] null, const double[::1] inside):
        """The forest with its values."""
        cdef Side side
        side.node_count, side.edge_count = <int>self.begin.shape[0], <int>self.head.shape[0]
        side.edge_start, side.head = &self.edge_start[0], &self.head[0]
        side.left, side.right = &self.left[0], &self.right[0]
        side.begin, side.end, side.is_root = &self.begin[0], &self.end[0], &self.is_root[0]
        side.parent_start, side.parent_edge = self.parent_start.data(), self.parent_edge.data()
        side.tree_blocks = <int>self.trees.shape[1]
        side.edge_trees = &self.trees[0, 0] if side.tree_blocks else NULL
        side.edge_value, side.null_value, side.inside_value = &edge[0], &null[0], &inside[0]
        return side


cdef inline int sibling_of(const Side* side, int edge, int child) noexcept nogil:
    """The other child of an edge; -1: the edge is unary."""
    return side.right[edge] if side.left[edge] == child else side.left[edge]


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


cdef bint is_better_way(const Way& one, const Way& other) noexcept nogil:
    return one.value > other.value or (one.value == other.value and one.steps < other.steps)


cdef bint meets_before(const Meeting& one, const Meeting& other) noexcept nogil:
    return one.node < other.node or (one.node == other.node and one.value > other.value)


@cython.final
cdef class Ancestry:
    """Ways of at most `limit` steps up one forest, and where they meet; computed when asked for and kept."""

    cdef Side side
    cdef int limit, paths
    cdef vector[Way] ways
    cdef vector[uint64_t] trees  # rows of the ways, of tree_blocks each
    cdef vector[int] first, last  # the ways of each node, by top, best first; -1: not known
    cdef vector[double] reach  # the most that a way up can bring beyond leaving both its ends null
    cdef vector[Meeting] meetings
    cdef unordered_map[int64_t, Pair[int, int]] known
    cdef vector[Waiting] waiting
    cdef vector[int] waiting_first, waiting_last
    cdef vector[Way] sorted_ways
    cdef vector[Meeting] found

    cdef int prepare(self, Side side, int limit, int paths) except -1 nogil:
        self.side, self.limit, self.paths = side, limit, paths
        self.first.assign(side.node_count, -1)
        self.last.assign(side.node_count, -1)
        self.reach.assign(side.node_count, 0.0)
        self.waiting_first.assign(side.node_count, -1)
        self.waiting_last.assign(side.node_count, -1)
        return 0

    cdef int paths_from(self, int node) except -1 nogil:
        """Have the ways from a node ready: rows first[node] to last[node]."""
        if self.first[node] < 0:
            self.climb(node)
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
            self.add_way_trees(self.sorted_ways[k])
        return 0

    cdef int add_way_trees(self, const Way& way) except -1 nogil:
        cdef int k, blocks = self.side.tree_blocks
        for k in range(blocks):
            if way.edge < 0:
                self.trees.push_back(~<uint64_t>0)
            else:
                self.trees.push_back(
                    self.trees[<size_t>way.previous * blocks + k] & self.side.edge_trees[way.edge * blocks + k]
                )
        return 0

    cdef int climb_on(self, int top, int begin) except -1 nogil:
        """Lengthen the ways from `begin` on by the edges above their top; the highest head."""
        cdef int p, edge, sibling, row, highest = top, end = <int>self.ways.size()
        cdef Way longer
        for p in range(self.side.parent_start[top], self.side.parent_start[top + 1]):
            edge = self.side.parent_edge[p]
            sibling = sibling_of(&self.side, edge, top)
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
        cdef int row, back, sibling = sibling_of(&self.side, edge, self.ways[begin].top)
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
