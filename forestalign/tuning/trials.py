"""The trials of a tuning run: Bayesian optimisation with a Gaussian process, a record on disk, resuming.

The first trial has the settings that the run starts from (where they lie in the ranges), the next are random, the rest
are where the process expects the largest improvement. Each is added to a file of JSON lines when it is done. What is
tried next depends only on the plan and on the trials so far, so a run that is resumed goes on exactly as if it had not
stopped.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from forestalign.aligner import Aligner
from forestalign.batch import Worker, Workers
from forestalign.config import AlignConfig
from forestalign.errors import InputError, MissingExtraError, UsageError
from forestalign.evaluation import Evaluation
from forestalign.evaluation.development import (
    DevelopmentWorker,
    align_development,
    best_trees,
    prepared_pairs,
    read_development,
)
from forestalign.evaluation.reports import data_hash
from forestalign.formats import PairRecord
from forestalign.outputs import followed, is_packed, naming
from forestalign.own_files import open_alone, started
from forestalign.trees import Tree
from forestalign.tuning.parameters import SCORES, Parameter, Value, changed_config, objective_value


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


def run_trials(
    plan: TuningPlan, config: AlignConfig, evaluate: Evaluate, record: Path, resume: bool = False
) -> Iterator[Trial]:
    """All trials in order, those that were recorded before included; nobody else writes to the record meanwhile."""
    with _opened_record(record, resume) as file:
        trials = _read_record(record, plan) if resume else []
        _write_record(file, record, [plan.key, *map(_trial_line, trials)])
        yield from tuple(trials)
        while len(trials) < plan.trials:
            values = _suggested(plan, config, trials)
            trial = _judged(len(trials) + 1, values, evaluate(changed_config(config, plan.parameters, values)), plan)
            trials.append(trial)
            _write_record(file, record, [plan.key, *map(_trial_line, trials)])
            yield trial


def best_trial(trials: Sequence[Trial]) -> Trial:
    """The highest objective; of equal ones the earliest."""
    return max(trials, key=lambda trial: (trial.objective, -trial.number))


def _judged(number: int, values: tuple[Value, ...], evaluation: Evaluation, plan: TuningPlan) -> Trial:
    shown = [name for name in SCORES.values() if name in evaluation.names]
    scores = tuple((name, evaluation[name]) for name in shown)
    return Trial(number, values, objective_value(evaluation, dict(plan.objective)), scores)


def _suggested(plan: TuningPlan, config: AlignConfig, done: Sequence[Trial]) -> tuple[Value, ...]:
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
    return tuple(each.cleaned(value) for each, value in zip(plan.parameters, asked, strict=True))


def _optimiser(plan: TuningPlan, number: int) -> Any:
    """scikit-optimize, which minimises; it has random numbers of its own for each trial."""
    try:
        import skopt
    except ImportError as error:
        raise MissingExtraError("tuning", "tune") from error
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
def _opened_record(path: Path, resume: bool) -> Iterator[BinaryIO]:
    """The record, which nobody else writes to; without `resume` a new file takes the place of an old one."""
    if is_packed(path):
        raise UsageError(f"{path}: a record grows line by line; expected a name without .gz")
    place = followed(path)
    descriptor = open_alone(place)
    if not resume and os.fstat(descriptor).st_size:
        with naming(path):
            old, descriptor = descriptor, started(place)
        os.close(old)
    with open(descriptor, "r+b", buffering=0) as file:
        yield cast(BinaryIO, file)


def _trial_line(trial: Trial) -> str:
    return json.dumps(asdict(trial), ensure_ascii=False)


def _write_record(file: BinaryIO, path: Path, lines: Sequence[str]) -> None:
    """Add what the file does not hold yet; what differs, such as half a line of a killed run, is written over."""
    data = "".join(f"{line}\n" for line in lines).encode()
    with naming(path):
        file.seek(0)
        held = file.read(len(data) + 1)
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(held, data, strict=False))
        same = sum(1 for _ in shared)
        file.truncate(same)
        file.seek(same)
        file.write(data[same:])


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
