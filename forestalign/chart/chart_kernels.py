"""The chart algorithms by whoever can do them: the compiled core, or the plain twins where it was not built."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestalign.chart import plain
from forestalign.chart.plain_kbest import KBestLists
from forestalign.compiled import core

Table = npt.NDArray[np.float64]


def inside(any_label: Table, labelled: Table) -> tuple[Table, Table, Table]:
    """See `plain.inside`."""
    compiled = core()
    return compiled.chart_inside(any_label, labelled) if compiled else plain.inside(any_label, labelled)


def shares(split: Table, left: Table, right: Table) -> tuple[Table, Table]:
    """See `plain.shares`."""
    compiled = core()
    return compiled.chart_shares(split, left, right) if compiled else plain.shares(split, left, right)


def best_splits(any_label: Table, labelled: Table) -> tuple[npt.NDArray[np.int16], float]:
    """See `plain.best_splits`."""
    compiled = core()
    return compiled.chart_best_splits(any_label, labelled) if compiled else plain.best_splits(any_label, labelled)


def best_through(any_label: Table, labelled: Table) -> tuple[Table, Table]:
    """See `plain.best_through`."""
    compiled = core()
    return compiled.chart_best_through(any_label, labelled) if compiled else plain.best_through(any_label, labelled)


def kbest_lists(potentials: npt.NDArray[np.float32], slack: Table, k: int) -> KBestLists:
    """See `plain_kbest.KBestLists`; the compiled class has the same methods."""
    compiled = core()
    lists = compiled.KBestLists if compiled else KBestLists
    found: KBestLists = lists(np.ascontiguousarray(potentials), slack, k)
    return found
