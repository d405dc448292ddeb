"""Trees out of a chart: the best one, and the k best, which share their subtrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

import numpy as np

from forestalign.arrays import Int16Array, Int32Array
from forestalign.chart import kernels
from forestalign.chart.chart import CHAIN, Chart, inside, maxima, rows, square
from forestalign.chart.kbest import KBestLists
from forestalign.trees import ScoredTree, Tree

LEFT, RIGHT = 0, 1
# Log units below the best tree in which the k best are sought first. It decides how long that takes, not what is found.
FIRST_MARGIN = 6.0


def leaves(chart: Chart, words: Sequence[str]) -> tuple[Tree, ...]:
    """The words under their best tags."""
    return tuple(
        Tree(tag, i, i + 1, word=word) for i, (tag, word) in enumerate(zip(chart.best_tags(), words, strict=True))
    )


def viterbi(chart: Chart, words: Sequence[str]) -> ScoredTree:
    """The most probable tree."""
    gains = rows(chart)
    n = len(chart)
    labelled = gains[:, 1:].argmax(1) + 1
    best = np.take_along_axis(gains, labelled[:, None], 1)[:, 0]
    free = np.where(gains[:, 0] > best, 0, labelled)
    points, total = kernels.best_splits(square(n, np.maximum(gains[:, 0], best)), square(n, best))
    tables = square(n, free).astype(np.int16), square(n, labelled).astype(np.int16)
    tree = _build(leaves(chart, words), chains(chart.labels), tables, points, 0, n - 1, is_left=False)
    return ScoredTree(tree, total - inside(chart).log_partition)


def _build(
    words: tuple[Tree, ...],
    names: tuple[tuple[str, ...], ...],
    tables: tuple[Int16Array, Int16Array],
    points: Int16Array,
    i: int,
    j: int,
    is_left: bool,
) -> Tree:
    """The phrase over a span, or the bare word; spans with the empty label are taken apart on the way down left.

    tables: the best label of each span where it may be empty, and where it may not; points: where a span is split.
    """
    must = (not is_left and i < j) or j - i == len(words) - 1
    children, last = [], j
    while last > i:
        point = int(points[i, last])
        children.append(_build(words, names, tables, points, point + 1, last, is_left=False))
        last = point
        if tables[0][i, last]:
            children.append(_build(words, names, tables, points, i, last, is_left=True))
            break
    else:
        children.append(words[i])
    tree = children[0]
    parts = tuple(reversed(children))
    for name in names[label] if (label := int(tables[must][i, j])) else ():
        tree = Tree(name, i, j + 1, parts)
        parts = (tree,)
    return tree


def kbest(chart: Chart, words: Sequence[str], k: int, log_z: float | None = None) -> BestTrees:
    """The k most probable trees, best first, each once; fewer where the chart has fewer.

    Only spans through which some tree passes within a margin of the best one are looked at. When k trees are found
    within the margin, no tree outside can be among them; otherwise the margin is widened until nothing is left out.
    A tree is made when it is asked for.
    """
    log_z = inside(chart).log_partition if log_z is None else log_z
    through = np.array(kernels.best_through(*maxima(chart)))
    best, margin = through[RIGHT, 0, -1], FIRST_MARGIN
    while True:
        slack = np.where(through > -np.inf, np.maximum(through, -1e9) - (best - margin), -1.0)
        lists = KBestLists(np.ascontiguousarray(chart.potentials), slack, k)
        scores = np.array(lists.scores())
        if (len(scores) == k and scores[-1] > best - margin + 1e-6) or np.isinf(margin):
            break
        margin = margin * 2 if margin < 1000 else np.inf
    shared = SharedTrees.of(lists.shared(), len(scores))
    return BestTrees(shared, tuple((scores - log_z).tolist()), chart.labels, words, chart.best_tags())


@dataclass(frozen=True, slots=True, eq=False)
class SharedTrees:
    """Distinct subtrees, children before parents; a subtree is a label over the subtrees of its children."""

    begin: Int32Array
    end: Int32Array
    label: Int32Array  # of the chart; 0 is a bare word
    children: Int32Array  # left to right, those of one subtree after those of the other
    child_start: Int32Array  # [subtrees + 1]
    roots: Int32Array  # the subtree that is the whole tree, for each tree

    @classmethod
    def of(cls, shared: tuple[Int32Array, ...], tree_count: int) -> SharedTrees:
        """From what `KBestLists.shared` gives: subtrees in any order, the roots first, their children right to left."""
        begin, end, label, children, child_start = shared
        order = np.lexsort((label != 0, end - begin))
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        counts = np.diff(child_start)[order]
        starts = np.zeros(len(order) + 1, np.int32)
        np.cumsum(counts, out=starts[1:])
        # the last of the old children is the first of the new ones
        places = np.repeat(child_start[1:][order] - 1 + starts[:-1], counts) - np.arange(starts[-1])
        return cls(begin[order], end[order], label[order], number[children[places]], starts, number[:tree_count])

    def below(self, root: int) -> list[tuple[int, list[int]]]:
        """All subtrees of a tree, children first; each with its children."""
        children, starts = self.children.tolist(), self.child_start.tolist()
        is_below = [False] * root + [True]
        found: list[list[int]] = [[]] * (root + 1)
        for number in range(root, -1, -1):
            if is_below[number]:
                found[number] = below = children[starts[number] : starts[number + 1]]
                for child in below:
                    is_below[child] = True
        return [(number, found[number]) for number in range(root + 1) if is_below[number]]


class BestTrees(Sequence[ScoredTree]):
    """The k best trees, best first. Equal subtrees are one object."""

    __slots__ = ("_built", "labels", "log_probs", "shared", "tags", "words")

    def __init__(
        self,
        shared: SharedTrees,
        log_probs: tuple[float, ...],
        labels: tuple[str, ...],
        words: Sequence[str],
        tags: Sequence[str],
    ):
        self.shared, self.log_probs, self.labels = shared, log_probs, labels
        self.words, self.tags = words, tags
        self._built: dict[int, Tree] = {}

    def __len__(self) -> int:
        return len(self.log_probs)

    @overload
    def __getitem__(self, index: int) -> ScoredTree: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ScoredTree, ...]: ...
    def __getitem__(self, index: int | slice) -> ScoredTree | tuple[ScoredTree, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        return ScoredTree(self._tree(int(self.shared.roots[index])), self.log_probs[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<the {len(self)} best trees of {' '.join(self.words)!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return BestTrees, (self.shared, self.log_probs, self.labels, self.words, self.tags)

    def _tree(self, root: int) -> Tree:
        shared, built, names = self.shared, self._built, chains(self.labels)
        begins, ends, labels = shared.begin.tolist(), shared.end.tolist(), shared.label.tolist()
        for number, children in shared.below(root):
            if number in built:
                continue
            begin, end, label = begins[number], ends[number], labels[number]
            if not label:
                built[number] = Tree(self.tags[begin], begin, end, (), self.words[begin])
                continue
            parts = tuple([built[child] for child in children])
            for name in names[label]:
                parts = (Tree(name, begin, end, parts),)
            built[number] = parts[0]
        return built[root]


@lru_cache(maxsize=16)
def chains(labels: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The categories of each label from the bottom up."""
    return tuple(tuple(reversed(label.split(CHAIN))) for label in labels)
