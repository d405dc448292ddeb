"""The lattice of one sentence pair in one direction, and plain inference on it (sections 3.1 and 3.2 of both papers).

A path cuts the source sentence into segments; each segment is deleted (NULL, one word) or aligned to one span of the
target. The token CRF is the case where both kinds of span have one word.

    M, N           source and target word counts
    Ls, Lt         longest source and target span
    Psi            potentials: `segments[i, s, b, t]` aligns source [i, i+s+1) to target [b, b+t+1); `nulls[i]`
    f(a', a)       distortion, `transitions[e, b]`: from the last target word e of the previous state to the first
                   target word b of the next; index N is NULL, index N+1 is the start (as e) or the end (as b)

Departure: the papers give O(Ls Lt^2 M N^2). Because the distortion looks only at the words e and b, the sum over
previous states is taken once per (e, b), and the cost is O(M N^2 + Ls Lt M N); the result is the same, exactly.

The functions here are the plain twins of `_lattice.pyx`: they say what is computed, and the tests compare both with
enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, IntArray


class Segment(NamedTuple):
    """Source words [begin, begin + length) aligned to target words [target, target + target_length); 0 is NULL."""

    begin: int
    length: int
    target: int
    target_length: int


@dataclass(frozen=True, slots=True)
class Lattice:
    """Log potentials of one pair. Segments that would leave a sentence hold -inf."""

    segments: FloatArray  # [M, Ls, N, Lt]
    nulls: FloatArray  # [M]
    transitions: FloatArray  # [N + 2, N + 2]


@dataclass(frozen=True, slots=True)
class Marginals:
    """The log partition function and the expected count of every part of a path."""

    log_partition: float
    segments: FloatArray
    nulls: FloatArray
    transitions: FloatArray


def allowed_segments(source_count: int, source_max: int, target_count: int, target_max: int) -> BoolArray:
    """Which cells of a segment table stay inside both sentences."""
    source_end = np.arange(source_count)[:, None] + np.arange(1, source_max + 1)
    target_end = np.arange(target_count)[:, None] + np.arange(1, target_max + 1)
    inside_source, inside_target = source_end <= source_count, target_end <= target_count
    return np.asarray(inside_source[:, :, None, None] & inside_target[None, None])


def path_score(lattice: Lattice, path: tuple[Segment, ...]) -> float:
    """The log potential of one path: its segments and the steps between them."""
    null = lattice.transitions.shape[0] - 2
    previous, score = null + 1, 0.0
    for segment in path:
        if segment.target_length:
            begin, end = segment.target, segment.target + segment.target_length - 1
            score += lattice.segments[segment.begin, segment.length - 1, begin, segment.target_length - 1]
        else:
            begin = end = null
            score += lattice.nulls[segment.begin]
        score += lattice.transitions[previous, begin]
        previous = end
    return float(score + lattice.transitions[previous, null + 1])


def forward(segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Log sums of the paths so far: `ends[i, e]` after i words in state end e, `starts[i, b]` about to enter b.

    starts[i, b] = logsum over e of  ends[i, e] + f(e, b)
    ends[i + s, b + t - 1] = logsum over s, t of  starts[i, b] + Psi(i, s, b, t)
    """
    source_count, source_max, target_count, target_max = segments.shape
    null = target_count
    ends = np.full((source_count + 1, target_count + 2), -np.inf)
    starts = np.full((source_count, target_count + 1), -np.inf)
    ends[0, null + 1] = 0.0
    for i in range(source_count):
        starts[i] = np.logaddexp.reduce(ends[i][:, None] + transitions[:, : null + 1], axis=0)
        ends[i + 1, null] = starts[i, null] + nulls[i]
        for s in range(min(source_max, source_count - i)):
            for t in range(min(target_max, target_count)):
                scores = starts[i, : null - t] + segments[i, s, : null - t, t]
                ends[i + s + 1, t:null] = np.logaddexp(ends[i + s + 1, t:null], scores)
    log_partition = np.logaddexp.reduce(ends[source_count] + transitions[:, null + 1])
    return ends, starts, float(log_partition)


