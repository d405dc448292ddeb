"""The training run: vocabulary, passes of stepwise EM, early stopping, checkpoints.

A checkpoint is written after every batch; a run that is resumed goes on to the same last digit, because the order of
the pairs depends on the seed alone and the state holds everything else.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from forestalign.batch import Workers
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.features import FeatureSet, LexicalKey, linked_keys
from forestalign.learning import EmSettings, EmState, held_out_objective, stepwise_update
from forestalign.learning.objective import weights_of, with_weights
from forestalign.lexicon import load_vectors
from forestalign.model import FloatArray, PhraseModel, untrained_model
from forestalign.training.corpus import read_cached
from forestalign.training.expectation import ExpectationWorker, expectations
from forestalign.word_alignment import similarity_threshold


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
    start: PhraseModel | None = None,
    features: FeatureSet | None = None,
    resume: bool = False,
    workers: Workers | None = None,
    notify: Notify = lambda message, count: None,
) -> TrainingReport:
    """Learn the weights from cached pairs."""
    if len(paths) < 2:
        raise UsageError(f"training needs at least two pairs that can be parsed; there are {len(paths)}")
    # parse scores come in after EM (section 5.4)
    config = config.with_(parse_weight=0.0, kbest=1)
    held_out, train = _split(paths, settings)
    model = start or _fresh_model(train, features, settings, config)
    worker = ExpectationWorker(with_weights(model, np.zeros_like(weights_of(model))), config)
    initial = weights_of(model)
    state = _read_checkpoint(checkpoint, initial) if resume else EmState(initial, 0)
    batches = _batches(train, settings)
    reached = completed = aligned = 0
    if not state.history:
        state = _look_at_held_out(state, worker, held_out, settings, workers)
    while state.steps < len(batches) and not state.finished:
        done = []
        for result in expectations(worker, state.weights, batches[state.steps], workers):
            done.append(result.events)
            reached, completed, aligned = reached + result.reached_root, completed + result.completed, aligned + 1
            notify(f"root {100 * reached / aligned:.0f} %", 1)
        state = stepwise_update(state, done, settings)
        if state.steps % _per_pass(train, settings) == 0 or state.steps == len(batches):
            state = _look_at_held_out(state, worker, held_out, settings, workers)
            notify(f"objective {state.history[-1][1]:.4f} after {state.steps} batches", 0)
        _write_checkpoint(checkpoint, state)
    best = state.best if state.best is not None else state.weights
    shares = (reached / max(aligned, 1), completed / max(aligned, 1))
    return TrainingReport(with_weights(model, best), state.history, state.steps, len(train), *shares)


def _look_at_held_out(
    state: EmState, worker: ExpectationWorker, held_out: Sequence[Path], settings: EmSettings, workers: Workers | None
) -> EmState:
    events = [result.events for result in expectations(worker, state.weights, held_out, workers)]
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


def _write_checkpoint(path: Path, state: EmState) -> None:
    temporary = path.with_suffix(".part")
    history = json.dumps(state.history)
    best = state.best if state.best is not None else state.weights
    with open(temporary, "wb") as file:
        np.savez(
            file,
            weights=state.weights,
            best=best,
            steps=state.steps,
            history=np.array(history),
            finished=state.finished,
        )
    temporary.replace(path)


def _read_checkpoint(path: Path, initial: FloatArray) -> EmState:
    if not path.exists():
        return EmState(initial, 0)
    with np.load(path, allow_pickle=False) as content:
        if content["weights"].shape != initial.shape:
            raise UsageError(f"{path} belongs to another corpus or other features: it cannot be resumed here")
        return EmState(
            content["weights"],
            int(content["steps"]),
            tuple((int(step), float(value)) for step, value in json.loads(str(content["history"]))),
            content["best"],
            bool(content["finished"]),
        )


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
