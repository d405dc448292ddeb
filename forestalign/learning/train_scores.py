"""Training runs of phrase scores on gold: the least expected risk over the search's own k-best lists.

With f the parts of a derivation h and r(h) its risk (pairs that are missed plus pairs that are wrong, by the pair's
gold), the objective over all pairs of sentences is

    1/N Σ Σ_h p(h) r(h) + λ |(w - w0) σ|²,    p(h) ∝ exp w · f(h) over the k best,    σ the spread of each part

Its gradient is 1/N Σ Σ_h p(h) (r(h) - E[r]) f(h) + 2 λ σ² (w - w0). A run aligns, collects the k best of both
directions, finds new weights, and does so again. Lists grow from pass to pass, so that weights are judged on what
earlier weights preferred as well. The run starts from the paper's scores, or from scores that were learned before, and
stops when the risk of the best alignments no longer falls; the weights of the pass with the least risk are kept.

Posteriors become probabilities by isotonic regression on held-out pairs, which also says how far off the result is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from forestalign.arrays import FloatArray
from forestalign.batch.workers import Worker, Workers
from forestalign.config import AlignConfig
from forestalign.evaluation.development import Judge, risk
from forestalign.evaluation.projection import SpanPair
from forestalign.forest import Forest
from forestalign.learning.checkpoints import Arrays, Checkpoint
from forestalign.learning.em import WeightedTask, run_pass
from forestalign.machine import with_one_thread
from forestalign.pair_cache import read_cached
from forestalign.phrases.evidence.logistic import minimise, softmax
from forestalign.phrases.scoring.features import DerivationFeatures, weigh_features
from forestalign.phrases.scoring.schema import CATEGORIES, NAMES, SLICE, STEPS
from forestalign.phrases.scoring.score_model import paper_weights
from forestalign.phrases.scoring.seeds import Seeds
from forestalign.phrases.search.directed_search import DirectedSearch
from forestalign.phrases.search.hypotheses import Derivation
from forestalign.phrases.stage import PhraseStage, load_stage
from forestalign.tokens import Span

Point = tuple[float, float]
DIGITS = 4  # in which posteriors are told apart


def isotonic(observed: Sequence[Point], bins: int = 20) -> tuple[Point, ...]:
    """A rising curve through (posterior, share of right): bins of equal size, pooled where they would fall.

    >>> isotonic([(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)], bins=3)
    ((0.0, 0.0), (0.5, 1.0), (1.0, 1.0))
    """
    ordered = sorted(observed)
    blocks = [
        (np.mean([x for x, _ in part]), np.mean([y for _, y in part]), len(part)) for part in _parts(ordered, bins)
    ]
    pooled: list[tuple[float, float, int]] = []
    for x, y, count in blocks:
        pooled.append((float(x), float(y), count))
        while len(pooled) > 1 and pooled[-2][1] > pooled[-1][1]:
            pooled[-2:] = [_pool(*pooled[-2:])]
    return _ends([(x, y) for x, y, _ in pooled])


def _parts(ordered: list[Point], bins: int) -> list[list[Point]]:
    """Bins of equal size; equal posteriors stay together."""
    size = max(1, len(ordered) // bins)
    parts: list[list[Point]] = []
    for point in ordered:
        if parts and (len(parts[-1]) < size or parts[-1][-1][0] == point[0]):
            parts[-1].append(point)
        else:
            parts.append([point])
    return parts


def _pool(one: tuple[float, float, int], other: tuple[float, float, int]) -> tuple[float, float, int]:
    count = one[2] + other[2]
    return (one[0] * one[2] + other[0] * other[2]) / count, (one[1] * one[2] + other[1] * other[2]) / count, count


def _ends(points: list[Point]) -> tuple[Point, ...]:
    """The curve from 0 to 1; of points that a file would not tell apart the last."""
    points = list({round(x, DIGITS): y for x, y in points}.items())
    if points[0][0] > 0.0:
        points = [(0.0, 0.0), *points]
    if points[-1][0] < 1.0:
        points = [*points, (1.0, points[-1][1])]
    return tuple(points)


def reliability(predicted: Sequence[Point], bins: int = 10) -> list[tuple[float, float, int]]:
    """Mean probability, share of right and number, over bins of equal width; empty bins are left out."""
    values = np.array(predicted).reshape(-1, 2)
    places = np.minimum((values[:, 0] * bins).astype(int), bins - 1)
    return [
        (float(rows[:, 0].mean()), float(rows[:, 1].mean()), len(rows))
        for rows in (values[places == k] for k in np.unique(places))
    ]


def calibration_error(predicted: Sequence[Point], bins: int = 10) -> float:
    """Expected calibration error: mean distance of probability and share of right, over bins of equal width.

    >>> calibration_error([(0.75, 1.0), (0.75, 1.0), (0.75, 1.0), (0.75, 0.0)])
    0.0
    """
    gaps = [abs(probability - right) * count for probability, right, count in reliability(predicted, bins)]
    return sum(gaps) / max(len(predicted), 1)


SMALLEST_SPREAD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class KBestList:
    """Derivations of one pair of sentences: their parts [K, parts] and their risks [K]."""

    parts: FloatArray
    risks: FloatArray

    def join(self, other: KBestList) -> KBestList:
        """Both lists; derivations with the same parts are one."""
        parts = np.concatenate([self.parts, other.parts])
        _, first = np.unique(parts.round(6), axis=0, return_index=True)
        kept = np.sort(first)
        return KBestList(parts[kept], np.concatenate([self.risks, other.risks])[kept])


def expected_risk(weights: FloatArray, lists: Sequence[KBestList]) -> tuple[float, FloatArray]:
    """Mean expected risk and its gradient."""
    total, gradient = 0.0, np.zeros_like(weights)
    for each in lists:
        shares = softmax(each.parts @ weights)
        risk = float(shares @ each.risks)
        total += risk
        gradient += each.parts.T @ (shares * (each.risks - risk))
    return total / len(lists), gradient / len(lists)


def minimise_risk(lists: Sequence[KBestList], start: FloatArray, anchor: FloatArray, ridge: float) -> FloatArray:
    """The weights of least expected risk, drawn towards `anchor`; parts are scaled by their spread."""
    useful = [each for each in lists if len(each.risks) > 1]
    if not useful:
        return start
    centred = np.concatenate([each.parts - each.parts.mean(axis=0) for each in useful])
    spread = centred.std(axis=0) + SMALLEST_SPREAD
    scaled = [KBestList(each.parts / spread, each.risks) for each in useful]

    def with_ridge(weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = expected_risk(weights, scaled)
        away = weights - anchor * spread
        return value + ridge * float(away @ away), gradient + 2.0 * ridge * away

    return np.asarray(minimise(with_ridge, start * spread, 200) / spread)


START_EVIDENCE = 2.0
Notify = Callable[[str, int], None]
_STEP_PLACE = {step: NAMES.index(f"step: {step.label}") for step in STEPS}
_CATEGORY_PLACE = {
    (step, category): NAMES.index(f"category: {step.label} {category}") for step in STEPS for category in CATEGORIES
}


@dataclass(frozen=True, slots=True)
class GoldExample:
    """A cached pair with its gold; `weight` is that of its set."""

    path: Path
    judge: Judge
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class GoldSettings:
    """How long a training run on gold goes on, and what it minimises."""

    passes: int = 6
    kbest: int = 30
    ridge: float = 1e-4
    patience: int = 2  # passes without a lower risk after which the run stops


@dataclass(frozen=True, slots=True, eq=False)
class GoldReport:
    """The weights of the pass with the least risk, and the risk of the best alignments pass by pass."""

    weights: FloatArray
    history: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The k best of one pair: parts and risks."""

    derivations: KBestList
    best_risk: float


