"""Training runs of phrase scores on gold: sets are read and parsed into the cache, cross-validated, learned from.

A gold file holds annotated pairs, or human word links from which phrase gold is projected. Cross-validation gives the
tables of every set (learned scores, the paper's, `project`, the other annotator), and the held-out alignments from
which it is learned how likely pairs are right. There, too, what is learned from and what it is tried on are different
pairs of sentences: half of the observations make a model, the other half judge it, and both ways round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from forestalign.aligner import Aligner
from forestalign.arrays import FloatArray, IntArray
from forestalign.batch.workers import Worker, Workers
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.evaluation.development import (
    Answer,
    DevelopmentSet,
    DevelopmentWorker,
    align_cached,
    align_development,
    best_trees,
    prepared_pairs,
    project_cached,
    read_development,
)
from forestalign.evaluation.scores import Evaluation, compare
from forestalign.learning.checkpoints import checkpoint_path, files_of, is_checkpoint, training
from forestalign.learning.em import WeightedTask, run_pass
from forestalign.learning.train_scores import (
    GoldExample,
    GoldReport,
    GoldSettings,
    Notify,
    Point,
    calibration_error,
    isotonic,
    reliability,
    split,
    train_scores,
)
from forestalign.machine import with_one_thread
from forestalign.outputs import SideFile, packed_file
from forestalign.pair_cache import read_cached
from forestalign.phrases.evidence.logistic import fit_logistic
from forestalign.phrases.evidence.phrase_evidence import KINDS as EVIDENCE_KINDS
from forestalign.phrases.result.pair_confidence import confidence_features, pair_kinds
from forestalign.phrases.scoring.features import weigh_features
from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import (
    CONFIDENCE,
    KINDS,
    PairConfidence,
    ScoreModel,
    load_score_model,
    score_model_text,
)
from forestalign.phrases.search.directed_search import DirectedSearch
from forestalign.phrases.stage import PhraseStage, load_stage
from forestalign.tokens import Span

RIDGE = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """The pairs of one alignment: their features, kinds, and how right each is, from 0 to 1."""

    features: FloatArray
    kinds: IntArray
    right: FloatArray


@dataclass(slots=True)
class ObservingWorker:
    """Aligns examples with given weights and looks at the pairs; models are loaded once per process."""

    config: AlignConfig
    stage: PhraseStage | None = None

    @with_one_thread
    def __call__(self, task: WeightedTask[GoldExample]) -> list[Observed]:
        return [self._observe(example, task.weights) for example in task.items]

    def _observe(self, example: GoldExample, weights: FloatArray) -> Observed:
        self.stage = self.stage or load_stage(self.config)
        pair = read_cached(example.path)
        source, target = self.stage.forests(pair.source, pair.target)
        features = self.stage.derivation_features(source, target, pair.words)
        found = DirectedSearch(source, target, *weigh_features(features, weights), self.config).best()
        if not found.derivations or not found.derivations[0].pairs:
            return Observed(np.zeros((0, len(CONFIDENCE))), np.zeros(0, np.int64), np.zeros(0))
        best = found.derivations[0]
        nodes = [(source.nodes[each.source], target.nodes[each.target]) for each in best.pairs]
        spans = [(Span(one.begin, one.end), Span(other.begin, other.end)) for one, other in nodes]
        return Observed(
            confidence_features(best, features, weights),
            np.array(pair_kinds(best.pairs, features)),
            np.array([example.judge.is_right(each) for each in spans]),
        )


def join_observed(observed: Sequence[Observed]) -> Observed:
    """All pairs of all alignments."""
    return Observed(
        np.concatenate([each.features for each in observed]),
        np.concatenate([each.kinds for each in observed]),
        np.concatenate([each.right for each in observed]),
    )


def fit_confidence(observed: Sequence[Observed]) -> PairConfidence:
    """The weights of all kinds of pairs."""
    rows = join_observed(observed)
    parts = [rows.kinds == number for number in range(len(KINDS))]
    return PairConfidence(tuple(fit_logistic(rows.features[each], rows.right[each], RIDGE) for each in parts))


def with_confidence(model: ScoreModel, observed: Sequence[Observed]) -> ScoreModel:
    """The scores with confidence, its curve, and on the card what both are worth for pairs that they did not see."""
    points = [*_points(observed[::2], observed[1::2]), *_points(observed[1::2], observed[::2])]
    curve = isotonic(points)
    tried = _halves(points)
    card = model.card | {
        "pairs judged": len(points),
        "area under the curve": round(area(points), 4),
        "calibration error": round(calibration_error(tried), 4),
        "right lost with half of the wrong": round(cost_of_half(points), 4),
        "reliability": [[round(x, 3), round(y, 3), count] for x, y, count in reliability(tried)],
    }
    return replace(model, calibration=curve, card=card, confidence=fit_confidence(observed))


def _points(seen: Sequence[Observed], kept_back: Sequence[Observed]) -> list[Point]:
    rows = join_observed(kept_back)
    return list(
        zip(fit_confidence(seen)(rows.features, rows.kinds.tolist()).tolist(), rows.right.tolist(), strict=True)
    )


def _halves(points: Sequence[Point]) -> list[Point]:
    """Each half of the points through the curve of the other."""
    found: list[Point] = []
    for seen, kept_back in ((points[::2], points[1::2]), (points[1::2], points[::2])):
        curve = ScoreModel(np.zeros(0), isotonic(seen))
        shares = curve.calibrated([raw for raw, _ in kept_back])
        found += [(share, right) for share, (_, right) in zip(shares, kept_back, strict=True)]
    return found


def area(points: Sequence[Point]) -> float:
    """How often a right pair is judged likelier than a wrong one (the area under the ROC curve).

    >>> area([(0.9, 1.0), (0.8, 0.0), (0.7, 1.0), (0.1, 0.0)])
    0.75
    """
    values = np.array(points).reshape(-1, 2)
    ranks, right = rankdata(values[:, 0]), values[:, 1] > 0.5
    hits, misses = int(right.sum()), int((~right).sum())
    return float((ranks[right].sum() - hits * (hits + 1) / 2) / max(hits * misses, 1))


def cost_of_half(points: Sequence[Point]) -> float:
    """The share of right pairs below the threshold that takes half of the wrong ones away.

    >>> cost_of_half([(0.9, 1.0), (0.8, 1.0), (0.7, 0.0), (0.1, 0.0), (0.05, 1.0)])
    0.3333333333333333
    """
    values = np.array(points).reshape(-1, 2)
    right = values[:, 1] > 0.5
    if right.all() or not right.any():
        return 0.0
    threshold = np.median(values[~right, 0])
    return float((values[right, 0] < threshold).mean())


BY_SET = "sets"
SHIPPED_SCORES = "shipped"
TREE_CARE = 2.0  # of the weight of parses: gold of phrases hardly sees a wrong tree, people who read trees do
RARE = ("list",)  # evidence that gold has too little of, or none, to learn a weight
MOST_EVIDENCE = 12.0  # about three sure links: one entry of a list must not outweigh all that speaks against it
ROUNDS = 2000  # of the significance test


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A set to learn from: FILE, FILE:A,C (each annotator is a reference), FILE@2 (its pairs count twice)."""

    path: str
    annotators: tuple[str, ...] = ()
    weight: float = 1.0

    @classmethod
    def of(cls, text: str) -> GoldFile:
        """What a user writes.

        >>> GoldFile.of("links.jsonl:A,C@0.5")
        GoldFile(path='links.jsonl', annotators=('A', 'C'), weight=0.5)
        """
        found = re.fullmatch(r"(?P<path>.+?)(?::(?P<names>[^/\\:@]+))?(?:@(?P<weight>[0-9.]+))?", text)
        try:
            weight = float(found["weight"] or 1.0) if found else 0.0
        except ValueError:
            weight = 0.0
        if found is None or weight <= 0.0:
            raise UsageError(
                f"{text!r} is not a gold file; expected FILE, FILE:ANNOTATORS or FILE@WEIGHT, weight above 0"
            )
        return cls(found["path"], tuple((found["names"] or "").split(",")) if found["names"] else (), weight)


