"""Learning the similarity of phrases from human gold: which nodes with little or no link inside are partners.

Gold is a set of blocks, each some words of the source with some of the target. A pair of spans is right if it is a
block, or a union of whole blocks with nothing else at its edges. It is neither right nor wrong if it only has words
without a partner at its edges, or if it lies inside a block; all other pairs are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.forest import Forest
from forestalign.learning.span_training import fit_logistic
from forestalign.phrases.evidence.phrase_similarity import (
    PhraseSimilarityModel,
    candidate_spans,
    free_spans,
    is_candidate,
)
from forestalign.phrases.evidence.span_context import SpanContext
from forestalign.phrases.evidence.span_pairs import SYMMETRIC, SYMMETRIC_PART, span_features
from forestalign.tokens import Span

UNKNOWN = -1.0
THRESHOLD = 0.5
RIDGE = 3.0
Block = tuple[frozenset[int], frozenset[int]]


@dataclass(frozen=True, slots=True, eq=False)
class SimilarityRows:
    """Candidates of one pair of sentences: their features, whether they are right, and how often each counts."""

    features: FloatArray
    labels: FloatArray
    weights: FloatArray


def similarity_rows(
    context: SpanContext,
    forests: tuple[Forest, Forest],
    blocks: Sequence[Block],
    generator: np.random.Generator,
    most: int = 60,
) -> SimilarityRows:
    """What is learned from one pair; of many wrong candidates `most` are drawn, which count for all."""
    source, target = free_spans(context, candidate_spans(forests[0]), candidate_spans(forests[1]))
    if not source or not target:
        return SimilarityRows(np.zeros((0, len(SYMMETRIC))), np.zeros(0), np.zeros(0))
    features = span_features(context, [range(*span) for span in source], [range(*span) for span in target])
    cells = np.argwhere(is_candidate(features, source, target)).tolist()
    labels = np.array([label_of(source[a], target[b], blocks) for a, b in cells])
    right, wrong = np.flatnonzero(labels == 1.0), np.flatnonzero(labels == 0.0)
    drawn = np.sort(generator.permutation(wrong)[:most])
    share = len(wrong) / max(1, len(drawn))
    kept = np.concatenate([right, drawn]).astype(np.int64)
    rows = np.array([features[cells[k][0], cells[k][1], SYMMETRIC_PART] for k in kept.tolist()])
    weights = np.concatenate([np.ones(len(right)), np.full(len(drawn), share)])
    return SimilarityRows(rows.reshape(len(kept), len(SYMMETRIC)), labels[kept] if len(kept) else np.zeros(0), weights)


def label_of(source: Span, target: Span, blocks: Sequence[Block]) -> float:
    """1 for right, 0 for wrong, UNKNOWN where the gold does not tell."""
    words, others = set(range(*source)), set(range(*target))
    inside = [block for block in blocks if block[0] <= words and block[1] <= others]
    crossing = [block for block in blocks if (block[0] & words or block[1] & others) and block not in inside]
    if any(block[0] >= words and block[1] >= others for block in crossing):
        return UNKNOWN
    if crossing or not inside:
        return 0.0
    held = set().union(*(block[0] for block in inside)), set().union(*(block[1] for block in inside))
    edges = {source.begin, source.end - 1} <= held[0] and {target.begin, target.end - 1} <= held[1]
    return 1.0 if edges else UNKNOWN


def train_similarity(rows: Sequence[SimilarityRows]) -> PhraseSimilarityModel:
    """The weights from all pairs."""
    features = np.concatenate([each.features for each in rows])
    labels = np.concatenate([each.labels for each in rows])
    weights = np.concatenate([each.weights for each in rows])
    return PhraseSimilarityModel(fit_logistic(features, labels, RIDGE, weights), THRESHOLD)