@dataclass(slots=True)
class GoldWorker:
    """Aligns examples with given weights; models are loaded once per process, and features kept for the next pass."""

    config: AlignConfig
    kept: int = 0  # pairs whose features are kept in memory
    stage: PhraseStage | None = None
    known: dict[Path, tuple[Forest, Forest, DerivationFeatures]] = field(default_factory=dict)

    @with_one_thread
    def __call__(self, task: WeightedTask[GoldExample]) -> list[Candidates]:
        return [self._candidates(example, task.weights) for example in task.items]

    def _candidates(self, example: GoldExample, weights: FloatArray) -> Candidates:
        source, target, features = self._features(example.path)
        found = DirectedSearch(source, target, *weigh_features(features, weights), self.config).both_ways()
        spans = [_spans(source, target, derivation) for derivation in found]
        risks = np.array([risk(example.judge, each) for each in spans]) * example.weight
        vectors = np.array([vector_of(features, source, target, derivation) for derivation in found])
        if not found:
            return Candidates(KBestList(np.zeros((0, len(NAMES))), np.zeros(0)), risk(example.judge, frozenset()))
        return Candidates(KBestList(vectors, risks), float(risks[0]))

    def _features(self, path: Path) -> tuple[Forest, Forest, DerivationFeatures]:
        if path in self.known:
            return self.known[path]
        self.stage = self.stage or load_stage(self.config)
        pair = read_cached(path)
        source, target = self.stage.forests(pair.source, pair.target)
        prepared = source, target, self.stage.derivation_features(source, target, pair.words)
        if len(self.known) < self.kept:
            self.known[path] = prepared
        return prepared


