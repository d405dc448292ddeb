"""The fast twin of `forestalign.search`: the same beam search over arrays and bit sets, compiled by numba.

What differs is only how things are kept. A hypothesis is a row: some numbers, and one row of bits for its linked target
words, its opened target nodes and its opened target edges. Two derivations agree when they share as many opened nodes
as opened edges. A pair survives a non-compositional step exactly when its target holds no word linked by the other
hypothesis, so nothing needs to be unpacked: the pairs of a hypothesis are found again from its back-pointers.
`cube` > 0 visits only combinations (a, b) of two ranked pools with (a+1)(b+1) <= cube (cube pruning without a queue).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint64]

# columns of a hypothesis
(
    SOURCE, TARGET, STEP, WORD_COUNT, EDGE, LEFT, RIGHT, LEFT_ENTRY, RIGHT_ENTRY, ORIGIN, SOURCE_TREES, TARGET_TREES,
    HYP_COLUMNS,
) = range(13)  # fmt: skip
PAIRS, SOURCE_VALUE, TARGET_VALUE, HYP_VALUES = range(4)
# columns of a pool entry and of a way up the target forest
HYP, STEPS, WAY_EDGE, PREVIOUS, TREES, WAY_COLUMNS = range(6)
TOP = HYP
# steps; PHRASE_SEED and above are opaque
SEED_STEP, STRAIGHT, INVERTED, NON_COMPOSITIONAL, PHRASE_SEED, LIFT, COMPLETION = range(7)
# columns of a meeting
MEET_NODE, MEET_EDGE, MEET_ONE, MEET_OTHER, MEET_TREES, MEET_COLUMNS = range(6)
# columns of a candidate
KIND, NODE, ONE, OTHER, DETAIL, SOURCE_EDGE, CAND_COLUMNS = range(7)
GAIN, CAND_PAIRS, CAND_SOURCE, CAND_TARGET, CAND_VALUES = range(5)


class Side(NamedTuple):
    """One forest as arrays. Edge e builds node head[e] from left[e] and right[e] (-1: none)."""

    edge_start: Ints
    head: Ints
    left: Ints
    right: Ints
    edge_value: Floats
    edge_trees: Ints
    null_value: Floats
    begin: Ints
    end: Ints
    is_leaf: npt.NDArray[np.bool_]
    is_root: npt.NDArray[np.bool_]
    parent_start: Ints
    parent_edge: Ints


class SeedRows(NamedTuple):
    """Seed hypotheses, sorted by source node; `start` gives the rows of each node."""

    start: Ints
    numbers: Ints  # [seeds, HYP_COLUMNS]
    values: Floats  # [seeds, HYP_VALUES]
    bits: Bits  # [seeds, words + nodes + edges]


class Limits(NamedTuple):
    beam: int
    gap: int
    paths: int
    variants: int
    cube: int
    monotonic: bool
    lifts: bool
    strict: bool
    noncompositional: float
    pair_null_word: float
    pair_constant: float


# of a fixed width: every literal that is handed on would be compiled as a type of its own
UNLIMITED = np.int64(1 << 30)
ZERO = np.int64(0)
NONE = np.int64(-1)
KNOWN_MEETINGS = 65_521  # places of the table of meetings; a pair that takes the place of another is met again later

# what compiled code alone calls has no door for Python and C, which takes time to compile
_NO_DOORS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_inner = njit(cache=True, **_NO_DOORS)


@_inner
def _popcount(x):
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@_inner
def _has(row, offset, index):
    return (row[offset + (index >> 6)] >> np.uint64(index & 63)) & np.uint64(1) != 0


@_inner
def _put(row, offset, index):
    row[offset + (index >> 6)] |= np.uint64(1) << np.uint64(index & 63)


@_inner
def _touches(row, begin, end):
    """Is one of the words begin..end-1 among the first bits of the row?"""
    for word in range(begin >> 6, ((end - 1) >> 6) + 1):
        mask = np.uint64(0xFFFFFFFFFFFFFFFF)
        if word == begin >> 6:
            mask &= np.uint64(0xFFFFFFFFFFFFFFFF) << np.uint64(begin & 63)
        if word == (end - 1) >> 6:
            mask &= np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(63 - ((end - 1) & 63))
        if row[word] & mask != 0:
            return True
    return False


# Rows are copied by loops: an assignment between slices makes numba compile its shape checks, which takes seconds.


@_inner
def _copy(row, other):
    for k in range(other.shape[0]):
        row[k] = other[k]


@_inner
def _grown_2d(array, count):
    if count <= array.shape[0]:
        return array
    bigger = np.zeros((max(count, 2 * array.shape[0]), array.shape[1]), array.dtype)
    for k in range(array.shape[0]):
        _copy(bigger[k], array[k])
    return bigger


@_inner
def _grown_1d(array, count):
    if count <= array.shape[0]:
        return array
    bigger = np.zeros(max(count, 2 * array.shape[0]), array.dtype)
    _copy(bigger, array)
    return bigger


@_inner
def _falling(values, count):
    """Indices of the first values from high to low; equal ones keep their order.

    A merge sort of our own: to compile numpy's takes two seconds.
    """
    order, other = np.arange(count), np.empty(count, np.int64)
    width = 1
    while width < count:
        for begin in range(0, count, 2 * width):
            middle, end = min(begin + width, count), min(begin + 2 * width, count)
            i, j = begin, middle
            for k in range(begin, end):
                if i < middle and (j >= end or values[order[i]] >= values[order[j]]):
                    other[k] = order[i]
                    i += 1
                else:
                    other[k] = order[j]
                    j += 1
        order, other = other, order
        width *= 2
    return order


@_inner
def climb_all(side, limit, paths):
    """Ways up from every node, at most `limit` steps: rows sorted by top, best first; starts per node."""
    count = side.null_value.shape[0]
    start = np.zeros(count + 1, np.int64)
    ways = np.zeros((4 * count, WAY_COLUMNS), np.int64)
    values = np.zeros(4 * count, np.float64)
    used = 0
    rough = np.zeros((64, WAY_COLUMNS + 1), np.int64)  # the last column links the entries of one top
    rough_value = np.zeros(64, np.float64)
    first = np.full(count, -1, np.int64)
    for node in range(count):
        start[node] = used
        rough_count = 1
        rough[0, TOP], rough[0, STEPS], rough[0, WAY_EDGE], rough[0, PREVIOUS] = node, 0, -1, -1
        rough[0, TREES], rough[0, WAY_COLUMNS] = -1, -1
        rough_value[0] = 0.0
        first[node] = 0
        highest = node
        top = node
        while top <= highest:
            entry = first[top]
            first[top] = -1
            size = 0
            walk = entry
            while walk >= 0:
                size += 1
                walk = rough[walk, WAY_COLUMNS]
            taken = 0
            begin = used
            while entry >= 0 and taken < size and (paths == 0 or taken < paths):
                # the best entry left; lists are short
                best, walk = -1, entry
                while walk >= 0:
                    if rough[walk, STEPS] >= 0 and (
                        best < 0
                        or rough_value[walk] > rough_value[best]
                        or (rough_value[walk] == rough_value[best] and rough[walk, STEPS] < rough[best, STEPS])
                    ):
                        best = walk
                    walk = rough[walk, WAY_COLUMNS]
                ways = _grown_2d(ways, used + 1)
                values = _grown_1d(values, used + 1)
                _copy(ways[used], rough[best, :WAY_COLUMNS])
                values[used] = rough_value[best]
                rough[best, STEPS] = -1
                used += 1
                taken += 1
            for row in range(begin, used):
                for p in range(side.parent_start[top], side.parent_start[top + 1]):
                    edge = side.parent_edge[p]
                    sibling = side.right[edge] if side.left[edge] == top else side.left[edge]
                    steps = ways[row, STEPS] + (1 if sibling >= 0 else 0)
                    if steps > limit:
                        continue
                    head = side.head[edge]
                    rough = _grown_2d(rough, rough_count + 1)
                    rough_value = _grown_1d(rough_value, rough_count + 1)
                    rough[rough_count, TOP] = head
                    rough[rough_count, STEPS] = steps
                    rough[rough_count, WAY_EDGE] = edge
                    rough[rough_count, PREVIOUS] = row
                    rough[rough_count, TREES] = ways[row, TREES] & side.edge_trees[edge]
                    rough[rough_count, WAY_COLUMNS] = first[head]
                    rough_value[rough_count] = (
                        values[row] + side.edge_value[edge] + (side.null_value[sibling] if sibling >= 0 else 0.0)
                    )
                    first[head] = rough_count
                    rough_count += 1
                    highest = max(highest, head)
            top += 1
    start[count] = used
    return start, ways[:used], values[:used]


@_inner
def _rows_of_top(start, ways, node, top):
    """First and last row of the ways from `node` to `top`."""
    low, high = start[node], start[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if ways[middle, TOP] < top:
            low = middle + 1
        else:
            high = middle
    last = low
    while last < start[node + 1] and ways[last, TOP] == top:
        last += 1
    return low, last


@_inner
def _meet(side, start, ways, values, one, other, paths, meets, meet_values, used):
    """Append the lowest common ancestors of two disjoint nodes; returns the grown arrays and the new count."""
    begin = used
    for row in range(start[one], start[one + 1]):
        top = ways[row, TOP]
        for p in range(side.parent_start[top], side.parent_start[top + 1]):
            edge = side.parent_edge[p]
            sibling = side.right[edge] if side.left[edge] == top else side.left[edge]
            if sibling < 0 or side.begin[sibling] > side.begin[other] or side.end[sibling] < side.end[other]:
                continue
            low, last = _rows_of_top(start, ways, other, sibling)
            for back in range(low, last):
                meets = _grown_2d(meets, used + 1)
                meet_values = _grown_1d(meet_values, used + 1)
                meets[used, MEET_NODE] = side.head[edge]
                meets[used, MEET_EDGE] = edge
                meets[used, MEET_ONE] = row
                meets[used, MEET_OTHER] = back
                meets[used, MEET_TREES] = ways[row, TREES] & ways[back, TREES] & side.edge_trees[edge]
                meet_values[used] = values[row] + values[back] + side.edge_value[edge]
                used += 1
    if paths > 0 and used - begin > paths:
        kept = begin
        order = _falling(meet_values[begin:], used - begin)
        rows, row_values = meets[begin:used].copy(), meet_values[begin:used].copy()
        for k in order:
            same = 0
            for before in range(begin, kept):
                same += meets[before, MEET_NODE] == rows[k, MEET_NODE]
            if same < paths:
                _copy(meets[kept], rows[k])
                meet_values[kept] = row_values[k]
                kept += 1
        used = kept
    return meets, meet_values, used


@_inner
def _surviving(hyps, hyp_values, bits, side, word_count, top, forbidden, stack, stack_bits):
    """Value of the pairs of `top` whose target holds no forbidden word; NaN when an opaque pair would dissolve."""
    total = 0.0
    depth = 1
    stack[0] = top
    _copy(stack_bits[0], forbidden[:word_count])
    while depth > 0:
        depth -= 1
        h = stack[depth]
        y = hyps[h, TARGET]
        if not _touches(stack_bits[depth], side.begin[y], side.end[y]):
            total += hyp_values[h, PAIRS]
            continue
        if hyps[h, STEP] >= PHRASE_SEED or hyps[h, LEFT] < 0:
            return np.nan
        left, right = hyps[h, LEFT], hyps[h, RIGHT]
        is_nested = hyps[h, STEP] == NON_COMPOSITIONAL
        if depth + 2 > stack.shape[0]:
            return np.nan
        for w in range(word_count):
            mask = stack_bits[depth, w]
            stack_bits[depth, w] = mask | (bits[right, w] if is_nested else np.uint64(0))
            stack_bits[depth + 1, w] = mask | (bits[left, w] if is_nested else np.uint64(0))
        stack[depth], stack[depth + 1] = left, right
        depth += 2
    return total


@_inner
def _opened_value(side, row, words, nodes):
    """Value of the target side of a row of bits: its edges, and the children that are neither opened nor linked."""
    total = 0.0
    edges = words + nodes
    for block in range(edges, row.shape[0]):
        rest = row[block]
        while rest != 0:
            low = rest & (~rest + np.uint64(1))
            edge = ((block - edges) << 6) + _popcount(low - np.uint64(1))
            rest ^= low
            total += side.edge_value[edge]
            for child in (side.left[edge], side.right[edge]):
                if child < 0 or _has(row, words, child):
                    continue
                if not (side.is_leaf[child] and _has(row, 0, side.begin[child])):
                    total += side.null_value[child]
    return total


@_inner
def _add_way(side, row, words, nodes, ways, entry):
    """Put the edges of a way up into a row of bits."""
    while entry >= 0 and ways[entry, WAY_EDGE] >= 0:
        edge = ways[entry, WAY_EDGE]
        _put(row, words + nodes, edge)
        _put(row, words, side.head[edge])
        entry = ways[entry, PREVIOUS]


@_inner
def _locate(side, bits, words, nodes, outer, outer_node, inner_node):
    """Follow the outer derivation down to the inner node: the node found there, -1 when it is not in this tree."""
    z = outer_node
    while z != inner_node:
        if not _has(bits[outer], words, z):
            return z if not side.is_leaf[z] else -1
        chosen = -1
        for edge in range(side.edge_start[z], side.edge_start[z + 1]):
            if _has(bits[outer], words + nodes, edge):
                chosen = edge
                break
        below = -1
        for child in (side.left[chosen], side.right[chosen]):
            if child >= 0 and side.begin[child] <= side.begin[inner_node] and side.end[inner_node] <= side.end[child]:
                below = child
        if below < 0:
            return -1
        z = below
    return z


@_inner
def _agree(bits, words, nodes, one, other):
    """Same-Tree: every node that both opened is built by the same edge; and no target word is linked twice."""
    for w in range(words):
        if bits[one, w] & bits[other, w] != 0:
            return False
    shared = 0
    for w in range(words, words + nodes):
        shared += _popcount(bits[one, w] & bits[other, w])
    for w in range(words + nodes, bits.shape[1]):
        shared -= _popcount(bits[one, w] & bits[other, w])
    return shared == 0


@_inner
def _select(numbers, values, words, count, word_count, keep, variants):
    """Indices of the best candidates by gain, not too many alike (same target phrase and words)."""
    order = _falling(values[:count, GAIN].copy(), count)
    chosen = np.empty(min(count, keep), np.int64)
    used = 0
    for k in order:
        if used >= keep:
            break
        if variants > 0:
            alike = 0
            for other in chosen[:used]:
                if numbers[other, NODE] == numbers[k, NODE]:
                    same = True
                    for w in range(word_count):
                        same = same and words[other, w] == words[k, w]
                    alike += same
            if alike >= variants:
                continue
        chosen[used] = k
        used += 1
    return chosen[:used]


@_inner
def _room(cands, cand_values, cand_words, count):
    """The candidate tables with room for one more."""
    return _grown_2d(cands, count + 1), _grown_2d(cand_values, count + 1), _grown_2d(cand_words, count + 1)


@_inner
def _fill(cand, values, kind, node, one, other, detail, edge, gain, pairs, source_value, target_value):
    """Write one candidate."""
    cand[KIND], cand[NODE], cand[ONE], cand[OTHER] = kind, node, one, other
    cand[DETAIL], cand[SOURCE_EDGE] = detail, edge
    values[GAIN], values[CAND_PAIRS] = gain, pairs
    values[CAND_SOURCE], values[CAND_TARGET] = source_value, target_value


@_inner
def _either(row, one, other):
    for k in range(row.shape[0]):
        row[k] = one[k] | other[k]


@_inner
def _bit_count(row, count):
    total = 0
    for k in range(count):
        total += _popcount(row[k])
    return total


@_inner
def _keep(cands, cand_values, cand_words, chosen):
    """Move the chosen candidates to the front, in their order."""
    rows, row_values, row_words = cands[chosen], cand_values[chosen], cand_words[chosen]
    for k in range(len(chosen)):
        _copy(cands[k], rows[k])
        _copy(cand_values[k], row_values[k])
        _copy(cand_words[k], row_words[k])


@_inner
def _add_pool(pools, pool_values, pool_count, rough, rough_values, size, beam):
    """Append the best of a node's pool; returns the grown tables and the new count."""
    order = _falling(rough_values[:size, 1].copy(), size)
    kept = min(size, beam)
    pools = _grown_2d(pools, pool_count + kept)
    pool_values = _grown_1d(pool_values, pool_count + kept)
    for k in order[:kept]:
        _copy(pools[pool_count], rough[k])
        pool_values[pool_count] = rough_values[k, 0]
        pool_count += 1
    return pools, pool_values, pool_count


