"""The alignment probability Pr behind an interface: whatever fills these three tables can drive the search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestalign.errors import UsageError

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PairScores:
    """log Pr of all pairs of two forests' nodes, and of every node with the null phrase of the other side."""

    pair: FloatArray  # [source nodes, target nodes]
    source_null: FloatArray  # [source nodes]
    target_null: FloatArray  # [target nodes]

    def __post_init__(self) -> None:
        shape = (len(self.source_null), len(self.target_null))
        if self.pair.shape != shape:
            raise UsageError(f"pair scores have shape {self.pair.shape}; the null scores ask for {shape}")
        for table in (self.pair, self.source_null, self.target_null):
            if not np.isfinite(table).all():
                raise UsageError("log probabilities must be finite numbers")

    def transposed(self) -> PairScores:
        """The same scores with source and target swapped."""
        return PairScores(np.ascontiguousarray(self.pair.T), self.target_null, self.source_null)


def uniform_scores(source_count: int, target_count: int) -> PairScores:
    """Every phrase and the null phrase equally likely: the model without EM."""
    return PairScores(
        np.full((source_count, target_count), -np.log(target_count + 1)),
        np.full(source_count, -np.log(target_count + 1)),
        np.full(target_count, -np.log(source_count + 1)),
    )