def vector_of(features: DerivationFeatures, source: Forest, target: Forest, derivation: Derivation) -> FloatArray:
    """f(h): the sum of the parts of a derivation."""
    vector = np.zeros(len(NAMES))
    seeds = _seed_rows(features.seeds)
    parse = 0.0
    for pair in derivation.pairs:
        vector[SLICE["pair"]] += features.pair[pair.source, pair.target]
        if pair.step in STEPS:
            vector[_STEP_PLACE[pair.step]] += 1.0
            for category in (features.source.categories[pair.source], features.target.categories[pair.target]):
                vector[_CATEGORY_PLACE[pair.step, CATEGORIES[category]]] += 1.0
        else:
            vector += features.seed_features[seeds[pair.source, pair.target, int(pair.step)]]
            parse += features.source.inside[pair.source] + features.target.inside[pair.target]
    for nulls, side in ((derivation.source_nulls, features.source), (derivation.target_nulls, features.target)):
        for node in nulls:
            vector[SLICE["null"]] += side.null[node]
            parse += side.inside[node]
    for edges, forest in ((derivation.source_edges, source), (derivation.target_edges, target)):
        parse += sum(forest.edges[edge.node][edge.way].log_prob for edge in edges)
    vector[SLICE["parse"]] = parse
    return vector


def _seed_rows(seeds: Seeds) -> dict[tuple[int, int, int], int]:
    """Where the parts of a seed stand; the last of equal seeds counts, as all have the same parts."""
    rows = zip(seeds.source.tolist(), seeds.target.tolist(), seeds.kind.tolist(), strict=True)
    return {key: k for k, key in enumerate(rows)}


def _spans(source: Forest, target: Forest, derivation: Derivation) -> frozenset[SpanPair]:
    nodes = [(source.nodes[pair.source], target.nodes[pair.target]) for pair in derivation.pairs]
    return frozenset((Span(one.begin, one.end), Span(other.begin, other.end)) for one, other in nodes)


