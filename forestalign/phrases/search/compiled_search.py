"""The search of `search.py` by its compiled twin: what goes into it and what comes out of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.compiled import core
from forestalign.forest import Forest
from forestalign.phrases.scoring.score import Step, Weights
from forestalign.phrases.scoring.seeds import Seeds
from forestalign.phrases.search.hypotheses import AlignedNodes, Bounds, Derivation, Found
from forestalign.phrases.search.prospects import rest_values
from forestalign.phrases.search.region import EdgeId
from forestalign.phrases.search.search import search

STEPS = tuple(Step)


def compiled_search(
    source: Forest, target: Forest, seeds: Seeds, weights: Weights, bounds: Bounds, prunes: bool = True
) -> Found:
    """What `phrases.search.search.search` finds, by the compiled module, or by the plain one where there is none.

    Without `prunes` every combination is built. That finds the same, more slowly, and is for tests.
    """
    compiled = core("phrases.search._search")
    if compiled is None:
        return search(source, target, seeds, weights, bounds)
    seeds.check(source, target)
    sides = forest_side(source), forest_side(target)
    rows, completed, states, beam_cuts, trace_bounds = compiled.search(
        *sides, seeds, weights, bounds, _rest(source, target, seeds, weights, bounds), prunes
    )
    return Found(tuple(map(_derivation, rows)), completed, states, beam_cuts, trace_bounds)


def _rest(source: Forest, target: Forest, seeds: Seeds, weights: Weights, bounds: Bounds) -> FloatArray | None:
    """What open links are worth to prospects; None where beams go by gain alone."""
    if not bounds.prospect_share:
        return None
    return np.ascontiguousarray(bounds.prospect_links * rest_values(source, target, seeds, weights))


def _derivation(row: tuple[Any, ...]) -> Derivation:
    score, pairs, source_edges, target_edges, source_nulls, target_nulls = row
    return Derivation(
        score=score,
        pairs=tuple(AlignedNodes(s, t, STEPS[step], below, share) for s, t, step, below, share in pairs),
        source_edges=tuple(EdgeId(*edge) for edge in source_edges),
        target_edges=tuple(EdgeId(*edge) for edge in target_edges),
        source_nulls=tuple(source_nulls),
        target_nulls=tuple(target_nulls),
    )


def forest_side(forest: Forest) -> Any:
    """The shape of a forest for the compiled core."""
    compiled = core("phrases.search._lca")
    assert compiled is not None
    arrays = forest.arrays
    roots = np.zeros(len(forest), np.uint8)
    roots[arrays.roots] = 1
    return compiled.ForestSide(
        arrays.edge_start,
        arrays.edge_node.astype(np.int32),
        np.ascontiguousarray(arrays.children[:, 0]),
        np.ascontiguousarray(arrays.children[:, 1]),
        arrays.begin,
        arrays.end,
        roots,
    )
