"""Trees out of a chart: the best, the k best, the one of least risk, random ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from forestalign.chart import _kbest, _kernels
from forestalign.chart.expectations import Inside, inside, marginals
from forestalign.chart.potentials import CHAIN, Chart, Table, maxima, rows, square, triangle
from forestalign.trees import ScoredTree, Tree

LEFT, RIGHT = 0, 1
# Log units below the best tree in which the k best are sought first. It decides how long that takes, not what is found.
FIRST_MARGIN = 8.0

Labelling = Callable[[int, int, int, int], tuple[int, int]]
Splitting = Callable[[int, int, int], tuple[int, int, int]]


def leaves(chart: Chart, words: Sequence[str]) -> tuple[Tree, ...]:
    """The words under their best tags."""
    return tuple(
        Tree(tag, i, i + 1, word=word) for i, (tag, word) in enumerate(zip(chart.best_tags(), words, strict=True))
    )


@lru_cache(maxsize=16)
def _chains(labels: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The categories of each label from the bottom up."""
    return tuple(tuple(reversed(label.split(CHAIN))) for label in labels)


class _Builder:
    """Trees from choices: `label(i, j, role, rank)` gives a label and the rank of a split of span (i, j + 1), and
    `split(i, j, rank)` the last word of the left child and the ranks of both children. Equal subtrees are shared.
    """

    def __init__(self, chart: Chart, words: Sequence[str], label: Labelling, split: Splitting):
        self.leaves = leaves(chart, words)
        self.chains = _chains(chart.labels)
        self.label, self.split = label, split
        self.built: dict[tuple[int, int, int, int], Tree] = {}

    def root(self, rank: int = 0) -> Tree:
        n = len(self.leaves)
        return self.node(0, n - 1, *self.label(0, n - 1, RIGHT, rank))

    def node(self, i: int, j: int, label: int, rank: int) -> Tree:
        """The phrase over a span, or the bare word; spans with the empty label are taken apart on the way down left."""
        key = (i, j, label, rank)
        if key in self.built:
            return self.built[key]
        children, last, below = [], j, rank
        while last > i:
            point, left_rank, right_rank = self.split(i, last, below)
            children.append(self.node(point + 1, last, *self.label(point + 1, last, RIGHT, right_rank)))
            left_label, below = self.label(i, point, LEFT, left_rank)
            last = point
            if left_label:
                children.append(self.node(i, point, left_label, below))
                break
        else:
            children.append(self.leaves[i])
        tree = children[0]
        if label:
            parts = tuple(reversed(children))
            for name in self.chains[label]:
                tree = Tree(name, i, j + 1, parts)
                parts = (tree,)
        self.built[key] = tree
        return tree


def _best_tree(chart: Chart, words: Sequence[str], gains: npt.NDArray[np.floating]) -> tuple[Tree, float]:
    """The tree with the greatest sum of gains [spans, labels] over its spans, and that sum."""
    n = len(chart)
    labelled = gains[:, 1:].argmax(1) + 1
    best = np.take_along_axis(gains, labelled[:, None], 1)[:, 0]
    free = np.where(gains[:, 0] > best, 0, labelled)
    points, total = _kernels.best_splits(square(n, np.maximum(gains[:, 0], best)), square(n, best))
    tables = (square(n, free).astype(np.int16), square(n, labelled).astype(np.int16))

    def label(i: int, j: int, role: int, rank: int) -> tuple[int, int]:
        must = (role == RIGHT and i < j) or j - i == n - 1
        return int(tables[must][i, j]), 0

    def split(i: int, j: int, rank: int) -> tuple[int, int, int]:
        return int(points[i, j]), 0, 0

    return _Builder(chart, words, label, split).root(), total


def viterbi(chart: Chart, words: Sequence[str]) -> ScoredTree:
    """The most probable tree."""
    tree, score = _best_tree(chart, words, rows(chart))
    return ScoredTree(tree, score - inside(chart).log_partition)


def minimum_risk(chart: Chart, words: Sequence[str], price: float = 0.5) -> Tree:
    """The tree with the greatest expected number of right brackets, less a price for every bracket.

    A price of 0 looks at recall alone and gives deep trees; 0.5 weighs a wrong bracket like a missing one. A bracket
    is right when the gold tree has its label over its span, whatever else stands in the same chain.
    """
    chains = [set(label.split(CHAIN)) if label else set() for label in chart.labels]
    names = sorted(set().union(*chains))
    has = np.array([[name in chain for name in names] for chain in chains], dtype=np.float32)
    shares = marginals(chart)[triangle(len(chart))]
    tree, _ = _best_tree(chart, words, (shares @ has - np.float32(price)) @ has.T)
    return tree


