"""The chart, sums over all of its trees (log partition and marginals, as kernels.py says), and the k best trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from forestalign.arrays import AnyFloatArray, Float32Array, FloatArray, Int32Array
from forestalign.chart import kernels
from forestalign.chart.kbest import KBestLists
from forestalign.trees import ScoredTree, Tree

CHAIN = "::"


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Potentials [n, n, labels] of span (i, j + 1) at [i, j], 0 for the empty `labels[0]`; tag scores [n, tags]."""

    potentials: Float32Array
    labels: tuple[str, ...]
    tag_scores: Float32Array
    tags: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.potentials)

    def tempered(self, temperature: float) -> Chart:
        """The chart with all potentials divided by the temperature: flatter above 1, sharper below."""
        return self if temperature == 1.0 else replace(self, potentials=self.potentials / np.float32(temperature))

    def best_tags(self) -> tuple[str, ...]:
        """The tag with the highest score for each word."""
        return tuple([self.tags[i] for i in self.tag_scores.argmax(1).tolist()])


@lru_cache(maxsize=64)
def triangle(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """First and last word of every span of n words, in the order of triangular tables."""
    first, last = np.triu_indices(n)
    return first, last


def rows(chart: Chart) -> Float32Array:
    """Potentials [spans, labels] of all spans, row by row of the chart's upper triangle."""
    return chart.potentials[triangle(len(chart))]


def square(n: int, values: AnyFloatArray) -> FloatArray:
    """The [n, n] table of one value a span, zero below the diagonal."""
    table = np.zeros((n, n))
    table[triangle(n)] = values
    return table


def log_sums(chart: Chart) -> tuple[FloatArray, FloatArray]:
    """Log sums of the potentials of each span: over all labels, and over all but the empty one."""
    values = rows(chart)
    tops = values[:, 1:].max(1)
    shares = values[:, 1:] - tops[:, None]
    np.exp(shares, out=shares)  # in place: of long sentences this is the largest array there is
    labelled = tops + np.log(shares.sum(1, dtype=np.float64))
    return square(len(chart), np.logaddexp(labelled, values[:, 0])), square(len(chart), labelled)


def maxima(chart: Chart) -> tuple[FloatArray, FloatArray]:
    """Like `log_sums`, with the best label instead of the sum."""
    values = rows(chart)
    labelled = values[:, 1:].max(1)
    return square(len(chart), np.maximum(labelled, values[:, 0])), square(len(chart), labelled)


# ---- sums over all trees ----


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """Log sums of the labels of each span, and the log inside scores built on them."""

    any_label: FloatArray
    labelled: FloatArray
    split: FloatArray
    left: FloatArray
    right: FloatArray

    @property
    def log_partition(self) -> float:
        """Log of the sum of exp(score) over all trees: the root has a label."""
        return float(self.labelled[0, -1] + self.split[0, -1])


def inside(chart: Chart) -> Inside:
    """Log inside scores of all spans."""
    any_label, labelled = log_sums(chart)
    return Inside(any_label, labelled, *kernels.inside(any_label, labelled))


def log_partition(chart: Chart) -> float:
    """Log of the sum of exp(score) over all trees of the chart."""
    return inside(chart).log_partition


def inside_outside(any_label: FloatArray, labelled: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Log partition, and its derivatives by both tables of log sums: what a trainer needs."""
    scores = Inside(any_label, labelled, *kernels.inside(any_label, labelled))
    return scores.log_partition, *_slopes(scores)


def _slopes(scores: Inside) -> tuple[FloatArray, FloatArray]:
    """How often a span may have any label (a left child, or one word), and how often it must have one.

    It must as a right child of several words, or as the root.
    """
    as_left, as_right = kernels.shares(scores.split, scores.left, scores.right)
    if len(as_left) > 1:
        np.einsum("ii->i", as_left)[:] += as_right.diagonal()  # a word may lack a label in either role
        np.fill_diagonal(as_right, 0.0)
    return as_left, as_right


def marginals(chart: Chart, scores: Inside | None = None) -> Float32Array:
    """Probability [n, n, labels] of each span and label.

    For the empty label: of joining the words of the span on the way to a larger phrase, or of a word without a phrase.
    """
    scores = scores or inside(chart)
    upper = triangle(len(chart))
    values = chart.potentials[upper]
    any_label, labelled, left, right = (table[upper] for table in (scores.any_label, scores.labelled, *_slopes(scores)))
    has_label = left * np.exp(labelled - any_label) + right
    found = np.exp(values - labelled[:, None].astype(np.float32))
    found *= has_label[:, None].astype(np.float32)
    found[:, 0] = np.exp(values[:, 0] - any_label) * left
    table = np.zeros(chart.potentials.shape, dtype=np.float32)
    table[upper] = found
    return table


# ---- trees out of a chart ----


# Log units below the best tree in which the k best are sought first. It decides how long that takes, not what is found.
FIRST_MARGIN = 6.0


def kbest(chart: Chart, words: Sequence[str], k: int, log_z: float | None = None) -> BestTrees:
    """The k most probable trees, best first, each once; fewer where the chart has fewer.

    Only spans through which some tree passes within a margin of the best one are looked at. When k trees are found
    within the margin, no tree outside can be among them; otherwise the margin is widened until nothing is left out.
    A tree is made when it is asked for.
    """
    log_z = inside(chart).log_partition if log_z is None else log_z
    through = np.array(kernels.best_through(*maxima(chart)))
    best, margin = through[1, 0, -1], FIRST_MARGIN
    while True:
        slack = np.where(through > -np.inf, np.maximum(through, -1e9) - (best - margin), -1.0)
        lists = KBestLists(np.ascontiguousarray(chart.potentials), slack, k)
        scores = np.array(lists.scores())
        if (len(scores) == k and scores[-1] > best - margin + 1e-6) or np.isinf(margin):
            break
        margin = margin * 2 if margin < 1000 else np.inf
    shared = SharedTrees(*lists.shared())
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
