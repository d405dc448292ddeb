"""The E step: align cached pairs with the weights so far, in this process, in several, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forestalign.batch import Workers, map_ordered
from forestalign.config import AlignConfig
from forestalign.features import FeatureExtractor
from forestalign.forest import one_best
from forestalign.learning import Events, collect_events
from forestalign.learning.objective import with_weights
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.model import FloatArray, PhraseModel
from forestalign.phrase_alignment import align_phrases
from forestalign.training.corpus import read_cached

CHUNK = 10


@dataclass(frozen=True, slots=True)
class Aligned:
    """What the M step and the progress line need of one aligned pair."""

    events: Events
    reached_root: bool  # by two supports
    completed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    weights: FloatArray
    paths: tuple[Path, ...]


@dataclass(slots=True)
class ExpectationWorker:
    """Aligns the pairs of a task; lexicon and vocabulary are loaded once a process."""

    model: PhraseModel
    config: AlignConfig
    extractor: FeatureExtractor | None = None

    def __call__(self, task: Task) -> list[Aligned]:
        if self.extractor is None:
            vectors = load_vectors(self.config.vectors)
            self.extractor = FeatureExtractor(load_wordnet(), vectors, self.model.features, self.model.vocabulary)
        model = with_weights(self.model, task.weights)
        return [self._align(model, path) for path in task.paths]

    def _align(self, model: PhraseModel, path: Path) -> Aligned:
        assert self.extractor is not None
        pair = read_cached(path)
        source, target = pair.source, pair.target
        if self.config.one_best:
            source, target = one_best(source), one_best(target)
        features = self.extractor.extract(source, target, pair.words)
        best = align_phrases(source, target, pair.words, model.score(features, self.config), self.config)[0]
        config = self.config
        events = collect_events(features, best, config.normaliser, config.null_normaliser, config.direction)
        return Aligned(events, best.reached_root and not best.completed, best.completed)

    def __getstate__(self) -> tuple[PhraseModel, AlignConfig]:
        return self.model, self.config

    def __setstate__(self, state: tuple[PhraseModel, AlignConfig]) -> None:
        self.model, self.config = state
        self.extractor = None


def expectations(
    worker: ExpectationWorker, weights: FloatArray, paths: Sequence[Path], workers: Workers | None = None
) -> Iterator[Aligned]:
    """Align all pairs, in order."""
    tasks = (Task(weights, tuple(paths[k : k + CHUNK])) for k in range(0, len(paths), CHUNK))
    for done in map_ordered(worker, tasks, workers):
        yield from done
