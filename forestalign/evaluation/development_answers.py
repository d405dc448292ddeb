"""Aligning a development set under given settings. Parses and word links come from the cache, so that only the search
is done again from one trial to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from forestalign.batch import Worker, Workers, map_ordered
from forestalign.blas import with_one_thread
from forestalign.config import AlignConfig
from forestalign.dependencies import unlabelled_heads
from forestalign.errors import NoParseError
from forestalign.evaluation import PhraseSet, project_spans
from forestalign.evaluation.development import Answer
from forestalign.evaluation.phrase_scores import RootReached
from forestalign.forest import best_tree, one_best
from forestalign.formats import PairRecord
from forestalign.pair_cache import PairCache, cache_corpus, read_cached
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.phrases.stage import PhraseStage, load_stage
from forestalign.tokens import Span
from forestalign.trees import Tree
from forestalign.words import CANDIDATE
from forestalign.words.alignment import WordAlignment

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


def align_cached(pair: PreparedPair, stage: PhraseStage) -> Answer:
    """The answer of the search for one pair."""
    best = stage.align(pair).phrases
    special = frozenset((each.source, each.target) for each in best.pairs if not each.compositional)
    spans = frozenset((each.source, each.target) for each in best.pairs)
    return Answer(
        PhraseSet(spans, special),
        spans,
        unlabelled_heads(best.source_tree),
        unlabelled_heads(best.target_tree),
        RootReached(best.reached_root, best.completed),
    )


def project_cached(pair: PreparedPair) -> Answer:
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
class ConfiguredPaths:
    """Pairs to align, and the settings to align them with."""

    config: AlignConfig
    paths: tuple[Path, ...]


@dataclass(slots=True)
class DevelopmentWorker:
    """Aligns cached pairs; a model and its lexicon are loaded once per process."""

    loaded: dict[tuple[str, ...], PhraseStage] = field(default_factory=dict)

    @with_one_thread
    def __call__(self, task: ConfiguredPaths) -> list[Answer]:
        config = task.config
        key = (config.model, config.vectors, config.scoring, config.scores, config.ppdb)
        if key not in self.loaded:
            self.loaded[key] = load_stage(task.config)
        stage = replace(self.loaded[key], config=task.config)
        return [align_cached(read_cached(path), stage) for path in task.paths]


def align_development(
    worker: Worker[ConfiguredPaths, list[Answer]],
    paths: Sequence[Path],
    config: AlignConfig,
    workers: Workers | None = None,
) -> list[Answer]:
    """The answers for all pairs, in order."""
    tasks = (ConfiguredPaths(config, tuple(paths[k : k + CHUNK])) for k in range(0, len(paths), CHUNK))
    return [answer for answers in map_ordered(worker, tasks, workers) for answer in answers]
