"""Exact k-best lists of every span, bottom-up (Huang and Chiang 2005, algorithm 2), and the subtrees that the k best
trees share: twin of `kbest.py`.

A span has three lists, best first: `split` (a pair of entries of a left and a right child), and for either role
`entries` (a split with a label; as a right child or the root not the empty label). Each list is merged from sorted
ones with a heap that holds the frontier only, and ends where no tree within the margin can come of it. Ties go to
the candidate that entered the heap first.
"""

from libc.stdint cimport int32_t
from libcpp.algorithm cimport pop_heap, push_heap, sort
from libcpp.vector cimport vector

from forestalign.chart.kbest cimport AS_LEFT, AS_RIGHT, ROUNDING

import numpy as np


cdef struct Candidate:
    double score
    int found   # how many entered the heap before
    int point   # last word of the left child
    int first   # rank in the list that is merged along its whole length
    int second  # rank in the other list


cdef struct Split:
    int point  # last word of the left child
    int left   # rank of the left child's entry
    int right  # rank of the right child's entry


cdef struct Entry:
    double score
    int label
    int split  # rank


cdef struct Scored:
    double score
    int label


cdef struct Part:
    int start
    int count


cdef struct Subtree:
    int i
    int j
    int label  # 0: a bare word
    int split  # rank
    int next   # another subtree over the same span, -1: none


cdef bint is_worse(const Candidate &one, const Candidate &other) noexcept nogil:
    return one.score < other.score or (one.score == other.score and one.found > other.found)


cdef bint is_better_label(const Scored &one, const Scored &other) noexcept nogil:
    return one.score > other.score or (one.score == other.score and one.label < other.label)


cdef cppclass Frontier:
    vector[Candidate] heap
    int found

    void clear() noexcept nogil:
        this.heap.clear()
        this.found = 0

    int push(double score, int point, int first, int second) except -1 nogil:
        this.heap.push_back(Candidate(score, this.found, point, first, second))
        push_heap(this.heap.begin(), this.heap.end(), &is_worse)
        this.found += 1
        return 0

    Candidate pop() noexcept nogil:
        cdef Candidate best
        pop_heap(this.heap.begin(), this.heap.end(), &is_worse)
        best = this.heap.back()
        this.heap.pop_back()
        return best


