"""Exact k-best lists of every span, bottom-up (Huang and Chiang 2005, algorithm 2), and what the k best trees share.

A span has three lists, best first: `splits` (a pair of entries of a left and a right child), and for either role
`entries` (a split with a label; as a right child or the root not the empty label). Each list is merged from sorted
ones with a heap that holds the frontier only, and ends where no tree within the margin can come of it. The grammar
gives an n-ary tree one derivation, so no list holds a tree twice. Ties go to the candidate that entered the heap
first: the earlier split point, then the better left child; the better split, then the better label; of equal labels
the earlier one.

`_kbest.pyx` holds the compiled `KBestLists`; the one here runs where the core was not built.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from forestalign.arrays import Float32Array, FloatArray, Int32Array
from forestalign.compiled import core

AS_LEFT, AS_RIGHT = 0, 1
ROUNDING = 1e-6  # of sums taken in another order


class Split(NamedTuple):
    """Last word of the left child, and the ranks of both children's entries."""

    score: float
    point: int
    left: int
    right: int


class Labelled(NamedTuple):
    """A label over a split, by its rank."""

    score: float
    label: int
    split: int


class Frontier:
    """A heap of candidates, best first; of equals the one that came first."""

    def __init__(self) -> None:
        self.heap: list[tuple[float, int, int, int, int]] = []
        self.found = 0

    def push(self, score: float, point: int, first: int, second: int) -> None:
        """Add a candidate: a split point and the ranks of the two parts that make it."""
        heapq.heappush(self.heap, (-score, self.found, point, first, second))
        self.found += 1

    def pop(self) -> tuple[float, int, int, int]:
        """Take off the best candidate: score, split point, ranks."""
        score, _, point, first, second = heapq.heappop(self.heap)
        return -score, point, first, second