def start_weights(config: AlignConfig) -> FloatArray:
    """The paper's scores under the settings, as weights of parts; evidence gets some, or it would never be tried."""
    share = 1.0 - config.parse_weight
    weights = paper_weights(share, config.null_penalty, config.noncompositional_penalty, config.link_weight)
    for k in range(SLICE["phrase"].start + 1, SLICE["phrase"].stop):
        weights[k] = START_EVIDENCE
    return weights


@dataclass(slots=True)
class _Pass:
    """Where a run stands between two passes."""

    weights: FloatArray
    best: FloatArray
    history: list[float]
    lists: list[KBestList | None]

    def add(self, k: int, found: KBestList) -> None:
        known = self.lists[k]
        self.lists[k] = found if known is None else known.join(found)

    def is_over(self, settings: GoldSettings) -> bool:
        history = self.history
        is_stuck = bool(history) and len(history) - 1 - int(np.argmin(history)) >= settings.patience
        return is_stuck or len(history) >= settings.passes


@with_one_thread
def train_scores(
    examples: Sequence[GoldExample],
    config: AlignConfig,
    settings: GoldSettings,
    workers: Workers | None = None,
    notify: Notify = lambda message, count: None,
    checkpoint: Path | None = None,
    resume: bool = False,
    start: FloatArray | None = None,
) -> GoldReport:
    """The weights of least expected risk, drawn towards those of `start`; a checkpoint is written after every pass."""
    worker = Worker(partial(GoldWorker, config.replace(kbest=settings.kbest), kept=len(examples)))
    anchor = start_weights(config) if start is None else start
    kept = Checkpoint(checkpoint, _run_key(examples, config, settings, anchor)) if checkpoint is not None else None
    state = kept.read(_state_of) if kept is not None and resume else None
    state = state or _Pass(anchor, anchor, [], [None] * len(examples))
    while not state.is_over(settings):
        if state.history:
            useful = [each for each in state.lists if each is not None]
            state.weights = minimise_risk(useful, state.weights, anchor, settings.ridge)
        total = 0.0
        for k, found in enumerate(run_pass(worker, state.weights, examples, workers)):
            state.add(k, found.derivations)
            total += found.best_risk
            notify("", 1)
        state.history.append(total / max(len(examples), 1))
        if state.history[-1] <= min(state.history):
            state.best = state.weights
        notify(f"pass {len(state.history)}: risk {state.history[-1]:.4f}", 0)
        if kept is not None:
            kept.write(_arrays_of(state))
    return GoldReport(state.best, tuple(state.history))


def _run_key(examples: Sequence[GoldExample], config: AlignConfig, settings: GoldSettings, anchor: FloatArray) -> str:
    """What a run depends on, but for the number of passes."""
    run = asdict(replace(settings, passes=0))
    rows = [(example.path.name, example.weight) for example in examples]
    content = [run, asdict(config), NAMES, anchor.tolist(), rows]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _arrays_of(state: _Pass) -> dict[str, npt.ArrayLike]:
    """A state as it is kept."""
    lists = [each for each in state.lists if each is not None]
    return {
        "weights": state.weights,
        "best": state.best,
        "history": state.history,
        "lengths": np.array([len(each.risks) for each in lists], np.int64),
        "parts": np.concatenate([each.parts for each in lists]),
        "risks": np.concatenate([each.risks for each in lists]),
    }


def _state_of(content: Arrays) -> _Pass:
    """A state as it was kept."""
    ends = np.cumsum(content["lengths"])[:-1]
    lists = map(KBestList, np.split(content["parts"], ends), np.split(content["risks"], ends))
    return _Pass(content["weights"], content["best"], content["history"].tolist(), list(lists))


def split(examples: Sequence[GoldExample], fold: int, folds: int) -> tuple[list[GoldExample], list[GoldExample]]:
    """Examples to train on and examples kept back: every `folds`-th from `fold` on."""
    kept_back = [example for k, example in enumerate(examples) if k % folds == fold]
    return [example for k, example in enumerate(examples) if k % folds != fold], kept_back
