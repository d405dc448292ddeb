"""The E step: align cached pairs with the weights so far, in this process, in several, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forestalign.batch import Workers
from forestalign.blas import with_one_thread
from forestalign.config import AlignConfig
from forestalign.learning.m_step import Events, collect_events, with_weights
from forestalign.learning.weighted_tasks import WeightedTask, run_pass
from forestalign.pair_cache import read_cached
from forestalign.phrases.model import FloatArray, PhraseModel
from forestalign.phrases.stage import PhraseStage, load_stage


@dataclass(frozen=True, slots=True)
class Aligned:
    """What the M step and the progress line need of one aligned pair."""

    events: Events
    reached_root: bool  # by two supports
    completed: bool


@dataclass(slots=True)
class ExpectationWorker:
    """Aligns the pairs of a task; lexicon and vocabulary are loaded once per process."""

    model: PhraseModel
    config: AlignConfig
    stage: PhraseStage | None = None

    @with_one_thread
    def __call__(self, task: WeightedTask[Path]) -> list[Aligned]:
        if self.stage is None:
            self.stage = load_stage(self.config, self.model)
        stage = replace(self.stage, model=with_weights(self.model, task.weights))
        return [self._align(stage, path) for path in task.items]

    def _align(self, stage: PhraseStage, path: Path) -> Aligned:
        pair, config = read_cached(path), self.config
        source, target = stage.forests(pair.source, pair.target)
        best, features = stage.align_observed(source, target, pair.words)
        events = collect_events(features, best, config.normaliser, config.null_normaliser, config.direction)
        return Aligned(events, best.reached_root and not best.completed, best.completed)

    def __getstate__(self) -> tuple[PhraseModel, AlignConfig]:
        return self.model, self.config

    def __setstate__(self, state: tuple[PhraseModel, AlignConfig]) -> None:
        self.model, self.config = state
        self.stage = None


def expectations(
    worker: ExpectationWorker, weights: FloatArray, paths: Sequence[Path], workers: Workers | None = None
) -> Iterator[Aligned]:
    """Align all pairs, in order."""
    return run_pass(worker, weights, paths, workers)
