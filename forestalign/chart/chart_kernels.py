"""The chart algorithms by whoever can do them: the compiled core, or the plain twins where it was not built."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from forestalign.chart import plain, plain_kbest
from forestalign.chart.plain_kbest import KBestLists
from forestalign.compiled import core

Table = npt.NDArray[np.float64]


def inside(any_label: Table, labelled: Table) -> tuple[Table, Table, Table]:
    """See `plain.inside`."""
    found: tuple[Table, Table, Table] = _chart().inside(any_label, labelled)
    return found


def shares(split: Table, left: Table, right: Table) -> tuple[Table, Table]:
    """See `plain.shares`."""
    found: tuple[Table, Table] = _chart().shares(split, left, right)
    return found


def best_splits(any_label: Table, labelled: Table) -> tuple[npt.NDArray[np.int16], float]:
    """See `plain.best_splits`."""
    found: tuple[npt.NDArray[np.int16], float] = _chart().best_splits(any_label, labelled)
    return found


def best_through(any_label: Table, labelled: Table) -> tuple[Table, Table]:
    """See `plain.best_through`."""
    found: tuple[Table, Table] = _chart().best_through(any_label, labelled)
    return found


def kbest_lists(potentials: npt.NDArray[np.float32], slack: Table, k: int) -> KBestLists:
    """See `plain_kbest.KBestLists`; the compiled class has the same methods."""
    lists: type[KBestLists] = (core("chart._kbest") or plain_kbest).KBestLists
    return lists(np.ascontiguousarray(potentials), slack, k)


def _chart() -> Any:
    """The compiled module, or the plain one, with functions of the same names."""
    return core("chart._chart") or plain
