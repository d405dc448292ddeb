"""Inference on lattices by whoever can do it: the compiled core, or the plain twins where it was not built."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from forestalign.arrays import FloatArray, IntArray
from forestalign.compiled import core
from forestalign.words.crf import lattice, span_potentials

Given = ParamSpec("Given")
Result = TypeVar("Result")


def _whole(*tables: FloatArray) -> list[FloatArray]:
    """In one piece, as the core reads them."""
    return [np.ascontiguousarray(table, np.float64) for table in tables]


def forward(segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """See `lattice.forward`."""
    found: tuple[FloatArray, FloatArray, float] = _lattice().forward(*_whole(segments, nulls, transitions))
    return found


def backward(segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """See `lattice.backward`."""
    found: tuple[FloatArray, FloatArray] = _lattice().backward(*_whole(segments, nulls, transitions))
    return found


def marginals(
    segments: FloatArray, nulls: FloatArray, transitions: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """See `lattice.marginals`."""
    found: tuple[float, FloatArray, FloatArray, FloatArray] = _lattice().marginals(
        *_whole(segments, nulls, transitions)
    )
    return found


def viterbi(segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> tuple[float, IntArray]:
    """See `lattice.viterbi`."""
    found: tuple[float, IntArray] = _lattice().viterbi(*_whole(segments, nulls, transitions))
    return found


def _lattice() -> Any:
    """The compiled module, or the plain one, with functions of the same names."""
    return core("words.crf._lattice") or lattice


def _by_core(plain: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function of the same name in the compiled module, or the plain one where it was not built."""

    @wraps(plain)
    def chosen(*given: Given.args, **named: Given.kwargs) -> Result:
        result: Result = getattr(core("words.crf._span_potentials"), plain.__name__, plain)(*given, **named)
        return result

    return chosen


segment_scores = _by_core(span_potentials.segment_scores)
spread_segments = _by_core(span_potentials.spread_segments)
