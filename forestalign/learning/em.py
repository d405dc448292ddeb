"""Viterbi EM without gold: pairs are read, parsed into the cache, aligned and learned from, and the model is written.

The E step aligns cached pairs with the weights so far, in this process, in several, or on a cluster: each task holds
some pairs, and the weights. Stepwise EM (Liang and Klein 2009): after each mini-batch the weights move part of the way
to the batch's maximum. A checkpoint is written after every batch; a run that is resumed goes on to the same last digit,
because the order of the pairs depends on the seed alone and the state holds everything else. The card of a model says
where it comes from, how its objective grew, and how far its posteriors can be trusted.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from forestalign.aligner import Aligner
from forestalign.arrays import FloatArray
from forestalign.batch.workers import Worker, Workers, map_ordered
from forestalign.config import AlignConfig
from forestalign.errors import UsageError, counted
from forestalign.formats.pairs import PairRecord, read_pairs
from forestalign.inputs import Number, as_record, parse_json
from forestalign.learning.checkpoints import Arrays, Checkpoint, checkpoint_path, files_of, is_checkpoint, training
from forestalign.learning.m_step import (
    Events,
    collect_events,
    join_events,
    maximise,
    objective,
    weights_of,
    with_weights,
)
from forestalign.lexicon import load_vectors
from forestalign.machine import with_one_thread
from forestalign.outputs import SideFile
from forestalign.pair_cache import PairCache, cache_corpus, read_cached
from forestalign.phrases.scoring.model import PhraseModel, load_model, save_model, untrained_model
from forestalign.phrases.scoring.pair_features import FeatureSet, LexicalKey, linked_keys
from forestalign.phrases.search.directed_search import paper_search
from forestalign.phrases.stage import PhraseStage, load_stage
from forestalign.words import similarity_threshold

Item = TypeVar("Item")
Result = TypeVar("Result")
CHUNK = 10


@dataclass(frozen=True, slots=True, eq=False)
class WeightedTask(Generic[Item]):
    """What is to be aligned, and the weights to align it with."""

    weights: FloatArray
    items: tuple[Item, ...]


def run_pass(
    worker: Worker[WeightedTask[Item], list[Result]],
    weights: FloatArray,
    items: Sequence[Item],
    workers: Workers | None = None,
) -> Iterator[Result]:
    """What the worker makes of all items, in order."""
    tasks = (WeightedTask(weights, tuple(items[k : k + CHUNK])) for k in range(0, len(items), CHUNK))
    for done in map_ordered(worker, tasks, workers):
        yield from done


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
        events = collect_events(features, best, config.direction)
        return Aligned(events, bool(best.pairs) and not best.completed, best.completed)


@dataclass(frozen=True, slots=True)
class EmSettings:
    """How long and how far to learn."""

    batch_size: int = 200  # section 6.4
    passes: int = 3  # over the corpus; early stop may end it before
    l2: float = 1.0  # λ
    iterations: int = 25  # of L-BFGS in one M step
    decay: float = 0.7  # the step of batch k is (k + 2) ** -decay, as Liang and Klein recommend 0.5 to 1
    held_out: float = 0.1  # share of the corpus that early stopping looks at, at most `held_out_pairs`
    held_out_pairs: int = 100
    min_count: int = 3  # pairs in which a lexical feature must occur
    seed: int = 1

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("passes", 1), ("l2", 0.0), ("iterations", 1), ("seed", 0)):
            value = getattr(self, name)
            if not least <= value < math.inf:
                raise UsageError(f"{name} is {value}; expected at least {least:g}")


class RootCounts(NamedTuple):
    """How many pairs were aligned, and how many reached a root pair by two supports or by completion."""

    aligned: int = 0
    reached: int = 0
    completed: int = 0


NO_ROOTS = RootCounts()


@dataclass(frozen=True, slots=True)
class EmState:
    """Where a run stands; everything needed to go on to the same last digit."""

    weights: FloatArray
    steps: int  # batches done
    history: tuple[tuple[int, float], ...] = ()  # batches done, objective of the held-out part per event
    best: FloatArray | None = None  # weights of the best objective so far
    finished: bool = False
    roots: RootCounts = NO_ROOTS  # of the current pass


def step_size(steps: int, settings: EmSettings) -> float:
    """η of the next batch; the first one is taken whole."""
    return 1.0 if steps == 0 else float((steps + 2) ** -settings.decay)


def stepwise_update(state: EmState, batch: Sequence[Events], settings: EmSettings) -> EmState:
    """The M step of one mini-batch."""
    eta = step_size(state.steps, settings)
    target = maximise(state.weights, join_events(batch), settings.l2, settings.iterations)
    weights = (1.0 - eta) * state.weights + eta * target
    return replace(state, weights=weights, steps=state.steps + 1)


def held_out_objective(state: EmState, batch: Sequence[Events], settings: EmSettings) -> EmState:
    """Add the penalised objective per event of the held-out part; stop when it falls below the one before."""
    events = join_events(batch)
    value = objective(state.weights, events, settings.l2)[0] / max(len(events), 1)
    history = (*state.history, (state.steps, value))
    is_best = all(value >= before for _, before in state.history)
    best = state.weights if is_best or state.best is None else state.best
    finished = len(history) > 1 and value < history[-2][1] - 1e-9
    return replace(state, history=history, best=best, finished=finished)


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


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The trained model and how it came about."""

    model: PhraseModel
    history: tuple[tuple[int, float], ...]
    steps: int
    pair_count: int
    reached_root: float  # share of the last pass
    completed: float


