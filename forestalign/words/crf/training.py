"""From gold to the weights of the CRF: which paths are right, the softmax-margin loss, and L-BFGS.

Token model: a word with several gold links may take any of them, so the right paths are a set and the numerator is a
sum over it. (The published program takes one link and calls the others wrong.) Phrase model: the one path that covers
most gold links with complete blocks, and of those the one with the fewest segments.

The loss (section 3.1; Gimpel and Smith's cost-augmented likelihood), where `score(a)` is the sum of weight times
feature value along the path and the cost is the Hamming cost of `gold`:

    loss = log sum over all a of exp(score(a) + cost(a)) - log sum over right a of exp(score(a))
    gradient = expected features under the first sum - expected features under the second

The corpus is cut into a fixed number of shards that are summed in a fixed order, so that the weights do not depend on
the number of processes. Each process builds the features of its shards once and keeps them.
"""

from __future__ import annotations

import multiprocessing
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, pairwise
from multiprocessing.connection import Connection
from types import TracebackType

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from forestalign.arrays import BoolArray, FloatArray, IntArray
from forestalign.errors import UsageError
from forestalign.machine import with_one_thread
from forestalign.tokens import Sentence
from forestalign.words.crf.cells import Chunk, Resources, chunk
from forestalign.words.crf.feature_space import FeatureSpace
from forestalign.words.crf.lattice import Lattice, Marginals, Segment, allowed_segments, marginals, viterbi
from forestalign.words.crf.pair_features import DirectionFeatures, feature_counts, lattice_of, pair_features

Link = tuple[int, int]
CUT = 1e-3  # price of one more segment, far below the worth of a link


@dataclass(frozen=True, slots=True)
class Costs:
    """Softmax-margin costs of one word in a wrong state; the paper has 1 for each."""

    miss: float = 1.0  # a linked word deleted
    false: float = 1.0  # an unlinked word aligned
    wrong: float = 1.0  # a linked word aligned elsewhere


@dataclass(frozen=True, slots=True)
class Gold:
    """`right_*` mark what a right path may use; `cost_*` is the Hamming cost of using a segment."""

    right_segments: BoolArray  # [M, Ls, N, Lt]
    right_nulls: BoolArray  # [M]
    cost_segments: FloatArray
    cost_nulls: FloatArray


def gold_of(links: Collection[Link], source_count: int, target_count: int, space: FeatureSpace, costs: Costs) -> Gold:
    """The gold segments of a pair in one direction, with their costs."""
    linked = np.zeros((source_count, target_count), np.bool_)
    if links:
        linked[tuple(np.array(sorted(links)).T)] = True
    shape = (source_count, space.source_max, target_count, space.target_max)
    if space.is_phrasal:
        right_segments, right_nulls, states = _phrase_gold(linked, shape)
    else:
        right_segments, right_nulls = linked[:, None, :, None], np.logical_not(linked.any(axis=1))
        states = right_segments[:, 0]
    word_costs = np.where(right_nulls[:, None, None], costs.false, np.where(states, 0.0, costs.wrong))
    cost_nulls = np.where(right_nulls, 0.0, costs.miss)
    return Gold(right_segments, right_nulls, _span_costs(word_costs, shape), cost_nulls)


