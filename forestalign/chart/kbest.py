# mypy: ignore-errors
# cython: infer_types=True
"""Exact k-best lists of every span, bottom-up (Huang and Chiang 2005, algorithm 2), and what the k best trees share.
Cython compiles this file; where it cannot, Python runs it as it is.

A span has three lists, best first: of splits (a pair of entries of a left and a right child), and for either role of
entries (a split with a label; as a right child or the root not the empty label). Each list is merged from sorted
ones with a heap that holds the frontier only, and ends where no tree within the margin can come of it. The grammar
gives an n-ary tree one derivation, so no list holds a tree twice. Ties go to the candidate that entered the heap
first: the earlier split point, then the better left child; the better split, then the better label; of equal labels
the earlier one.
"""

from __future__ import annotations

import numpy as np

try:
    import cython
except ImportError:
    from forestalign.compiled import plain_cython as cython
if cython.compiled:
    from cython.cimports.libcpp.vector import vector
else:
    from forestalign.compiled import plain_vector as vector

AS_LEFT = cython.declare(cython.int, 0)  # the lists of a span
AS_RIGHT = cython.declare(cython.int, 1)
SPLITS = cython.declare(cython.int, 2)
ROUNDING = cython.declare(cython.double, 1e-6)  # of sums taken in another order


