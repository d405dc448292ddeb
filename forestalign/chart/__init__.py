"""Charts of span-label potentials, and exact algorithms over the n-ary trees they score.

A chart gives every span and label a log potential, and a tree the sum of the potentials of its spans. Probabilities are
over n-ary trees: the grammar (see `kernels`) gives each of them one derivation. The empty label has potential 0, so
spans that are not in the tree add nothing. Chains of unary phrases are one label, joined by `::` as in benepar.

- `chart`: the chart itself, partition, marginals, the k best trees
- `kernels`, `kbest`: the recurrences, lists of the k best entries of every span; one source, compiled and plain
"""

from forestalign.chart.chart import (
    CHAIN,
    BestTrees,
    Chart,
    Inside,
    SharedTrees,
    inside,
    inside_outside,
    kbest,
    log_partition,
    marginals,
    triangle,
)

__all__ = [
    "CHAIN",
    "BestTrees",
    "Chart",
    "Inside",
    "SharedTrees",
    "inside",
    "inside_outside",
    "kbest",
    "log_partition",
    "marginals",
    "triangle",
]
