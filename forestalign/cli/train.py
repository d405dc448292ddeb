"""Learn the weights of phrase features from pairs of sentences by feature-enhanced Viterbi EM, or scores from gold.

    forestalign train pairs.tsv -o my-model.json.gz
    forestalign train pairs.tsv -o my-other-model.json.gz --passes 2 --no-lexical
    forestalign align pairs.tsv --model my-model.json.gz
    forestalign train --gold annotated.jsonl links.jsonl:A,C -o my-scores.json --folds 5
    forestalign align pairs.tsv --set scores=my-scores.json

With --gold the files are annotated pairs or human word links, and what is learned are the scores of `scoring=best`.
FILE:A,C takes the links of these annotators, each a reference of its own; the pairs of FILE@2 count twice.

Pairs are parsed once and kept in a folder (--cache). After every batch a checkpoint is written beside the model;
--resume continues from it. --start begins with the weights of a model instead of none; with --gold, of scores that
were learned before instead of the paper's.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from tqdm import tqdm

from forestalign.batch.workers import Workers
from forestalign.cli.align_options import add_settings, config_of, settings_of
from forestalign.cli.options import add_cache_option, add_force_option, add_worker_options, check_outputs, open_workers
from forestalign.errors import UsageError, counted
from forestalign.learning.cross_validate import GoldFile, ScorePlan, train_gold
from forestalign.learning.em import EmSettings, Notify, PhrasePlan, train_phrases
from forestalign.learning.train_scores import GoldSettings
from forestalign.outputs import check_output
from forestalign.phrases.scoring.pair_features import EXTRAS, FeatureSet

FEWEST_PAIRS = 1000  # with fewer, the weights of words are those of single pairs
FEWEST_GOLD = 50
EM_OPTIONS = (
    ("batch_size", int, "align N pairs per batch"),
    ("l2", float, "use this weight for the L2 penalty"),
    ("min_count", int, "keep pairs of words that occur in at least N pairs"),
    ("seed", int, "random seed"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    plain = EmSettings()
    parser.add_argument("pairs", nargs="+", help="files of pairs (tab-separated, ' ||| ' or JSON lines), or of gold")
    _add_gold_options(parser)
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the model file to write")
    parser.add_argument("--tokenized", action="store_true", help="take the text as tokenized: split at spaces only")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="use at most N pairs of each file")
    add_cache_option(parser)
    parser.add_argument(
        "--start",
        metavar="MODEL",
        help="start from the weights of this model; with --gold from these scores, or `shipped`",
    )
    parser.add_argument("--resume", action="store_true", help="continue from the checkpoint beside MODEL")
    add_force_option(parser)
    parser.add_argument("--no-lexical", action="store_true", help="leave out feature 1, the pairs of words")
    parser.add_argument(
        "--extras",
        default=",".join(EXTRAS),
        metavar="LIST",
        help=f"use these further features (default: {', '.join(EXTRAS)})",
    )
    passes = f"default: {plain.passes}, with --gold at most {GoldSettings().passes}"
    parser.add_argument("--passes", type=int, metavar="N", help=f"pass over the pairs N times ({passes})")
    for name, kind, help in EM_OPTIONS:
        # names of their own, since settings of the aligner are read from the arguments by name
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=f"em_{name}",
            type=kind,
            default=getattr(plain, name),
            metavar="N",
            help=f"{help} (default: %(default)s)",
        )
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress line")
    add_settings(parser, phrase_model=False)
    add_worker_options(parser)


def _add_gold_options(parser: argparse.ArgumentParser) -> None:
    plain = GoldSettings()
    gold = parser.add_argument_group("learning from gold")
    gold.add_argument("--gold", action="store_true", help="learn the scores of `scoring=best` from gold")
    gold.add_argument(
        "--folds", default="", metavar="N", help="cross-validate in N folds, or by `sets`, before learning"
    )
    gold.add_argument(
        "--ridge",
        type=float,
        default=plain.ridge,
        metavar="X",
        help="pull the weights this hard towards what they start from",
    )
    gold.add_argument(
        "--candidates", type=int, default=plain.kbest, metavar="K", help="learn from the K best alignments of each pair"
    )


def run(args: argparse.Namespace) -> int:
    """Train and write the model."""
    check_outputs(args, "output")
    hide = args.quiet or not sys.stderr.isatty()
    with open_workers(args) as workers, tqdm(desc="train", unit=" pairs", disable=hide) as bar:

        def notify(message: str, count: int) -> None:
            bar.set_postfix_str(message, refresh=False)
            bar.update(count)
            if hide and not count and not args.quiet:
                print(message, file=sys.stderr)

        if args.gold:
            return _run_gold(args, notify, workers)
        done = train_phrases(_plan(args), partial(print, file=sys.stderr), notify, workers)
    count, objective = counted(done.report.pair_count, "pair"), done.report.history[-1][1]
    print(f"{args.output}: {count}, objective {objective:.4f}", file=sys.stderr)
    _warn_of_few(done.report.pair_count, FEWEST_PAIRS)
    return 1 if done.failed else 0


def _run_gold(args: argparse.Namespace, notify: Notify, workers: Workers | None) -> int:
    files = tuple(map(GoldFile.of, args.pairs))
    check_output(args.output, [file.path for file in files], force=True)
    plan = ScorePlan(
        files,
        config_of(args),
        GoldSettings(args.passes or GoldSettings().passes, args.candidates, args.ridge),
        Path(args.cache),
        Path(args.output),
        args.folds,
        args.limit,
        args.resume,
        args.start or "",
    )
    done = train_gold(plan, notify, workers)
    for table in done.tables:
        print("\n".join(table.lines()))
    if done.model is not None:
        count, risks = counted(done.pair_count, "pair"), done.model.card["risk by pass"]
        print(f"{args.output}: {count}, risk {risks[0]} to {min(risks)}", file=sys.stderr)
        _warn_of_few(done.pair_count, FEWEST_GOLD)
    return 0


def _warn_of_few(count: int, fewest: int) -> None:
    if count < fewest:
        print(
            f"forestalign train: {counted(count, 'pair')} is too little to learn from; expected {fewest} or more. "
            "The shipped weights will do better",
            file=sys.stderr,
        )


def _plan(args: argparse.Namespace) -> PhrasePlan:
    extras = tuple(name for name in args.extras.split(",") if name)
    if not set(extras) <= set(EXTRAS):
        raise UsageError(f"--extras is {args.extras!r}; expected some of {', '.join(EXTRAS)}")
    passes = EmSettings().passes if args.passes is None else args.passes
    return PhrasePlan(
        tuple(args.pairs),
        Path(args.output),
        settings_of(args),  # EM is of the paper's scores, in which all of them count
        EmSettings(passes=passes, **{name: getattr(args, f"em_{name}") for name, _, _ in EM_OPTIONS}),
        FeatureSet(not args.no_lexical, extras),
        Path(args.cache),
        args.start or "",
        args.tokenized,
        args.limit,
        args.resume,
    )
