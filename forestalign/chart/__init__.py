"""Charts of span-label potentials, and exact algorithms over the n-ary trees they score.

A chart gives every span and label a log potential, and a tree the sum of the potentials of its spans. Probabilities are
over n-ary trees: the grammar (see `plain`) gives each of them one derivation. The empty label has potential 0, so
spans that are not in the tree add nothing. Chains of unary phrases are one label, joined by `::` as in benepar.

- `potentials`: the chart itself
- `plain`, `plain_kbest`: the algorithms as they are written down; `chart_kernels` chooses between them and the compiled
- `decode`, `best_trees`: the best tree, the k best, the one of least risk
- `expectations`: partition, marginals
"""

from forestalign.chart.best_trees import BestTrees, SharedTrees
from forestalign.chart.decode import kbest, leaves, sample, viterbi
from forestalign.chart.expectations import Inside, inside, inside_outside, log_partition, marginals, outside
from forestalign.chart.potentials import CHAIN, Chart

__all__ = [
    "CHAIN",
    "BestTrees",
    "Chart",
    "Inside",
    "SharedTrees",
    "inside",
    "inside_outside",
    "kbest",
    "leaves",
    "log_partition",
    "marginals",
    "outside",
    "sample",
    "viterbi",
]