@cython.final
@cython.cclass
class KBestLists:
    """The lists of all spans that are wanted, and the k best trees as shared subtrees.

    A row of a list is a score and up to three numbers: of a split the last word of the left child and the ranks of both
    children's entries, of an entry its label and the rank of its split. All lists stand behind each other.
    """

    n: cython.int
    k: cython.int
    potentials: cython.const[cython.float][:, :, ::1]
    slack: cython.const[cython.double][:, :, ::1]
    start: vector[cython.int]  # of each list
    count: vector[cython.int]
    score: vector[cython.double]
    first: vector[cython.int]
    second: vector[cython.int]
    third: vector[cython.int]
    candidate_score: vector[cython.double]  # in the order of arrival
    point: vector[cython.int]  # of a candidate: last word of the left child
    along: vector[cython.int]  # rank in the list that is merged along its whole length
    across: vector[cython.int]  # rank in the other list
    heap: vector[cython.int]  # of candidates
    label: vector[cython.int]  # of a span, best first
    label_score: vector[cython.double]
    subtree_begin: vector[cython.int]
    subtree_last: vector[cython.int]
    subtree_label: vector[cython.int]  # 0: a bare word
    subtree_split: vector[cython.int]
    kind: vector[cython.int]  # of a subtree: twice the words behind its first, and one more for a phrase
    next_subtree: vector[cython.int]  # another one over the same span, -1: none
    first_subtree: vector[cython.int]  # of each span
    child: vector[cython.int]
    child_start: vector[cython.int]

    def __init__(self, potentials, slack, k: cython.int):
        """potentials [n, n, labels]. slack [2, n, n], as a left child, and as a right child or the root: how much worse
        an entry may be than the best of its list; below 0 the span is not wanted."""
        if not cython.compiled:
            for name in KBestLists.__annotations__:
                setattr(self, name, vector())
        self.n, self.k, self.potentials, self.slack = len(potentials), k, potentials, slack
        self.start.assign(3 * self.n * self.n, 0)
        self.count.assign(3 * self.n * self.n, 0)
        self.fill()

    @cython.cfunc
    def fill(self) -> cython.void:
        """All spans, shorter ones first."""
        for width in range(1, self.n + 1):
            for i in range(self.n - width + 1):
                j = i + width - 1
                if self.slack[AS_LEFT, i, j] >= 0.0 or self.slack[AS_RIGHT, i, j] >= 0.0:
                    self.join_children(i, j)
                    self.choose_labels(i, j)
                    for role in range(2):
                        if self.slack[role, i, j] >= 0.0:
                            self.add_labels(i, j, role)

    @cython.cfunc
    def number(self, kind: cython.int, i: cython.int, j: cython.int) -> cython.int:
        """The number of a list of a span."""
        return (kind * self.n + i) * self.n + j

    @cython.cfunc
    def open_list(self, number: cython.int) -> cython.void:
        """Begin a list, with an empty frontier."""
        self.start[number] = self.score.size()
        self.candidate_score.clear()
        self.point.clear()
        self.along.clear()
        self.across.clear()
        self.heap.clear()

    @cython.cfunc
    def keep(
        self, number: cython.int, score: cython.double, first: cython.int, second: cython.int, third: cython.int
    ) -> cython.void:
        """Append a row to the open list."""
        self.score.push_back(score)
        self.first.push_back(first)
        self.second.push_back(second)
        self.third.push_back(third)
        self.count[number] += 1

    # ---- the frontier ----

    @cython.cfunc
    def is_better(self, one: cython.int, other: cython.int) -> cython.bint:
        if self.candidate_score[one] == self.candidate_score[other]:
            return one < other
        return self.candidate_score[one] > self.candidate_score[other]

    @cython.cfunc
    def push(self, score: cython.double, point: cython.int, along: cython.int, across: cython.int) -> cython.void:
        """Add a candidate: a split point and the ranks of the two parts that make it."""
        candidate: cython.int = self.point.size()
        place: cython.int = self.heap.size()
        self.candidate_score.push_back(score)
        self.point.push_back(point)
        self.along.push_back(along)
        self.across.push_back(across)
        self.heap.push_back(candidate)
        while place > 0 and self.is_better(candidate, self.heap[(place - 1) // 2]):
            self.heap[place] = self.heap[(place - 1) // 2]
            place = (place - 1) // 2
        self.heap[place] = candidate

    @cython.cfunc
    def pop(self) -> cython.int:
        """Take off the best candidate."""
        best: cython.int = self.heap[0]
        last: cython.int = self.heap.back()
        place: cython.int = 0
        below: cython.int = 1
        self.heap.pop_back()
        count: cython.int = self.heap.size()
        while below < count:
            if below + 1 < count and self.is_better(self.heap[below + 1], self.heap[below]):
                below += 1
            if not self.is_better(self.heap[below], last):
                break
            self.heap[place] = self.heap[below]
            place, below = below, 2 * below + 1
        if count:
            self.heap[place] = last
        return best

    # ---- the lists ----

    @cython.cfunc
    def largest_slack(self, i: cython.int, j: cython.int) -> cython.double:
        """The slack of a span as the child for which it is larger, with room for rounding."""
        return max(self.slack[AS_LEFT, i, j], self.slack[AS_RIGHT, i, j]) + ROUNDING

    @cython.cfunc
    def push_pair(
        self, i: cython.int, j: cython.int, point: cython.int, left: cython.int, right: cython.int
    ) -> cython.void:
        """Add a pair of entries, where both children have so many."""
        one, other = self.number(AS_LEFT, i, point), self.number(AS_RIGHT, point + 1, j)
        if left < self.count[one] and right < self.count[other]:
            score = self.score[self.start[one] + left] + self.score[self.start[other] + right]
            self.push(score, point, left, right)

    @cython.cfunc
    def join_children(self, i: cython.int, j: cython.int) -> cython.void:
        """The splits of a span; that of a word is one empty split."""
        point: cython.int
        number = self.number(SPLITS, i, j)
        slack = self.largest_slack(i, j)
        self.open_list(number)
        if i == j:
            self.keep(number, 0.0, i, 0, 0)
            return
        for point in range(i, j):
            self.push_pair(i, j, point, 0, 0)
        while self.heap.size() and self.count[number] < self.k:
            best = self.pop()
            score = self.candidate_score[best]
            if self.count[number] and score < self.score[self.start[number]] - slack:
                break
            left: cython.int = self.along[best]
            right: cython.int = self.across[best]
            point = self.point[best]
            self.keep(number, score, point, left, right)
            if right == 0:  # each cell has one predecessor
                self.push_pair(i, j, point, left + 1, 0)
            self.push_pair(i, j, point, left, right + 1)

    @cython.cfunc
    def choose_labels(self, i: cython.int, j: cython.int) -> cython.void:
        """The labels within the slack of the best one, best first; k and the empty one are enough."""
        label: cython.int
        best: cython.float = self.potentials[i, j, 1]
        for label in range(2, self.potentials.shape[2]):
            best = max(best, self.potentials[i, j, label])
        least: cython.double = best - self.largest_slack(i, j)
        self.label.clear()
        self.label_score.clear()
        for label in range(self.potentials.shape[2]):
            score = float(self.potentials[i, j, label])
            if score >= least:
                place: cython.int = self.label.size()
                self.label.push_back(label)
                self.label_score.push_back(score)
                while place > 0 and self.label_score[place - 1] < score:
                    self.label[place], self.label_score[place] = self.label[place - 1], self.label_score[place - 1]
                    place -= 1
                self.label[place], self.label_score[place] = label, score

    @cython.cfunc
    def label_from(self, place: cython.int, skip_empty: cython.bint) -> cython.int:
        """The next place in the labels that counts, -1 if there is none."""
        most: cython.int = min(self.k + 1, cython.cast(cython.int, self.label.size()))
        if place < most and skip_empty and self.label[place] == 0:
            place += 1
        return place if place < most else -1

    @cython.cfunc
    def add_labels(self, i: cython.int, j: cython.int, role: cython.int) -> cython.void:
        """The entries of a span in one role."""
        skip_empty: cython.bint = (role == AS_RIGHT and j > i) or j - i == self.n - 1
        number, splits = self.number(role, i, j), self.number(SPLITS, i, j)
        begin: cython.int = self.start[splits]
        first: cython.int = self.label_from(0, skip_empty)
        self.open_list(number)
        if self.count[splits] == 0 or first < 0:
            return
        self.push(self.score[begin] + self.label_score[first], 0, 0, first)
        while self.heap.size() and self.count[number] < self.k:
            best = self.pop()
            score = self.candidate_score[best]
            if self.count[number] and score < self.score[self.start[number]] - self.slack[role, i, j] - ROUNDING:
                break
            split: cython.int = self.along[best]
            place: cython.int = self.across[best]
            self.keep(number, score, self.label[place], split, 0)
            if place == first and split + 1 < self.count[splits]:
                self.push(self.score[begin + split + 1] + self.label_score[first], 0, split + 1, first)
            place = self.label_from(place + 1, skip_empty)
            if place >= 0:
                self.push(self.score[begin + split] + self.label_score[place], 0, split, place)

    def scores(self) -> list:
        """Scores of the best trees, best first."""
        root = self.number(AS_RIGHT, 0, self.n - 1)
        return [self.score[self.start[root] + rank] for rank in range(self.count[root])]

    # ---- shared subtrees ----

    @cython.cfunc
    def share(self, i: cython.int, j: cython.int, label: cython.int, split: cython.int) -> cython.int:
        """The number of a subtree, new or known."""
        number: cython.int = self.first_subtree[i * self.n + j]
        while number >= 0:
            if self.subtree_label[number] == label and self.subtree_split[number] == split:
                return number
            number = self.next_subtree[number]
        number = self.subtree_label.size()
        self.subtree_begin.push_back(i)
        self.subtree_last.push_back(j)
        self.subtree_label.push_back(label)
        self.subtree_split.push_back(split)
        self.kind.push_back(2 * (j - i) + (label != 0))
        self.next_subtree.push_back(self.first_subtree[i * self.n + j])
        self.first_subtree[i * self.n + j] = number
        return number

    @cython.cfunc
    def open_subtree(self, number: cython.int) -> cython.void:
        """Append the children of a subtree, right to left; spans with the empty label are taken apart."""
        i: cython.int = self.subtree_begin[number]
        last: cython.int = self.subtree_last[number]
        rank: cython.int = self.subtree_split[number]
        if i == last and self.subtree_label[number]:
            self.child.push_back(self.share(i, i, 0, 0))
        while last > i:
            split = self.start[self.number(SPLITS, i, last)] + rank
            point: cython.int = self.first[split]
            entry = self.start[self.number(AS_RIGHT, point + 1, last)] + self.third[split]
            self.child.push_back(self.share(point + 1, last, self.first[entry], self.second[entry]))
            entry = self.start[self.number(AS_LEFT, i, point)] + self.second[split]
            rank, last = self.second[entry], point
            if self.first[entry] or last == i:
                self.child.push_back(self.share(i, last, self.first[entry], rank))
                return

    def shared(self) -> tuple:
        """`SharedTrees` of the best trees: children before parents, by length, words before the phrases over them.

        Each is opened once; the roots are found first, in the order of their trees, and children right to left.
        """
        number: cython.int = 0
        self.first_subtree.assign(self.n * self.n, -1)
        root = self.number(AS_RIGHT, 0, self.n - 1)
        for entry in range(self.start[root], self.start[root] + self.count[root]):
            self.share(0, self.n - 1, self.first[entry], self.second[entry])
        while number < cython.cast(cython.int, self.subtree_label.size()):
            self.child_start.push_back(self.child.size())
            self.open_subtree(number)
            number += 1
        self.child_start.push_back(self.child.size())
        tables = np.zeros((4, number + 1), np.int32), np.empty(self.child.size(), np.int32), np.empty(number, np.int32)
        table: cython.int[:, ::1] = tables[0]
        children: cython.int[::1] = tables[1]
        rank: cython.int[::1] = tables[2]
        place: cython.int[::1] = np.zeros(2 * self.n + 1, np.int32)  # where the next of its kind stands
        for number in range(rank.shape[0]):
            place[self.kind[number] + 1] += 1
        for to in range(2 * self.n):
            place[to + 1] += place[to]
        for number in range(rank.shape[0]):
            rank[number] = to = place[self.kind[number]]
            place[self.kind[number]] += 1
            table[0, to], table[1, to] = self.subtree_begin[number], self.subtree_last[number] + 1
            table[2, to] = self.subtree_label[number]
            table[3, to + 1] = self.child_start[number + 1] - self.child_start[number]
        for to in range(rank.shape[0]):
            table[3, to + 1] += table[3, to]
        for number in range(rank.shape[0]):
            to = table[3, rank[number] + 1]
            for below in range(self.child_start[number], self.child_start[number + 1]):
                to -= 1
                children[to] = rank[self.child[below]]
        return *tables[0][:3, :-1], tables[1], tables[0][3], tables[2][: self.count[root]]