@dataclass(frozen=True, slots=True)
class ScorePlan:
    """Everything that determines a run."""

    gold: tuple[GoldFile, ...]
    config: AlignConfig
    settings: GoldSettings
    cache: Path
    output: Path | None = None
    folds: str = ""  # a number, or "sets": each set in turn is kept back whole
    limit: int = 0  # pairs of each file; 0 takes all
    resume: bool = False
    start: str = ""  # scores to go on from: a file, or "shipped"; empty: the paper's

    @property
    def start_weights(self) -> FloatArray | None:
        """The weights to go on from, as they were before care was taken."""
        if not self.start:
            return None
        weights = load_score_model("" if self.start == SHIPPED_SCORES else self.start).weights.copy()
        weights[NAMES.index("parse: log p")] /= TREE_CARE
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class GoldPairs:
    """A set with the cache files of its pairs."""

    gold: DevelopmentSet
    paths: tuple[Path, ...]
    weight: float

    @property
    def examples(self) -> list[GoldExample]:
        """Pairs to learn from."""
        rows = zip(self.paths, self.gold.judges, strict=True)
        return [GoldExample(path, judge, self.weight) for path, judge in rows]


@dataclass(frozen=True, slots=True, eq=False)
class SetTable:
    """The scores of one set: learned on other pairs, the paper's, `project`, and another annotator."""

    name: str
    pair_count: int
    rows: dict[str, Evaluation]

    def lines(self) -> Iterator[str]:
        """The table as text, with p of the difference to the learned scores in F1."""
        yield f"{self.name}: {self.pair_count} pairs"
        for name, evaluation in self.rows.items():
            cells = " ".join(
                f"{score.name} {100 * score.value:.2f}" for score in evaluation.scores() if "root" not in score.name
            )
            yield f"  {name:8} {cells}{self._p_value(name)}"

    def _p_value(self, name: str) -> str:
        if name in ("learned", "human"):
            return ""
        found = compare(self.rows["learned"], self.rows[name], np.random.default_rng(0), ROUNDS)
        return f" p {next(each.p_value for each in found if each.name == 'F1'):.4f}"


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRun:
    """What came of a run; `model` is None when only cross-validation was asked for."""

    pair_count: int
    tables: tuple[SetTable, ...]
    model: ScoreModel | None


