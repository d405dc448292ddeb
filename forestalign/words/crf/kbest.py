"""The k best alignments of a lattice, best first, without a list at every state.

A partial path is extended in the order of its score plus the best score of its completion. That bound is exact, so
complete paths leave the heap in the order of their scores, and only paths among the k best are ever followed far.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.words.crf.lattice import Lattice, Segment, completions

Links = frozenset[tuple[int, int]]
Partial = tuple[float, tuple[Segment, ...], float, int, int]  # minus the bound, path, score, words done, state end


def links_of(path: tuple[Segment, ...]) -> Links:
    """The word links of a path: every word of an aligned source span with every word of its target span."""
    return frozenset(
        (i, j)
        for begin, length, target, target_length in path
        for i in range(begin, begin + length)
        for j in range(target, target + target_length)
    )


def best_paths(lattice: Lattice) -> Iterator[tuple[float, tuple[Segment, ...]]]:
    """All paths with their scores, in falling order; equal scores in the order of their segments."""
    source_count, null = len(lattice.nulls), lattice.transitions.shape[0] - 2
    after, _ = completions(lattice.segments, lattice.nulls, lattice.transitions, np.maximum)
    heap: list[Partial] = [(-float(after[0, null + 1]), (), 0.0, 0, null + 1)]
    while heap:
        bound, path, score, done, end = heapq.heappop(heap)
        if done == source_count:
            yield -bound, path
            continue
        for step in _extensions(lattice, after, path, score, done, end):
            heapq.heappush(heap, step)


def _extensions(
    lattice: Lattice, after: FloatArray, path: tuple[Segment, ...], score: float, done: int, end: int
) -> Iterator[Partial]:
    null = lattice.transitions.shape[0] - 2
    total = score + lattice.transitions[end, null] + lattice.nulls[done]
    yield -(total + after[done + 1, null]), (*path, Segment(done, 1, 0, 0)), total, done + 1, null
    scores = score + lattice.transitions[end, :null, None] + lattice.segments[done]
    for s, b, t in zip(*np.nonzero(scores > -np.inf), strict=True):
        total, length, last = float(scores[s, b, t]), int(s) + 1, int(b + t)
        segment = Segment(done, length, int(b), int(t) + 1)
        yield -(total + after[done + length, last]), (*path, segment), total, done + length, last


def k_best(lattice: Lattice, count: int) -> list[tuple[float, tuple[Segment, ...]]]:
    """The `count` best paths with different word links (two paths can differ in their cuts alone)."""
    return list(islice(_different(best_paths(lattice)), count))


def _different(
    paths: Iterator[tuple[float, tuple[Segment, ...]]],
) -> Iterator[tuple[float, tuple[Segment, ...]]]:
    seen: set[Links] = set()
    for score, path in paths:
        links = links_of(path)
        if links not in seen:
            seen.add(links)
            yield score, path
