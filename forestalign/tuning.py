"""The parameters of a tuning run, its trials, and what it shows of them: a table and the settings to paste.

Bayesian optimisation with a Gaussian process. The first trial has the settings that the run starts from (where they lie
in the ranges), the next are random, the rest are where the process expects the largest improvement. Each is added to a
file of JSON lines when it is done. What is tried next depends only on the plan and on the trials so far, so a run that
is resumed goes on exactly as if it had not stopped.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.aligner import Aligner
from forestalign.batch.workers import Worker, Workers
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import InputError, MissingExtraError, UsageError
from forestalign.evaluation.development import (
    DevelopmentWorker,
    align_development,
    best_trees,
    prepared_pairs,
    read_development,
)
from forestalign.evaluation.reports import data_hash
from forestalign.evaluation.scores import Evaluation
from forestalign.formats.pairs import PairRecord
from forestalign.outputs import follow_link, is_packed, naming
from forestalign.own_files import open_alone, start_file
from forestalign.trees import Tree

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
DEFAULT_PARAMETERS = (  # what counts with the default scoring
    "beam=10:100",  # µb
    "gap=1:30",  # µg
    "trace_states=10:200",
    "prospect_share=0:0.9",
    "prospect_links=0:0.5",
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

    def clean(self, value: object) -> Value:
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
    return _parse_range(text, name, values, type(default))


def _parse_range(text: str, name: str, values: str, kind: type[int] | type[float]) -> Parameter:
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


class DevelopmentTrials:
    """Scores a development set under given settings; parses and links are kept in a folder."""

    def __init__(
        self,
        path: str,
        config: AlignConfig,
        folder: Path,
        annotators: Sequence[str] = (),
        limit: int = 0,
        workers: Workers | None = None,
    ):
        self._folder, self._workers = folder, workers
        self._worker = Worker(DevelopmentWorker)

        def trees(records: Sequence[PairRecord]) -> list[tuple[Tree, Tree]]:
            return best_trees(prepared_pairs(records, folder, config.replace(mutual=False), workers))

        self._development = read_development(path, trees, annotators, limit)

    def __call__(self, config: AlignConfig) -> Evaluation:
        """The scores under these settings."""
        # settings of the parser or the word aligner may be among the parameters: they have files of their own
        paths = prepared_pairs(self._development.records, self._folder, config, self._workers)
        return self._development.evaluate(align_development(self._worker, paths, config, self._workers))


def trial_signature(path: str, config: AlignConfig, limit: int = 0) -> str:
    """What trials depend on besides the plan: the aligner and the data."""
    first = f" first {limit} pairs" if limit else ""
    return f"{Aligner(config).signature} | {Path(path).name} {data_hash(path)}{first}"


def check_optimiser() -> None:
    """MissingExtraError before any work, where scikit-optimize is not installed."""
    if sys.modules.get("skopt", ...) is None or find_spec("skopt") is None:
        raise MissingExtraError("tuning", "tune")


def run_trials(
    plan: TuningPlan, config: AlignConfig, evaluate: Evaluate, record: Path, resume: bool = False
) -> Iterator[Trial]:
    """All trials in order, those that were recorded before included; nobody else writes to the record meanwhile."""
    with _open_record(record) as write:
        trials = _read_record(record, plan) if resume else []
        write(plan, trials)
        yield from tuple(trials)
        while len(trials) < plan.trials:
            values = _suggest(plan, config, trials)
            trial = _judge_trial(
                len(trials) + 1, values, evaluate(changed_config(config, plan.parameters, values)), plan
            )
            trials.append(trial)
            write(plan, trials)
            yield trial


def best_trial(trials: Sequence[Trial]) -> Trial:
    """The highest objective; of equal ones the earliest."""
    return max(trials, key=lambda trial: (trial.objective, -trial.number))


def _judge_trial(number: int, values: tuple[Value, ...], evaluation: Evaluation, plan: TuningPlan) -> Trial:
    shown = [name for name in SCORES.values() if name in evaluation.names]
    scores = tuple((name, evaluation[name]) for name in shown)
    return Trial(number, values, objective_value(evaluation, dict(plan.objective)), scores)


def _suggest(plan: TuningPlan, config: AlignConfig, done: Sequence[Trial]) -> tuple[Value, ...]:
    """The values to try next: a function of the plan and of the trials so far, and of nothing else."""
    optimiser = _optimiser(plan, len(done))
    start = tuple(getattr(config, each.name) for each in plan.parameters)
    is_inside = all(each.contains(value) for each, value in zip(plan.parameters, start, strict=True))
    if not done and is_inside:
        return start
    with warnings.catch_warnings():
        # of a point that was tried before, which costs one trial and no more, and of kernels at the end of their range
        warnings.simplefilter("ignore")
        if len(done) > plan.initial:
            optimiser.tell([list(trial.values) for trial in done], [-trial.objective for trial in done])
        asked = optimiser.ask()
    return tuple(each.clean(value) for each, value in zip(plan.parameters, asked, strict=True))


def _optimiser(plan: TuningPlan, number: int) -> Any:
    """scikit-optimize, which minimises; it has random numbers of its own for each trial."""
    import skopt  # slow to import

    return skopt.Optimizer(
        [_dimension(skopt.space, each) for each in plan.parameters],
        base_estimator="GP",
        n_initial_points=plan.initial,
        acq_func="EI",
        random_state=np.random.RandomState((plan.seed, number)),
    )


def _dimension(space: Any, parameter: Parameter) -> Any:
    if parameter.choices:
        return space.Categorical(list(parameter.choices), name=parameter.name)
    if parameter.is_whole:
        return space.Integer(int(parameter.low), int(parameter.high), name=parameter.name)
    return space.Real(parameter.low, parameter.high, name=parameter.name)


@contextmanager
def _open_record(path: Path) -> Iterator[Callable[[TuningPlan, Sequence[Trial]], None]]:
    """What writes the record, as a whole each time; nobody else writes to it meanwhile."""
    if is_packed(path):
        raise UsageError(f"{path}: a record grows line by line; expected a name without .gz")
    place = follow_link(path)
    descriptor = open_alone(place)

    def write(plan: TuningPlan, trials: Sequence[Trial]) -> None:
        nonlocal descriptor
        lines = [plan.key, *(json.dumps(asdict(trial), ensure_ascii=False) for trial in trials)]
        with naming(path):
            old, descriptor = descriptor, start_file(place, "".join(f"{line}\n" for line in lines).encode())
        os.close(old)

    try:
        yield write
    finally:
        os.close(descriptor)


def _read_record(path: Path, plan: TuningPlan) -> list[Trial]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]  # what follows the last line end is not whole
    except UnicodeDecodeError as error:
        raise InputError(path, None, f"is not a record of trials: {error.reason} at byte {error.start}") from None
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
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise InputError(path, number, f"is not a trial: {error}") from error


def table_head(plan: TuningPlan, trial: Trial) -> str:
    """The names of the columns."""
    names = ["trial", *(each.name for each in plan.parameters), *(name for name, _ in trial.scores), "objective"]
    return "\t".join(names)


def table_row(trial: Trial) -> str:
    """One trial."""
    scores = [f"{100 * value:.2f}" for _, value in trial.scores]
    return "\t".join([str(trial.number), *map(str, trial.values), *scores, f"{trial.objective:.5f}"])


def settings_block(plan: TuningPlan, trials: Sequence[Trial]) -> str:
    """The best settings as lines of `AlignConfig` and as options."""
    best = best_trial(trials)
    weights = ",".join(f"{name}={weight:g}" for name, weight in plan.objective)
    comment = f"tuned: {weights} = {best.objective:.4f}, trial {best.number} of {len(trials)}, seed {plan.seed}"
    chosen = list(zip(plan.parameters, best.values, strict=True))
    lines = [f"    {each.name}: {_kind(each)} = {value!r}  # {comment}" for each, value in chosen]
    options = " ".join(f"--set {each.name}={value}" for each, value in chosen)
    return "\n".join([*lines, f"# {options}"])


def _kind(parameter: Parameter) -> str:
    return type(getattr(DEFAULT_CONFIG, parameter.name)).__name__
