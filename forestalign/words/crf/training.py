"""Training: the regularised softmax-margin objective, minimised by L-BFGS, in one or several processes.

The corpus is cut into a fixed number of shards that are summed in a fixed order, so that the weights do not depend on
the number of processes. Each process builds the features of its shards once and keeps them.

A journal of a training run: every answer of the objective, so that a run that was cut off goes on exactly.

L-BFGS keeps its history to itself, but it is deterministic: given the same answers it asks the same questions. A
resumed run starts from the beginning, is answered from the journal, and computes again only where the journal ends. The
weights are those of a run that was never cut off, to the last bit.

The file is one line of JSON that says which run it belongs to, then one record of float64 numbers per answer: checksum
of the point, value, gradient. A record cut off in the middle is dropped.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import numpy as np
from scipy.optimize import minimize

from forestalign.arrays import FloatArray
from forestalign.errors import InputError, UsageError
from forestalign.machine import with_one_thread
from forestalign.outputs import naming
from forestalign.own_files import open_regular, started
from forestalign.tokens import Sentence
from forestalign.words.crf.cells import Resources
from forestalign.words.crf.feature_space import FeatureSpace
from forestalign.words.crf.loss import Costs, Example, Link, example_of, gold_of, loss_and_gradient, synthesise
from forestalign.words.crf.pair_features import pair_features

FORMAT = "forestalign-crf-journal"
_BEGIN = json.dumps({"format": FORMAT})[:-1].encode()


def is_crf_journal(path: Path) -> bool:
    """Whether a file begins as our journals do."""
    with open(open_regular(path), "rb") as file:
        return file.read(len(_BEGIN)) == _BEGIN


class Journal:
    """Answers of the objective in the order in which they were asked for."""

    def __init__(self, path: str | Path, run: str, size: int, resume: bool):
        """`run` names the run by its data and settings; `size` is the length of the whole weight vector."""
        self._path, self._width = Path(path), size + 2
        header = (json.dumps({"format": FORMAT, "run": run, "size": size}) + "\n").encode()
        records = self._read(header) if resume and self._path.exists() else np.empty((0, self._width))
        self._known = iter(records)
        with naming(self._path):  # a kill in this moment leaves the journal as it was
            descriptor = started(self._path, header + records.tobytes())
        self._file = cast(BinaryIO, os.fdopen(descriptor, "r+b"))
        self._file.seek(0, os.SEEK_END)
        self.recalled = len(records)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def recall(self, point: FloatArray) -> tuple[float, FloatArray] | None:
        """The answer that the earlier run got for this point; None once it has no more."""
        record = next(self._known, None)
        if record is None:
            return None
        if record[0] != zlib.crc32(point.tobytes()):
            raise InputError(
                self._path, None, "the journal holds another run; start anew without --resume, or remove it"
            )
        return float(record[1]), record[2 : 2 + len(point)].copy()

    def record(self, point: FloatArray, value: float, gradient: FloatArray) -> None:
        """Keep one evaluation of the objective."""
        record = np.zeros(self._width)
        record[0], record[1] = zlib.crc32(point.tobytes()), value
        record[2 : 2 + len(gradient)] = gradient
        with naming(self._path):
            self._file.write(record.tobytes())
            self._file.flush()

    def _read(self, header: bytes) -> FloatArray:
        with open(open_regular(self._path), "rb") as file:
            line, _, body = file.read().partition(b"\n")
        if not line:
            return np.empty((0, self._width))
        if line + b"\n" != header:
            expected = json.loads(header)["run"]
            raise UsageError(f"{self._path} belongs to a run with other data or settings; this one is {expected}")
        complete = len(body) // (8 * self._width)
        return np.frombuffer(body[: complete * 8 * self._width]).reshape(complete, self._width)


SHARDS = 8
DIRECTIONS = ("s2t", "t2s")
# A pair list is the user's and may be missing: its weights are fitted last, with all others held, so that a model is as
# good without the list.
PAIR_LIST_FEATURES = frozenset({"cell:ppdb", "block:ppdb", "null:ppdb_there", "span:ppdb"})


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A sentence pair with its gold links; `weight` is its share in the objective."""

    source: Sentence
    target: Sentence
    links: tuple[Link, ...]
    weight: float = 1.0