def kbest(chart: Chart, words: Sequence[str], k: int, log_z: float | None = None) -> tuple[ScoredTree, ...]:
    """The k most probable trees, best first, each once; fewer where the chart has fewer.

    Only spans through which some tree passes within a margin of the best one are looked at. When k trees are found
    within the margin, no tree outside can be among them; otherwise the margin is widened until nothing is left out.
    """
    n = len(chart)
    log_z = inside(chart).log_partition if log_z is None else log_z
    if k == 1:
        tree, score = _best_tree(chart, words, rows(chart))
        return (ScoredTree(tree, score - log_z),)
    upper = triangle(n)
    through = np.array([table[upper] for table in _kernels.best_through(*maxima(chart))])
    best, margin = through[RIGHT, n - 1], FIRST_MARGIN
    while True:
        wanted = through >= best - margin
        scores, splits, labels = _lists(chart, k, wanted, margin)
        if (len(scores) == k and scores[-1] > best - margin + 1e-6) or np.isinf(margin):
            break
        margin = margin * 2 if margin < 1000 else np.inf
    builder = _Builder(chart, words, *_read_lists(n, splits, labels))
    return tuple(ScoredTree(builder.root(rank), float(score) - log_z) for rank, score in enumerate(scores))


def _read_lists(n: int, splits: npt.NDArray[np.int16], labels: npt.NDArray[np.int16]) -> tuple[Labelling, Splitting]:
    """The choices of a builder from the kernel's tables, read through flat views: indexing arrays would be slow."""
    label_view, split_view = labels.reshape(-1).data, splits.reshape(-1).data
    rows_count, k = splits.shape[:2]

    def label(i: int, j: int, role: int, rank: int) -> tuple[int, int]:
        at = ((role * rows_count + i * n - i * (i - 1) // 2 + j - i) * k + rank) * 2
        return label_view[at], label_view[at + 1]

    def split(i: int, j: int, rank: int) -> tuple[int, int, int]:
        at = ((i * n - i * (i - 1) // 2 + j - i) * k + rank) * 3
        return split_view[at], split_view[at + 1], split_view[at + 2]

    return label, split


def _lists(
    chart: Chart, k: int, wanted: npt.NDArray[np.bool_], margin: float
) -> tuple[Table, npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """Sort the labels of the spans that are wanted, and let the kernel merge.

    Of each span k labels and the empty one are enough, and so are those within the margin of its best one.
    """
    values = rows(chart)
    used = np.flatnonzero(wanted.any(0))
    likely = values[used]
    near = likely >= likely[:, 1:].max(1, keepdims=True) - margin
    size = min(k + 1, int(near.sum(1).max()) + 1, len(chart.labels))
    best = np.argpartition(-likely, size - 1, axis=1)[:, :size]
    best.sort(axis=1)  # so that ties go to the earlier label
    order = np.take_along_axis(best, np.argsort(-np.take_along_axis(likely, best, 1), axis=1, kind="stable"), 1)
    labels = np.zeros((len(values), size), dtype=np.int16)
    potentials = np.zeros((len(values), size))
    labels[used] = order
    potentials[used] = np.take_along_axis(likely, order, 1)
    scores, _, splits, chosen = _kbest.kbest_lists(len(chart), k, potentials, labels, wanted)
    return scores, splits, chosen


def sample(
    chart: Chart, words: Sequence[str], generator: np.random.Generator, count: int = 1
) -> tuple[ScoredTree, ...]:
    """Trees drawn from the chart's distribution, top-down by inside scores."""
    scores = inside(chart)
    return tuple(_sample_one(chart, words, scores, generator) for _ in range(count))


def _sample_one(chart: Chart, words: Sequence[str], scores: Inside, generator: np.random.Generator) -> ScoredTree:
    n = len(chart)
    total = 0.0

    def draw(log_weights: npt.NDArray[np.floating]) -> int:
        weights = np.exp(log_weights - log_weights.max(), dtype=np.float64)
        return int(min(np.searchsorted(np.cumsum(weights), generator.random() * weights.sum()), len(weights) - 1))

    def label(i: int, j: int, role: int, rank: int) -> tuple[int, int]:
        nonlocal total
        must = (role == RIGHT and i < j) or j - i == n - 1
        found = draw(chart.potentials[i, j, int(must) :]) + must
        total += float(chart.potentials[i, j, found])
        return found, 0

    def split(i: int, j: int, rank: int) -> tuple[int, int, int]:
        return i + draw(scores.left[i, i:j] + scores.right[i + 1 : j + 1, j]), 0, 0

    tree = _Builder(chart, words, label, split).root()
    return ScoredTree(tree, total - scores.log_partition)