cdef class KBestLists:
    """The lists of all spans that are wanted, and the k best trees as shared subtrees."""

    cdef int n, k, label_count
    cdef const float[:, :, ::1] potentials
    cdef const double[:, :, ::1] slack
    cdef vector[Split] splits
    cdef vector[double] split_scores
    cdef vector[Part] split_parts
    cdef vector[Entry] entries
    cdef vector[Part] entry_parts  # of both roles; Cython frees no array of vectors
    cdef Frontier frontier
    cdef vector[Scored] labels
    cdef vector[Subtree] subtrees
    cdef vector[int] first_subtree
    cdef vector[int] child_start
    cdef vector[int] children

    def __init__(self, const float[:, :, ::1] potentials, const double[:, :, ::1] slack, int k):
        """potentials [n, n, labels]; slack [2, n, n]: how much worse an entry may be than the best of its list."""
        self.potentials, self.slack, self.k = potentials, slack, k
        self.n, self.label_count = potentials.shape[0], potentials.shape[2]
        self.split_parts.resize(self.n * self.n)
        self.entry_parts.resize(2 * self.n * self.n)
        with nogil:
            self.fill()

    cdef int fill(self) except -1 nogil:
        """All spans, shorter ones first."""
        cdef int width, i, j, role
        for width in range(1, self.n + 1):
            for i in range(self.n - width + 1):
                j = i + width - 1
                if self.slack[AS_LEFT, i, j] >= 0.0 or self.slack[AS_RIGHT, i, j] >= 0.0:
                    self.join_children(i, j)
                    self.choose_labels(i, j)
                    for role in range(2):
                        if self.slack[role, i, j] >= 0.0:
                            self.add_labels(i, j, role)
        return 0

    cdef inline double largest_slack(self, int i, int j) noexcept nogil:
        return max(self.slack[AS_LEFT, i, j], self.slack[AS_RIGHT, i, j]) + ROUNDING

    cdef inline Part *place_of(self, int role, int i, int j) noexcept nogil:
        return &self.entry_parts[(role * self.n + i) * self.n + j]

    cdef inline Part entries_of(self, int role, int i, int j) noexcept nogil:
        return self.place_of(role, i, j)[0]

    cdef inline double pair_score(self, int i, int j, int point, int left, int right) noexcept nogil:
        return (
            self.entries[self.entries_of(AS_LEFT, i, point).start + left].score
            + self.entries[self.entries_of(AS_RIGHT, point + 1, j).start + right].score
        )

    cdef int join_children(self, int i, int j) except -1 nogil:
        """Fill the `split` list of a span; that of a word is one empty split."""
        cdef int point
        cdef double slack = self.largest_slack(i, j)
        cdef Candidate best
        cdef Part *part = &self.split_parts[i * self.n + j]
        part.start, part.count = <int>self.splits.size(), 0
        if i == j:
            self.keep_split(part, 0.0, Split(i, 0, 0))
            return 0
        self.frontier.clear()
        for point in range(i, j):
            if self.entries_of(AS_LEFT, i, point).count and self.entries_of(AS_RIGHT, point + 1, j).count:
                self.frontier.push(self.pair_score(i, j, point, 0, 0), point, 0, 0)
        while self.frontier.heap.size() > 0 and part.count < self.k:
            best = self.frontier.pop()
            if part.count and best.score < self.split_scores[part.start] - slack:
                break
            self.keep_split(part, best.score, Split(best.point, best.first, best.second))
            point = best.point
            # each cell has one predecessor: the left rank grows along the first column only
            if best.second == 0 and best.first + 1 < self.entries_of(AS_LEFT, i, point).count:
                self.frontier.push(self.pair_score(i, j, point, best.first + 1, 0), point, best.first + 1, 0)
            if best.second + 1 < self.entries_of(AS_RIGHT, point + 1, j).count:
                self.frontier.push(
                    self.pair_score(i, j, point, best.first, best.second + 1), point, best.first, best.second + 1
                )
        return 0

    cdef int keep_split(self, Part *part, double score, Split split) except -1 nogil:
        self.splits.push_back(split)
        self.split_scores.push_back(score)
        part.count += 1
        return 0

    cdef int choose_labels(self, int i, int j) except -1 nogil:
        """The labels within the slack of the best one, best first; k and the empty one are enough."""
        cdef int label
        cdef double slack = self.largest_slack(i, j)
        cdef float best = self.potentials[i, j, 1]
        for label in range(2, self.label_count):
            best = max(best, self.potentials[i, j, label])
        self.labels.clear()
        for label in range(self.label_count):
            if self.potentials[i, j, label] >= best - slack:
                self.labels.push_back(Scored(self.potentials[i, j, label], label))
        sort(self.labels.begin(), self.labels.end(), &is_better_label)
        if <int>self.labels.size() > self.k + 1:
            self.labels.resize(self.k + 1)
        return 0

    cdef inline int label_from(self, int place, bint skip_empty) noexcept nogil:
        """The next place in the labels that counts."""
        cdef int count = <int>self.labels.size()
        return place + 1 if skip_empty and place < count and self.labels[place].label == 0 else place

    cdef int add_labels(self, int i, int j, int role) except -1 nogil:
        """Fill the list of a span in one role."""
        cdef bint skip_empty = (role == AS_RIGHT and j > i) or j - i == self.n - 1
        cdef Part splits = self.split_parts[i * self.n + j]
        cdef Part *part = self.place_of(role, i, j)
        cdef int after, first = self.label_from(0, skip_empty), count = <int>self.labels.size()
        cdef const double *scores = self.split_scores.data() + splits.start
        cdef Candidate best
        part.start, part.count = <int>self.entries.size(), 0
        if splits.count == 0 or first >= count:
            return 0
        self.frontier.clear()
        self.frontier.push(scores[0] + self.labels[first].score, 0, 0, first)
        while self.frontier.heap.size() > 0 and part.count < self.k:
            best = self.frontier.pop()
            if part.count and best.score < self.entries[part.start].score - self.slack[role, i, j] - ROUNDING:
                break
            self.entries.push_back(Entry(best.score, self.labels[best.second].label, best.first))
            part.count += 1
            if best.second == first and best.first + 1 < splits.count:
                self.frontier.push(scores[best.first + 1] + self.labels[first].score, 0, best.first + 1, first)
            after = self.label_from(best.second + 1, skip_empty)
            if after < count:
                self.frontier.push(scores[best.first] + self.labels[after].score, 0, best.first, after)
        return 0

    def scores(self):
        """Scores of the best trees, best first."""
        cdef Part part = self.entries_of(AS_RIGHT, 0, self.n - 1)
        return np.array([self.entries[part.start + rank].score for rank in range(part.count)])

    # ---- shared subtrees ----

    cdef int subtree(self, int i, int j, int label, int split) except -1 nogil:
        """The number of a subtree, new or known."""
        cdef int *first = &self.first_subtree[i * self.n + j]
        cdef int number = first[0]
        while number >= 0:
            if self.subtrees[number].label == label and self.subtrees[number].split == split:
                return number
            number = self.subtrees[number].next
        self.subtrees.push_back(Subtree(i, j, label, split, first[0]))
        first[0] = <int>self.subtrees.size() - 1
        return first[0]

    cdef int open(self, int number) except -1 nogil:
        """Append the children of a subtree, right to left; spans with the empty label are taken apart."""
        cdef Subtree tree = self.subtrees[number]
        cdef int last = tree.j, rank = tree.split
        cdef Split split
        cdef Entry entry
        if tree.i == tree.j:
            if tree.label:
                self.children.push_back(self.subtree(tree.i, tree.i, 0, 0))
            return 0
        while last > tree.i:
            split = self.splits[self.split_parts[tree.i * self.n + last].start + rank]
            entry = self.entries[self.entries_of(AS_RIGHT, split.point + 1, last).start + split.right]
            self.children.push_back(self.subtree(split.point + 1, last, entry.label, entry.split))
            entry = self.entries[self.entries_of(AS_LEFT, tree.i, split.point).start + split.left]
            rank, last = entry.split, split.point
            if entry.label or last == tree.i:
                self.children.push_back(self.subtree(tree.i, last, entry.label, entry.split))
                return 0
        return 0

    cdef int share(self, Part roots) except -1 nogil:
        """All subtrees of the best trees, each opened once; the roots come first, in the order of their trees."""
        cdef int number = 0, rank
        cdef Entry entry
        self.first_subtree.assign(self.n * self.n, -1)
        for rank in range(roots.count):
            entry = self.entries[roots.start + rank]
            self.subtree(0, self.n - 1, entry.label, entry.split)
        while number < <int>self.subtrees.size():
            self.child_start.push_back(<int>self.children.size())
            self.open(number)
            number += 1
        self.child_start.push_back(<int>self.children.size())
        return 0

    def shared(self):
        """Begin, end, label [subtrees], children right to left, and where those of each subtree start."""
        cdef int number, count
        with nogil:
            self.share(self.entries_of(AS_RIGHT, 0, self.n - 1))
        count = <int>self.subtrees.size()
        spans = np.empty((3, count), dtype=np.int32)
        cdef int32_t[:, ::1] view = spans
        for number in range(count):
            view[0, number], view[1, number] = self.subtrees[number].i, self.subtrees[number].j + 1
            view[2, number] = self.subtrees[number].label
        return spans[0], spans[1], spans[2], as_array(self.children), as_array(self.child_start)


cdef object as_array(const vector[int] &values):
    """A copy for Python."""
    cdef Py_ssize_t number
    found = np.empty(values.size(), dtype=np.int32)
    cdef int32_t[::1] view = found
    for number in range(found.shape[0]):
        view[number] = values[number]
    return found
