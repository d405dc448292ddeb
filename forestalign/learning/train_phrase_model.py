"""Training runs of the phrase model: pairs are read, parsed into the cache, learned from, and the model is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol

from forestalign.aligner import Aligner
from forestalign.batch import Workers
from forestalign.config import AlignConfig
from forestalign.formats import PairRecord, read_pairs
from forestalign.learning.card import card_of
from forestalign.learning.checkpoints import checkpoint_path, files_of, is_checkpoint, training
from forestalign.learning.em_loop import TrainingReport, train_model
from forestalign.learning.stepwise_em import EmSettings
from forestalign.outputs import SideFile
from forestalign.pair_cache import PairCache, cache_corpus
from forestalign.phrases.scoring.model import load_model, save_model
from forestalign.phrases.scoring.pair_features import FeatureSet


class TrainingListener(Protocol):
    """Is told how a run goes on."""

    def complain(self, message: str) -> None:
        """A line or a pair cannot be used."""
        ...

    def parsed(self) -> None:
        """One more pair is parsed, or cannot be."""
        ...

    def parsed_all(self, pair_count: int) -> None:
        """Parsing is done; so many pairs are learned from in each pass."""
        ...

    def aligned(self, message: str, count: int) -> None:
        """`count` more pairs are aligned; `message` says how far learning has come."""
        ...


@dataclass(frozen=True, slots=True)
class PhrasePlan:
    """Everything that determines a training run."""

    pairs: tuple[str, ...]
    output: Path
    config: AlignConfig
    settings: EmSettings
    features: FeatureSet
    cache: Path
    start: str = ""  # a model whose weights, and features, it starts from
    tokenized: bool = False
    limit: int = 0  # pairs of each file; 0 takes all
    resume: bool = False


@dataclass(frozen=True, slots=True)
class PhraseRun:
    """What came of a run."""

    report: TrainingReport
    failed: int  # pairs that could not be parsed


def train_phrases(plan: PhrasePlan, listener: TrainingListener, workers: Workers | None = None) -> PhraseRun:
    """Learn the weights of phrase features and write the model with its card."""
    plan.output.parent.mkdir(parents=True, exist_ok=True)
    record = SideFile(checkpoint_path(plan.output), is_checkpoint)
    with training(plan.output, record, (*plan.pairs, plan.start, *files_of(plan.config)), plan.cache):
        return _train(plan, listener, workers)


def _train(plan: PhrasePlan, listener: TrainingListener, workers: Workers | None) -> PhraseRun:
    paths, failed = _parsed(plan, listener, workers)
    listener.parsed_all(len(paths))
    report = train_model(
        paths,
        plan.config,
        plan.settings,
        checkpoint_path(plan.output),
        start=load_model(plan.start) if plan.start else plan.features,
        resume=plan.resume,
        workers=workers,
        notify=listener.aligned,
    )
    names = [Path(name).name for name in plan.pairs]
    card = card_of(report, plan.settings, Aligner(plan.config).signature, names, date.today().isoformat())
    save_model(report.model, plan.output, card)
    return PhraseRun(report, failed)


def _parsed(plan: PhrasePlan, listener: TrainingListener, workers: Workers | None) -> tuple[list[Path], int]:
    paths, failed = [], 0
    records = _records(plan, listener.complain)
    for record, path in cache_corpus(records, PairCache(plan.cache, plan.config), workers):
        listener.parsed()
        if isinstance(path, Path):
            paths.append(path)
        else:
            failed += 1
            listener.complain(f"line {record.number} ({record.id}): {path}")
    return paths, failed


def _records(plan: PhrasePlan, complain: Callable[[str], None]) -> Iterator[PairRecord]:
    for name in plan.pairs:
        count = 0
        for record in read_pairs(name, plan.tokenized):
            if not isinstance(record, PairRecord):
                complain(f"{name}: line {record.number}: {record.message}")
                continue
            count += 1
            if plan.limit and count > plan.limit:
                break
            yield record