Notify = Callable[[str, int], None]  # a message, and how many pairs were done
Complain = Callable[[str], None]  # a line or a pair that cannot be used


def train_model(
    paths: Sequence[Path],
    config: AlignConfig,
    settings: EmSettings,
    checkpoint: Path,
    *,
    start: PhraseModel | FeatureSet | None = None,
    resume: bool = False,
    workers: Workers | None = None,
    notify: Notify = lambda message, count: None,
) -> TrainingReport:
    """Learn the weights from cached pairs; `start` is a model to begin with, or the features of a fresh one."""
    if len(paths) < 2:
        raise UsageError(f"training needs at least two pairs that can be parsed; there are {len(paths)}")
    # parse scores come in after EM (section 5.4)
    config = config.replace(parse_weight=0.0, kbest=1)
    held_out, train = _split(paths, settings)
    model = start if isinstance(start, PhraseModel) else _fresh_model(train, start, settings, config)
    kept = Checkpoint(checkpoint, _run_key(paths, config, settings, model))
    worker = Worker(partial(ExpectationWorker, with_weights(model, np.zeros_like(weights_of(model))), config))
    initial = weights_of(model)
    state = (kept.read(_state_of) if resume else None) or EmState(initial, 0)
    batches, per_pass = _batches(train, settings), _per_pass(train, settings)
    if not state.history:
        state = _look_at_held_out(state, worker, held_out, settings, workers)
    while state.steps < len(batches) and not state.finished:
        roots = state.roots if state.steps % per_pass else RootCounts()
        done = []
        for result in run_pass(worker, state.weights, batches[state.steps], workers):
            done.append(result.events)
            roots = RootCounts(
                roots.aligned + 1, roots.reached + result.reached_root, roots.completed + result.completed
            )
            notify(f"objective {state.history[-1][1]:.4f} root {100 * roots.reached / roots.aligned:.0f} %", 1)
        state = replace(stepwise_update(state, done, settings), roots=roots)
        if state.steps % per_pass == 0:
            state = _look_at_held_out(state, worker, held_out, settings, workers)
            notify(f"objective {state.history[-1][1]:.4f} after {counted(state.steps, 'batch')}", 0)
        kept.write(_arrays_of(state))
    best = state.best if state.best is not None else state.weights
    aligned = max(state.roots.aligned, 1)
    shares = (state.roots.reached / aligned, state.roots.completed / aligned)
    return TrainingReport(with_weights(model, best), state.history, state.steps, len(train), *shares)


def _look_at_held_out(
    state: EmState,
    worker: Worker[WeightedTask[Path], list[Aligned]],
    held_out: Sequence[Path],
    settings: EmSettings,
    workers: Workers | None,
) -> EmState:
    events = [result.events for result in run_pass(worker, state.weights, held_out, workers)]
    return held_out_objective(state, events, settings)


def _split(paths: Sequence[Path], settings: EmSettings) -> tuple[list[Path], list[Path]]:
    order = list(paths)
    random.Random(settings.seed).shuffle(order)
    count = max(1, min(int(settings.held_out * len(order)), settings.held_out_pairs))
    return order[:count], order[count:]


