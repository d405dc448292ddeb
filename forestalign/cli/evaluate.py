"""Score word links, phrase pairs, chunks, parses or sentence scores against a gold standard.

    forestalign words pairs.tsv > links.txt && forestalign evaluate words gold.jsonl links.txt
    forestalign align pairs.tsv --json -o a.jsonl && forestalign evaluate phrases gold.jsonl a.jsonl --project
    forestalign evaluate words gold.jsonl sultan.pharaoh crf.pharaoh
    forestalign evaluate phrases annotations/dev.jsonl aligned.jsonl --match text
    forestalign evaluate phrases links.jsonl aligned.jsonl --project --annotator A --annotator C
    forestalign evaluate chunks gold.wa aligned.wa
    forestalign evaluate parses gold.mrg onebest.mrg reranked.mrg
    forestalign evaluate scores sts.jsonl scores.txt

Prints a table with bootstrap intervals and, for two systems, approximate-randomisation p-values; the last line says
what was measured: version, grammar, settings, data.
"""

from __future__ import annotations

import argparse

from forestalign.evaluation.phrase_scores import Match
from forestalign.evaluation.projection import GoldKind
from forestalign.evaluation.reports import (
    Measurement,
    Report,
    as_json,
    as_text,
    report_chunks,
    report_parses,
    report_phrases,
    report_projected,
    report_scores,
    report_words,
)
from forestalign.evaluation.scores import SAMPLES


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="words|phrases|chunks|parses|scores")
    _add_words(kinds.add_parser("words", help="score word links: P, R, F1, E, AER"))
    _add_phrases(kinds.add_parser("phrases", help="score phrase pairs: recall and precision over pairs of annotators"))
    chunks = kinds.add_parser("chunks", help="score aligned chunks: F1 of alignment, type, score, type with score")
    _add_common(chunks)
    chunks.add_argument("--no-baseline", action="store_true", help="leave out the row of the `same words` baseline")
    _add_common(kinds.add_parser("parses", help="score trees or dependencies: brackets, tags, UAS, LAS"))
    scores = kinds.add_parser(
        "scores", help="score one number per pair: Pearson's r, paraphrase accuracy and F1, MAP and MRR"
    )
    _add_common(scores)
    scores.add_argument(
        "--train", nargs="+", metavar="FILE", help="paraphrases: tune the threshold on this gold and these scores"
    )


def _add_common(parser: argparse.ArgumentParser, systems: str = "+") -> None:
    parser.add_argument("gold", metavar="GOLD", help="file of the gold standard")
    parser.add_argument("systems", nargs=systems, metavar="SYSTEM", help="output of one system, or of two to compare")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the significance tests (default: 0)")
    parser.add_argument(
        "-B", "--samples", type=int, default=SAMPLES, help=f"draw this many shuffles and resamples (default: {SAMPLES})"
    )


def _add_words(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.add_argument(
        "--annotator", default="", help="use the gold of this annotator (default: the majority, or the only one)"
    )
    parser.add_argument(
        "--possible", action="store_true", help="count possible links as gold, too (default: sure links only)"
    )


def _add_phrases(parser: argparse.ArgumentParser) -> None:
    _add_common(parser, systems="*")  # without a system, the human row alone
    parser.add_argument(
        "--match",
        choices=[match.value for match in Match],
        default=Match.SPAN.value,
        help="how to match pairs (default: span)",
    )
    parser.add_argument("--project", action="store_true", help="GOLD holds word links: project phrase gold from them")
    parser.add_argument(
        "--annotator",
        action="append",
        default=[],
        help="with --project: use the links of this annotator; repeat for more",
    )
    parser.add_argument(
        "--possible",
        action="store_true",
        help="with --project: possible links count like sure ones (default: they neither contradict nor are required)",
    )
    parser.add_argument(
        "--trees", nargs=2, metavar=("SOURCE", "TARGET"), help="use these 1-best trees (default: the parser's)"
    )
    parser.add_argument("--no-baseline", action="store_true", help="leave out the row of the `project` baseline")


def run(args: argparse.Namespace) -> int:
    """Score and print the report."""
    report = _report(args)
    print(as_json(report) if args.json else as_text(report))
    return 0


def _report(args: argparse.Namespace) -> Report:
    what = Measurement(args.kind, args.gold, tuple(args.systems), args.samples, args.seed)
    if args.kind == "words":
        return report_words(what, args.annotator, args.possible)
    if args.kind == "chunks":
        return report_chunks(what, not args.no_baseline)
    if args.kind == "parses":
        return report_parses(what)
    if args.kind == "scores":
        return report_scores(what, args.train or ())
    trees = tuple(args.trees) if args.trees else None
    if args.project:
        kind = GoldKind.ALL if args.possible else GoldKind.FAIR
        return report_projected(what, args.annotator, trees, not args.no_baseline, kind)
    return report_phrases(what, Match(args.match), trees, not args.no_baseline)
