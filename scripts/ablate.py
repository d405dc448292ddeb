"""What each part is worth: the whole system, with each part taken away or each option changed, and the baselines.

    python scripts/ablate.py annotations/dev.jsonl mtref.dev.jsonl.gz msr-rte2.dev.jsonl.gz:A,C --limit 100
    python scripts/ablate.py annotations/dev.jsonl --rows "w/o forests" "w/o phrase evidence" --test
    python scripts/ablate.py annotations/dev.jsonl@4 mtref.dev.jsonl.gz --learn --folds 2 --jobs 2

A file holds annotated pairs, or human word links from which phrase gold is projected. The scores stay as they ship, and
only the settings of a row are changed; parses and links are kept in the cache folder, so a row costs its search. With
`--learn` the scores are learned again without the part of each row, and every pair is aligned with weights that did not
see it; files may then have a weight (`@4`). p-values are of approximate randomisation on F1 against the first row.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

from scoring.phrases import Row, add_set_options, format_row, p_value, print_table

from forestalign.batch.workers import Processes
from forestalign.cli.align_options import config_of
from forestalign.config import HAND_SET, AlignConfig
from forestalign.evaluation.scores import picked, union
from forestalign.learning.cross_validate import GoldFile, ScorePlan, held_out_evaluations
from forestalign.learning.train_scores import GoldSettings
from forestalign.phrases.evidence.phrase_evidence import KINDS
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model
from forestalign.phrases.stage import load_stage

HEADS = ("heads linked", "heads held", "heads linked elsewhere", "edges without link")


class Variant(NamedTuple):
    """A system: settings that differ, and parts of the scores without a weight."""

    name: str
    settings: dict[str, Any]
    without: tuple[str, ...] = ()


VARIANTS = (
    Variant("proposed", {}),
    Variant("w/o forests", {"one_best": True}),
    Variant("w/o the other's say in forests", {"mutual": False}),
    Variant("w/o non-compositional steps", {"monotonic": True}),
    Variant("w/o lifts", {"lifts": False}),
    Variant("w/o competition of links", {"rivals": False}),
    Variant("w/o rest costs", {"prospect_share": 0.0}),
    Variant("one direction", {"direction": "directional"}),
    Variant("w/o phrase evidence", {"evidence": "none"}),
    *(Variant(f"w/o {kind}", {"evidence": ",".join(each for each in KINDS if each != kind)}) for kind in KINDS),
    Variant("w/o EM model", {}, ("pair: log pr", "null: log pr")),
    Variant("w/o parse score", {}, ("parse",)),
    Variant("w/o heads and edges", {}, tuple(f"pair: {name}" for name in HEADS)),
    Variant("paper's scores", {"scoring": "paper"}),
    Variant("paper's scores, w/o EM", {"scoring": "paper", "model": HAND_SET}),
    *(Variant(f"links {method}", {"links": method}) for method in ("dictionary", "crf")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_set_options(parser)
    parser.add_argument("--rows", nargs="+", default=[], metavar="NAME", help="the first row and these alone")
    parser.add_argument("--learn", action="store_true", help="learn the scores again for each row, in folds")
    parser.add_argument("--folds", default="2", metavar="N", help="folds of --learn")
    parser.add_argument("--passes", type=int, default=GoldSettings().passes, metavar="N", help="passes of --learn")
    parser.add_argument("--ridge", type=float, default=GoldSettings().ridge, metavar="X", help="pull to the start")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="processes of --learn")
    args = parser.parse_args()
    names = [variant.name for variant in VARIANTS]
    unknown = [name for name in args.rows if name not in names]
    if unknown:
        parser.error(f"no row is called {unknown[0]!r}; expected some of {', '.join(names)}")
    config = config_of(args)
    variants = [each for each in VARIANTS if not args.rows or each.name in (names[0], *args.rows)]
    if args.learn:
        print_learned(variants, config, args)
    else:
        print_table(shipped_rows(variants, config), config, args)


def shipped_rows(variants: list[Variant], config: AlignConfig) -> Iterator[Row]:
    """The rows with the scores that ship, some of their weights set to nought."""
    for name, settings, without in variants:
        changed = config.replace(**settings)
        if without:
            weights = load_score_model(changed.scores).weights * GoldSettings(without=without).is_used
            yield Row(name, changed, load_stage(changed, score_model=ScoreModel(weights)))
        else:
            yield Row(name, changed)


def print_learned(variants: list[Variant], config: AlignConfig, args: argparse.Namespace) -> None:
    """Rows of scores that were learned again, every pair aligned by weights that did not see it."""
    gold, first = tuple(map(GoldFile.of, args.gold)), None
    with Processes(args.jobs) as workers:
        for name, settings, without in variants:
            plan = ScorePlan(
                gold,
                config.replace(**settings),
                GoldSettings(passes=args.passes, ridge=args.ridge, without=without),
                args.cache,
                folds=args.folds,
                limit=args.limit,
            )
            scores = held_out_evaluations(plan, lambda message, count: None, workers)
            for path, each in zip(args.gold, scores, strict=True):
                print(f"{format_row(name, each)}  {path}", flush=True)
            mean = union([picked(each, ["F1"]) for each in scores])
            first = first or mean
            cell = "" if mean is first else f"  p {p_value(first, mean, args.samples):.4f}"
            print(f"{name:28}mean F1 {100 * mean['F1']:6.2f}{cell}", flush=True)


if __name__ == "__main__":
    main()