def synthetic_phrases(pair: TrainingPair) -> TrainingPair:
    """A pair whose links fill the matching chunks."""
    return replace(pair, links=synthesise(pair.source, pair.target, pair.links))


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """What a training run needs besides the data."""

    l2: float = 1.0  # 5-fold tuning on both development sets
    iterations: int = 150
    tolerance: float = 1e-5  # relative fall of the objective at which L-BFGS stops
    history: int = 10
    costs: Costs = field(default_factory=Costs)
    processes: int = 1

    def __post_init__(self) -> None:
        if not self.l2 >= 0:
            raise UsageError(f"the L2 weight is {self.l2}; expected 0 or more")
        if self.iterations < 1 or self.processes < 1:
            raise UsageError(
                f"iterations is {self.iterations} and processes {self.processes}; expected 1 or more of each"
            )


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Where a run stands after an iteration."""

    iteration: int
    objective: float
    weights: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class PartlyFree:
    """Weights to begin with, of which only some may move."""

    weights: FloatArray
    is_free: np.ndarray


Report = Callable[[TrainingProgress], None]


def fingerprint(pairs: Sequence[TrainingPair]) -> int:
    """A checksum of everything in the pairs that training looks at."""
    seen = 0
    for pair in pairs:
        sides = [(side.words, side.tags, side.lemmas) for side in (pair.source, pair.target)]
        seen = zlib.crc32(repr((sides, pair.links, pair.weight)).encode(), seen)
        for side in (pair.source, pair.target):
            seen = seen if side.context_vectors is None else zlib.crc32(side.context_vectors.tobytes(), seen)
    return seen


def examples_of(
    pairs: Sequence[TrainingPair], direction: str, space: FeatureSpace, resources: Resources, costs: Costs
) -> list[Example]:
    """Features and gold of each pair in one direction; pairs with an empty side teach nothing and are left out."""
    examples = []
    for pair in pairs:
        if not len(pair.source) or not len(pair.target):
            continue
        both = pair_features(pair.source, pair.target, resources, space)
        if direction == "s2t":
            gold = gold_of(pair.links, len(pair.source), len(pair.target), space, costs)
            examples.append(example_of(both.forward, gold, space, pair.weight))
        else:
            turned = [(j, i) for i, j in pair.links]
            gold = gold_of(turned, len(pair.target), len(pair.source), space, costs)
            examples.append(example_of(both.backward, gold, space, pair.weight))
    return examples


@with_one_thread
def train(
    pairs: Sequence[TrainingPair],
    direction: str,
    space: FeatureSpace,
    resources: Resources,
    settings: TrainSettings,
    start: FloatArray | PartlyFree | None = None,
    report: Report | None = None,
    journal: Journal | None = None,
) -> FloatArray:
    """Weights that minimise the objective, beginning with `start`.

    With a journal, what it recalls is not computed again.
    """
    shards = [
        _Shard(pairs[number::SHARDS], direction, space, resources, settings.costs)
        for number in range(min(SHARDS, len(pairs)))
    ]
    if not isinstance(start, PartlyFree):
        start = PartlyFree(np.zeros(len(space)) if start is None else start, np.ones(len(space), np.bool_))
    first, free = start.weights, start.is_free
    with ExitStack() as stack:
        evaluate = stack.enter_context(_Evaluation(shards, settings.processes))

        def objective(moving: FloatArray) -> tuple[float, FloatArray]:
            known = journal.recall(moving) if journal is not None else None
            if known is not None:
                return known
            weights = first.copy()
            weights[free] = moving
            loss, gradient = evaluate(weights)
            value = loss + 0.5 * settings.l2 * float(weights @ weights)
            gradient = (gradient + settings.l2 * weights)[free]
            if journal is not None:
                journal.record(moving, value, gradient)
            return value, gradient

        tracker = _Tracker(report, first, free)
        found = minimize(
            objective,
            first[free],
            jac=True,
            method="L-BFGS-B",
            callback=tracker,
            options={
                "maxiter": settings.iterations,
                "maxcor": settings.history,
                "ftol": settings.tolerance,
                "maxfun": 3 * settings.iterations,
            },
        )
    weights = first.copy()
    weights[free] = found.x
    return weights


class _Tracker:
    """Turns scipy's callback into progress reports."""

    def __init__(self, report: Report | None, first: FloatArray, free: np.ndarray):
        self._report, self._first, self._free = report, first, free
        self._iteration = 0

    def __call__(self, intermediate_result: object) -> None:
        self._iteration += 1
        if self._report is not None:
            weights = self._first.copy()
            weights[self._free] = intermediate_result.x  # type: ignore[attr-defined]
            value = float(intermediate_result.fun)  # type: ignore[attr-defined]
            self._report(TrainingProgress(self._iteration, value, weights))


