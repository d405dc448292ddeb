"""The weights that say how likely pairs of a result are right; `result/pair_confidence.py` gives the features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.phrases.evidence.logistic import Weighting, logistic, read_weighting
from forestalign.phrases.scoring.schema import CATEGORIES, PAIR, PHRASE_SEED, WORD_SEED
from forestalign.phrases.scoring.score import Step

KINDS = ("words", "a word and a phrase", "phrases")
STRUCTURE = (
    "posterior", "log odds of the posterior", "log size", "null inside", "weakest support", "posterior above",
    "below a non-compositional step", "null words of the sentences", "score by word", "null inside above",
    "as long as a support", "as long as the pair above",
)  # fmt: skip
LINKING = (
    "local score", "margin", "content words linked", "content words lost", "function words linked", "weakest word",
    "strongest partners", "strongest rival",
)  # fmt: skip
CONFIDENCE = (
    *(name for name in PAIR if name != "count"),
    *(f"word {name}" for name in WORD_SEED),
    *(f"phrase {name}" for name in PHRASE_SEED),
    *STRUCTURE,
    *LINKING,
    *(f"step {step.label}" for step in Step),
    *(f"category {name}" for name in CATEGORIES),
)


@dataclass(frozen=True, slots=True, eq=False)
class PairConfidence:
    """A weighted sum of CONFIDENCE for each of KINDS."""

    weightings: tuple[Weighting, ...]

    def __call__(self, features: FloatArray, kinds: Sequence[int]) -> FloatArray:
        """Probabilities, not yet calibrated: rows of features, and the kind of each."""
        rows = np.asarray(kinds, np.int64)
        sums = np.stack([weighting(features) for weighting in self.weightings])
        return logistic(sums[rows, np.arange(len(rows))])

    def record(self) -> dict[str, object]:
        """For a file: weights by kind."""
        return {kind: each.record(CONFIDENCE) for kind, each in zip(KINDS, self.weightings, strict=True)}


def read_confidence(path: Path, record: object) -> PairConfidence:
    """What a file of phrase scores has of it."""
    if not isinstance(record, Mapping) or set(record) != set(KINDS):
        raise ValueError(f"confidence has other kinds of pairs than {', '.join(KINDS)}")
    return PairConfidence(tuple(read_weighting(path, kind, record[kind], CONFIDENCE) for kind in KINDS))
