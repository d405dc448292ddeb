"""The weights of profile `best` in a file: JSON with a card, one number for each part, confidence and calibration.

`confidence` says how likely a pair is right (`result/pair_confidence.py`); without it that is its posterior, its share
of the k best. `calibration` takes this to the share of such pairs that are right, by straight lines between points.
Both were found on held-out pairs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.inputs import Number, Share, as_record, kept_while_unchanged, read_json, reading
from forestalign.phrases.evidence.logistic import NamedWeights, Weighting, logistic
from forestalign.phrases.scoring.schema import CATEGORIES, CLASSES, NAMES, PAIR, PHRASE_SEED, WORD_SEED
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


# ---- the file ----


SHIPPED = "phrase_scores.json"
KIND = "forestalign phrase scores"
VERSION = 1
IDENTITY = ((0.0, 0.0), (1.0, 1.0))
MOST_POINTS = 1000  # of a calibration; ours has ten


@dataclass(frozen=True, slots=True, eq=False)
class ScoreModel:
    """w, in the order of `schema.NAMES`, and how likely pairs are right."""

    weights: FloatArray
    calibration: tuple[tuple[float, float], ...] = IDENTITY
    card: dict[str, Any] = field(default_factory=dict)
    confidence: PairConfidence | None = None

    def calibrated(self, posteriors: Sequence[float] | FloatArray) -> list[float]:
        """The probabilities that pairs of these posteriors, or of this confidence, are right.

        >>> ScoreModel(np.zeros(1), ((0.0, 0.1), (1.0, 0.9))).calibrated([0.5])
        [0.5]
        """
        raw, right = zip(*self.calibration, strict=True)
        probabilities: list[float] = np.interp(posteriors, raw, right).tolist()
        return probabilities


def paper_weights(share: float, null_penalty: float, noncompositional_penalty: float, link_weight: float) -> FloatArray:
    """Weights under which f gives the paper's score: what training starts from. `share` is 1 - µp."""
    weights = np.zeros(len(NAMES))
    by_name = {
        "pair: log pr": share,
        "word: log p": share * link_weight,
        "phrase: count": -share * null_penalty,
        "null: log pr": share,
        "step: non-compositional": -share * null_penalty * noncompositional_penalty,
        "parse: log p": 1.0 - share,
    }
    for name, value in by_name.items():
        weights[NAMES.index(name)] = value
    for name in CLASSES:
        weights[NAMES.index(f"null: {name}")] = -share * null_penalty
    return weights


class _ScoreFile(msgspec.Struct):
    weights: dict[str, Number]
    calibration: Annotated[tuple[tuple[Share, Share], ...], msgspec.Meta(min_length=2, max_length=MOST_POINTS)]
    card: dict[str, Any] = {}
    confidence: dict[str, NamedWeights] = {}


@kept_while_unchanged(8)
def load_score_model(path: str = "") -> ScoreModel:
    """A model file; without a path the shipped one."""
    file = Path(path) if path else grammar_root() / SHIPPED
    with reading(file, "file of phrase scores", GrammarError):
        content = read_json(file)
        if not isinstance(content, dict) or content.get("kind") != KIND or content.get("version") != VERSION:
            raise GrammarError(file, None, f"expected phrase scores of version {VERSION}, made by `train --gold`")
        own = as_record(content, _ScoreFile)
        if odd := sorted(set(NAMES).symmetric_difference(own.weights)):
            raise ValueError(f"it has other parts than this version; they differ in {odd[:5]}")
        if not all(one[0] < other[0] and one[1] <= other[1] for one, other in pairwise(own.calibration)):
            raise ValueError("calibration does not rise; expected points in order")
        if own.confidence and set(own.confidence) != set(KINDS):
            raise ValueError(f"confidence has other kinds of pairs than {', '.join(KINDS)}")
        weightings = tuple(own.confidence[kind].over(CONFIDENCE) for kind in KINDS if own.confidence)
        vector = np.array([own.weights[name] for name in NAMES])
        return ScoreModel(vector, own.calibration, own.card, PairConfidence(weightings) if weightings else None)


def score_model_text(model: ScoreModel) -> str:
    """The content of a model file."""
    content = {
        "kind": KIND,
        "version": VERSION,
        "card": model.card,
        "weights": {name: round(float(value), 5) for name, value in zip(NAMES, model.weights, strict=True)},
        "calibration": [[round(raw, 4), round(right, 4)] for raw, right in model.calibration],
    }
    if model.confidence is not None:
        content["confidence"] = model.confidence.record()
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