@njit(cache=True)
def run(source, target, pair, seeds, limits, words, nodes, width):
    """The search. `words`, `nodes` and `width` are the numbers of 64-bit blocks of words, of nodes and of a whole row.

    Returns hypotheses (numbers, values, bits), pool entries, ways up the target, meetings, the root hypotheses by
    falling score, whether they were completed, and the counts of states and beam cuts.

    One long function on purpose: its arrays grow, and a grown array can only be bound again where it lives.
    """
    source_count = source.null_value.shape[0]
    near_start, near, near_value = climb_all(target, limits.gap - 1, limits.paths)
    lift_start, lift, lift_value = climb_all(target, limits.gap if limits.lifts else ZERO, limits.paths)
    far_start, far, far_value = climb_all(target, UNLIMITED, limits.paths)

    hyps = np.zeros((1024, HYP_COLUMNS), np.int64)
    hyp_values = np.zeros((1024, HYP_VALUES), np.float64)
    bits = np.zeros((1024, width), np.uint64)
    beam_start = np.zeros(source_count + 1, np.int64)
    hyp_count = ZERO
    pools = np.zeros((1024, WAY_COLUMNS), np.int64)
    pool_values = np.zeros(1024, np.float64)
    pool_start = np.zeros(2 * source_count + 3, np.int64)
    pool_count = ZERO
    meets = np.zeros((1024, MEET_COLUMNS), np.int64)
    meet_values = np.zeros(1024, np.float64)
    meet_count = ZERO
    known_keys = np.full(KNOWN_MEETINGS, -1, np.int64)
    known_rows = np.zeros(KNOWN_MEETINGS, np.int64)
    cands = np.zeros((1024, CAND_COLUMNS), np.int64)
    cand_values = np.zeros((1024, CAND_VALUES), np.float64)
    cand_words = np.zeros((1024, words), np.uint64)
    rough = np.zeros((256, WAY_COLUMNS), np.int64)
    rough_values = np.zeros((256, 2), np.float64)
    stack = np.zeros(512, np.int64)
    stack_bits = np.zeros((512, words), np.uint64)
    row = np.zeros(width, np.uint64)
    states = beam_cuts = 0
    beam = limits.beam if limits.beam > 0 else UNLIMITED
    completed = False

    # pass 0: bottom-up; pass 1: the roots again without a gap; pass 2: completion
    for phase in range(3):
        if phase == 1:
            near_start, near, near_value = far_start, far, far_value
            for k in range(KNOWN_MEETINGS):
                known_keys[k] = -1
        gap = limits.gap if phase == 0 else UNLIMITED
        base = ZERO if phase == 0 else source_count + 1
        root_first = hyp_count
        if phase == 1:
            # pools without a limit, over the finished beams
            for node in range(source_count):
                pool_start[base + node] = pool_count
                rough, rough_values, size = _pool(
                    node, base, source, target, hyps, hyp_values, beam_start, pools, pool_values, pool_start,
                    rough, rough_values, UNLIMITED, limits.strict,
                )  # fmt: skip
                pools, pool_values, pool_count = _add_pool(
                    pools, pool_values, pool_count, rough, rough_values, size, beam
                )
                pool_start[base + node + 1] = pool_count
        for node in range(source_count):
            if phase > 0 and not source.is_root[node]:
                continue
            count = ZERO
            if phase == 0:
                beam_start[node] = hyp_count
                for s in range(seeds.start[node], seeds.start[node + 1]):
                    cands, cand_values, cand_words = _room(cands, cand_values, cand_words, count)
                    y = seeds.numbers[s, TARGET]
                    pairs, source_value, target_value = seeds.values[s, 0], seeds.values[s, 1], seeds.values[s, 2]
                    gain = pairs + source_value + target_value - target.null_value[y]
                    _fill(
                        cands[count], cand_values[count], np.int64(SEED_STEP), y, NONE, NONE, s, NONE,
                        gain, pairs, source_value, target_value,
                    )  # fmt: skip
                    _copy(cand_words[count], seeds.bits[s, :words])
                    count += 1
            threshold = -np.inf
            for edge in range(source.edge_start[node], source.edge_start[node + 1]):
                left, right = source.left[edge], source.right[edge]
                if phase < 2 and right >= 0:
                    for one in range(pool_start[base + left], pool_start[base + left + 1]):
                        rank = one - pool_start[base + left] + 1
                        a = pools[one, HYP]
                        ya = hyps[a, TARGET]
                        for other in range(pool_start[base + right], pool_start[base + right + 1]):
                            if limits.cube > 0 and rank * (other - pool_start[base + right] + 1) > limits.cube:
                                break
                            trees = pools[one, TREES] & pools[other, TREES] & source.edge_trees[edge]
                            if limits.strict and trees == 0:
                                continue
                            states += 1
                            b = pools[other, HYP]
                            yb = hyps[b, TARGET]
                            source_value = pool_values[one] + pool_values[other] + source.edge_value[edge]
                            null_words = source.end[node] - source.begin[node] - hyps[a, WORD_COUNT]
                            null_words -= hyps[b, WORD_COUNT]
                            target_trees = hyps[a, TARGET_TREES] & hyps[b, TARGET_TREES]
                            if target.end[ya] <= target.begin[yb] or target.end[yb] <= target.begin[ya]:
                                key = ya * target.null_value.shape[0] + yb
                                slot = key % KNOWN_MEETINGS
                                if known_keys[slot] == key:
                                    first = known_rows[slot]
                                else:
                                    first = meet_count
                                    # a row in front of the meetings holds their number
                                    meets = _grown_2d(meets, meet_count + 1)
                                    meet_values = _grown_1d(meet_values, meet_count + 1)
                                    meets, meet_values, end = _meet(
                                        target, near_start, near, near_value, ya, yb, limits.paths,
                                        meets, meet_values, meet_count + 1,
                                    )  # fmt: skip
                                    meets[first, 0] = end
                                    meet_count = end
                                    known_keys[slot], known_rows[slot] = key, first
                                for k in range(first + 1, meets[first, 0]):
                                    if limits.strict and target_trees & meets[k, MEET_TREES] == 0:
                                        continue
                                    y = meets[k, MEET_NODE]
                                    if phase == 1 and not target.is_root[y]:
                                        continue
                                    target_value = (
                                        meet_values[k] + hyp_values[a, TARGET_VALUE] + hyp_values[b, TARGET_VALUE]
                                    )
                                    pairs = pair[node, y] - limits.pair_constant
                                    if limits.pair_null_word != 0.0:
                                        linked = _bit_count(bits[a], words) + _bit_count(bits[b], words)
                                        nulls = null_words + target.end[y] - target.begin[y] - linked
                                        pairs -= limits.pair_null_word * nulls
                                    pairs += hyp_values[a, PAIRS] + hyp_values[b, PAIRS]
                                    gain = pairs + source_value + target_value - target.null_value[y]
                                    if gain < threshold:
                                        beam_cuts += 1
                                        continue
                                    cands, cand_values, cand_words = _room(cands, cand_values, cand_words, count)
                                    kind = np.int64(STRAIGHT if target.begin[ya] < target.begin[yb] else INVERTED)
                                    _fill(
                                        cands[count], cand_values[count], kind, y, one, other, k, edge,
                                        gain, pairs, source_value, target_value,
                                    )  # fmt: skip
                                    _either(cand_words[count], bits[a], bits[b])
                                    count += 1
                            elif not limits.monotonic:
                                if target.end[ya] - target.begin[ya] >= target.end[yb] - target.begin[yb]:
                                    outer, inner, outer_node, inner_node = a, b, ya, yb
                                else:
                                    outer, inner, outer_node, inner_node = b, a, yb, ya
                                if hyps[outer, STEP] >= PHRASE_SEED or hyps[outer, LEFT] < 0:
                                    continue
                                if phase == 1 and not target.is_root[outer_node]:
                                    continue
                                if not _agree(bits, words, nodes, a, b):
                                    continue
                                place = _locate(target, bits, words, nodes, outer, outer_node, inner_node)
                                if place < 0:
                                    continue
                                # the pair of `outer` itself always dissolves
                                kept = _surviving(
                                    hyps, hyp_values, bits, target, words, outer, bits[inner], stack, stack_bits
                                )
                                kept += _surviving(
                                    hyps, hyp_values, bits, target, words, inner, bits[outer], stack, stack_bits
                                )
                                if np.isnan(kept):
                                    continue
                                low, last = (
                                    (-1, 0) if place == inner_node else _rows_of_top(far_start, far, inner_node, place)
                                )
                                for k in range(low, last):
                                    gap_trees = target_trees if k < 0 else target_trees & far[k, TREES]
                                    if limits.strict and gap_trees == 0:
                                        continue
                                    _either(row, bits[a], bits[b])
                                    if k >= 0:
                                        _add_way(target, row, words, nodes, far, k)
                                    target_value = _opened_value(target, row, words, nodes)
                                    pairs = (
                                        kept + pair[node, outer_node] - limits.pair_constant - limits.noncompositional
                                    )
                                    if limits.pair_null_word != 0.0:
                                        linked = _bit_count(row, words)
                                        nulls = null_words + target.end[outer_node] - target.begin[outer_node] - linked
                                        pairs -= limits.pair_null_word * nulls
                                    gain = pairs + source_value + target_value - target.null_value[outer_node]
                                    if gain < threshold:
                                        beam_cuts += 1
                                        continue
                                    cands, cand_values, cand_words = _room(cands, cand_values, cand_words, count)
                                    _fill(
                                        cands[count], cand_values[count], np.int64(NON_COMPOSITIONAL), outer_node,
                                        one, other, k, edge, gain, pairs, source_value, target_value,
                                    )  # fmt: skip
                                    _copy(cand_words[count], row[:words])
                                    count += 1
                        if beam < UNLIMITED and count > 16 * beam:
                            chosen = _select(cands, cand_values, cand_words, count, words, 4 * beam, limits.variants)
                            beam_cuts += count - len(chosen)
                            count = len(chosen)
                            _keep(cands, cand_values, cand_words, chosen)
                            if count == 4 * beam:
                                threshold = cand_values[count - 1, GAIN]
                if phase == 0 and limits.lifts and not source.is_root[node]:
                    for child in (left, right):
                        if child < 0:
                            continue
                        sibling = right if child == left else left
                        value = source.edge_value[edge]
                        if sibling >= 0:
                            value += source.null_value[sibling]
                        for one in range(pool_start[child], pool_start[child + 1]):
                            if pools[one, STEPS] + (1 if sibling >= 0 else 0) > gap:
                                continue
                            trees = pools[one, TREES] & source.edge_trees[edge]
                            if limits.strict and trees == 0:
                                continue
                            states += 1
                            a = pools[one, HYP]
                            source_value = pool_values[one] + value
                            for k in range(lift_start[hyps[a, TARGET]] + 0, lift_start[hyps[a, TARGET] + 1]):
                                y = lift[k, TOP]
                                if y == hyps[a, TARGET]:
                                    continue
                                if limits.strict and hyps[a, TARGET_TREES] & lift[k, TREES] == 0:
                                    continue
                                target_value = lift_value[k] + hyp_values[a, TARGET_VALUE]
                                pairs = pair[node, y] - limits.pair_constant + hyp_values[a, PAIRS]
                                if limits.pair_null_word != 0.0:
                                    linked = hyps[a, WORD_COUNT] + _bit_count(bits[a], words)
                                    nulls = source.end[node] - source.begin[node] + target.end[y] - target.begin[y]
                                    pairs -= limits.pair_null_word * (nulls - linked)
                                gain = pairs + source_value + target_value - target.null_value[y]
                                if gain < threshold:
                                    beam_cuts += 1
                                    continue
                                cands, cand_values, cand_words = _room(cands, cand_values, cand_words, count)
                                _fill(
                                    cands[count], cand_values[count], np.int64(LIFT), y, one, NONE, k, edge,
                                    gain, pairs, source_value, target_value,
                                )  # fmt: skip
                                _copy(cand_words[count], bits[a, :words])
                                count += 1
            if phase == 2:
                for one in range(pool_start[base + node], pool_start[base + node + 1]):
                    a = pools[one, HYP]
                    ya = hyps[a, TARGET]
                    replaces = hyps[a, SOURCE] == node or target.is_root[ya]
                    for k in range(far_start[ya], far_start[ya + 1]):
                        y = far[k, TOP]
                        if not target.is_root[y]:
                            continue
                        if limits.strict and hyps[a, TARGET_TREES] & far[k, TREES] == 0:
                            continue
                        target_value = far_value[k] + hyp_values[a, TARGET_VALUE]
                        pairs = pair[node, y] - limits.pair_constant + hyp_values[a, PAIRS]
                        if replaces:
                            pairs -= _own_value(hyps, hyp_values, bits, target, words, a, stack, stack_bits)
                        if limits.pair_null_word != 0.0:
                            linked = hyps[a, WORD_COUNT] + _bit_count(bits[a], words)
                            nulls = source.end[node] - source.begin[node] + target.end[y] - target.begin[y]
                            pairs -= limits.pair_null_word * (nulls - linked)
                        cands, cand_values, cand_words = _room(cands, cand_values, cand_words, count)
                        gain = pairs + pool_values[one] + target_value - target.null_value[y]
                        _fill(
                            cands[count], cand_values[count], np.int64(COMPLETION), y, one, np.int64(replaces), k, NONE,
                            gain, pairs, pool_values[one], target_value,
                        )  # fmt: skip
                        _copy(cand_words[count], bits[a, :words])
                        count += 1
            chosen = _select(cands, cand_values, cand_words, count, words, min(beam, count), limits.variants)
            beam_cuts += count - len(chosen)
            hyps = _grown_2d(hyps, hyp_count + len(chosen))
            hyp_values = _grown_2d(hyp_values, hyp_count + len(chosen))
            bits = _grown_2d(bits, hyp_count + len(chosen))
            for k in chosen:
                _materialise(
                    node, cands[k], cand_values[k], hyp_count, hyps, hyp_values, bits, pools, source, target, seeds,
                    near, lift, far, meets, words, nodes,
                )  # fmt: skip
                hyp_count += 1
            if phase == 0:
                beam_start[node + 1] = hyp_count
                pool_start[node] = pool_count
                rough, rough_values, size = _pool(
                    node, ZERO, source, target, hyps, hyp_values, beam_start, pools, pool_values, pool_start,
                    rough, rough_values, limits.gap - 1, limits.strict,
                )  # fmt: skip
                pools, pool_values, pool_count = _add_pool(
                    pools, pool_values, pool_count, rough, rough_values, size, beam
                )
                pool_start[node + 1] = pool_count
        # root pairs of this phase
        first = 0 if phase == 0 else root_first
        roots = np.empty(hyp_count - first, np.int64)
        found = ZERO
        for h in range(first, hyp_count):
            if source.is_root[hyps[h, SOURCE]] and target.is_root[hyps[h, TARGET]]:
                roots[found] = h
                found += 1
        if found > 0 or phase == 2:
            completed = phase == 2
            scores = np.empty(found)
            for k in range(found):
                scores[k] = hyp_values[roots[k]].sum()
            roots = roots[:found][_falling(scores, found)]
            return (
                hyps[:hyp_count], hyp_values[:hyp_count], bits[:hyp_count], pools[:pool_count], roots, completed,
                states, beam_cuts,
            )  # fmt: skip
        pool_start[base + source_count] = pool_count
    raise AssertionError


