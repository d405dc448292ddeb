"""The k best trees of a chart: what they share as arrays, and each of them as a tree when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

import numpy as np

from forestalign.arrays import Int32Array
from forestalign.chart.potentials import CHAIN
from forestalign.trees import ScoredTree, Tree


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
    def of(
        cls,
        begin: Int32Array,
        end: Int32Array,
        label: Int32Array,
        children: Int32Array,
        child_start: Int32Array,
        tree_count: int,
    ) -> SharedTrees:
        """From subtrees in any order, the roots first, with their children right to left."""
        order = np.lexsort((label != 0, end - begin))
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        counts = np.diff(child_start)[order]
        starts = np.zeros(len(order) + 1, np.int32)
        np.cumsum(counts, out=starts[1:])
        # the last of the old children is the first of the new ones
        places = np.repeat(child_start[1:][order] - 1 + starts[:-1], counts) - np.arange(starts[-1])
        return cls(begin[order], end[order], label[order], number[children[places]], starts, number[:tree_count])

    def below(self, root: int) -> list[int]:
        """All subtrees of a tree, children first."""
        children, starts = self.children.tolist(), self.child_start.tolist()
        found, stack = set[int](), [root]
        while stack:
            number = stack.pop()
            if number not in found:
                found.add(number)
                stack += children[starts[number] : starts[number + 1]]
        return sorted(found)


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
        for number in shared.below(root):
            if number in built:
                continue
            begin, end, label = int(shared.begin[number]), int(shared.end[number]), int(shared.label[number])
            if not label:
                built[number] = Tree(self.tags[begin], begin, end, word=self.words[begin])
                continue
            places = shared.children[shared.child_start[number] : shared.child_start[number + 1]].tolist()
            parts = tuple([built[child] for child in places])
            for name in names[label]:
                parts = (Tree(name, begin, end, parts),)
            built[number] = parts[0]
        return built[root]


@lru_cache(maxsize=16)
def chains(labels: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The categories of each label from the bottom up."""
    return tuple(tuple(reversed(label.split(CHAIN))) for label in labels)
