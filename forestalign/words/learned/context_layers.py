"""Profile `best`: what surrounds the two words of a pair, by similarity (CONTEXT) or by the model's belief (BELIEF)."""

from __future__ import annotations

import math

import numpy as np

from forestalign.arrays import ByteArray, Float32Array
from forestalign.compiled import core
from forestalign.words.learned.sides import CONTENT, NEAR, REGION, WINDOW, WordSide, equal_pairs

STOP_WEIGHT = 0.3  # of similar stop words as neighbours
LONGEST_RUN = 6
# sums above these count as much as these
MOST_AROUND, MOST_IN_WINDOW, MOST_CHILDREN, MOST_CROSSED, MOST_REST = 4.0, 4.0, 3.0, 2.0, 2.0
CREDIBLE = 0.1  # a pair of less belief is nobody's rival for the support from the region
LEAST_SUPPORT = 1e-3

SURROUNDINGS = ("left", "right", "left and right", "around", "window", "near", "region")
RELATIVES = ("parents", "parents related", "children", "children related", "crossed")
RIVALS = ("strong rival", "weak rival", "more rest", "less rest")
RUNS = ("length", "weight")
CONTEXT = (
    "distance", "both first", "both last", "run", "content run", "long run", *SURROUNDINGS, *RELATIVES, "both roots",
    "pipeline",
)  # fmt: skip
BELIEF = ("belief", *SURROUNDINGS, *RELATIVES, *RIVALS, "coverage", "best of shorter", "better placed")

NEAR_FALL, REGION_FALL = math.exp(-1 / NEAR), math.exp(-1 / REGION)


def context_layers(
    left: WordSide,
    right: WordSide,
    same_form: Float32Array,
    similarity: Float32Array,
    pipeline: Float32Array,
    plain: bool = False,
) -> Float32Array:
    """The layers of CONTEXT, in its order; `pipeline` marks the links of the published pipeline."""
    compiled = core("words.learned._context_layers", plain)
    if compiled is None:
        return _context_layers(left, right, same_form, similarity, pipeline)
    layers: Float32Array = compiled.context_layers(
        same_form, similarity, pipeline, left.around, right.around, in_relation(left, right), NEAR_FALL, REGION_FALL
    )
    return layers


def in_relation(left: WordSide, right: WordSide) -> ByteArray:
    """Which words stand in the same relation to their parents."""
    return equal_pairs(left.relations, right.relations).view(np.uint8)


def _context_layers(
    left: WordSide, right: WordSide, same_form: Float32Array, similarity: Float32Array, pipeline: Float32Array
) -> Float32Array:
    places = [(np.arange(len(side)) + 0.5) / len(side) for side in (left, right)]
    first, last = np.zeros_like(similarity), np.zeros_like(similarity)
    first[0, 0] = last[-1, -1] = 1.0
    are_content = np.logical_and.outer(left.kinds == CONTENT, right.kinds == CONTENT).astype(np.float32)
    run, content = run_lengths(same_form, same_form * are_content, True)
    weight = np.where(are_content > 0, 1.0, STOP_WEIGHT).astype(np.float32)
    near, related = surroundings(left, right, similarity * weight, True), relatives(left, right, similarity, True)
    return np.stack(
        [
            np.abs(np.subtract.outer(*places)).astype(np.float32),
            first,
            last,
            (run >= 2).astype(np.float32),
            ((run >= 2) & (content >= 1)).astype(np.float32),
            np.minimum(run, LONGEST_RUN) / LONGEST_RUN,
            *near,
            *related,
            np.multiply.outer(left.is_root, right.is_root),
            pipeline,
        ]
    )


# ---- by the compiled core, or by the plain twins ----


def run_lengths(same: Float32Array, weight: Float32Array, plain: bool = False) -> Float32Array:
    """Length of the common run through each pair along its diagonal, and the weight inside that run."""
    compiled = core("words.learned._context_layers", plain)
    totals: Float32Array = compiled.run_lengths(same, weight) if compiled else _run_lengths(same, weight)
    return totals


def surroundings(left: WordSide, right: WordSide, values: Float32Array, plain: bool = False) -> Float32Array:
    """Neighbours on the left and on the right (sentence ends count 1), near ones in step, and content words near by."""
    compiled = core("words.learned._context_layers", plain)
    if compiled is None:
        return np.stack(_surroundings(left, right, values))
    are_content = [side.is_content.view(np.uint8) for side in (left, right)]
    layers: Float32Array = compiled.surroundings(values, *are_content, WINDOW, NEAR_FALL, REGION_FALL)
    return layers


def relatives(left: WordSide, right: WordSide, values: Float32Array, plain: bool = False) -> Float32Array:
    """Parents, children, and a parent on one side with a child on the other; "related": in the same relation."""
    compiled, are_related = core("words.learned._context_layers", plain), in_relation(left, right)
    if compiled is None:
        return np.stack(_relatives(left, right, values, are_related.astype(np.float32)))
    layers: Float32Array = compiled.relatives(values, are_related, left.heads, right.heads)
    return layers


def rivals(belief: Float32Array, plain: bool = False) -> Float32Array:
    """The largest belief in another partner of either word, and what the others have besides it, from 0 to 2."""
    compiled = core("words.learned._context_layers", plain)
    layers: Float32Array = compiled.rivals(belief) if compiled else _rivals(belief)
    return layers


# ---- plain twins of `_context_layers.pyx` ----