def _per_pass(train: Sequence[Path], settings: EmSettings) -> int:
    return -(-len(train) // settings.batch_size)


def _batches(train: Sequence[Path], settings: EmSettings) -> list[list[Path]]:
    """All batches of all passes, each pass in an order of its own."""
    rng = random.Random(settings.seed + 1)
    batches = []
    for _ in range(settings.passes):
        order = list(train)
        rng.shuffle(order)
        batches += [order[k : k + settings.batch_size] for k in range(0, len(order), settings.batch_size)]
    return batches


def _fresh_model(
    train: Sequence[Path], features: FeatureSet | None, settings: EmSettings, config: AlignConfig
) -> PhraseModel:
    """Untrained weights over the vocabulary of the corpus, and the embedding threshold by the rule of section 6.1."""
    counts: Counter[LexicalKey] = Counter()
    words: set[str] = set()
    for path in train:
        pair = read_cached(path)
        counts.update(linked_keys(pair.source, pair.target, pair.words))
        words.update(pair.source.sentence.words + pair.target.sentence.words)
    threshold = similarity_threshold(words, load_vectors(config.vectors))
    asked = features or FeatureSet()
    features = FeatureSet(asked.lexical, asked.extras, round(threshold, 4))
    kept = sorted(key for key, count in counts.items() if count >= settings.min_count) if asked.lexical else []
    plain = untrained_model(features)
    return PhraseModel(features, plain.dense, plain.category, tuple(kept), np.zeros(len(kept)))


def _run_key(paths: Sequence[Path], config: AlignConfig, settings: EmSettings, model: PhraseModel) -> str:
    """What a run depends on, but for the number of passes: a run may be resumed to go on for longer."""
    run = asdict(settings)
    del run["passes"]
    content = [run, asdict(config), asdict(model.features), model.lexical_keys, [path.name for path in paths]]
    return hashlib.sha256(json.dumps(content).encode() + weights_of(model).tobytes()).hexdigest()


def _arrays_of(state: EmState) -> dict[str, npt.ArrayLike]:
    """A state as it is kept."""
    return {
        "weights": state.weights,
        "best": state.best if state.best is not None else state.weights,
        "steps": state.steps,
        "history": json.dumps(state.history),
        "finished": state.finished,
        "roots": state.roots,
    }


def _state_of(content: Arrays) -> EmState:
    """A state as it was kept."""
    return EmState(
        content["weights"],
        int(content["steps"]),
        as_record(parse_json(str(content["history"])), tuple[tuple[int, Number], ...]),
        content["best"],
        bool(content["finished"]),
        RootCounts(*map(int, content["roots"])),
    )


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


def train_phrases(
    plan: PhrasePlan, complain: Complain, notify: Notify = lambda message, count: None, workers: Workers | None = None
) -> PhraseRun:
    """Learn the weights of phrase features and write the model with its card; `complain` is told what is left out."""
    plan.output.parent.mkdir(parents=True, exist_ok=True)
    record = SideFile(checkpoint_path(plan.output), is_checkpoint)
    with training(plan.output, record, (*plan.pairs, plan.start, *files_of(plan.config)), plan.cache):
        paths, failed = _parse(plan, complain, notify, workers)
        report = train_model(
            paths,
            plan.config,
            plan.settings,
            checkpoint_path(plan.output),
            start=load_model(plan.start) if plan.start else plan.features,
            resume=plan.resume,
            workers=workers,
            notify=notify,
        )
        names = [Path(name).name for name in plan.pairs]
        card = card_of(report, plan.settings, Aligner(plan.config).signature, names, date.today().isoformat())
        save_model(report.model, plan.output, card)
    return PhraseRun(report, failed)


def _parse(plan: PhrasePlan, complain: Complain, notify: Notify, workers: Workers | None) -> tuple[list[Path], int]:
    paths, failed = [], 0
    for record, path in cache_corpus(_records(plan, complain), PairCache(plan.cache, plan.config), workers):
        notify("parsing", 1)
        if isinstance(path, Path):
            paths.append(path)
        else:
            failed += 1
            complain(f"line {record.number} ({record.id}): {path}")
    return paths, failed


def _records(plan: PhrasePlan, complain: Complain) -> Iterator[PairRecord]:
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
