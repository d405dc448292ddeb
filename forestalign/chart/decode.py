"""Trees out of a chart: the best, the k best, the one of least risk, random ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from forestalign.arrays import AnyFloatArray
from forestalign.chart import chart_kernels as kernels
from forestalign.chart.best_trees import BestTrees, SharedTrees, chains
from forestalign.chart.expectations import Inside, inside
from forestalign.chart.potentials import Chart, maxima, rows, square
from forestalign.trees import ScoredTree, Tree

LEFT, RIGHT = 0, 1
# Log units below the best tree in which the k best are sought first. It decides how long that takes, not what is found.
FIRST_MARGIN = 6.0

Labelling = Callable[[int, int, int, int], tuple[int, int]]
Splitting = Callable[[int, int, int], tuple[int, int, int]]


def leaves(chart: Chart, words: Sequence[str]) -> tuple[Tree, ...]:
    """The words under their best tags."""
    return tuple(
        Tree(tag, i, i + 1, word=word) for i, (tag, word) in enumerate(zip(chart.best_tags(), words, strict=True))
    )


class _Builder:
    """Trees from choices: `label(i, j, role, rank)` gives a label and the rank of a split of span (i, j + 1), and
    `split(i, j, rank)` the last word of the left child and the ranks of both children. Equal subtrees are shared.
    """

    def __init__(self, chart: Chart, words: Sequence[str], label: Labelling, split: Splitting):
        self.leaves = leaves(chart, words)
        self.chains = chains(chart.labels)
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


def _best_tree(chart: Chart, words: Sequence[str], gains: AnyFloatArray) -> tuple[Tree, float]:
    """The tree with the greatest sum of gains [spans, labels] over its spans, and that sum."""
    n = len(chart)
    labelled = gains[:, 1:].argmax(1) + 1
    best = np.take_along_axis(gains, labelled[:, None], 1)[:, 0]
    free = np.where(gains[:, 0] > best, 0, labelled)
    points, total = kernels.best_splits(square(n, np.maximum(gains[:, 0], best)), square(n, best))
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
        lists = kernels.kbest_lists(chart.potentials, slack, k)
        scores = lists.scores()
        if (len(scores) == k and scores[-1] > best - margin + 1e-6) or np.isinf(margin):
            break
        margin = margin * 2 if margin < 1000 else np.inf
    shared = SharedTrees.of(*lists.shared(), len(scores))
    return BestTrees(shared, tuple((scores - log_z).tolist()), chart.labels, words, chart.best_tags())


def sample(
    chart: Chart, words: Sequence[str], generator: np.random.Generator, count: int = 1
) -> tuple[ScoredTree, ...]:
    """Trees drawn from the chart's distribution, top-down by inside scores."""
    scores = inside(chart)
    return tuple(_sample_one(chart, words, scores, generator) for _ in range(count))


def _sample_one(chart: Chart, words: Sequence[str], scores: Inside, generator: np.random.Generator) -> ScoredTree:
    n = len(chart)
    total = 0.0

    def draw(log_weights: AnyFloatArray) -> int:
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
