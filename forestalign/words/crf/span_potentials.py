"""Potentials of span pairs from their parts, and expected counts of span pairs back to the parts (section 3.4).

    Psi(i, s, b, t) = diagonal of word scores (spans of equal length)
                    + max(s, t) * mean of block scores
                    + size(s, t) + chunks(kind of source span, kind of target span) + layers * weights

The plain twins of `_span_potentials.pyx`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forestalign.arrays import Float32Array, FloatArray, IntArray
from forestalign.words.crf.lattice import allowed_segments


def _sizes(shape: tuple[int, ...]) -> Iterator[tuple[int, int, int, int]]:
    """Each pair of span lengths (less one) that fits, with the number of places on each side."""
    rows, source_max, columns, target_max = shape
    for s, t in np.ndindex(min(source_max, rows), min(target_max, columns)):
        yield s, t, rows - s, columns - t


def segment_scores(
    words: FloatArray,
    block: FloatArray,
    sizes: FloatArray,
    source_kinds: IntArray,
    target_kinds: IntArray,
    kind_scores: FloatArray,
    layers: Float32Array,
    span_weights: FloatArray,
) -> FloatArray:
    """words, block [M, N]; sizes [Ls, Lt]; kinds [M, Ls], [N, Lt]; layers [M, Ls, N, Lt, features] -> Psi."""
    shape = (words.shape[0], sizes.shape[0], words.shape[1], sizes.shape[1])
    layers = layers[:, : shape[1], :, : shape[3]]
    scores = layers @ span_weights + sizes[None, :, None]
    scores += kind_scores[source_kinds[:, : shape[1], None, None], target_kinds[None, None, :, : shape[3]]]
    for s, t, rows, columns in _sizes(shape):
        view = scores[:rows, s, :columns, t]
        for k in range(s + 1) if s == t else ():
            view += words[k : k + rows, k : k + columns]
        if s or t:
            share = max(s + 1, t + 1) / ((s + 1) * (t + 1))
            for p, q in np.ndindex(s + 1, t + 1):
                view += share * block[p : p + rows, q : q + columns]
    scores[~allowed_segments(*shape)] = -np.inf
    return np.asarray(scores)


def spread_segments(
    counts: FloatArray, source_kinds: IntArray, target_kinds: IntArray, kind_count: int, layers: Float32Array
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """The gradient of `segment_scores`: counts [M, Ls, N, Lt] -> words, block, sizes, kinds, span weights."""
    shape = counts.shape
    words, block = np.zeros((shape[0], shape[2])), np.zeros((shape[0], shape[2]))
    for s, t, rows, columns in _sizes(shape):
        view = counts[:rows, s, :columns, t]
        for k in range(s + 1) if s == t else ():
            words[k : k + rows, k : k + columns] += view
        if s or t:
            share = max(s + 1, t + 1) / ((s + 1) * (t + 1))
            for p, q in np.ndindex(s + 1, t + 1):
                block[p : p + rows, q : q + columns] += share * view
    pairs = source_kinds[:, : shape[1], None, None] * kind_count + target_kinds[None, None, :, : shape[3]]
    kinds = np.asarray(np.bincount(pairs.ravel(), counts.ravel(), kind_count**2), np.float64)
    span = np.tensordot(counts, layers[:, : shape[1], :, : shape[3]], axes=4)
    return words, block, np.asarray(counts.sum(axis=(0, 2))), kinds.reshape(kind_count, kind_count), np.asarray(span)
