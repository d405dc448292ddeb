"""Supervised aligners: the token CRF and the semi-Markov phrase CRF of Yao et al. (2013), trainable and exact.

    aligner = load_crf()
    for link in aligner.align(source, target):
        print(link.source, link.target, link.score)

The way from a pair to its links:

- `sentence_view`, `chunks`: a sentence as the features see it
- `feature_space`, `cells`, `transitions`, `segments`: features of words, of steps, of spans
- `span_potentials`, `pair_features`: from weights to a lattice
- `lattice`, `lattice_kernels`, `kbest`: inference
- `symmetrisation`, `crf_aligner`: one set of links from both directions

The way from gold to a model:

- `gold`, `analysis_store`: gold links and phrase gold made from them, tags, lemmas and vectors
- `softmax_margin`, `journal`, `training`: the loss, a record to resume from, L-BFGS
- `model_file`: what is written
"""

from __future__ import annotations

from forestalign.words.crf.cells import Resources
from forestalign.words.crf.crf_aligner import CrfAligner, load_crf, load_resources
from forestalign.words.crf.feature_space import FAMILIES, FeatureSpace, feature_space
from forestalign.words.crf.gold import Costs, synthesise
from forestalign.words.crf.model_file import COMBINATIONS, CrfModel, ModelCard, read_model, write_model
from forestalign.words.crf.symmetrisation import METHODS, symmetrise
from forestalign.words.crf.training import (
    DIRECTIONS,
    TrainingPair,
    TrainingProgress,
    TrainSettings,
    synthetic_phrases,
    train,
)

__all__ = [
    "COMBINATIONS",
    "DIRECTIONS",
    "FAMILIES",
    "METHODS",
    "Costs",
    "CrfAligner",
    "CrfModel",
    "FeatureSpace",
    "ModelCard",
    "Resources",
    "TrainSettings",
    "TrainingPair",
    "TrainingProgress",
    "feature_space",
    "load_crf",
    "load_resources",
    "read_model",
    "symmetrise",
    "synthesise",
    "synthetic_phrases",
    "train",
    "write_model",
]