def _phrase_gold(linked: BoolArray, shape: tuple[int, int, int, int]) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Right segments and NULLs, and per word the state (target begin, length) that the path gives it."""
    right_segments = np.zeros(shape, np.bool_)
    right_nulls = np.zeros(shape[0], np.bool_)
    states = np.zeros((shape[0], shape[2], shape[3]), np.bool_)
    for begin, length, target, target_length in gold_path(linked, shape[1], shape[3]):
        if target_length:
            right_segments[begin, length - 1, target, target_length - 1] = True
            states[begin : begin + length, target, target_length - 1] = True
        else:
            right_nulls[begin] = True
    return right_segments, right_nulls, states


def gold_path(linked: BoolArray, source_max: int, target_max: int) -> tuple[Segment, ...]:
    """The path of complete blocks that covers most links with the fewest segments."""
    rows, columns = linked.shape
    worth = np.full((rows, source_max, columns, target_max), -np.inf)
    for s, t in np.ndindex(min(source_max, rows), min(target_max, columns)):
        windows = np.lib.stride_tricks.sliding_window_view(linked, (s + 1, t + 1))
        complete = windows.all(axis=(2, 3))
        worth[: rows - s, s, : columns - t, t] = np.where(complete, (s + 1) * (t + 1) - CUT, -np.inf)
    _, path = viterbi(Lattice(worth, np.full(rows, -CUT), np.zeros((columns + 2, columns + 2))))
    return path


def _span_costs(word_costs: FloatArray, shape: tuple[int, int, int, int]) -> FloatArray:
    """Sum over the words of a source span of the cost of each word in the span's state."""
    costs = np.zeros(shape)
    for s in range(min(shape[1], shape[0])):
        for k in range(s + 1):
            costs[: shape[0] - s, s] += word_costs[k : shape[0] - s + k]
    costs[~allowed_segments(*shape)] = 0.0
    return costs


# ---- phrase gold from token gold ----


def synthesise(source: Sentence, target: Sentence, links: Collection[Link]) -> tuple[Link, ...]:
    """The links with every matching pair of chunks filled (section 4.1 of the phrase paper).

    Where each word of a source chunk is aligned, in order, to words of one target chunk, and each word of that chunk to
    words of the source chunk, and nothing in either is linked elsewhere, the links become one phrase: all with all.
    """
    filled = set(links)
    target_chunks = chunk(target.tags)
    for source_chunk in chunk(source.tags):
        for target_chunk in target_chunks:
            if _match(source_chunk, target_chunk, links):
                filled.update(_block(source_chunk, target_chunk))
    return tuple(sorted(filled))


def _match(source: Chunk, target: Chunk, links: Collection[Link]) -> bool:
    """All words linked within the two chunks, none outside, in order."""
    touching = sorted((i, j) for i, j in links if source.begin <= i < source.end or target.begin <= j < target.end)
    inside = all(source.begin <= i < source.end and target.begin <= j < target.end for i, j in touching)
    rows, columns = {i for i, _ in touching}, {j for _, j in touching}
    complete = len(rows) == source.end - source.begin and len(columns) == target.end - target.begin
    monotone = all(left[1] <= right[1] for left, right in pairwise(touching))
    return bool(touching) and inside and complete and monotone


def _block(source: Chunk, target: Chunk) -> list[Link]:
    return [(i, j) for i in range(source.begin, source.end) for j in range(target.begin, target.end)]


@dataclass(frozen=True, slots=True)
class RightPath:
    """The features of the only right path that a pair has: they are the same whatever the weights."""

    places: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class Example:
    """One training pair in one direction; `right_path` saves the second sum where it has one term."""

    features: DirectionFeatures
    gold: Gold
    weight: float = 1.0
    right_path: RightPath | None = None


def example_of(features: DirectionFeatures, gold: Gold, space: FeatureSpace, weight: float = 1.0) -> Example:
    """A pair with its features and gold, ready for the objective."""
    if not _has_one_path(gold):
        return Example(features, gold, weight)
    target_count = gold.right_segments.shape[2]
    steps = np.zeros((target_count + 2, target_count + 2))
    counts = feature_counts(features, space, _right(gold, np.zeros(1), np.zeros(1), steps))
    places = np.flatnonzero(counts)
    return Example(features, gold, weight, RightPath(places, counts[places]))


def _has_one_path(gold: Gold) -> bool:
    """Whether every source word lies in exactly one right segment or NULL."""
    covered = gold.right_nulls.astype(np.int64)
    per_length = gold.right_segments.sum(axis=(2, 3))
    for s in range(per_length.shape[1]):
        for k in range(s + 1):
            covered[k:] += per_length[: len(covered) - k, s]
    return bool((covered == 1).all())


