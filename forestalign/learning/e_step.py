"""The E step: align cached pairs with the weights so far, in this process, in several, or on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from forestalign.blas import with_one_thread
from forestalign.config import AlignConfig
from forestalign.learning.m_step import Events, collect_events, with_weights
from forestalign.learning.weighted_tasks import WeightedTask
from forestalign.pair_cache import read_cached
from forestalign.phrases.scoring.model import PhraseModel
from forestalign.phrases.search.directed_search import paper_search
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
        features = stage.features(source, target, pair.words)
        scores = stage.model.score(features, config)
        best = paper_search(source, target, pair.words, scores, config).best().derivations[0]
        events = collect_events(features, best, config.normaliser, config.null_normaliser, config.direction)
        return Aligned(events, bool(best.pairs) and not best.completed, best.completed)
