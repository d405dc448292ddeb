"""Learning: feature-enhanced Viterbi EM (section 5.1 of the paper; Berg-Kirkpatrick et al. 2010), and models from gold.

EM, without gold:

- `weighted_tasks`: a pass over the pairs, in tasks
- `e_step`: align the pairs with the weights so far
- `m_step`: the weights that make these alignments most likely
- `stepwise_em`: mini-batches (Liang and Klein 2009)
- `em_loop`: passes, early stopping, checkpoints
- `checkpoints`: where a run stands, read from files that may be damaged
- `train_phrase_model`: from a file of pairs to a phrase model

From gold:

- `risk`, `train_scores`, `cross_validate`: the scores of phrases
- `calibration`, `confidence_training`: how likely pairs are right
- `span_training`, `chunk_training`: the chunk model
- `word_gold`, `word_weights`, `word_metric_training`, `word_run`: the word profile `best`
- `rerank_training`: what the other sentence weighs in the choice of trees
- `crf_run`, `crf_validation`: the CRF word aligners

What is said about a model:

- `card`, `model_description`: where it comes from, and what it has learned
"""

from forestalign.learning.card import card_of, plot_objective, plot_reliability
from forestalign.learning.e_step import ExpectationWorker
from forestalign.learning.em_loop import TrainingReport, train_model
from forestalign.learning.m_step import Events, collect_events, join_events, maximise, objective
from forestalign.learning.stepwise_em import (
    EmSettings,
    EmState,
    RootCounts,
    held_out_objective,
    step_size,
    stepwise_update,
)

__all__ = [
    "EmSettings",
    "EmState",
    "Events",
    "ExpectationWorker",
    "RootCounts",
    "TrainingReport",
    "card_of",
    "collect_events",
    "held_out_objective",
    "join_events",
    "maximise",
    "objective",
    "plot_objective",
    "plot_reliability",
    "step_size",
    "stepwise_update",
    "train_model",
]