@_inner
def _own_value(hyps, hyp_values, bits, side, words, h, stack, stack_bits):
    """Value of the pair of a hypothesis itself: its pairs less those of its supports."""
    if hyps[h, LEFT] < 0:
        return hyp_values[h, PAIRS]
    left, right = hyps[h, LEFT], hyps[h, RIGHT]
    if right < 0:
        return hyp_values[h, PAIRS] - hyp_values[left, PAIRS]
    if hyps[h, STEP] != NON_COMPOSITIONAL:
        return hyp_values[h, PAIRS] - hyp_values[left, PAIRS] - hyp_values[right, PAIRS]
    inner = _surviving(hyps, hyp_values, bits, side, words, left, bits[right], stack, stack_bits)
    inner += _surviving(hyps, hyp_values, bits, side, words, right, bits[left], stack, stack_bits)
    return hyp_values[h, PAIRS] - inner


@_inner
def _pool(
    node, base, source, target, hyps, hyp_values, beam_start, pools, pool_values, pool_start,
    rough, rough_values, limit, strict,
):  # fmt: skip
    """Hypotheses at most `limit` steps below a node, seen from it: rows, values and gains, unsorted."""
    size = 0
    for h in range(beam_start[node], beam_start[node + 1]):
        rough = _grown_2d(rough, size + 1)
        rough_values = _grown_2d(rough_values, size + 1)
        rough[size, HYP], rough[size, STEPS], rough[size, WAY_EDGE], rough[size, PREVIOUS] = h, 0, -1, -1
        rough[size, TREES] = hyps[h, SOURCE_TREES]
        rough_values[size, 0] = hyp_values[h, SOURCE_VALUE]
        rough_values[size, 1] = hyp_values[h].sum() - target.null_value[hyps[h, TARGET]]
        size += 1
    for edge in range(source.edge_start[node], source.edge_start[node + 1]):
        for child in (source.left[edge], source.right[edge]):
            if child < 0:
                continue
            sibling = source.right[edge] if child == source.left[edge] else source.left[edge]
            more = source.edge_value[edge] + (source.null_value[sibling] if sibling >= 0 else 0.0)
            for entry in range(pool_start[base + child], pool_start[base + child + 1]):
                steps = pools[entry, STEPS] + (1 if sibling >= 0 else 0)
                trees = pools[entry, TREES] & source.edge_trees[edge]
                if steps > limit or (strict and trees == 0):
                    continue
                rough = _grown_2d(rough, size + 1)
                rough_values = _grown_2d(rough_values, size + 1)
                h = pools[entry, HYP]
                rough[size, HYP], rough[size, STEPS], rough[size, WAY_EDGE] = h, steps, edge
                rough[size, PREVIOUS], rough[size, TREES] = entry, trees
                rough_values[size, 0] = pool_values[entry] + more
                rough_values[size, 1] = (
                    hyp_values[h].sum()
                    - target.null_value[hyps[h, TARGET]]
                    - hyp_values[h, SOURCE_VALUE]
                    + rough_values[size, 0]
                )
                size += 1
    return rough, rough_values, size


