"""Distortion: features of the step from the last target word e to the next first target word b (section 3.2).

The jump is b - e - 1, so that 0 is the monotone step and -1 stays on the word. Index N is NULL; N + 1 is the start of
the source sentence as e, and its end as b.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from forestalign.arrays import FloatArray

JUMPS = (-3, -2, -1, 0, 1, 2, 3)  # the outer ones stand for everything beyond
NAMES = (
    *(f"jump{jump:+d}" for jump in JUMPS),
    "jump_forward",
    "jump_backward",
    "jump_forward_log",
    "jump_backward_log",
    "align_to_null",
    "null_to_align",
    "null_to_null",
    "start_to_null",
    "start_to_first",
    "start_to_other",
    "start_place",
    "null_to_end",
    "last_to_end",
    "other_to_end",
    "end_place",
)


@lru_cache(maxsize=8)  # of 40 words a table takes 0.3 MB, of 300 words 16 MB, and it is quickly made
def transition_features(target_count: int) -> FloatArray:
    """[N + 2, N + 2, features]; they depend on the length of the target alone."""
    n, null = target_count, target_count
    table = np.zeros((n + 2, n + 2, len(NAMES)))
    column = {name: number for number, name in enumerate(NAMES)}
    jump = np.arange(n)[None] - np.arange(n)[:, None] - 1
    words = table[:n, :n]
    clipped = np.clip(jump, JUMPS[0], JUMPS[-1])
    for size in JUMPS:
        words[:, :, column[f"jump{size:+d}"]] = clipped == size
    words[:, :, column["jump_forward"]] = np.maximum(jump, 0) / n
    words[:, :, column["jump_backward"]] = np.maximum(-1 - jump, 0) / n
    words[:, :, column["jump_forward_log"]] = np.log1p(np.maximum(jump, 0)) / 4
    words[:, :, column["jump_backward_log"]] = np.log1p(np.maximum(-1 - jump, 0)) / 4
    table[:n, null, column["align_to_null"]] = 1
    table[null, :n, column["null_to_align"]] = 1
    table[null, null, column["null_to_null"]] = 1
    table[null + 1, null, column["start_to_null"]] = 1
    table[null + 1, 0, column["start_to_first"]] = 1
    table[null + 1, 1:n, column["start_to_other"]] = 1
    table[null + 1, :n, column["start_place"]] = np.arange(n) / n
    table[null, null + 1, column["null_to_end"]] = 1
    table[n - 1, null + 1, column["last_to_end"]] = 1
    table[: n - 1, null + 1, column["other_to_end"]] = 1
    table[:n, null + 1, column["end_place"]] = np.arange(n)[::-1] / n
    return table
