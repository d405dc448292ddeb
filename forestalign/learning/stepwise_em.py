"""Stepwise EM (Liang and Klein 2009): after each mini-batch the weights move part of the way to the batch's maximum.

The E step, which aligns the pairs of a batch with the weights so far, is the caller's: it needs parsers and processes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from forestalign.arrays import FloatArray
from forestalign.errors import UsageError
from forestalign.learning.m_step import Events, join_events, maximise, objective


@dataclass(frozen=True, slots=True)
class EmSettings:
    """How long and how far to learn."""

    batch_size: int = 200  # section 6.4
    passes: int = 3  # over the corpus; early stop may end it before
    l2: float = 1.0  # λ
    iterations: int = 25  # of L-BFGS in one M step
    decay: float = 0.7  # the step of batch k is (k + 2) ** -decay, as Liang and Klein recommend 0.5 to 1
    held_out: float = 0.1  # share of the corpus that early stopping looks at, at most `held_out_pairs`
    held_out_pairs: int = 100
    min_count: int = 3  # pairs in which a lexical feature must occur
    seed: int = 1

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("passes", 1), ("l2", 0.0), ("iterations", 1), ("seed", 0)):
            value = getattr(self, name)
            if not least <= value < math.inf:
                raise UsageError(f"{name} is {value}; expected at least {least:g}")


class RootCounts(NamedTuple):
    """How many pairs were aligned, and how many reached a root pair by two supports or by completion."""

    aligned: int = 0
    reached: int = 0
    completed: int = 0


NO_ROOTS = RootCounts()


@dataclass(frozen=True, slots=True)
class EmState:
    """Where a run stands; everything needed to go on to the same last digit."""

    weights: FloatArray
    steps: int  # batches done
    history: tuple[tuple[int, float], ...] = ()  # batches done, objective of the held-out part per event
    best: FloatArray | None = None  # weights of the best objective so far
    finished: bool = False
    roots: RootCounts = NO_ROOTS  # of the current pass


def step_size(steps: int, settings: EmSettings) -> float:
    """η of the next batch; the first one is taken whole."""
    return 1.0 if steps == 0 else float((steps + 2) ** -settings.decay)


def stepwise_update(state: EmState, batch: Sequence[Events], settings: EmSettings) -> EmState:
    """The M step of one mini-batch."""
    eta = step_size(state.steps, settings)
    target = maximise(state.weights, join_events(batch), settings.l2, settings.iterations)
    weights = (1.0 - eta) * state.weights + eta * target
    return replace(state, weights=weights, steps=state.steps + 1)


def held_out_objective(state: EmState, batch: Sequence[Events], settings: EmSettings) -> EmState:
    """Add the penalised objective per event of the held-out part; stop when it falls below the one before."""
    events = join_events(batch)
    value = objective(state.weights, events, settings.l2)[0] / max(len(events), 1)
    history = (*state.history, (state.steps, value))
    is_best = all(value >= before for _, before in state.history)
    best = state.weights if is_best or state.best is None else state.best
    finished = len(history) > 1 and value < history[-2][1] - 1e-9
    return replace(state, history=history, best=best, finished=finished)
