"""What is searched: named settings with their ranges, and the score that is maximised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import UsageError
from forestalign.evaluation import Evaluation

Value = float | int | str | bool
DIGITS = 3  # of a tuned number: what is tried is what gets pasted
SCORES = {
    "phrase": "F1",
    "recall": "recall",
    "precision": "precision",
    "several-links": "several links F1",
    "uas": "UAS",
    "root": "root reached",
}
DEFAULT_PARAMETERS = (
    "null_penalty=1:8",  # µn, the range that section 6.4 tries
    "noncompositional_penalty=0:4",  # µc
    "parse_weight=0:0.95",  # µp
    "beam=10:100",  # µb
    "gap=1:16",  # µg
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting with the lowest and highest value to try, or with the values to choose from."""

    name: str
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str | bool, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the setting takes whole numbers."""
        return type(getattr(DEFAULT_CONFIG, self.name)) is int

    def cleaned(self, value: object) -> Value:
        """A value of the optimiser as the setting takes it: numbers rounded, but not out of the range."""
        if self.choices:
            return next(choice for choice in self.choices if choice == value)
        number = float(value)  # type: ignore[arg-type]
        if self.is_whole:
            return int(number)
        return min(max(round(number, DIGITS), self.low), self.high)

    def contains(self, value: object) -> bool:
        """Whether a value lies in the range or is one of the choices."""
        if self.choices:
            return value in self.choices
        return isinstance(value, int | float) and self.low <= value <= self.high


def parse_parameter(text: str) -> Parameter:
    """`null_penalty=1:8` is a range, `links=sultan,union` a choice."""
    name, equals, values = text.partition("=")
    if not equals or not values:
        raise UsageError(f"{text!r} is not a parameter; expected NAME=LOW:HIGH or NAME=VALUE,VALUE")
    default = next((getattr(DEFAULT_CONFIG, each.name) for each in fields(AlignConfig) if each.name == name), None)
    if default is None:
        raise UsageError(f"no setting is called {name!r}, in {text!r}")
    if isinstance(default, bool):
        return Parameter(name, choices=tuple(_boolean(text, value) for value in values.split(",")))
    if isinstance(default, str):
        return Parameter(name, choices=tuple(values.split(",")))
    return _ranged(text, name, values, type(default))


def _ranged(text: str, name: str, values: str, kind: type[int] | type[float]) -> Parameter:
    low, colon, high = values.partition(":")
    try:
        if not colon:
            raise ValueError
        bounds = kind(low), kind(high)
    except ValueError:
        raise UsageError(f"{text!r}: {name} is a number ({kind.__name__}); expected {name}=LOW:HIGH") from None
    if bounds[0] >= bounds[1]:
        raise UsageError(f"{text!r}: the range is empty; expected the lower end first")
    return Parameter(name, *bounds)


def _boolean(text: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise UsageError(f"{text!r}: {value!r} is neither true nor false")
    return value.lower() == "true"


def parse_objective(text: str) -> dict[str, float]:
    """`phrase=0.7,uas=0.3`, or a single name."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, weight = part.partition("=")
        if name not in SCORES:
            raise UsageError(f"{name!r} cannot be maximised; expected some of {', '.join(SCORES)}")
        try:
            weights[name] = float(weight or 1.0)
        except ValueError:
            raise UsageError(f"{part!r}: the weight of {name} is not a number") from None
    return weights


def objective_value(evaluation: Evaluation, weights: Mapping[str, float]) -> float:
    """The weighted sum of the scores."""
    for name in weights:
        if SCORES[name] not in evaluation.names:
            raise UsageError(f"this development set has no {SCORES[name]}; it has {', '.join(evaluation.names)}")
    return sum(weight * evaluation[SCORES[name]] for name, weight in weights.items())


def changed_config(config: AlignConfig, parameters: Sequence[Parameter], values: Sequence[Value]) -> AlignConfig:
    """The settings with these values of the parameters."""
    changes: dict[str, Any] = {each.name: value for each, value in zip(parameters, values, strict=True)}
    return config.replace(**changes)