def backward(segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log sums of the paths to come: `after[i, e]` from state end e with i words done, `before[i, b]` entering b."""
    return completions(segments, nulls, transitions, np.logaddexp)


def completions(
    segments: FloatArray, nulls: FloatArray, transitions: FloatArray, add: np.ufunc
) -> tuple[FloatArray, FloatArray]:
    """`backward` in the semiring of `add`: np.logaddexp sums the paths, np.maximum keeps the best."""
    source_count, source_max, target_count, target_max = segments.shape
    null = target_count
    after = np.full((source_count + 1, target_count + 2), -np.inf)
    before = np.full((source_count, target_count + 1), -np.inf)
    after[source_count] = transitions[:, null + 1]
    for i in range(source_count - 1, -1, -1):
        before[i, null] = nulls[i] + after[i + 1, null]
        for s in range(min(source_max, source_count - i)):
            for t in range(min(target_max, target_count)):
                scores = segments[i, s, : null - t, t] + after[i + s + 1, t:null]
                before[i, : null - t] = add(before[i, : null - t], scores)
        after[i] = add.reduce(transitions[:, : null + 1] + before[i][None], axis=1)
    return after, before


def marginals(
    segments: FloatArray, nulls: FloatArray, transitions: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Log partition function and expected counts of segments, NULL words and transitions."""
    source_count, source_max, target_count, target_max = segments.shape
    null = target_count
    ends, starts, log_partition = forward(segments, nulls, transitions)
    after, before = backward(segments, nulls, transitions)
    segment_counts = np.zeros_like(segments)
    for i in range(source_count):
        for s in range(min(source_max, source_count - i)):
            for t in range(min(target_max, target_count)):
                scores = starts[i, : null - t] + segments[i, s, : null - t, t] + after[i + s + 1, t:null]
                segment_counts[i, s, : null - t, t] = np.exp(scores - log_partition)
    null_counts = np.exp(starts[:, null] + nulls + after[1:, null] - log_partition)
    transition_counts = np.zeros_like(transitions)
    for i in range(source_count):
        steps = ends[i][:, None] + transitions[:, : null + 1] + before[i][None]
        transition_counts[:, : null + 1] += np.exp(steps - log_partition)
    transition_counts[:, null + 1] = np.exp(ends[source_count] + transitions[:, null + 1] - log_partition)
    return log_partition, segment_counts, null_counts, transition_counts


def viterbi(segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> tuple[float, IntArray]:
    """The best path and its score: rows (begin, length, target, target_length), source order.

    V_i(a) = max over a', s of  V_{i-s}(a') + Psi_i(a', a, s); ties go to the smaller e, then the shorter spans.
    """
    source_count, source_max, target_count, target_max = segments.shape
    null = target_count
    ends = np.full((source_count + 1, target_count + 2), -np.inf)
    ends[0, null + 1] = 0.0
    came_from = np.full((source_count + 1, target_count + 1), -1, np.int64)  # e before the segment
    lengths = np.zeros((source_count + 1, target_count + 1, 2), np.int64)  # s and t of the segment ending here
    for i in range(source_count):
        steps = ends[i][:, None] + transitions[:, : null + 1]
        best = steps.argmax(axis=0)
        starts = steps.max(axis=0)
        candidates = [(starts[null] + nulls[i], null, null, 1, 0)]
        for s in range(min(source_max, source_count - i)):
            for t in range(min(target_max, target_count)):
                for b in range(null - t):
                    candidates.append((starts[b] + segments[i, s, b, t], b, b + t, s + 1, t + 1))
        for score, b, e, s, t in candidates:
            if score > ends[i + s, e]:
                ends[i + s, e] = score
                came_from[i + s, e] = best[b]
                lengths[i + s, e] = s, t
    final = ends[source_count] + transitions[:, null + 1]
    e, i, rows = int(final.argmax()), source_count, []
    score = float(final[e])
    while i > 0:
        s, t = lengths[i, e]
        rows.append((i - s, s, e - t + 1 if t else 0, t))
        i, e = int(i - s), int(came_from[i, e])
    return score, np.array(rows[::-1], np.int64).reshape(-1, 4)
