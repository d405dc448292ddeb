"""Charts of random scores, and all labelled trees over a few words."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest
from itertools import product

import numpy as np

from forestalign.arrays import AnyFloatArray
from forestalign.chart import Chart
from forestalign.trees import Tree

LABELS = ("", "A", "B::A")
Brackets = tuple[tuple[int, int, str], ...]


def random_chart(n: int, seed: int, label_count: int = 3, scale: float = 2.0) -> Chart:
    generator = np.random.default_rng(seed)
    potentials = generator.normal(scale=scale, size=(n, n, label_count)).astype(np.float32)
    potentials[:, :, 0] = 0.0
    return Chart(potentials, LABELS[:label_count], generator.normal(size=(n, 2)).astype(np.float32), ("X", "Y"))


def words(n: int) -> list[str]:
    return [f"w{i}" for i in range(n)]


def forests(begin: int, end: int, labels: tuple[str, ...], parts: int) -> Iterator[Brackets]:
    """All ways to cover a span by at least `parts` trees; a word may stand without a bracket."""
    if begin == end:
        if parts <= 0:
            yield ()
        return
    for middle in range(begin + 1, end + 1):
        if middle == end and parts > 1:
            continue
        for first in trees(begin, middle, labels):
            for rest in forests(middle, end, labels, parts - 1):
                yield first + rest


def trees(begin: int, end: int, labels: tuple[str, ...]) -> Iterator[Brackets]:
    """All trees over a span as tuples of brackets: a labelled node over two or more parts, or a word."""
    if end - begin == 1:
        yield ()
        for label in labels[1:]:
            yield ((begin, end, label),)
        return
    for below in forests(begin, end, labels, 2):
        for label in labels[1:]:
            yield ((begin, end, label), *below)


def all_trees(chart: Chart) -> dict[Brackets, float]:
    """Score of every tree whose root has a label."""
    n = len(chart)
    index = {label: i for i, label in enumerate(chart.labels)}
    found: dict[Brackets, float] = {}
    for brackets in trees(0, n, chart.labels):
        if brackets and brackets[0][:2] == (0, n):
            key = tuple(sorted(brackets))
            assert key not in found
            found[key] = sum(float(chart.potentials[b, e - 1, index[label]]) for b, e, label in brackets)
    return found


def brackets_of(tree: Tree) -> Brackets:
    """Brackets of a tree, chains joined again."""
    found: list[tuple[int, int, str]] = []

    def walk(node: Tree) -> None:
        chain = []
        while not node.is_leaf:
            chain.append(node.label)
            if len(node.children) > 1 or node.children[0].is_leaf:
                break
            node = node.children[0]
        if chain:
            found.append((node.begin, node.end, "::".join(chain)))
        for child in node.children:
            if not child.is_leaf:
                walk(child)

    walk(tree)
    return tuple(sorted(found))


def log_sum(values: list[float]) -> float:
    return float(np.logaddexp.reduce(values))


Scored = tuple[float, tuple[tuple[int, int, int], ...]]  # a score, and (first word, last word, label) of each phrase


def sorted_trees(potentials: AnyFloatArray, k: int) -> list[Scored]:
    """The k best trees of [n, n, labels]: every list keeps its k best entries."""
    n, _, label_count = potentials.shape
    left: dict[tuple[int, int], list[Scored]] = {}
    right: dict[tuple[int, int], list[Scored]] = {}
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width - 1
            pairs = [pair for m in range(i, j) for pair in product(left[i, m], right[m + 1, j])]
            split: list[Scored] = [(a + b, below + beside) for (a, below), (b, beside) in pairs] or [(0.0, ())]
            found = [
                (score + float(potentials[i, j, label]), below + (((i, j, label),) if label else ()))
                for score, below in nlargest(k, split)
                for label in range(label_count)
            ]
            with_label = [entry for entry in found if entry[1] and entry[1][-1][:2] == (i, j)]
            left[i, j] = nlargest(k, found)
            right[i, j] = nlargest(k, with_label if width > 1 or n == 1 else found)
    return right[0, n - 1]