def _right(gold: Gold, segments: FloatArray, nulls: FloatArray, transitions: FloatArray) -> Marginals:
    """The sum over the right paths."""
    right_segments, right_nulls = (
        np.where(gold.right_segments, segments, -np.inf),
        np.where(gold.right_nulls, nulls, -np.inf),
    )
    return marginals(Lattice(right_segments, right_nulls, transitions))


def loss_and_gradient(example: Example, space: FeatureSpace, weights: FloatArray) -> tuple[float, FloatArray]:
    """The softmax-margin loss of one example, and its gradient."""
    lattice = lattice_of(example.features, space, weights)
    gold, right_path = example.gold, example.right_path
    free = marginals(
        Lattice(lattice.segments + gold.cost_segments, lattice.nulls + gold.cost_nulls, lattice.transitions)
    )
    if right_path is not None:
        gradient = feature_counts(example.features, space, free)
        gradient[right_path.places] -= right_path.values
        return free.log_partition - float(right_path.values @ weights[right_path.places]), gradient
    right = _right(gold, lattice.segments, lattice.nulls, lattice.transitions)
    difference = Marginals(
        free.log_partition - right.log_partition,
        free.segments - right.segments,
        free.nulls - right.nulls,
        free.transitions - right.transitions,
    )
    return difference.log_partition, feature_counts(example.features, space, difference)


# ---- training ----


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


@dataclass(frozen=True, slots=True, eq=False)
class PartlyFree:
    """Weights to begin with, of which only some may move."""

    weights: FloatArray
    is_free: np.ndarray


Report = Callable[[int, float], None]  # the number of an iteration, and the objective after it
Loss = Callable[[FloatArray], tuple[float, FloatArray]]  # the value at a point, and its gradient
Answer = Callable[[Loss, FloatArray], tuple[float, FloatArray]]


def fingerprint(pairs: Sequence[TrainingPair]) -> int:
    """A checksum of everything in the pairs that training looks at."""
    seen = 0
    for pair in pairs:
        sides = [(side.words, side.tags, side.lemmas) for side in (pair.source, pair.target)]
        seen = zlib.crc32(repr((sides, pair.links, pair.weight)).encode(), seen)
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
    answer: Answer = lambda objective, point: objective(point),
) -> FloatArray:
    """Weights that minimise the objective, beginning with `start`; `answer` may know a value from an earlier run."""
    shards = [
        _Shard(pairs[number::SHARDS], direction, space, resources, settings.costs)
        for number in range(min(SHARDS, len(pairs)))
    ]
    if not isinstance(start, PartlyFree):
        start = PartlyFree(np.zeros(len(space)) if start is None else start, np.ones(len(space), np.bool_))
    first, free, iterations = start.weights, start.is_free, count(1)

    def whole(moving: FloatArray) -> FloatArray:
        weights = first.copy()
        weights[free] = moving
        return weights

    def tell(intermediate_result: OptimizeResult) -> None:
        if report is not None:
            report(next(iterations), float(intermediate_result.fun))

    with _Evaluation(shards, settings.processes) as evaluate:

        def objective(moving: FloatArray) -> tuple[float, FloatArray]:
            weights = whole(moving)
            loss, gradient = evaluate(weights)
            value = loss + 0.5 * settings.l2 * float(weights @ weights)
            return value, (gradient + settings.l2 * weights)[free]

        found = minimize(
            partial(answer, objective),
            first[free],
            jac=True,
            method="L-BFGS-B",
            callback=tell,
            options={
                "maxiter": settings.iterations,
                "maxcor": settings.history,
                "ftol": settings.tolerance,
                "maxfun": 3 * settings.iterations,
            },
        )
    return whole(found.x)


class _Shard:
    """A part of the corpus; its features are built where they are used, on first call."""

    def __init__(
        self, pairs: Sequence[TrainingPair], direction: str, space: FeatureSpace, resources: Resources, costs: Costs
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