@_inner
def _materialise(
    node, cand, values, h, hyps, hyp_values, bits, pools, source, target, seeds, near, lift, far, meets, words, nodes
):
    """Turn a candidate into hypothesis h."""
    hyp_values[h, PAIRS] = values[CAND_PAIRS]
    hyp_values[h, SOURCE_VALUE] = values[CAND_SOURCE]
    hyp_values[h, TARGET_VALUE] = values[CAND_TARGET]
    kind = cand[KIND]
    if kind == SEED_STEP:
        _copy(hyps[h], seeds.numbers[cand[DETAIL]])
        _copy(bits[h], seeds.bits[cand[DETAIL]])
        return
    one = cand[ONE]
    a = pools[one, HYP]
    hyps[h, SOURCE], hyps[h, TARGET], hyps[h, STEP], hyps[h, ORIGIN] = node, cand[NODE], kind, -1
    hyps[h, LEFT], hyps[h, RIGHT], hyps[h, EDGE], hyps[h, LEFT_ENTRY], hyps[h, RIGHT_ENTRY] = a, -1, -1, one, -1
    hyps[h, WORD_COUNT] = hyps[a, WORD_COUNT]
    hyps[h, SOURCE_TREES], hyps[h, TARGET_TREES] = pools[one, TREES], hyps[a, TARGET_TREES]
    _copy(bits[h], bits[a])
    if kind == LIFT:
        hyps[h, EDGE] = cand[SOURCE_EDGE]
        hyps[h, SOURCE_TREES] &= source.edge_trees[cand[SOURCE_EDGE]]
        hyps[h, TARGET_TREES] &= lift[cand[DETAIL], TREES]
        _add_way(target, bits[h], words, nodes, lift, cand[DETAIL])
        return
    if kind == COMPLETION:
        hyps[h, ORIGIN] = cand[OTHER]
        hyps[h, TARGET_TREES] &= far[cand[DETAIL], TREES]
        _add_way(target, bits[h], words, nodes, far, cand[DETAIL])
        return
    other = cand[OTHER]
    b = pools[other, HYP]
    edge = cand[SOURCE_EDGE]
    hyps[h, EDGE], hyps[h, RIGHT], hyps[h, RIGHT_ENTRY] = edge, b, other
    hyps[h, WORD_COUNT] += hyps[b, WORD_COUNT]
    hyps[h, SOURCE_TREES] &= pools[other, TREES] & source.edge_trees[edge]
    hyps[h, TARGET_TREES] &= hyps[b, TARGET_TREES]
    _either(bits[h], bits[a], bits[b])
    detail = cand[DETAIL]
    if kind == NON_COMPOSITIONAL:
        if detail >= 0:
            hyps[h, TARGET_TREES] &= far[detail, TREES]
            _add_way(target, bits[h], words, nodes, far, detail)
        return
    hyps[h, TARGET_TREES] &= meets[detail, MEET_TREES]
    _add_way(target, bits[h], words, nodes, near, meets[detail, MEET_ONE])
    _add_way(target, bits[h], words, nodes, near, meets[detail, MEET_OTHER])
    _put(bits[h], words + nodes, meets[detail, MEET_EDGE])
    _put(bits[h], words, meets[detail, MEET_NODE])
