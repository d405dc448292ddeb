"""The training run of phrase scores on gold: align, collect the k best of both directions, find new weights, again.

Lists grow from pass to pass, so that weights are judged on what earlier weights preferred as well. The run starts from
the paper's scores and stops when the risk of the best alignments no longer falls; the weights of the pass with the
least risk are kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from forestalign.batch import Workers
from forestalign.blas import with_one_thread
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.evaluation.development import Judge, risk
from forestalign.evaluation.projection import SpanPair
from forestalign.forest import Forest
from forestalign.learning.checkpoints import reading_checkpoint
from forestalign.learning.risk import KBestList, Objective, expected_risk, minimised, softmax_margin
from forestalign.learning.weighted_tasks import WeightedTask, run_pass
from forestalign.outputs import whole_file
from forestalign.pair_cache import read_cached
from forestalign.phrases.hypotheses import Derivation
from forestalign.phrases.linear_model import paper_weights
from forestalign.phrases.model import FloatArray
from forestalign.phrases.part_kinds import NAMES, SLICE
from forestalign.phrases.parts import DerivationParts, vector_of, weigh_parts
from forestalign.phrases.stage import PhraseStage, both_directions, load_stage
from forestalign.tokens import Span

START_EVIDENCE = 2.0
OBJECTIVES: dict[str, Objective] = {"risk": expected_risk, "margin": softmax_margin}
Notify = Callable[[str, int], None]


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
    objective: str = "risk"
    patience: int = 2  # passes without a lower risk after which the run stops
    without: tuple[str, ...] = ()  # parts (`pair: log pr`) or groups (`parse`) whose weights stay 0

    @property
    def is_used(self) -> npt.NDArray[np.bool_]:
        """Which parts get weights, in the order of NAMES."""
        unknown = set(self.without) - set(NAMES) - set(SLICE)
        if unknown:
            raise UsageError(f"no part or group of parts is called {min(unknown)!r}; `model show scores` lists them")
        return np.array([not {name, name.partition(":")[0]} & set(self.without) for name in NAMES])


@dataclass(frozen=True, slots=True, eq=False)
class GoldReport:
    """The weights of the pass with the least risk, and the risk of the best alignments pass by pass."""

    weights: FloatArray
    history: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The k best of one pair: parts, risks, and the pairs of the best with their posteriors and whether right."""

    derivations: KBestList
    best_risk: float
    posteriors: tuple[tuple[float, float], ...]  # of the pairs of the best alignment: posterior, share of right


@dataclass(slots=True)
class GoldWorker:
    """Aligns examples with given weights; models are loaded once per process, and parts kept for the next pass."""

    config: AlignConfig
    kept: int = 0  # pairs whose parts are kept in memory
    stage: PhraseStage | None = None
    known: dict[Path, tuple[Forest, Forest, DerivationParts]] = field(default_factory=dict)

    @with_one_thread
    def __call__(self, task: WeightedTask[GoldExample]) -> list[Candidates]:
        return [self._candidates(example, task.weights) for example in task.items]

    def _candidates(self, example: GoldExample, weights: FloatArray) -> Candidates:
        source, target, parts = self._parts(example.path)
        found = both_directions(source, target, *weigh_parts(parts, weights), self.config)
        spans = [_spans(source, target, derivation) for derivation in found]
        risks = np.array([risk(example.judge, each) for each in spans]) * example.weight
        vectors = np.array([vector_of(parts, source, target, derivation) for derivation in found])
        if not found:
            return Candidates(KBestList(np.zeros((0, len(NAMES))), np.zeros(0)), risk(example.judge, frozenset()), ())
        shares = _posteriors(source, target, found[0])
        return Candidates(
            KBestList(vectors, risks),
            float(risks[0]),
            tuple((share, example.judge.is_right(pair)) for pair, share in sorted(shares.items())),
        )

    def _parts(self, path: Path) -> tuple[Forest, Forest, DerivationParts]:
        if path in self.known:
            return self.known[path]
        self.stage = self.stage or load_stage(self.config)
        pair = read_cached(path)
        source, target = self.stage.forests(pair.source, pair.target)
        prepared = source, target, self.stage.parts(source, target, pair.words)
        if len(self.known) < self.kept:
            self.known[path] = prepared
        return prepared

    def __getstate__(self) -> tuple[AlignConfig, int]:
        return self.config, self.kept

    def __setstate__(self, state: tuple[AlignConfig, int]) -> None:
        self.config, self.kept = state
        self.stage, self.known = None, {}


