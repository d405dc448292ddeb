"""Gold links as the CRF needs them: which segments a right path may use, and the Hamming cost of every other one.

Token model: a word with several gold links may take any of them, so the right paths are a set and the numerator is a
sum over it. (The published program takes one link and calls the others wrong.) Phrase model: the one path that covers
most gold links with complete blocks, and of those the one with the fewest segments.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from forestalign.arrays import BoolArray, FloatArray
from forestalign.tokens import Sentence
from forestalign.words.crf import lattice_kernels as kernels
from forestalign.words.crf.chunks import Chunk, chunk
from forestalign.words.crf.feature_space import FeatureSpace
from forestalign.words.crf.lattice import Segment, allowed_segments

Link = tuple[int, int]
CUT = 1e-3  # price of one more segment, far below the worth of a link


@dataclass(frozen=True, slots=True)
class Costs:
    """Softmax-margin costs of one word in a wrong state; the paper has 1 for each."""

    miss: float = 1.0  # a linked word deleted
    false: float = 1.0  # an unlinked word aligned
    wrong: float = 1.0  # a linked word aligned elsewhere


@dataclass(frozen=True, slots=True)
class Gold:
    """`right_*` mark what a right path may use; `cost_*` is the Hamming cost of using a segment."""

    right_segments: BoolArray  # [M, Ls, N, Lt]
    right_nulls: BoolArray  # [M]
    cost_segments: FloatArray
    cost_nulls: FloatArray


def gold_of(links: Collection[Link], source_count: int, target_count: int, space: FeatureSpace, costs: Costs) -> Gold:
    """The gold segments of a pair in one direction, with their costs."""
    linked = np.zeros((source_count, target_count), np.bool_)
    if links:
        linked[tuple(np.array(sorted(links)).T)] = True
    shape = (source_count, space.source_max, target_count, space.target_max)
    if space.is_phrasal:
        right_segments, right_nulls, states = _phrase_gold(linked, shape)
    else:
        right_segments, right_nulls = linked[:, None, :, None], np.logical_not(linked.any(axis=1))
        states = right_segments[:, 0]
    word_costs = np.where(right_nulls[:, None, None], costs.false, np.where(states, 0.0, costs.wrong))
    cost_nulls = np.where(right_nulls, 0.0, costs.miss)
    return Gold(right_segments, right_nulls, _span_costs(word_costs, shape), cost_nulls)


def _phrase_gold(linked: BoolArray, shape: tuple[int, int, int, int]) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Right segments and NULLs, and per word the state (target begin, length) that the path gives it."""
    right_segments = np.zeros(shape, np.bool_)
    right_nulls = np.zeros(shape[0], np.bool_)
    states = np.zeros((shape[0], shape[2], shape[3]), np.bool_)
    for begin, length, target, target_length in gold_path(linked, shape[1], shape[3]):
        if target_length:
            right_segments[begin, length - 1, target, target_length - 1] = True
            states[begin : begin + length, target, target_length - 1] = True
        else:
            right_nulls[begin] = True
    return right_segments, right_nulls, states


def gold_path(linked: BoolArray, source_max: int, target_max: int) -> tuple[Segment, ...]:
    """The path of complete blocks that covers most links with the fewest segments."""
    rows, columns = linked.shape
    worth = np.full((rows, source_max, columns, target_max), -np.inf)
    for s, t in np.ndindex(min(source_max, rows), min(target_max, columns)):
        windows = np.lib.stride_tricks.sliding_window_view(linked, (s + 1, t + 1))
        complete = windows.all(axis=(2, 3))
        worth[: rows - s, s, : columns - t, t] = np.where(complete, (s + 1) * (t + 1) - CUT, -np.inf)
    _, path = kernels.viterbi(worth, np.full(rows, -CUT), np.zeros((columns + 2, columns + 2)))
    return tuple(Segment(*map(int, row)) for row in path)


def _span_costs(word_costs: FloatArray, shape: tuple[int, int, int, int]) -> FloatArray:
    """Sum over the words of a source span of the cost of each word in the span's state."""
    costs = np.zeros(shape)
    for s in range(min(shape[1], shape[0])):
        for k in range(s + 1):
            costs[: shape[0] - s, s] += word_costs[k : shape[0] - s + k]
    costs[~allowed_segments(*shape)] = 0.0
    return costs


# ---- phrase gold from token gold ----


def synthesise(source: Sentence, target: Sentence, links: Collection[Link]) -> tuple[Link, ...]:
    """The links with every matching pair of chunks filled (section 4.1 of the phrase paper).

    Where each word of a source chunk is aligned, in order, to words of one target chunk, and each word of that chunk to
    words of the source chunk, and nothing in either is linked elsewhere, the links become one phrase: all with all.
    """
    filled = set(links)
    target_chunks = chunk(target.tags)
    for source_chunk in chunk(source.tags):
        for target_chunk in target_chunks:
            if _match(source_chunk, target_chunk, links):
                filled.update(_block(source_chunk, target_chunk))
    return tuple(sorted(filled))


def _match(source: Chunk, target: Chunk, links: Collection[Link]) -> bool:
    """All words linked within the two chunks, none outside, in order."""
    touching = sorted((i, j) for i, j in links if source.begin <= i < source.end or target.begin <= j < target.end)
    inside = all(source.begin <= i < source.end and target.begin <= j < target.end for i, j in touching)
    rows, columns = {i for i, _ in touching}, {j for _, j in touching}
    complete = len(rows) == source.end - source.begin and len(columns) == target.end - target.begin
    monotone = all(left[1] <= right[1] for left, right in pairwise(touching))
    return bool(touching) and inside and complete and monotone


def _block(source: Chunk, target: Chunk) -> list[Link]:
    return [(i, j) for i in range(source.begin, source.end) for j in range(target.begin, target.end)]
