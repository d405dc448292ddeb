"""A pass over the pairs of a training run: each task holds some of them, and the weights to align them with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from forestalign.arrays import FloatArray
from forestalign.batch import Worker, Workers, map_ordered

Item = TypeVar("Item")
Result = TypeVar("Result")
CHUNK = 10


@dataclass(frozen=True, slots=True, eq=False)
class WeightedTask(Generic[Item]):
    """What is to be aligned, and the weights to align it with."""

    weights: FloatArray
    items: tuple[Item, ...]


def run_pass(
    worker: Worker[WeightedTask[Item], list[Result]],
    weights: FloatArray,
    items: Sequence[Item],
    workers: Workers | None = None,
) -> Iterator[Result]:
    """What the worker makes of all items, in order."""
    tasks = (WeightedTask(weights, tuple(items[k : k + CHUNK])) for k in range(0, len(items), CHUNK))
    for done in map_ordered(worker, tasks, workers):
        yield from done
