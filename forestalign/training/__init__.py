"""Training the phrase model on pairs of sentences: corpus and cache, the E step over processes, the loop, the card."""

from forestalign.training.card import card_of, plot_objective
from forestalign.training.corpus import CachedPair, PairCache, cache_corpus
from forestalign.training.expectation import ExpectationWorker, expectations
from forestalign.training.loop import TrainingReport, train_model

__all__ = [
    "CachedPair",
    "ExpectationWorker",
    "PairCache",
    "TrainingReport",
    "cache_corpus",
    "card_of",
    "expectations",
    "plot_objective",
    "train_model",
]
