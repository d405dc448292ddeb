"""Word vectors as text, for files of JSON: 16 bits a number, which is as exact as `Sentence.context_vectors` is."""

from __future__ import annotations

import base64

import numpy as np

from forestalign.arrays import AnyFloatArray, Float16Array


def packed(vectors: AnyFloatArray) -> str:
    """The rows one after another."""
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode()


def unpacked(text: str, word_count: int) -> Float16Array:
    """What `packed` wrote, one row per word; ValueError where it cannot be that."""
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f2")
    if not word_count or not len(values) or len(values) % word_count:
        raise ValueError(f"{len(values)} numbers are not the vectors of {word_count} words")
    if not np.isfinite(values).all():
        raise ValueError("a number of the vectors is not finite")
    return values.reshape(word_count, -1)