class KBestLists:
    """The lists of all spans that are wanted, and the k best trees as shared subtrees.

    potentials [n, n, labels]. slack [2, n, n], as a left child, and as a right child or the root: how much worse an
    entry may be than the best of its list; below 0 the span is not wanted.
    """

    def __init__(self, potentials: Float32Array, slack: FloatArray, k: int) -> None:
        self.potentials, self.slack, self.k, self.n = potentials, slack, k, len(potentials)
        self.splits: dict[tuple[int, int], list[Split]] = {}
        self.entries: tuple[dict[tuple[int, int], list[Labelled]], ...] = ({}, {})
        self.subtrees: dict[tuple[int, int, int, int], int] = {}
        for width in range(1, self.n + 1):
            for i in range(self.n - width + 1):
                j = i + width - 1
                roles = [role for role in (AS_LEFT, AS_RIGHT) if slack[role, i, j] >= 0.0]
                if roles:
                    self.splits[i, j] = self.join_children(i, j)
                    labels = self.choose_labels(i, j)
                for role in roles:
                    self.entries[role][i, j] = self.add_labels(i, j, role, labels)

    def join_children(self, i: int, j: int) -> list[Split]:
        """The `splits` of a span; that of a word is one empty split."""
        if i == j:
            return [Split(0.0, i, 0, 0)]
        frontier, found = Frontier(), list[Split]()
        children = {m: (self.entries[0].get((i, m), []), self.entries[1].get((m + 1, j), [])) for m in range(i, j)}
        for point, (left, right) in children.items():
            if left and right:
                frontier.push(left[0].score + right[0].score, point, 0, 0)
        while frontier.heap and len(found) < self.k:
            score, point, a, b = frontier.pop()
            if found and score < found[0].score - self.largest_slack(i, j):
                break
            found.append(Split(score, point, a, b))
            left, right = children[point]
            if b == 0 and a + 1 < len(left):  # each cell has one predecessor
                frontier.push(left[a + 1].score + right[0].score, point, a + 1, 0)
            if b + 1 < len(right):
                frontier.push(left[a].score + right[b + 1].score, point, a, b + 1)
        return found

    def choose_labels(self, i: int, j: int) -> list[tuple[float, int]]:
        """The labels within the slack of the best one, best first; k and the empty one are enough."""
        values = self.potentials[i, j]
        near = np.flatnonzero(values >= float(values[1:].max()) - self.largest_slack(i, j)).tolist()
        return sorted(((float(values[label]), label) for label in near), key=lambda pair: (-pair[0], pair[1]))[
            : self.k + 1
        ]

    def add_labels(self, i: int, j: int, role: int, labels: list[tuple[float, int]]) -> list[Labelled]:
        """The `entries` of a span in one role."""
        if (role == AS_RIGHT and j > i) or j - i == self.n - 1:
            labels = [pair for pair in labels if pair[1]]
        splits, frontier, found = self.splits[i, j], Frontier(), list[Labelled]()
        if splits and labels:
            frontier.push(splits[0].score + labels[0][0], 0, 0, 0)
        while frontier.heap and len(found) < self.k:
            score, _, a, b = frontier.pop()
            if found and score < found[0].score - self.slack[role, i, j] - ROUNDING:
                break
            found.append(Labelled(score, labels[b][1], a))
            if b == 0 and a + 1 < len(splits):
                frontier.push(splits[a + 1].score + labels[0][0], 0, a + 1, 0)
            if b + 1 < len(labels):
                frontier.push(splits[a].score + labels[b + 1][0], 0, a, b + 1)
        return found

    def largest_slack(self, i: int, j: int) -> float:
        """The slack of a span as the child for which it is larger, with room for rounding."""
        return float(self.slack[:, i, j].max()) + ROUNDING

    def scores(self) -> FloatArray:
        """Scores of the best trees, best first."""
        return np.array([entry.score for entry in self._roots()])

    def _roots(self) -> list[Labelled]:
        return self.entries[AS_RIGHT].get((0, self.n - 1), [])

    # ---- shared subtrees ----

    def subtree(self, i: int, j: int, label: int, split: int) -> int:
        """The number of a subtree, new or known."""
        return self.subtrees.setdefault((i, j, label, split), len(self.subtrees))

    def open(self, i: int, j: int, label: int, rank: int) -> list[int]:
        """The children of a subtree, right to left; spans with the empty label are taken apart."""
        if i == j:
            return [self.subtree(i, i, 0, 0)] if label else []
        children, last = [], j
        while True:
            split = self.splits[i, last][rank]
            entry = self.entries[AS_RIGHT][split.point + 1, last][split.right]
            children.append(self.subtree(split.point + 1, last, entry.label, entry.split))
            entry = self.entries[AS_LEFT][i, split.point][split.left]
            rank, last = entry.split, split.point
            if entry.label or last == i:
                return [*children, self.subtree(i, last, entry.label, entry.split)]

    def shared(self) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array, Int32Array]:
        """Begin, end, label [subtrees], children right to left, and where those of each subtree start."""
        pending = [(0, self.n - 1, entry.label, entry.split) for entry in self._roots()]
        for key in pending:
            self.subtree(*key)
        children, starts = list[int](), [0]
        while len(starts) <= len(self.subtrees):
            for key in list(self.subtrees)[len(starts) - 1 :]:
                children += self.open(*key)
                starts.append(len(children))
        spans = np.array([(i, j + 1, label) for i, j, label, _ in self.subtrees], dtype=np.int32).reshape(-1, 3).T
        begin, end, label = np.ascontiguousarray(spans)
        return begin, end, label, np.array(children, np.int32), np.array(starts, np.int32)


def find_lists(potentials: Float32Array, slack: FloatArray, k: int) -> KBestLists:
    """The lists by the compiled class where there is one."""
    lists: type[KBestLists] = getattr(core("chart._kbest"), "KBestLists", KBestLists)
    return lists(np.ascontiguousarray(potentials), slack, k)
