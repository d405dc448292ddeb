"""The weights of profile `best` in a file: JSON with a card, one number for each part, and the calibration.

Posteriors of pairs are shares of the k best; `calibration` takes them to the share of such pairs that are right, by
straight lines between points found on held-out pairs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.outputs import read_packed
from forestalign.phrases.model import FloatArray
from forestalign.phrases.part_kinds import NAMES, SLICE

SHIPPED = "phrase_scores.json"
KIND = "forestalign phrase scores"
VERSION = 1
IDENTITY = ((0.0, 0.0), (1.0, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """w, in the order of `parts.NAMES`, and what makes posteriors of pairs into probabilities."""

    weights: FloatArray
    calibration: tuple[tuple[float, float], ...] = IDENTITY
    card: dict[str, Any] = field(default_factory=dict)

    def calibrated(self, posteriors: Sequence[float]) -> list[float]:
        """The probabilities that pairs of these posteriors are right.

        >>> LinearModel(np.zeros(1), ((0.0, 0.1), (1.0, 0.9))).calibrated([0.5])
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
    classes = slice(SLICE["null"].start + 2, SLICE["null"].start + 7)
    weights[classes] = -share * null_penalty
    return weights


@lru_cache(maxsize=8)
def load_linear_model(path: str = "") -> LinearModel:
    """A model file; without a path the shipped one."""
    file = Path(path) if path else grammar_root() / SHIPPED
    try:
        content = json.loads(read_packed(file).decode())
    except OSError as error:
        raise GrammarError(file, None, f"cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise GrammarError(file, None, f"is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("kind") != KIND or content.get("version") != VERSION:
        raise GrammarError(file, None, f"expected phrase scores of version {VERSION}, made by `train --gold`")
    return _checked(file, content)


def _checked(file: Path, content: dict[str, Any]) -> LinearModel:
    weights, calibration = content.get("weights"), content.get("calibration")
    if not isinstance(weights, dict) or set(weights) != set(NAMES):
        odd = sorted(set(NAMES).symmetric_difference(weights if isinstance(weights, dict) else ()))
        raise GrammarError(file, None, f"has other parts than this version; they differ in {odd[:5]}")
    try:
        vector = np.array([float(weights[name]) for name in NAMES])
        points = tuple((float(raw), float(right)) for raw, right in calibration)  # type: ignore[union-attr]
    except (TypeError, ValueError) as error:
        raise GrammarError(file, None, f"has a weight or a calibration that is no number: {error}") from None
    rising = all(one[0] < other[0] and one[1] <= other[1] for one, other in pairwise(points))
    if not np.isfinite(vector).all() or len(points) < 2 or not rising:
        raise GrammarError(file, None, "expected finite weights and a calibration of rising points")
    return LinearModel(vector, points, dict(content.get("card", {})))


def linear_model_text(model: LinearModel) -> str:
    """The content of a model file."""
    content = {
        "kind": KIND,
        "version": VERSION,
        "card": model.card,
        "weights": {name: round(float(value), 5) for name, value in zip(NAMES, model.weights, strict=True)},
        "calibration": [[round(raw, 4), round(right, 4)] for raw, right in model.calibration],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
