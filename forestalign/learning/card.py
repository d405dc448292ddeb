"""The card of a trained model: where it comes from, and how its objective grew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from forestalign.errors import MissingExtraError
from forestalign.learning.stepwise_em import EmSettings
from forestalign.learning.training_run import TrainingReport
from forestalign.outputs import whole_file


def card_of(
    report: TrainingReport, settings: EmSettings, signature: str, data: Iterable[str], date: str
) -> dict[str, object]:
    """What the model file says about itself."""
    return {
        "data": list(data),
        "pairs": report.pair_count,
        "settings": asdict(settings),
        "batches": report.steps,
        "objective": [[step, round(value, 5)] for step, value in report.history],
        "two_sided_roots": round(report.reached_root, 4),
        "completed_roots": round(report.completed, 4),
        "signature": signature,
        "date": date,
    }


def plot_objective(path: str | Path, history: Sequence[tuple[int, float]]) -> None:
    """The penalised objective of the held-out part after each look at it, as a PNG."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("a plot", "tune") from error
    figure = Figure(figsize=(6, 3.5), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    axes.plot([step for step, _ in history], [value for _, value in history], "o-", color="C0")
    axes.set_xlabel("batches")
    axes.set_ylabel("held-out objective per event")
    with whole_file(path) as file:
        figure.savefig(file, format="png")  # a figure without a window draws with Agg
