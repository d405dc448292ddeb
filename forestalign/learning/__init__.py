"""Learning the weights: feature-enhanced Viterbi EM (section 5.1 of the paper; Berg-Kirkpatrick et al. 2010)."""

from forestalign.learning.em import EmSettings, EmState, RootCounts, held_out_objective, step_size, stepwise_update
from forestalign.learning.objective import Events, collect_events, join_events, maximise, objective

__all__ = [
    "EmSettings",
    "EmState",
    "Events",
    "RootCounts",
    "collect_events",
    "held_out_objective",
    "join_events",
    "maximise",
    "objective",
    "step_size",
    "stepwise_update",
]
