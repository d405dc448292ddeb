"""The card of a trained model: where it comes from, how its objective grew, how far its posteriors can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forestalign.errors import MissingExtraError
from forestalign.learning.em_loop import TrainingReport
from forestalign.learning.stepwise_em import EmSettings
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
    with _plot(path) as axes:
        axes.plot([step for step, _ in history], [value for _, value in history], "o-", color="C0")
        axes.set_xlabel("batches")
        axes.set_ylabel("held-out objective per event")


def plot_reliability(path: str | Path, rows: Sequence[tuple[float, float, int]]) -> None:
    """How often held-out phrase pairs are right, by their calibrated posteriors, as a PNG; large dots for many."""
    most = max((count for _, _, count in rows), default=1)
    with _plot(path) as axes:
        axes.plot([0, 1], [0, 1], ":", color="grey")
        sizes = [20 + 180 * count / most for _, _, count in rows]
        axes.scatter([x for x, _, _ in rows], [y for _, y, _ in rows], s=sizes, color="C0")
        axes.set_xlabel("posterior")
        axes.set_ylabel("share of right pairs")


@contextmanager
def _plot(path: str | Path) -> Iterator[Any]:
    """Axes to draw on; what was drawn is written to the file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("a plot", "tune") from error
    figure = Figure(figsize=(6, 3.5), dpi=120, layout="constrained")
    yield figure.add_subplot()
    with whole_file(path) as file:
        figure.savefig(file, format="png")  # a figure without a window draws with Agg