@dataclass(slots=True)
class _Held:
    """What cross-validation leaves: the weights that did not see each pair, and what they make of held-out pairs."""

    weights: dict[Path, FloatArray] = field(default_factory=dict)
    observed: list[Observed] = field(default_factory=list)


def train_gold(plan: ScorePlan, notify: Notify, workers: Workers | None = None) -> ScoreRun:
    """Cross-validate if asked, then learn on all pairs and write the scores with their card."""
    if plan.output is None:
        return _train(plan, notify, workers)
    record = SideFile(checkpoint_path(plan.output), is_checkpoint)
    with training(plan.output, record, (*(gold.path for gold in plan.gold), *files_of(plan.config)), plan.cache):
        return _train(plan, notify, workers)


def _train(plan: ScorePlan, notify: Notify, workers: Workers | None) -> ScoreRun:
    config = plan.config.replace(scoring="paper", scores="")
    sets = [read_gold(plan, gold, config, workers) for gold in plan.gold]
    examples = [example for each in sets for example in each.examples]
    held = _cross_validated(sets, config, plan, workers, notify) if plan.folds else _Held()
    tables = tuple(_table(each, held, config, workers) for each in sets) if plan.folds else ()
    model = None
    if plan.output is not None:
        checkpoint = checkpoint_path(plan.output)
        report = train_scores(
            examples, config, plan.settings, workers, notify, checkpoint, plan.resume, plan.start_weights
        )
        model = _model(report, plan, len(examples), held.observed)
        with packed_file(plan.output) as file:
            file.write(score_model_text(model).encode())
    return ScoreRun(len(examples), tables, model)


def read_gold(plan: ScorePlan, gold: GoldFile, config: AlignConfig, workers: Workers | None = None) -> GoldPairs:
    """A set with its pairs parsed and linked under the settings."""
    found = read_development(
        gold.path,
        lambda records: best_trees(prepared_pairs(records, plan.cache, config.replace(mutual=False), workers)),
        gold.annotators,
        plan.limit,
    )
    return GoldPairs(found, tuple(prepared_pairs(found.records, plan.cache, config, workers)), gold.weight)


