"""The input of the joint reader: rectangles of several pairs. Training makes it, too, without a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forestalign.arrays import AnyArray
from forestalign.parsers.word_pieces import Pieces

JointBatch = dict[str, AnyArray]


def joint_batch(pairs: Sequence[tuple[Pieces, Pieces]]) -> JointBatch:
    """All pairs as rectangles; words of the target are numbered behind the longest source."""
    length = max(len(source.ids) + len(target.ids) for source, target in pairs)
    sources, targets = (max(len(pair[side].ends) - 2 for pair in pairs) for side in (0, 1))
    size = (len(pairs), length)
    batch: JointBatch = {name: np.zeros(size, dtype=np.int64) for name in ("pieces", "shapes", "sides", "positions")}
    batch["words"] = np.full(size, -1, dtype=np.int64)
    for row, (source, target) in enumerate(pairs):
        begin, end = len(source.ids), len(source.ids) + len(target.ids)
        for place, side, number in ((slice(0, begin), source, 1), (slice(begin, end), target, 2)):
            batch["pieces"][row, place], batch["shapes"][row, place] = side.ids, side.shapes
            batch["sides"][row, place], batch["positions"][row, place] = number, np.arange(len(side.ids))
            words = side.word_numbers()
            batch["words"][row, place] = np.where(words >= 0, words + sources * (number - 1), -1)
    batch["source_words"], batch["target_words"] = np.arange(sources), np.arange(sources, sources + targets)
    return batch
