"""Learning the chunk model from `.wa` gold: which chunks are aligned, of what type, with what score.

Every example also counts with its sentences in each other's place, so that the model has no favourite direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.formats.chunk_files import ChunkAlignment
from forestalign.learning.span_training import fit_logistic, fit_multinomial, fit_ridge
from forestalign.phrases.chunk_alignment import TYPES, ChunkModel, around_features
from forestalign.phrases.evidence.span_context import SpanContext
from forestalign.phrases.evidence.span_pairs import DIRECTED_PART, SYMMETRIC, SYMMETRIC_PART, Words, span_features

THRESHOLD = 0.4  # five folds: .35 to .45 differ by less than .3 on each set
RIDGE = 1.0
TYPE_RIDGE = 3.0
MIRRORED = {"SPE1": "SPE2", "SPE2": "SPE1"}


@dataclass(frozen=True, slots=True, eq=False)
class ChunkExample:
    """A pair of chunked sentences with its gold: features and labels of all pairs of chunks, and the aligned spans."""

    gold: ChunkAlignment
    context: SpanContext
    source: tuple[Words, ...]
    target: tuple[Words, ...]
    features: FloatArray  # [source, target, NAMES]
    labels: FloatArray  # [source, target]
    aligned: FloatArray  # [aligned pairs, NAMES]
    types: tuple[str, ...]
    scores: tuple[float, ...]
    weight: float = 1.0  # how often it counts when types are learned


def chunk_example(
    gold: ChunkAlignment,
    context: SpanContext,
    source: Sequence[Words],
    target: Sequence[Words],
    weight: float = 1.0,
) -> ChunkExample:
    """What is learned from one pair; chunks are in the order of the sentences."""
    features = span_features(context, source, target)
    labels = np.zeros(features.shape[:2])
    kept = [pair for pair in gold.pairs if pair.source and pair.target and pair.relation.split("_")[0] in TYPES]
    for pair in kept:
        rows = [a for a, words in enumerate(source) if set(words) <= set(pair.source)]
        columns = [b for b, words in enumerate(target) if set(words) <= set(pair.target)]
        labels[np.ix_(rows, columns)] = 1.0
    aligned = [span_features(context, [sorted(pair.source)], [sorted(pair.target)])[0, 0] for pair in kept]
    return ChunkExample(
        gold,
        context,
        tuple(source),
        tuple(target),
        features,
        labels,
        np.array(aligned).reshape(len(kept), features.shape[2]),
        tuple(pair.relation.split("_")[0] for pair in kept),
        tuple(pair.score or 0.0 for pair in kept),
        weight,
    )


def train_chunks(examples: Sequence[ChunkExample]) -> ChunkModel:
    """All weights; the second model is fitted to what the first one says of the same pairs."""
    cells = np.concatenate([each.features[..., SYMMETRIC_PART].reshape(-1, len(SYMMETRIC)) for each in examples])
    labels = np.concatenate([each.labels.ravel() for each in examples])
    pair = fit_logistic(cells, labels, RIDGE)
    around = [around_features(pair(each.features[..., SYMMETRIC_PART])) for each in examples]
    second = fit_logistic(np.concatenate([each.reshape(-1, each.shape[-1]) for each in around]), labels, RIDGE)
    aligned = np.concatenate([each.aligned for each in examples])
    types = [kind for each in examples for kind in each.types]
    scores = np.array([score for each in examples for score in each.scores])
    rows = np.concatenate([aligned, mirrored_features(aligned)])
    numbers = [TYPES.index(kind) for kind in types] + [TYPES.index(MIRRORED.get(kind, kind)) for kind in types]
    counts = np.array([each.weight for each in examples for _ in each.types])
    is_other = np.array([kind != "EQUI" for kind in types])
    return ChunkModel(
        pair,
        second,
        fit_multinomial(rows, np.array(numbers, np.float64), len(TYPES), TYPE_RIDGE, np.tile(counts, 2)),
        fit_ridge(aligned[is_other][:, SYMMETRIC_PART], scores[is_other], TYPE_RIDGE),
        THRESHOLD,
    )


def mirrored_features(features: FloatArray) -> FloatArray:
    """The features of the same spans with source and target swapped."""
    turned = features.copy()
    turned[..., DIRECTED_PART] *= -1.0
    return turned
