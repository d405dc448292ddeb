"""Learning how likely pairs are right, from alignments by scores that did not see the pairs of sentences.

What is learned from and what it is tried on are different pairs of sentences, so that the figures on the card hold for
new text: half of the observations make a model, the other half judge it, and both ways round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from forestalign.arrays import FloatArray, IntArray
from forestalign.blas import with_one_thread
from forestalign.config import AlignConfig
from forestalign.learning.calibration import Point, calibration_error, isotonic, reliability
from forestalign.learning.span_training import fit_logistic
from forestalign.learning.train_scores import GoldExample
from forestalign.learning.weighted_tasks import WeightedTask
from forestalign.pair_cache import read_cached
from forestalign.phrases.result.pair_confidence import confidence_features, pair_kinds
from forestalign.phrases.scoring.confidence import CONFIDENCE, KINDS, PairConfidence
from forestalign.phrases.scoring.features import weigh_features
from forestalign.phrases.scoring.score_model import ScoreModel
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
        return [self._observed(example, task.weights) for example in task.items]

    def _observed(self, example: GoldExample, weights: FloatArray) -> Observed:
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


def joined(observed: Sequence[Observed]) -> Observed:
    """All pairs of all alignments."""
    return Observed(
        np.concatenate([each.features for each in observed]),
        np.concatenate([each.kinds for each in observed]),
        np.concatenate([each.right for each in observed]),
    )


def fitted(observed: Sequence[Observed]) -> PairConfidence:
    """The weights of all kinds of pairs."""
    rows = joined(observed)
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
    return replace(model, calibration=curve, card=card, confidence=fitted(observed))


def _points(seen: Sequence[Observed], kept_back: Sequence[Observed]) -> list[Point]:
    rows = joined(kept_back)
    return list(zip(fitted(seen)(rows.features, rows.kinds.tolist()).tolist(), rows.right.tolist(), strict=True))


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
