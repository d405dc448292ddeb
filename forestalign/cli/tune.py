"""Tune settings on a development set, by Bayesian optimisation.

    forestalign tune gold.jsonl --trials 3
    forestalign tune gold.jsonl --trials 3 --param null_penalty=1:8 --param gap=1:8 -o more.jsonl
    forestalign tune annotations/dev.jsonl -o trials.jsonl
    forestalign tune annotations/dev.jsonl --objective phrase=0.7,uas=0.3 --param null_penalty=1:8 --param gap=1:8

The development set holds annotated pairs, or human word links from which phrase gold is projected. It is parsed and
linked once; a trial only aligns it again. --resume continues from the recorded trials. The table of trials goes to
stdout, followed by the best settings, ready to paste.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from forestalign.cli.align_options import add_settings, config_of
from forestalign.cli.options import add_cache_option, add_force_option, add_worker_options, check_outputs, open_workers
from forestalign.config import PAPER_ONLY, AlignConfig
from forestalign.errors import UsageError
from forestalign.tuning import (
    DEFAULT_PARAMETERS,
    SCORES,
    DevelopmentTrials,
    Parameter,
    Trial,
    TuningPlan,
    check_optimiser,
    parse_objective,
    parse_parameter,
    run_trials,
    settings_block,
    table_head,
    table_row,
    trial_signature,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    plain = TuningPlan((), ())
    parser.add_argument("development", metavar="DEV", help="annotated pairs, or pairs with human word links")
    parser.add_argument(
        "--annotators", default="", metavar="LIST", help="use the word links of these annotators, e.g. A,C"
    )
    parser.add_argument(
        "--objective", default="phrase", metavar="NAME=W,...", help=f"maximise this weighted sum of {', '.join(SCORES)}"
    )
    parser.add_argument(
        "--param",
        action="append",
        metavar="NAME=LOW:HIGH",
        help=f"tune this setting; repeat for more (default: {' '.join(DEFAULT_PARAMETERS)})",
    )
    parser.add_argument(
        "--trials", type=int, default=plain.trials, metavar="N", help="run N trials in all (default: %(default)s)"
    )
    parser.add_argument(
        "--initial",
        type=int,
        default=plain.initial,
        metavar="N",
        help="start with N random trials (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=plain.seed, metavar="N", help="random seed (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="use only the first N pairs")
    parser.add_argument(
        "-o", "--output", default="trials.jsonl", metavar="FILE", help="record the trials here (default: %(default)s)"
    )
    parser.add_argument("--resume", action="store_true", help="continue from the recorded trials")
    add_force_option(parser)
    add_cache_option(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress line")
    add_settings(parser)
    add_worker_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the trials and print them."""
    check_outputs(args, "output")
    check_optimiser()
    if args.trials < 1 or args.initial < 1:
        raise UsageError(f"--trials and --initial must be at least 1, not {args.trials} and {args.initial}")
    config = config_of(args)
    parameters = tuple(parse_parameter(text) for text in args.param or DEFAULT_PARAMETERS)
    if config.scoring != "paper" and any(each.name in PAPER_ONLY for each in parameters):
        print("forestalign tune: some of these settings work with scoring=paper only, so it is used", file=sys.stderr)
        config = config.replace(scoring="paper")
    plan = _plan(args, config, parameters)
    with open_workers(args) as workers:
        annotators = [name for name in args.annotators.split(",") if name]
        evaluate = DevelopmentTrials(args.development, config, Path(args.cache), annotators, args.limit, workers)
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
    print(f"\n{settings_block(plan, trials)}\n# {plan.signature}")
    return 0


def _plan(args: argparse.Namespace, config: AlignConfig, parameters: tuple[Parameter, ...]) -> TuningPlan:
    return TuningPlan(
        parameters,
        tuple(parse_objective(args.objective).items()),
        args.trials,
        args.initial,
        args.seed,
        trial_signature(args.development, config, args.limit),
    )
