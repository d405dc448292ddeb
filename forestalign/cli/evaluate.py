"""Score word links, phrase pairs, parses or sentence scores against a gold standard.

Prints a table with bootstrap intervals and, for two systems, approximate-randomisation p-values; the last line says
what was measured: version, grammar, settings, data.

example:
  forestalign evaluate words gold.jsonl sultan.pharaoh crf.pharaoh
  forestalign evaluate phrases annotations/dev.jsonl aligned.jsonl --match text
  forestalign evaluate phrases links.jsonl aligned.jsonl --project --annotator A --annotator C
  forestalign evaluate parses gold.mrg onebest.mrg reranked.mrg
  forestalign evaluate scores sts.jsonl scores.txt
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from forestalign.cli.phrase_evaluation import Rows, evaluate_phrases, evaluate_projected
from forestalign.cli.report import Column, Report, as_json, as_text, measured, signature
from forestalign.errors import UsageError
from forestalign.formats.answers import read_word_gold, read_word_output
from forestalign.formats.parsed import ParsedFile, check_parses, read_parses
from forestalign.formats.sentence_scores import SentenceGold, read_sentence_gold, read_sentence_scores
from forestalign.metrics import (
    Evaluation,
    KindChange,
    Match,
    attachment_kinds,
    compare_attachments,
    legacy_scores,
    score_attachments,
    score_paraphrases,
    score_parses,
    score_ranking,
    score_similarity,
    score_words,
    tune_threshold,
)
from forestalign.metrics.significance import SAMPLES


def configure(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="words|phrases|parses|scores")
    _add_words(kinds.add_parser("words", help="word links: P, R, F1, E, AER"))
    _add_phrases(kinds.add_parser("phrases", help="phrase pairs: recall and precision over pairs of annotators"))
    _add_common(kinds.add_parser("parses", help="trees or dependencies: brackets, tags, UAS, LAS"))
    scores = kinds.add_parser("scores", help="one number a pair: Pearson, paraphrase accuracy and F1, MAP and MRR")
    _add_common(scores)
    scores.add_argument(
        "--train", nargs="+", metavar="FILE", help="paraphrases: gold and scores to tune the threshold on, as above"
    )


def _add_common(parser: argparse.ArgumentParser, systems: str = "+") -> None:
    parser.add_argument("gold", metavar="GOLD")
    parser.add_argument("systems", nargs=systems, metavar="SYSTEM", help="one output, or two to compare")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.add_argument("--seed", type=int, default=0, help="of the significance tests (default: 0)")
    parser.add_argument("-B", "--samples", type=int, default=SAMPLES, help=f"shuffles and resamples ({SAMPLES})")


def _add_words(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.add_argument(
        "--annotator", default="", help="gold of this annotator (default: the majority, or the only one)"
    )
    parser.add_argument("--possible", action="store_true", help="possible links are gold too (default: sure links)")
    parser.add_argument(
        "--legacy", action="store_true", help="breakdowns as the published program computed them; no intervals"
    )


def _add_phrases(parser: argparse.ArgumentParser) -> None:
    _add_common(parser, systems="*")  # without a system, the human row alone
    parser.add_argument("--match", type=Match, choices=list(Match), default=Match.SPAN, help="default: span")
    parser.add_argument("--project", action="store_true", help="GOLD has word links: make phrase gold of them")
    parser.add_argument(
        "--annotator", action="append", default=[], help="with --project: an annotator of the links; again for more"
    )
    parser.add_argument("--trees", nargs=2, metavar=("SOURCE", "TARGET"), help="1-best trees (default: the parser's)")
    parser.add_argument("--no-baseline", action="store_true", help="no row for the `project` baseline")


def run(args: argparse.Namespace) -> int:
    if len(args.systems) > 2:
        raise UsageError(f"{len(args.systems)} systems; expected one, or two to compare")
    report = {"words": _words, "phrases": _phrases, "parses": _parses, "scores": _scores}[args.kind](args)
    print(as_json(report) if args.json else as_text(report))
    return 0


def _words(args: argparse.Namespace) -> Report:
    gold = read_word_gold(args.gold, args.annotator)
    outputs = [read_word_output(path, gold) for path in args.systems]
    label = _signature(args, annotator=args.annotator, possible=args.possible, legacy=args.legacy)
    if args.legacy:
        names = _names(args.systems)
        return Report(
            label, tuple(Column(name, legacy_scores(gold, output)) for name, output in zip(names, outputs, strict=True))
        )
    return _measured(args, label, [score_words(gold, output, args.possible) for output in outputs])


def _phrases(args: argparse.Namespace) -> Report:
    label = _signature(
        args,
        match="" if args.match is Match.SPAN else args.match.value,
        project=args.project,
        annotators="+".join(args.annotator),
        trees=bool(args.trees),
    )
    trees = tuple(args.trees) if args.trees else None
    if args.project:
        evaluations, rows = evaluate_projected(args.gold, args.systems, args.annotator, trees, not args.no_baseline)
    else:
        evaluations, rows = evaluate_phrases(args.gold, args.systems, args.match, trees, not args.no_baseline)
    return _measured(args, label, evaluations, rows)


def _parses(args: argparse.Namespace) -> Report:
    gold = read_parses(args.gold)
    systems = [check_parses(gold, read_parses(path)) for path in args.systems]
    if gold.trees:
        evaluations = [
            score_parses(gold.trees, system.trees, gold.attachments, system.attachments) for system in systems
        ]
    else:
        evaluations = [score_attachments(gold.attachments, system.attachments) for system in systems]
    return _measured(args, _signature(args), evaluations, changes=_changes(gold, systems))


def _changes(gold: ParsedFile, systems: Sequence[ParsedFile]) -> tuple[KindChange, ...]:
    if len(systems) < 2:
        return ()
    if gold.trees:
        kinds = [attachment_kinds(tree, found.heads) for tree, found in zip(gold.trees, gold.attachments, strict=True)]
    else:
        kinds = [found.relations for found in gold.attachments]
    return compare_attachments(gold.attachments, systems[0].attachments, systems[1].attachments, kinds)


def _scores(args: argparse.Namespace) -> Report:
    gold = read_sentence_gold(args.gold)
    outputs = [read_sentence_scores(path, len(gold)) for path in args.systems]
    if gold.similarities:
        return _measured(args, _signature(args), [score_similarity(gold.similarities, output) for output in outputs])
    if gold.answers:
        return _measured(args, _signature(args), [score_ranking(gold.answers, output) for output in outputs])
    thresholds = _thresholds(args, gold, outputs)
    label = _signature(args, thresholds=",".join(f"{threshold:.4g}" for threshold in thresholds))
    evaluations = [
        score_paraphrases(gold.paraphrases, output, threshold)
        for output, threshold in zip(outputs, thresholds, strict=True)
    ]
    return _measured(args, label, evaluations)


def _thresholds(args: argparse.Namespace, gold: SentenceGold, outputs: Sequence[Sequence[float]]) -> list[float]:
    """Tuned on the training pairs; without these there is nothing to tune on, since GOLD would be the test set."""
    if not args.train or len(args.train) != 1 + len(outputs):
        raise UsageError(f"paraphrases need --train GOLD and {len(outputs)} file(s) of scores, for the threshold")
    train = read_sentence_gold(args.train[0])
    return [tune_threshold(train.paraphrases, read_sentence_scores(path, len(train))) for path in args.train[1:]]


def _measured(
    args: argparse.Namespace,
    label: str,
    evaluations: Sequence[Evaluation],
    rows: Rows = (),
    changes: tuple[KindChange, ...] = (),
) -> Report:
    named = list(zip(_names(args.systems), evaluations, strict=True))
    if not named and not rows:
        raise UsageError("no system, and not enough annotators for a human row; expected a SYSTEM")
    return measured(label, named, np.random.default_rng(args.seed), args.samples, rows, changes)


def _names(paths: Sequence[str]) -> list[str]:
    """File names; whole paths where these are the same."""
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _signature(args: argparse.Namespace, **settings: object) -> str:
    """Settings at their defaults (empty, false) are left out."""
    common = {"B": args.samples if args.samples != SAMPLES else "", "seed": args.seed or ""}
    chosen = {name: value for name, value in (settings | common).items() if value}
    return signature({"kind": args.kind} | chosen, args.gold)