def _spans(source: Forest, target: Forest, derivation: Derivation) -> frozenset[SpanPair]:
    return frozenset(_posteriors(source, target, derivation))


def _posteriors(source: Forest, target: Forest, derivation: Derivation) -> dict[SpanPair, float]:
    """Posteriors by spans: that of the likeliest pair of nodes."""
    found: dict[SpanPair, float] = {}
    for pair in derivation.pairs:
        one, other = source.nodes[pair.source], target.nodes[pair.target]
        spans = Span(one.begin, one.end), Span(other.begin, other.end)
        found[spans] = max(pair.posterior, found.get(spans, 0.0))
    return found


def candidates(
    worker: GoldWorker, weights: FloatArray, examples: Sequence[GoldExample], workers: Workers | None = None
) -> Iterator[Candidates]:
    """The k best of all examples, in order."""
    return run_pass(worker, weights, examples, workers)


def start_weights(config: AlignConfig) -> FloatArray:
    """The paper's scores under the settings, as weights of parts; evidence gets some, or it would never be tried."""
    share = 1.0 - (config.parse_weight if config.parse_score == "tree" else 0.0)
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
        self.lists[k] = found if known is None else known.joined(found)

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
) -> GoldReport:
    """The weights of least expected risk; a checkpoint is written after every pass."""
    worker = GoldWorker(config.with_(kbest=settings.kbest), kept=len(examples))
    is_used = settings.is_used
    anchor = start_weights(config) * is_used
    key = _run_key(examples, config, settings)
    state = _read_checkpoint(checkpoint, key) if checkpoint is not None and resume else None
    state = state or _Pass(anchor, anchor, [], [None] * len(examples))
    while not state.is_over(settings):
        if state.history:
            useful = [each for each in state.lists if each is not None]
            objective = OBJECTIVES[settings.objective]
            state.weights, _ = minimised(objective, useful, state.weights, anchor, settings.ridge)
        total = 0.0
        for k, found in enumerate(candidates(worker, state.weights, examples, workers)):
            state.add(k, found.derivations.only(is_used))
            total += found.best_risk
            notify("", 1)
        state.history.append(total / max(len(examples), 1))
        if state.history[-1] <= min(state.history):
            state.best = state.weights
        notify(f"pass {len(state.history)}: risk {state.history[-1]:.4f}", 0)
        if checkpoint is not None:
            _write_checkpoint(checkpoint, state, key)
    return GoldReport(state.best, tuple(state.history))


def _run_key(examples: Sequence[GoldExample], config: AlignConfig, settings: GoldSettings) -> str:
    """What a run depends on, but for the number of passes."""
    run = asdict(replace(settings, passes=0))
    content = [run, asdict(config), NAMES, [(example.path.name, example.weight) for example in examples]]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _write_checkpoint(path: Path, state: _Pass, key: str) -> None:
    lists = [each for each in state.lists if each is not None]
    with whole_file(path) as file:
        np.savez_compressed(
            file,
            weights=state.weights,
            best=state.best,
            history=np.array(state.history),
            lengths=np.array([len(each.risks) for each in lists], np.int64),
            parts=np.concatenate([each.parts for each in lists]),
            risks=np.concatenate([each.risks for each in lists]),
            key=np.array(key),
        )


def _read_checkpoint(path: Path, key: str) -> _Pass | None:
    if not path.exists():
        return None
    with reading_checkpoint(path), np.load(path, allow_pickle=False) as content:
        if "key" not in content or str(content["key"]) != key:
            raise UsageError(f"{path} belongs to other gold or other settings: it cannot be resumed here")
        ends = np.cumsum(content["lengths"])[:-1]
        lists = map(KBestList, np.split(content["parts"], ends), np.split(content["risks"], ends))
        return _Pass(content["weights"], content["best"], content["history"].tolist(), list(lists))


def split(examples: Sequence[GoldExample], fold: int, folds: int) -> tuple[list[GoldExample], list[GoldExample]]:
    """Examples to train on and examples kept back: every `folds`-th from `fold` on."""
    kept_back = [example for k, example in enumerate(examples) if k % folds == fold]
    return [example for k, example in enumerate(examples) if k % folds != fold], kept_back
