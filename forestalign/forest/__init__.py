"""Binary packed forests: packing of n-best trees, inside-outside, and the trees back.

- `forest`: nodes, hyperedges, and the same as arrays
- `packing_tables`, `packing`: n-best trees packed into a forest
- `inside_outside`: inside, outside, marginals, the best derivation
- `derivations`: the trees of a forest, one by one
"""

from __future__ import annotations

from forestalign.forest.derivations import best_tree, derivations, enumerate_trees, one_best, tree_of
from forestalign.forest.forest import Forest, ForestArrays, HyperEdge, Node, NodeId
from forestalign.forest.inside_outside import (
    ForestDerivation,
    count_trees,
    edge_marginals,
    inside,
    log_partition,
    log_sum,
    outside,
    viterbi,
    with_marginals,
)
from forestalign.forest.packing import pack, pack_chart

__all__ = [
    "Forest",
    "ForestArrays",
    "ForestDerivation",
    "HyperEdge",
    "Node",
    "NodeId",
    "best_tree",
    "count_trees",
    "derivations",
    "edge_marginals",
    "enumerate_trees",
    "inside",
    "log_partition",
    "log_sum",
    "one_best",
    "outside",
    "pack",
    "pack_chart",
    "tree_of",
    "viterbi",
    "with_marginals",
]
