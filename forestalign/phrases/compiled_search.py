"""The search of `search.py` by its compiled twin: what goes into it and what comes out of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from forestalign.compiled import core
from forestalign.forest import Forest
from forestalign.phrases.hypotheses import AlignedNodes, Bounds, Derivation, Found
from forestalign.phrases.region import EdgeId
from forestalign.phrases.score import Step, Weights
from forestalign.phrases.search import search
from forestalign.phrases.seeds import Seeds

STEPS = tuple(Step)


def compiled_search(source: Forest, target: Forest, seeds: Seeds, weights: Weights, bounds: Bounds) -> Found:
    """The same as `forestalign.phrases.search.search`; by that, where there is no compiled core."""
    compiled = core()
    if compiled is None:
        return search(source, target, seeds, weights, bounds)
    seeds.check(source, target)
    sides = forest_side(source, bounds.strict), forest_side(target, bounds.strict)
    rows, completed, states, beam_cuts, trace_bounds = compiled.align_forests(*sides, seeds, weights, bounds)
    return Found(tuple(map(_derivation, rows)), completed, states, beam_cuts, trace_bounds)


def _derivation(row: tuple[Any, ...]) -> Derivation:
    score, pairs, source_edges, target_edges, source_nulls, target_nulls, source_trees, target_trees = row
    return Derivation(
        score=score,
        pairs=tuple(AlignedNodes(s, t, STEPS[step], below, share) for s, t, step, below, share in pairs),
        source_edges=tuple(EdgeId(*edge) for edge in source_edges),
        target_edges=tuple(EdgeId(*edge) for edge in target_edges),
        source_nulls=tuple(source_nulls),
        target_nulls=tuple(target_nulls),
        source_trees=source_trees,
        target_trees=target_trees,
    )


def forest_side(forest: Forest, strict: bool) -> Any:
    """The shape of a forest for the compiled core; with `strict` the trees of each edge, too."""
    compiled = core()
    assert compiled is not None
    arrays = forest.arrays
    roots = np.zeros(len(forest), np.uint8)
    roots[arrays.roots] = 1
    trees = arrays.trees if strict else arrays.trees[:, :0]
    return compiled.ForestSide(
        arrays.edge_start,
        arrays.edge_node.astype(np.int32),
        np.ascontiguousarray(arrays.children[:, 0]),
        np.ascontiguousarray(arrays.children[:, 1]),
        arrays.begin,
        arrays.end,
        roots,
        np.ascontiguousarray(trees).view(np.uint64),
    )