def _folds(sets: Sequence[GoldPairs], folds: str) -> Iterator[tuple[list[GoldExample], list[GoldExample]]]:
    """What is learned from and what is kept back."""
    if folds == BY_SET:
        for each in sets:
            yield [example for other in sets if other is not each for example in other.examples], each.examples
        return
    if not folds.isdecimal() or int(folds) < 2:
        raise UsageError(f"folds is {folds!r}; expected a whole number of at least 2, or {BY_SET!r}")
    examples = [example for each in sets for example in each.examples]
    for fold in range(int(folds)):
        yield split(examples, fold, int(folds))


def _cross_validated(
    sets: Sequence[GoldPairs], config: AlignConfig, plan: ScorePlan, workers: Workers | None, notify: Notify
) -> _Held:
    held = _Held()
    for seen, kept_back in _folds(sets, plan.folds):
        report = train_scores(seen, config, plan.settings, workers, notify, start=plan.start_weights)
        weights = with_care(report.weights)
        held.weights |= dict.fromkeys((example.path for example in kept_back), weights)
        worker = Worker(partial(ObservingWorker, config))
        held.observed += run_pass(worker, weights, kept_back, workers)
    return held


def with_care(weights: FloatArray) -> FloatArray:
    """The weights with the parser's voice raised, evidence bounded, and rare evidence weighed like the lexicon's."""
    careful = weights.copy()
    careful[NAMES.index("parse: log p")] *= TREE_CARE
    for kind in EVIDENCE_KINDS:
        learned = careful[NAMES.index("phrase: rule" if kind in RARE else f"phrase: {kind}")]
        careful[NAMES.index(f"phrase: {kind}")] = min(learned, MOST_EVIDENCE)
    return careful


@dataclass(slots=True)
class HeldOutWorker:
    """Aligns cached pairs with given weights; models are loaded once per process."""

    config: AlignConfig
    stage: PhraseStage | None = None

    @with_one_thread
    def __call__(self, task: WeightedTask[Path]) -> list[Answer]:
        stage = self.stage or load_stage(self.config.replace(scoring="best"), score_model=ScoreModel(task.weights))
        self.stage = replace(stage, score_model=ScoreModel(task.weights))
        return [align_cached(read_cached(path), self.stage) for path in task.items]


def _held_answers(each: GoldPairs, held: _Held, config: AlignConfig, workers: Workers | None) -> list[Answer]:
    """What the weights that did not see a pair make of it."""
    worker, answers = Worker(partial(HeldOutWorker, config)), dict[Path, Answer]()
    for weights in {id(held.weights[path]): held.weights[path] for path in each.paths}.values():
        paths = [path for path in each.paths if held.weights[path] is weights]
        answers |= zip(paths, run_pass(worker, weights, paths, workers), strict=True)
    return [answers[path] for path in each.paths]


def _table(each: GoldPairs, held: _Held, config: AlignConfig, workers: Workers | None) -> SetTable:
    pairs = [read_cached(path) for path in each.paths]
    answers = {
        "learned": _held_answers(each, held, config, workers),
        "paper": align_development(Worker(DevelopmentWorker), each.paths, config, workers),
        "project": [project_cached(pair) for pair in pairs],
    }
    rows = {name: each.gold.evaluate(found) for name, found in answers.items()}
    human = each.gold.human
    return SetTable(each.gold.name, len(pairs), rows | ({"human": human} if human else {}))


def _model(report: GoldReport, plan: ScorePlan, pair_count: int, observed: Sequence[Observed]) -> ScoreModel:
    """The scores with their card, and with confidence if there were held-out pairs."""
    card: dict[str, object] = {
        "signature": Aligner(plan.config).signature,
        "date": date.today().isoformat(),
        "data": [Path(gold.path).name for gold in plan.gold],
        "pairs": pair_count,
        "objective": "risk",
        "start": plan.start or "paper",
        "risk by pass": [round(value, 4) for value in report.history],
    }
    model = ScoreModel(with_care(report.weights), card=card)
    return with_confidence(model, observed) if observed else model