class _Shard:
    """A part of the corpus; its features are built where they are used, on first call."""

    def __init__(
        self,
        pairs: Sequence[TrainingPair],
        direction: str,
        space: FeatureSpace,
        resources: Resources,
        costs: Costs,
    ):
        self._arguments = (pairs, direction, space, resources, costs)
        self._examples: list[Example] | None = None

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        if self._examples is None:
            self._examples = examples_of(*self._arguments)
        space = self._arguments[2]
        loss, gradient = 0.0, np.zeros(len(weights))
        for example in self._examples:
            example_loss, example_gradient = loss_and_gradient(example, space, weights)
            loss += example.weight * example_loss
            gradient += example.weight * example_gradient
        return loss, gradient


class _Evaluation:
    """Sum of the shards, in this process or spread over several; ends its processes on the way out.

    These processes are not those of `forestalign.batch`, where any process may get any task: the features of a shard
    are large and stay in the process that made them, for hundreds of evaluations.
    """

    def __init__(self, shards: list[_Shard], processes: int):
        self._shards = shards
        self._count = max(1, min(processes, len(shards)))
        self._workers: list[tuple[multiprocessing.process.BaseProcess, Connection]] = []

    def __enter__(self) -> _Evaluation:
        if self._count > 1:
            # a fork hands the lexicon and the sentences over without copying them
            context = multiprocessing.get_context("fork")
            for number in range(self._count):
                near, far = context.Pipe()
                ours = [near, *(connection for _, connection in self._workers)]
                arguments = (self._shards[number :: self._count], far, ours)
                process = context.Process(target=_serve, args=arguments, daemon=True)
                process.start()
                far.close()
                self._workers.append((process, near))
        return self

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        parts = self._from_workers(weights) if self._workers else [shard(weights) for shard in self._shards]
        return sum(loss for loss, _ in parts), np.sum([gradient for _, gradient in parts], axis=0)

    def _from_workers(self, weights: FloatArray) -> list[tuple[float, FloatArray]]:
        for _, connection in self._workers:
            connection.send(weights)
        answers = [connection.recv() for _, connection in self._workers]
        return [answers[k % self._count][k // self._count] for k in range(len(self._shards))]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process, connection in self._workers:
            with suppress(OSError):  # a worker that died has closed its end
                connection.send(None)
            connection.close()
            process.join(timeout=5)
            if process.is_alive():
                process.terminate()


def _serve(shards: list[_Shard], connection: Connection, ours: list[Connection]) -> None:
    """Answer weights with (loss, gradient) of each shard, until None comes or the parent is gone.

    `ours` are the parent's ends of all connections, which a fork copies; while any of them is open, no end is seen.
    """
    for each in ours:
        each.close()
    with suppress(EOFError, ConnectionError):
        while (weights := connection.recv()) is not None:
            connection.send([shard(weights) for shard in shards])
