"""What each source of the learned scores is worth: everything is learned again without it, on the same folds.

    python scripts/ablate_scores.py msr-rte2.dev.jsonl.gz:A,C edinburgh.train.jsonl.gz mtref.dev.jsonl.gz \\
        annotations/dev.jsonl@4 --limit 200 --jobs 2
    python scripts/ablate_scores.py annotations/dev.jsonl mtref.dev.jsonl.gz --shipped

Files are as for `forestalign train --gold`. A row shows F1 on each set, every pair aligned with weights that did not
see it, and the mean over the sets with p of approximate randomisation over all pairs against the full system. With
`--shipped` nothing is learned: the shipped scores stay as they are, and only the settings of a row are changed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forestalign.aligner import Aligner
from forestalign.batch import Processes, Workers
from forestalign.cli.align_options import add_settings, config_of
from forestalign.config import AlignConfig
from forestalign.evaluation import Evaluation, compare
from forestalign.evaluation.counts import picked, union
from forestalign.evaluation.development_answers import align_cached
from forestalign.evaluation.projection import GoldKind
from forestalign.evaluation.significance import SAMPLES
from forestalign.learning.cross_validate import GoldFile, ScorePlan, held_out_evaluations, read_gold
from forestalign.learning.train_scores import GoldSettings
from forestalign.pair_cache import cache_folder, read_cached
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model
from forestalign.phrases.stage import load_stage


@dataclass(frozen=True, slots=True)
class Variant:
    """A system to learn: settings that differ, parts without a weight, gold to learn from."""

    name: str
    config: AlignConfig
    without: tuple[str, ...] = ()
    kind: GoldKind = GoldKind.FAIR
    needs_shipped: bool = False  # learning sees the parser's own forests in any case

    def is_for(self, shipped: bool) -> bool:
        """Whether the row says something of shipped scores, or of learned ones."""
        return self.kind is GoldKind.FAIR if shipped else not self.needs_shipped

    def plan(self, args: argparse.Namespace) -> ScorePlan:
        """The run that learns it."""
        return ScorePlan(
            tuple(map(GoldFile.of, args.gold)),
            self.config,
            GoldSettings(passes=args.passes, ridge=args.ridge, without=self.without),
            Path(args.cache),
            folds=args.folds,
            limit=args.limit,
            kind=self.kind,
        )


def variants(config: AlignConfig) -> list[Variant]:
    """The full system first."""
    return [
        Variant("full", config),
        Variant("w/o rest costs", config.replace(prospect_share=0.0)),
        Variant("w/o search of single trees", config.replace(single_trees=False)),
        Variant("w/o competition of links", config.replace(rivals=False)),
        Variant("gold that is not fair", config, kind=GoldKind.ALL),
        Variant("w/o EM model", config, ("pair: log pr", "null: log pr")),
        Variant("w/o non-compositional steps", config.replace(monotonic=True)),
        Variant("w/o forests", config.replace(one_best=True)),
        Variant("w/o the other's say in forests", config.replace(mutual=False), needs_shipped=True),
        Variant("w/o phrase evidence", config.replace(evidence="none")),
        Variant("w/o parse score", config, ("parse",)),
        Variant("w/o heads and edges", config, HEADS),
    ]


HEADS = tuple(
    f"pair: {name}" for name in ("heads linked", "heads held", "heads linked elsewhere", "edges without link")
)


def main() -> int:
    args = _arguments()
    config = config_of(args)
    full: list[Evaluation] = []
    with Processes(args.jobs) as workers:
        for variant in variants(config):
            is_wanted = not args.rows or variant.name in args.rows or not full
            if not is_wanted or not variant.is_for(args.shipped):
                continue
            evaluations = [picked(each, ["F1"]) for each in _evaluations(variant, args, workers)]
            full = full or evaluations
            print(_row(variant.name, full, evaluations, args), flush=True)
    print(Aligner(config).signature)
    return 0


def _evaluations(variant: Variant, args: argparse.Namespace, workers: Workers | None) -> list[Evaluation]:
    plan = variant.plan(args)
    if not args.shipped:
        return held_out_evaluations(plan, _silent, workers)
    weights = load_score_model(variant.config.scores).weights * plan.settings.is_used
    stage = load_stage(variant.config, score_model=ScoreModel(weights))
    sets = [read_gold(plan, gold, variant.config, workers) for gold in plan.gold]
    return [each.gold.evaluate([align_cached(read_cached(path), stage) for path in each.paths]) for each in sets]


def _row(name: str, full: Sequence[Evaluation], evaluations: Sequence[Evaluation], args: argparse.Namespace) -> str:
    cells = [f"{100 * each['F1']:7.2f}" for each in (*evaluations, union(evaluations))]
    if full is evaluations:
        return "  ".join([f"{name:28}", *cells])
    found = compare(union(full), union(evaluations), np.random.default_rng(args.seed), args.samples)[0]
    return "  ".join([f"{name:28}", *cells, f"p {found.p_value:.4f}"])


def _silent(message: str, count: int) -> None:
    """Rows are the only progress."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="+", metavar="GOLD[:ANNOTATORS][@WEIGHT]")
    parser.add_argument("--cache", default=str(cache_folder()), metavar="DIR", help="folder of parsed pairs")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N pairs of each file")
    parser.add_argument("--folds", default="2", metavar="N", help="folds of the cross-validation")
    parser.add_argument("--passes", type=int, default=GoldSettings().passes, metavar="N", help="passes of learning")
    parser.add_argument(
        "--ridge", type=float, default=GoldSettings().ridge, metavar="X", help="pull to the paper's scores"
    )
    parser.add_argument("--shipped", action="store_true", help="learn nothing, change settings only")
    parser.add_argument("--rows", action="append", default=[], metavar="NAME", help="only this row (may be repeated)")
    parser.add_argument("-B", "--samples", type=int, default=SAMPLES, help="shuffles of a significance test")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed of the significance tests")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="processes")
    add_settings(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
