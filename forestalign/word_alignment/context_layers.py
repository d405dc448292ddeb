"""Profile `best`: what surrounds the two words of a pair, by similarity (CONTEXT) or by the model's belief (BELIEF)."""

from __future__ import annotations

import numpy as np

from forestalign.word_alignment.sides import CONTENT, WINDOW, Array, Side, equal_pairs

STOP_WEIGHT = 0.3  # of similar stop words as neighbours
LONGEST_RUN = 6

CONTEXT = (
    "distance", "both first", "both last", "run", "content run", "long run", "left", "right", "left and right",
    "around", "window", "near", "region", "parents", "parents related", "children", "children related", "crossed",
    "both roots", "pipeline",
)  # fmt: skip
BELIEF = (
    "belief", "left", "right", "left and right", "around", "window", "near", "region", "parents", "parents related",
    "children", "children related", "crossed", "strong rival", "weak rival", "more rest", "less rest", "coverage",
    "best of shorter", "better placed",
)  # fmt: skip


def context_layers(left: Side, right: Side, same_form: Array, similarity: Array, pipeline: Array) -> Array:
    """The layers of CONTEXT, in its order; `pipeline` marks the links of the published pipeline."""
    places = [(np.arange(len(side)) + 0.5) / len(side) for side in (left, right)]
    first, last = np.zeros_like(similarity), np.zeros_like(similarity)
    first[0, 0] = last[-1, -1] = 1.0
    are_content = np.logical_and.outer(left.kinds == CONTENT, right.kinds == CONTENT).astype(np.float32)
    run, content = run_lengths(same_form, same_form * are_content)
    weight = np.where(are_content > 0, 1.0, STOP_WEIGHT).astype(np.float32)
    near, related = _surroundings(left, right, similarity * weight), _relatives(left, right, similarity)
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


def run_lengths(same: Array, weight: Array) -> tuple[Array, Array]:
    """Length of the common run through each pair along its diagonal, and the weight inside that run."""
    totals = np.zeros((2, *same.shape), dtype=np.float32)
    places = {(i, j) for i, j in np.argwhere(same).tolist()}
    for i, j in places:
        if (i - 1, j - 1) in places:
            continue  # inside a run that began earlier
        end = 1
        while (i + end, j + end) in places:
            end += 1
        steps = np.arange(end)
        totals[0, i + steps, j + steps] = end
        totals[1, i + steps, j + steps] = weight[i + steps, j + steps].sum()
    return totals[0], totals[1]


def _surroundings(left: Side, right: Side, values: Array) -> list[Array]:
    """Neighbours on the left and on the right (sentence ends count 1), near ones in step, and content words near by."""
    padded = np.zeros(np.add(values.shape, 2 * WINDOW), dtype=np.float32)
    padded[WINDOW:-WINDOW, WINDOW:-WINDOW] = values
    padded[WINDOW - 1, WINDOW - 1] = padded[-WINDOW, -WINDOW] = 1.0
    rows, columns = values.shape

    def shifted(step: int) -> Array:
        return padded[WINDOW + step : WINDOW + step + rows, WINDOW + step : WINDOW + step + columns]

    around = sum((shifted(step) for step in (-3, -2, 2, 3)), np.zeros_like(values)) / 4.0
    window = _capped(_carried(left.window, values, right.window.T), 4.0)
    near = np.log1p(_carried(left.near, values, right.near.T))
    region = np.log1p(_carried(left.region, values, right.region.T))
    return [shifted(-1), shifted(1), shifted(-1) * shifted(1), around, window, near, region]


def _relatives(left: Side, right: Side, values: Array) -> list[Array]:
    """Parents, children, and a parent on one side with a child on the other; "related": in the same relation."""
    in_relation = equal_pairs(left.relations, right.relations).astype(np.float32)
    parents = _carried(left.parent, values, right.parent.T)
    children = _capped(_carried(left.parent.T, values, right.parent), 3.0)
    children_related = _capped(_carried(left.parent.T, values * in_relation, right.parent), 3.0)
    upward, downward = _carried(left.parent, values, right.parent), _carried(left.parent.T, values, right.parent.T)
    return [parents, parents * in_relation, children, children_related, _capped(upward + downward, 2.0)]


def _carried(left: Array, values: Array, right: Array) -> Array:
    """Values of pairs of words carried over to the pairs that the two matrices join with them."""
    result: Array = (left @ values @ right).astype(np.float32, copy=False)
    return result


def _capped(values: Array, top: float) -> Array:
    """Values from 0 to 1: `top` and more count 1."""
    result: Array = (np.minimum(values, top) / top).astype(np.float32, copy=False)
    return result


def belief_layers(left: Side, right: Side, belief: Array) -> Array:
    """The layers of BELIEF, in its order; rivals are other partners of either word."""
    row_rival, column_rival = _rival(belief), _rival(belief.T).T
    rest = [belief.sum(axis, keepdims=True) - belief - rival for axis, rival in ((1, row_rival), (0, column_rival))]
    both = [np.minimum(np.maximum(value, 0.0), 2.0) for value in rest]
    near, related = _surroundings(left, right, belief), _relatives(left, right, belief)
    rivals = [np.maximum(row_rival, column_rival), np.minimum(row_rival, column_rival)]
    rests = [np.maximum(*both), np.minimum(*both)]
    coverage = np.full_like(belief, _coverage(left, right, belief))
    return np.stack(
        [belief, *near, *related, *rivals, *rests, coverage, _best_of_shorter(belief), _better_placed(belief, near[-1])]
    )


def _coverage(left: Side, right: Side, belief: Array) -> float:
    """How much of the content of the better covered sentence has a partner."""
    shares = []
    for side, best in ((left, belief.max(1)), (right, belief.max(0))):
        is_content = side.kinds == CONTENT
        shares.append(float(best[is_content].mean()) if is_content.any() else 0.0)
    return max(shares)


def _best_of_shorter(belief: Array) -> Array:
    """1 where a pair is the best one of its word in the shorter sentence (half a point a side in equal ones)."""
    rows, columns = belief.shape
    by_row, by_column = belief >= belief.max(1, keepdims=True), belief >= belief.max(0, keepdims=True)
    row_share = 1.0 if rows < columns else 0.5 if rows == columns else 0.0
    result: Array = (row_share * by_row + (1.0 - row_share) * by_column).astype(np.float32)
    return result


def _better_placed(belief: Array, region: Array) -> Array:
    """How the support from the region compares with that of the rivals: at least as good 1, else the ratio."""
    weighted = np.where(belief > 0.1, region, 0.0) + 1e-3
    best = np.maximum(weighted.max(0, keepdims=True), weighted.max(1, keepdims=True))
    result: Array = np.minimum((region + 1e-3) / best, 1.0).astype(np.float32)
    return result


def _rival(belief: Array) -> Array:
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
