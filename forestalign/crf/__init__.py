"""Supervised aligners: the token CRF and the semi-Markov phrase CRF of Yao et al. (2013), trainable and exact.

    aligner = load_crf()
    for link in aligner.align(source, target):
        print(link.source, link.target, link.score)

The way from a pair to its links: `words` and `chunks` -> `cells`, `transitions`, `segments` (features) ->
`pair_features` (lattice) -> `lattice`, `_kernels`, `kbest` (inference) -> `symmetrisation` -> `aligner`.
The way from gold to a model: `gold`, `synthetic` -> `objective` -> `training` -> `model`.
"""

from __future__ import annotations

from forestalign.crf.aligner import CrfAligner, load_crf, load_resources
from forestalign.crf.cells import Resources
from forestalign.crf.gold import Costs
from forestalign.crf.model import COMBINATIONS, CrfModel, ModelCard, read_model, write_model
from forestalign.crf.space import FAMILIES, FeatureSpace, feature_space
from forestalign.crf.symmetrisation import METHODS, symmetrise
from forestalign.crf.synthetic import synthesise, synthetic_phrases
from forestalign.crf.training import DIRECTIONS, Progress, TrainingPair, TrainSettings, train

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
    "Progress",
    "Resources",
    "TrainSettings",
    "TrainingPair",
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
