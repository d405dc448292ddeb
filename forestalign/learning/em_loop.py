"""The training run: vocabulary, passes of stepwise EM, early stopping, checkpoints.

A checkpoint is written after every batch; a run that is resumed goes on to the same last digit, because the order of
the pairs depends on the seed alone and the state holds everything else.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from forestalign.batch import Worker, Workers
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.inputs import number, parse_json
from forestalign.learning.checkpoints import Arrays, Checkpoint
from forestalign.learning.e_step import Aligned, ExpectationWorker
from forestalign.learning.m_step import weights_of, with_weights
from forestalign.learning.stepwise_em import EmSettings, EmState, RootCounts, held_out_objective, stepwise_update
from forestalign.learning.weighted_tasks import WeightedTask, run_pass
from forestalign.lexicon import load_vectors
from forestalign.pair_cache import read_cached
from forestalign.phrases.scoring.model import PhraseModel, untrained_model
from forestalign.phrases.scoring.pair_features import FeatureSet, LexicalKey, linked_keys
from forestalign.words import similarity_threshold


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
            notify(f"objective {state.history[-1][1]:.4f} after {state.steps} batches", 0)
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
        tuple((int(step), number("history", value)) for step, value in parse_json(str(content["history"]))),
        content["best"],
        bool(content["finished"]),
        RootCounts(*map(int, content["roots"])),
    )
