"""The chart algorithms by whoever can do them: the compiled core, or the plain twins where it was not built."""

from __future__ import annotations

from typing import Any

import numpy as np

from forestalign.arrays import Float32Array, FloatArray, Int16Array
from forestalign.chart import plain, plain_kbest
from forestalign.chart.plain_kbest import KBestLists
from forestalign.compiled import core


def inside(any_label: FloatArray, labelled: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """See `plain.inside`."""
    found: tuple[FloatArray, FloatArray, FloatArray] = _chart().inside(any_label, labelled)
    return found


def shares(split: FloatArray, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """See `plain.shares`."""
    found: tuple[FloatArray, FloatArray] = _chart().shares(split, left, right)
    return found


def best_splits(any_label: FloatArray, labelled: FloatArray) -> tuple[Int16Array, float]:
    """See `plain.best_splits`."""
    found: tuple[Int16Array, float] = _chart().best_splits(any_label, labelled)
    return found


def best_through(any_label: FloatArray, labelled: FloatArray) -> tuple[FloatArray, FloatArray]:
    """See `plain.best_through`."""
    found: tuple[FloatArray, FloatArray] = _chart().best_through(any_label, labelled)
    return found


def kbest_lists(potentials: Float32Array, slack: FloatArray, k: int) -> KBestLists:
    """See `plain_kbest.KBestLists`; the compiled class has the same methods."""
    lists: type[KBestLists] = (core("chart._kbest") or plain_kbest).KBestLists
    return lists(np.ascontiguousarray(potentials), slack, k)


def _chart() -> Any:
    """The compiled module, or the plain one, with functions of the same names."""
    return core("chart._chart") or plain
