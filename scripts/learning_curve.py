"""Whether more annotated pairs help: phrase scores learned from 42, 100, 200 and all pairs, tried on a set of its own.

    python scripts/learning_curve.py annotations/train.jsonl annotations/dev.jsonl

Scores start from the paper's, which have seen no gold, or from `--start FILE`; each size is drawn `--samples` times at
random, all pairs once. A row gives, in the mean over the samples, F1 by span and F1 of pairs of several words on both
sides: from raw text, and with the gold trees and the annotators' word pairs given.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from score_evidence import given_pair

from forestalign.aligner import Aligner
from forestalign.arrays import FloatArray
from forestalign.blas import with_one_thread
from forestalign.config import AlignConfig
from forestalign.evaluation.counts import picked
from forestalign.evaluation.development_answers import align_cached
from forestalign.evaluation.phrase_scores import PhraseSet, score_phrases
from forestalign.learning.cross_validate import GoldFile, ScorePlan, read_gold, with_care
from forestalign.learning.train_scores import GoldExample, GoldSettings, train_scores
from forestalign.pair_cache import cache_folder, read_cached
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.phrases.scoring.score_model import ScoreModel
from forestalign.phrases.stage import PhraseStage, load_stage


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The set that scores are tried on: by the program's own trees and links, and by given ones."""

    annotators: Sequence[Sequence[PhraseSet]]
    raw: Sequence[PreparedPair]
    given: Sequence[PreparedPair]
    stage: PhraseStage

    def scores(self, weights: FloatArray) -> list[float]:
        """F1 of all pairs and of those of several words, from raw text, then with gold."""
        stage = replace(self.stage, score_model=ScoreModel(weights))
        found = [[align_cached(pair, stage).phrases for pair in pairs] for pairs in (self.raw, self.given)]
        return [self._f1(answers, least) for answers in found for least in (1, 2)]

    def _f1(self, answers: Sequence[PhraseSet], least: int) -> float:
        gold = [[of_words(each, least) for each in annotator] for annotator in self.annotators]
        return 100 * picked(score_phrases([of_words(each, least) for each in answers], gold), ["F1"])["F1"]


def of_words(phrases: PhraseSet, least: int) -> PhraseSet:
    """The pairs of at least so many words on both sides."""
    kept = frozenset(pair for pair in phrases.pairs if min(span.end - span.begin for span in pair) >= least)  # type: ignore[attr-defined]
    return PhraseSet(kept, phrases.noncompositional & kept)


def read_trial(path: str, plan: ScorePlan) -> Trial:
    """The set, parsed and linked both ways."""
    best = plan.config.replace(scoring="best")
    found, aligner = read_gold(plan, GoldFile.of(path), best), Aligner(best)
    records = map(json.loads, Path(path).read_text(encoding="utf-8").splitlines())
    return Trial(
        list(zip(*(judge.answers for judge in found.gold.judges()), strict=True)),  # type: ignore[union-attr]
        [read_cached(file) for file in found.paths],
        [given_pair(record, aligner) for record in records],
        load_stage(best),
    )


def samples(examples: Sequence[GoldExample], size: int, count: int) -> list[list[GoldExample]]:
    """So many pairs, drawn at random so often; all pairs once."""
    if not 0 < size < len(examples):
        return [list(examples)]
    return [random.Random(seed).sample(list(examples), size) for seed in range(count)]


@with_one_thread
def main() -> int:
    args = _arguments()
    settings = GoldSettings(passes=args.passes, ridge=args.ridge)
    plan = ScorePlan((), AlignConfig(scoring="paper"), settings, Path(args.cache), start=args.start)
    examples, trial = read_gold(plan, GoldFile.of(args.train), plan.config).examples, read_trial(args.dev, plan)
    print("pairs  samples  raw: F1  several  gold given: F1  several")
    for size in args.sizes:
        rows = []
        for seen in samples(examples, size, args.samples):
            report = train_scores(seen, plan.config, settings, start=plan.start_weights)
            rows.append(trial.scores(with_care(report.weights)))
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0)
        cells = [f"{value:.2f} ±{width:.2f}" for value, width in zip(mean, spread, strict=True)]
        print("  ".join([f"{len(seen):5}  {len(rows):7}", *cells]), flush=True)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", metavar="TRAIN", help="annotated pairs to learn from")
    parser.add_argument("dev", metavar="DEV", help="annotated pairs to try the scores on")
    parser.add_argument("--sizes", type=int, nargs="+", default=[42, 100, 200, 0], metavar="N", help="0: all")
    parser.add_argument("--samples", type=int, default=4, metavar="N", help="samples of each size (default: 4)")
    parser.add_argument("--passes", type=int, default=4, metavar="N", help="passes of learning (default: 4)")
    parser.add_argument("--ridge", type=float, default=0.001, metavar="X", help="pull to the start (default: 0.001)")
    parser.add_argument("--start", default="", metavar="FILE", help="scores to go on from; none: the paper's")
    parser.add_argument("--cache", default=str(cache_folder()), metavar="DIR", help="folder of parsed pairs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
