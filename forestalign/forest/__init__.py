"""Binary packed forests: packing of n-best trees, inside-outside, and the trees back.

- `forest`: nodes, hyperedges, and the same as arrays
- `kernels`: inside, outside and the best derivation over arrays; one source, compiled and plain
- `derivations`: these for a forest, marginals, and its trees one by one
- `packer`, `packing`: n-best trees packed into a forest; the packer has one source, compiled and plain
"""

from __future__ import annotations

from forestalign.forest.derivations import (
    ForestDerivation,
    best_inside,
    best_tree,
    count_trees,
    derivations,
    edge_marginals,
    enumerate_trees,
    inside,
    log_partition,
    log_sum,
    one_best,
    outside,
    tree_of,
    viterbi,
    with_marginals,
)
from forestalign.forest.forest import Forest, ForestArrays, HyperEdge, Node, NodeId
from forestalign.forest.packing import pack, pack_chart

__all__ = [
    "Forest",
    "ForestArrays",
    "ForestDerivation",
    "HyperEdge",
    "Node",
    "NodeId",
    "best_inside",
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