def _run_lengths(same: Float32Array, weight: Float32Array) -> Float32Array:
    totals = np.zeros((2, *same.shape), dtype=np.float32)
    rows, columns = same.nonzero()
    place = {pair: number for number, pair in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))}
    weights = weight[rows, columns].tolist()
    values = np.zeros((2, len(place)), dtype=np.float32)
    for (i, j), begin in place.items():
        if (i - 1, j - 1) in place:
            continue  # inside a run that began earlier
        run, end = [begin], 1
        while (following := place.get((i + end, j + end))) is not None:
            run.append(following)
            end += 1
        values[:, run] = [[end], [sum([weights[number] for number in run])]]
    totals[:, rows, columns] = values
    return totals


def _surroundings(left: WordSide, right: WordSide, values: Float32Array) -> list[Float32Array]:
    padded = np.zeros(np.add(values.shape, 2 * WINDOW), dtype=np.float32)
    padded[WINDOW:-WINDOW, WINDOW:-WINDOW] = values
    padded[WINDOW - 1, WINDOW - 1] = padded[-WINDOW, -WINDOW] = 1.0
    rows, columns = values.shape

    def shifted(step: int) -> Float32Array:
        return padded[WINDOW + step : WINDOW + step + rows, WINDOW + step : WINDOW + step + columns]

    around = sum((shifted(step) for step in (-3, -2, 2, 3)), np.zeros_like(values)) / MOST_AROUND
    window = _capped(_carried(left.window, values, right.window.T), MOST_IN_WINDOW)
    near = np.log1p(_carried(left.near, values, right.near.T))
    region = np.log1p(_carried(left.region, values, right.region.T))
    return [shifted(-1), shifted(1), shifted(-1) * shifted(1), around, window, near, region]


def _relatives(left: WordSide, right: WordSide, values: Float32Array, in_relation: Float32Array) -> list[Float32Array]:
    parents = _carried(left.parent, values, right.parent.T)
    children = _capped(_carried(left.parent.T, values, right.parent), MOST_CHILDREN)
    children_related = _capped(_carried(left.parent.T, values * in_relation, right.parent), MOST_CHILDREN)
    upward, downward = _carried(left.parent, values, right.parent), _carried(left.parent.T, values, right.parent.T)
    return [parents, parents * in_relation, children, children_related, _capped(upward + downward, MOST_CROSSED)]


def _carried(left: Float32Array, values: Float32Array, right: Float32Array) -> Float32Array:
    """Values of pairs of words carried over to the pairs that the two matrices join with them."""
    result: Float32Array = (left @ values @ right).astype(np.float32, copy=False)
    return result


def _capped(values: Float32Array, top: float) -> Float32Array:
    """Values from 0 to 1: `top` and more count 1."""
    result: Float32Array = (np.minimum(values, top) / top).astype(np.float32, copy=False)
    return result


def _rivals(belief: Float32Array) -> Float32Array:
    row_rival, column_rival = _rival(belief), _rival(belief.T).T
    rest = [belief.sum(axis, keepdims=True) - belief - rival for axis, rival in ((1, row_rival), (0, column_rival))]
    both = [np.minimum(np.maximum(value, 0.0), MOST_REST) for value in rest]
    strong, weak = np.maximum(row_rival, column_rival), np.minimum(row_rival, column_rival)
    return np.stack([strong, weak, np.maximum(*both), np.minimum(*both)])


def _rival(belief: Float32Array) -> Float32Array:
    """The largest value in the row of each pair but for its own."""
    if belief.shape[1] == 1:
        return np.zeros_like(belief)
    top = np.argmax(belief, axis=1)
    rows = np.arange(len(belief))
    largest = belief[rows, top]
    others = belief.copy()
    others[rows, top] = -1.0
    result = np.repeat(largest[:, None], belief.shape[1], axis=1)
    result[rows, top] = others.max(axis=1)
    return result


# ---- the model's own belief ----


def belief_layers(left: WordSide, right: WordSide, belief: Float32Array, plain: bool = False) -> Float32Array:
    """The layers of BELIEF, in its order; rivals are other partners of either word."""
    compiled, coverage = core("words.learned._context_layers", plain), _coverage(left, right, belief)
    if compiled is not None:
        layers: Float32Array = compiled.belief_layers(
            belief, coverage, left.around, right.around, in_relation(left, right), NEAR_FALL, REGION_FALL
        )
        return layers
    near, related = surroundings(left, right, belief, True), relatives(left, right, belief, True)
    alone = [np.full_like(belief, coverage), _best_of_shorter(belief), _better_placed(belief, near[-1])]
    return np.concatenate([belief[None], near, related, rivals(belief, True), np.stack(alone)])


def _coverage(left: WordSide, right: WordSide, belief: Float32Array) -> float:
    """How much of the content of the better covered sentence has a partner."""
    shares = []
    for side, best in ((left, belief.max(1)), (right, belief.max(0))):
        covered = best[side.is_content]
        shares.append(float(covered.mean()) if len(covered) else 0.0)
    return max(shares)


def _best_of_shorter(belief: Float32Array) -> Float32Array:
    """1 where a pair is the best one of its word in the shorter sentence (half a point per side in equal ones)."""
    rows, columns = belief.shape
    by_row, by_column = belief >= belief.max(1, keepdims=True), belief >= belief.max(0, keepdims=True)
    row_share = 1.0 if rows < columns else 0.5 if rows == columns else 0.0
    result: Float32Array = (row_share * by_row + (1.0 - row_share) * by_column).astype(np.float32)
    return result


def _better_placed(belief: Float32Array, region: Float32Array) -> Float32Array:
    """How the support from the region compares with that of the rivals: at least as good 1, else the ratio."""
    weighted = np.where(belief > CREDIBLE, region, 0.0) + LEAST_SUPPORT
    best = np.maximum(weighted.max(0, keepdims=True), weighted.max(1, keepdims=True))
    result: Float32Array = np.minimum((region + LEAST_SUPPORT) / best, 1.0).astype(np.float32)
    return result
