"""The trials of a tuning run: Bayesian optimisation with a Gaussian process, a record on disk, resuming.

The first trial has the settings that the run starts from (where they lie in the ranges), the next are random, the rest
are where the process expects the largest improvement. Each is added to a file of JSON lines when it is done. A run that
is resumed asks the optimiser again for every trial in the file and tells it the recorded result, so it goes on exactly
as if it had not stopped.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from forestalign.config import AlignConfig
from forestalign.errors import InputError, MissingExtraError, UsageError
from forestalign.metrics import Evaluation
from forestalign.tuning.space import SCORES, Parameter, Value, changed_config, objective_value


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting of the parameters and what came out."""

    number: int
    values: tuple[Value, ...]  # in the order of the parameters
    objective: float
    scores: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """Everything that determines the trials; a record of another plan cannot be resumed."""

    parameters: tuple[Parameter, ...]
    objective: tuple[tuple[str, float], ...]
    trials: int = 40
    initial: int = 10  # random ones before the process is asked
    seed: int = 1
    signature: str = ""  # of the aligner and the data

    @property
    def key(self) -> str:
        """The plan as a line, but for the number of trials: a run may be resumed to go on for longer."""
        content = asdict(self)
        del content["trials"]
        return json.dumps({"plan": content}, ensure_ascii=False)


Evaluate = Callable[[AlignConfig], Evaluation]


def run_trials(
    plan: TuningPlan, config: AlignConfig, evaluate: Evaluate, record: Path, resume: bool = False
) -> Iterator[Trial]:
    """All trials in order, those that were recorded before included."""
    known = _read_record(record, plan) if resume and record.exists() else []
    _write_record(record, plan, known)
    optimiser = _Optimiser(plan, config)
    for number in range(1, max(plan.trials, len(known)) + 1):
        values = optimiser.ask()
        if number <= len(known):
            trial = known[number - 1]
            if trial.values != values:
                raise UsageError(f"{record}: trial {number} has {trial.values}, but this run comes to {values}")
        else:
            trial = _judged(number, values, evaluate(changed_config(config, plan.parameters, values)), plan)
            with open(record, "a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(trial), ensure_ascii=False) + "\n")
        optimiser.tell(trial)
        yield trial


def best_trial(trials: Sequence[Trial]) -> Trial:
    """The highest objective; of equal ones the earliest."""
    return max(trials, key=lambda trial: (trial.objective, -trial.number))


def _judged(number: int, values: tuple[Value, ...], evaluation: Evaluation, plan: TuningPlan) -> Trial:
    shown = [name for name in SCORES.values() if name in evaluation.names]
    scores = tuple((name, evaluation[name]) for name in shown)
    return Trial(number, values, objective_value(evaluation, dict(plan.objective)), scores)


class _Optimiser:
    """scikit-optimize behind our own types; it minimises."""

    def __init__(self, plan: TuningPlan, config: AlignConfig):
        try:
            import skopt
        except ImportError as error:
            raise MissingExtraError("tuning", "tune") from error
        self._parameters = plan.parameters
        start = tuple(getattr(config, each.name) for each in plan.parameters)
        inside = all(each.contains(value) for each, value in zip(plan.parameters, start, strict=True))
        self._start: tuple[Value, ...] | None = start if inside else None
        self._optimiser = skopt.Optimizer(
            [_dimension(skopt.space, each) for each in plan.parameters],
            base_estimator="GP",
            n_initial_points=plan.initial + (1 if inside else 0),
            acq_func="EI",
            random_state=plan.seed,
        )

    def ask(self) -> tuple[Value, ...]:
        """The next values to try."""
        if self._start is not None:
            start, self._start = self._start, None
            return start
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a point that was tried before: it costs one trial, no more
            asked = self._optimiser.ask()
        return tuple(each.cleaned(value) for each, value in zip(self._parameters, asked, strict=True))

    def tell(self, trial: Trial) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of kernel parameters at the end of their range
            self._optimiser.tell(list(trial.values), -trial.objective)


def _dimension(space: Any, parameter: Parameter) -> Any:
    if parameter.choices:
        return space.Categorical(list(parameter.choices), name=parameter.name)
    if parameter.is_whole:
        return space.Integer(int(parameter.low), int(parameter.high), name=parameter.name)
    return space.Real(parameter.low, parameter.high, name=parameter.name)


def _write_record(path: Path, plan: TuningPlan, known: Sequence[Trial]) -> None:
    """Begin the file, or write it again without the half line that a killed run may have left."""
    lines = [plan.key, *(json.dumps(asdict(trial), ensure_ascii=False) for trial in known)]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(f"{path}.part")
    temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    temporary.replace(path)


def _read_record(path: Path, plan: TuningPlan) -> list[Trial]:
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]  # what follows the last line end is not whole
    if not lines:
        return []
    if lines[0] != plan.key:
        raise UsageError(f"{path} was made with other parameters, data or seed: it cannot be resumed here")
    return [_trial(path, number, line) for number, line in enumerate(lines[1:], start=2)]


def _trial(path: Path, number: int, line: str) -> Trial:
    try:
        fields: Mapping[str, Any] = json.loads(line)
        return Trial(
            int(fields["number"]),
            tuple(fields["values"]),
            float(fields["objective"]),
            tuple((str(name), float(value)) for name, value in fields["scores"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(path, number, f"is no trial: {error}") from error
