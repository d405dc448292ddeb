"""Aligning a development set under given settings. Parses and word links come from the cache, so that only the search
is done again from one trial to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forestalign.aligner import chosen_tree
from forestalign.alignment import WordAlignment
from forestalign.batch import Workers, map_ordered
from forestalign.config import AlignConfig
from forestalign.dependencies import unlabelled_heads
from forestalign.errors import NoParseError
from forestalign.features import FeatureExtractor
from forestalign.forest import best_tree, one_best
from forestalign.formats import PairRecord
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.metrics import PhraseSet, project_spans
from forestalign.metrics.phrases import RootReached
from forestalign.model import PhraseModel, load_model
from forestalign.phrase_alignment import align_phrases
from forestalign.tokens import Span
from forestalign.training import CachedPair, PairCache, cache_corpus
from forestalign.training.corpus import read_cached
from forestalign.trees import Tree
from forestalign.tuning.development import Answer
from forestalign.word_alignment import CANDIDATE

CHUNK = 8


def prepared_pairs(
    records: Sequence[PairRecord], folder: Path, config: AlignConfig, workers: Workers | None = None
) -> list[Path]:
    """The cache files of all pairs, parsed where they are not there yet; every pair has to have a parse."""
    paths = []
    for record, path in cache_corpus(records, PairCache(folder, config), workers):
        if not isinstance(path, Path):
            raise NoParseError(f"pair {record.id}: {path}; every pair of a development set must have a parse")
        paths.append(path)
    return paths


def best_trees(paths: Sequence[Path]) -> list[tuple[Tree, Tree]]:
    """The parser's 1-best trees of cached pairs."""
    return [(best_tree(pair.source), best_tree(pair.target)) for pair in map(read_cached, paths)]


def align_cached(pair: CachedPair, model: PhraseModel, extractor: FeatureExtractor, config: AlignConfig) -> Answer:
    """The answer of the search for one pair."""
    source, target = pair.source, pair.target
    if config.one_best:
        source, target = one_best(source), one_best(target)
    scores = model.score(extractor.extract(source, target, pair.words), config)
    best = align_phrases(source, target, pair.words, scores, config)[0]
    special = frozenset((each.source, each.target) for each in best.pairs if not each.compositional)
    spans = frozenset((each.source, each.target) for each in best.pairs)
    return Answer(
        PhraseSet(spans, special),
        spans,
        unlabelled_heads(chosen_tree(source, best.source_edges)),
        unlabelled_heads(chosen_tree(target, best.target_edges)),
        RootReached(best.reached_root, best.completed),
    )


def project_cached(pair: CachedPair) -> Answer:
    """The answer of the `project` baseline, on the 1-best trees; unlikely links would only harm it."""
    source, target = one_best(pair.source), one_best(pair.target)
    likely = WordAlignment(tuple(link for link in pair.words if link.stage != CANDIDATE))
    spans = project_spans(source, target, likely)
    whole = Span(0, len(source.sentence)), Span(0, len(target.sentence))
    return Answer(
        PhraseSet(spans),
        spans,
        unlabelled_heads(best_tree(source)),
        unlabelled_heads(best_tree(target)),
        RootReached(whole in spans, False),
    )


@dataclass(frozen=True, slots=True)
class Task:
    config: AlignConfig
    paths: tuple[Path, ...]


@dataclass(slots=True)
class DevelopmentWorker:
    """Aligns cached pairs; a model and its lexicon are loaded once a process."""

    loaded: dict[tuple[str, str], tuple[PhraseModel, FeatureExtractor]] = field(default_factory=dict)

    def __call__(self, task: Task) -> list[Answer]:
        key = (task.config.model, task.config.vectors)
        if key not in self.loaded:
            model = load_model(task.config.model)
            self.loaded[key] = model, make_extractor(model, task.config)
        return [align_cached(read_cached(path), *self.loaded[key], task.config) for path in task.paths]

    def __getstate__(self) -> tuple[()]:
        return ()

    def __setstate__(self, state: tuple[()]) -> None:
        self.loaded = {}


def make_extractor(model: PhraseModel, config: AlignConfig) -> FeatureExtractor:
    return FeatureExtractor(load_wordnet(), load_vectors(config.vectors), model.features, model.vocabulary)


def align_development(
    worker: DevelopmentWorker, paths: Sequence[Path], config: AlignConfig, workers: Workers | None = None
) -> list[Answer]:
    """The answers for all pairs, in order."""
    tasks = (Task(config, tuple(paths[k : k + CHUNK])) for k in range(0, len(paths), CHUNK))
    return [answer for answers in map_ordered(worker, tasks, workers) for answer in answers]
