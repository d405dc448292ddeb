"""Tune settings on a development set, by Bayesian optimisation.

    forestalign tune annotations/dev.jsonl -o trials.jsonl --plot trials.png
    forestalign tune annotations/dev.jsonl --objective phrase=0.7,uas=0.3 --param null_penalty=1:8 --param gap=1:8

The development set holds annotated pairs, or human word links from which phrase gold is projected. It is parsed and
linked once; a trial only aligns it again. --resume goes on with the trials of the record. The table of trials goes to
stdout, and after it the best settings, ready to paste.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from forestalign.aligner import Aligner
from forestalign.batch import Workers
from forestalign.cli.align_options import add_settings, config_of
from forestalign.cli.batch_options import add_worker_options, opened_workers
from forestalign.cli.report import data_hash
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.formats import PairRecord
from forestalign.metrics import Evaluation
from forestalign.trees import Tree
from forestalign.tuning import (
    DEFAULT_PARAMETERS,
    DevelopmentWorker,
    Trial,
    TuningPlan,
    align_development,
    best_trees,
    parse_objective,
    parse_parameter,
    plot_convergence,
    prepared_pairs,
    read_development,
    run_trials,
    settings_block,
    table_head,
    table_row,
)
from forestalign.tuning.space import SCORES


def configure(parser: argparse.ArgumentParser) -> None:
    plain = TuningPlan((), ())
    parser.add_argument("development", metavar="DEV", help="annotated pairs, or pairs with human word links")
    parser.add_argument("--annotators", default="", metavar="LIST", help="whose word links to use, e.g. A,C")
    parser.add_argument(
        "--objective", default="phrase", metavar="NAME=W,...", help=f"what to maximise, of {', '.join(SCORES)}"
    )
    parser.add_argument(
        "--param", action="append", metavar="NAME=LOW:HIGH", help=f"default: {' '.join(DEFAULT_PARAMETERS)}"
    )
    parser.add_argument("--trials", type=int, default=plain.trials, metavar="N", help="how many in all")
    parser.add_argument("--initial", type=int, default=plain.initial, metavar="N", help="random ones at first")
    parser.add_argument("--random-seed", type=int, default=plain.seed, metavar="N")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only the first N pairs")
    parser.add_argument("-o", "--output", default="trials.jsonl", metavar="FILE", help="record of the trials")
    parser.add_argument("--plot", default="", metavar="PNG", help="draw how the objective grew")
    parser.add_argument("--resume", action="store_true", help="go on with the trials of the record")
    parser.add_argument("--cache", default=".cache/forestalign", metavar="DIR", help="folder of parsed pairs")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress line")
    add_settings(parser)
    add_worker_options(parser)


def run(args: argparse.Namespace) -> int:
    if args.trials < 1 or args.initial < 1:
        raise UsageError(f"--trials and --initial must be at least 1, not {args.trials} and {args.initial}")
    config = config_of(args)
    plan = _plan(args, config)
    with opened_workers(args) as workers:
        evaluate = _Evaluator(args, config, workers)
        trials: list[Trial] = []
        show = sys.stderr.isatty() and not args.quiet
        with tqdm(total=plan.trials, desc="tune", unit=" trials", disable=not show) as bar:
            for trial in run_trials(plan, config, evaluate, Path(args.output), args.resume):
                if not trials:
                    tqdm.write(table_head(plan, trial), file=sys.stdout)
                tqdm.write(table_row(trial), file=sys.stdout)
                sys.stdout.flush()
                trials.append(trial)
                bar.set_postfix_str(f"best {max(each.objective for each in trials):.4f}", refresh=False)
                bar.update()
                if args.plot:
                    plot_convergence(args.plot, plan, trials)
    print(f"\n{settings_block(plan, trials)}\n# {plan.signature}")
    return 0


def _plan(args: argparse.Namespace, config: AlignConfig) -> TuningPlan:
    signature = f"{Aligner(config).signature} | {Path(args.development).name} {data_hash(args.development)}"
    if args.limit:
        signature += f" first {args.limit} pairs"
    return TuningPlan(
        tuple(parse_parameter(text) for text in args.param or DEFAULT_PARAMETERS),
        tuple(parse_objective(args.objective).items()),
        args.trials,
        args.initial,
        args.random_seed,
        signature,
    )


class _Evaluator:
    """Scores the development set under given settings."""

    def __init__(self, args: argparse.Namespace, config: AlignConfig, workers: Workers | None):
        self._folder, self._workers = Path(args.cache), workers
        self._worker = DevelopmentWorker()

        def trees(records: Sequence[PairRecord]) -> list[tuple[Tree, Tree]]:
            return best_trees(prepared_pairs(records, self._folder, config, workers))

        annotators = [name for name in args.annotators.split(",") if name]
        self._development = read_development(args.development, trees, annotators, args.limit)

    def __call__(self, config: AlignConfig) -> Evaluation:
        # settings of the parser or the word aligner may be among the parameters: they have files of their own
        paths = prepared_pairs(self._development.records, self._folder, config, self._workers)
        return self._development.evaluate(align_development(self._worker, paths, config, self._workers))
