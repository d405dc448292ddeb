"""Gold links as the CRF needs them: which segments a right path may use, and the Hamming cost of every other one.

Token model: a word with several gold links may take any of them, so the right paths are a set and the numerator is a
sum over it. (The published program takes one link and calls the others wrong.) Phrase model: the one path that covers
most gold links with complete blocks, and of those the one with the fewest segments.

Softmax-margin loss of the CRF and its gradient (section 3.1; Gimpel and Smith's cost-augmented likelihood).

    loss = log sum over all a of exp(score(a) + cost(a)) - log sum over right a of exp(score(a))
    gradient = expected features under the first sum - expected features under the second

`score(a)` is the sum of weight times feature value along the path; the cost is the Hamming cost of `gold`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, IntArray
from forestalign.tokens import Sentence
from forestalign.words.crf.cells import Chunk, chunk
from forestalign.words.crf.feature_space import FeatureSpace
from forestalign.words.crf.lattice import Lattice, Marginals, Segment, allowed_segments, marginals, viterbi
from forestalign.words.crf.pair_features import DirectionFeatures, feature_counts, lattice_of

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
    _, path = viterbi(Lattice(worth, np.full(rows, -CUT), np.zeros((columns + 2, columns + 2))))
    return path


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


@dataclass(frozen=True, slots=True)
class RightPath:
    """The features of the only right path that a pair has: they are the same whatever the weights."""

    places: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class Example:
    """One training pair in one direction; `right_path` saves the second sum where it has one term."""

    features: DirectionFeatures
    gold: Gold
    weight: float = 1.0
    right_path: RightPath | None = None


def example_of(features: DirectionFeatures, gold: Gold, space: FeatureSpace, weight: float = 1.0) -> Example:
    """A pair with its features and gold, ready for the objective."""
    if not _has_one_path(gold):
        return Example(features, gold, weight)
    target_count = gold.right_segments.shape[2]
    steps = np.zeros((target_count + 2, target_count + 2))
    counts = feature_counts(features, space, _right(gold, np.zeros(1), np.zeros(1), steps))
    places = np.flatnonzero(counts)
    return Example(features, gold, weight, RightPath(places, counts[places]))


def _has_one_path(gold: Gold) -> bool:
    """Whether every source word lies in exactly one right segment or NULL."""
    covered = gold.right_nulls.astype(np.int64)
    per_length = gold.right_segments.sum(axis=(2, 3))
    for s in range(per_length.shape[1]):
        for k in range(s + 1):
            covered[k:] += per_length[: len(covered) - k, s]
    return bool((covered == 1).all())


def _right(gold: Gold, segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> Marginals:
    """The sum over the right paths."""
    right_segments, right_nulls = (
        np.where(gold.right_segments, segments, -np.inf),
        np.where(gold.right_nulls, nulls, -np.inf),
    )
    return marginals(Lattice(right_segments, right_nulls, transitions))


def loss_and_gradient(example: Example, space: FeatureSpace, weights: FloatArray) -> tuple[float, FloatArray]:
    """The softmax-margin loss of one example, and its gradient."""
    lattice = lattice_of(example.features, space, weights)
    gold, right_path = example.gold, example.right_path
    free = marginals(
        Lattice(lattice.segments + gold.cost_segments, lattice.nulls + gold.cost_nulls, lattice.transitions)
    )
    if right_path is not None:
        gradient = feature_counts(example.features, space, free)
        gradient[right_path.places] -= right_path.values
        return free.log_partition - float(right_path.values @ weights[right_path.places]), gradient
    right = _right(gold, lattice.segments, lattice.nulls, lattice.transitions)
    difference = Marginals(
        free.log_partition - right.log_partition,
        free.segments - right.segments,
        free.nulls - right.nulls,
        free.transitions - right.transitions,
    )
    return difference.log_partition, feature_counts(example.features, space, difference)
