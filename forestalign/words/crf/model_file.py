"""The model file: JSON with the feature space, the weights by name, and a card. Zero weights are left out."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import InputError, UsageError, shown
from forestalign.inputs import card, mapping, number, read_json, reading, text, whole
from forestalign.outputs import packed_file
from forestalign.words.crf.feature_space import FAMILIES, LONGEST_SPAN, FeatureSpace, feature_space
from forestalign.words.crf.symmetrisation import METHODS

FORMAT, VERSION = "forestalign-crf", 1
POSTERIOR = "posterior"
COMBINATIONS = ("s2t", "t2s", POSTERIOR, *METHODS)
MOST_PAIRS = 10**12
DIGITS = 5  # significant digits of a weight in the file; more do not change a score


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Where a model comes from."""

    data: tuple[str, ...] = ()  # names of the gold files
    pair_count: int = 0
    settings: str = ""
    note: str = ""


@dataclass(frozen=True)
class CrfModel:
    """Weights of one or both directions over one feature space, and how to combine them."""

    space: FeatureSpace
    forward: FloatArray | None  # source to target
    backward: FloatArray | None  # target to source
    combination: str = POSTERIOR
    threshold: float = 0.45  # of the mean posterior; best in 5-fold runs on both development sets
    card: ModelCard = ModelCard()

    def __post_init__(self) -> None:
        if self.forward is None and self.backward is None:
            raise UsageError("a CRF model needs weights of at least one direction")
        if self.combination not in COMBINATIONS:
            raise UsageError(f"combination is {self.combination!r}; expected one of {', '.join(COMBINATIONS)}")
        if not self.allows(self.combination):
            missing = next(name for name, weights in self.directions().items() if weights is None)
            raise UsageError(f"{self.combination} needs the direction {missing}, which the model does not have")

    def directions(self) -> dict[str, FloatArray | None]:
        """The weights of each direction; None where it was not trained."""
        return {"s2t": self.forward, "t2s": self.backward}

    def allows(self, combination: str) -> bool:
        """Whether the directions that a combination needs are there."""
        missing = [name for name, weights in self.directions().items() if weights is None]
        return combination == POSTERIOR or not missing or combination not in (*METHODS, *missing)

    def combined(self, combination: str, threshold: float | None = None) -> CrfModel:
        """This model with another way to put the directions together."""
        return replace(self, combination=combination, threshold=self.threshold if threshold is None else threshold)

    def weights_in(self, space: FeatureSpace, direction: str, otherwise: FloatArray | None = None) -> FloatArray:
        """The weights of one direction by name in another feature space; `otherwise`, or 0, where a feature is new."""
        found = np.zeros(len(space)) if otherwise is None else otherwise.copy()
        weights = self.directions()[direction]
        if weights is not None:
            own = {name: place for place, name in enumerate(self.space.names)}
            for place, name in enumerate(space.names):
                if name in own:
                    found[place] = weights[own[name]]
        return found


def format_model(model: CrfModel) -> str:
    """One feature per line, so that two models can be compared with diff."""
    space, card = model.space, model.card
    document = {
        "format": FORMAT,
        "version": VERSION,
        "families": list(space.families),
        "source_max": space.source_max,
        "target_max": space.target_max,
        "by_kind": space.by_kind,
        "combination": model.combination,
        "threshold": model.threshold,
        "card": {
            "data": list(card.data),
            "pair_count": card.pair_count,
            "settings": card.settings,
            "note": card.note,
        },
        "weights": {
            direction: _named(space, weights)
            for direction, weights in model.directions().items()
            if weights is not None
        },
    }
    return json.dumps(document, indent=0, ensure_ascii=False) + "\n"


def _named(space: FeatureSpace, weights: FloatArray) -> dict[str, float]:
    rounded = ((name, float(f"{weight:.{DIGITS}g}")) for name, weight in zip(space.names, weights, strict=True))
    return {name: weight for name, weight in rounded if weight}


def write_model(model: CrfModel, path: str | Path) -> None:
    """Write a model file, by feature name."""
    with packed_file(path) as file:
        file.write(format_model(model).encode())


def read_model(path: str | Path) -> CrfModel:
    """A file that `write_model` has written; anything else is refused with what was expected."""
    with reading(path, "CRF model"):
        document = read_json(path)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"expected an object whose format is {FORMAT!r}")
        if document.get("version") != VERSION:
            raise InputError(path, None, f"CRF model of version {shown(document.get('version'))}; expected {VERSION}")
        try:
            return _model_of(document)
        except UsageError as error:
            raise ValueError(str(error)) from error


def _model_of(document: dict[str, Any]) -> CrfModel:
    families = tuple(family for family in FAMILIES if family in document["families"])
    if len(families) != len(document["families"]):
        raise ValueError(f"families are {shown(document['families'])}; known are {', '.join(FAMILIES)}")
    longest = (whole(name, document[name], 1, LONGEST_SPAN) for name in ("source_max", "target_max"))
    by_kind = document.get("by_kind", False)
    if not isinstance(by_kind, bool):
        raise ValueError(f"by_kind is {shown(by_kind)}; expected true or false")
    space = feature_space(families, *longest, by_kind)
    weights = mapping("weights", document["weights"])
    return CrfModel(
        space,
        _vector(space, "s2t", weights.get("s2t")),
        _vector(space, "t2s", weights.get("t2s")),
        text("combination", document["combination"]),
        number("threshold", document["threshold"], 0.0, 1.0),
        _card(card(document)),
    )


def _card(fields: dict[str, Any]) -> ModelCard:
    if not isinstance(fields["data"], list):
        raise ValueError(f"the data of the card is {shown(fields['data'])}; expected names of files")
    names = tuple(text("the data of the card", name) for name in fields["data"])
    pair_count = whole("pair_count", fields["pair_count"], 0, MOST_PAIRS)
    return ModelCard(names, pair_count, text("settings", fields["settings"]), text("note", fields["note"]))


def _vector(space: FeatureSpace, direction: str, named: object) -> FloatArray | None:
    if named is None:
        return None
    weights = mapping(f"weights of {direction}", named)
    unknown = sorted(set(weights) - set(space.names))
    if unknown:
        raise ValueError(f"no feature is called {shown(unknown[0])}")
    return np.array([number(f"the weight of {name!r}", weights.get(name, 0.0)) for name in space.names])
