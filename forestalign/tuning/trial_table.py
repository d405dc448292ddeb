"""What a tuning run shows: the table of trials, the curve of the best so far, and the settings to paste."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import MissingExtraError
from forestalign.outputs import whole_file
from forestalign.tuning.parameters import Parameter
from forestalign.tuning.trials import Trial, TuningPlan, best_trial


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


def plot_convergence(path: str | Path, plan: TuningPlan, trials: Sequence[Trial]) -> None:
    """Every trial's objective, and the best so far, as a PNG."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("a plot", "tune") from error
    numbers = [trial.number for trial in trials]
    values = [trial.objective for trial in trials]
    figure = Figure(figsize=(7, 4), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    axes.plot(numbers, values, "o", color="0.6", label="trial")
    axes.step(numbers, list(accumulate(values, max)), where="post", color="C0", label="best so far")
    axes.set_xlabel("trial")
    axes.set_ylabel(" + ".join(f"{weight:g} {name}" for name, weight in plan.objective))
    axes.legend()
    with whole_file(path) as file:
        figure.savefig(file, format="png")  # a figure without a window draws with Agg
