"""Check annotated pairs, print how well their annotators agree, or make phrase gold from human word links.

`pairs` prints only the sentences, tokenized, for `forestalign align`.

example:
  forestalign annotations check mine.jsonl
  forestalign annotations check annotations/dev.jsonl annotations/test.jsonl --strict
  forestalign annotations agreement annotations/test.jsonl --match node
  forestalign annotations agreement mine.jsonl yours.jsonl
  forestalign annotations statistics annotations/dev.jsonl
  forestalign annotations pairs annotations/dev.jsonl | forestalign align - --json > aligned.jsonl
  forestalign annotations project links.jsonl --annotator A > phrases.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from forestalign.evaluation.annotated_pairs import agreement, statistics
from forestalign.evaluation.annotation_report import (
    agreement_text,
    check_paths,
    project_gold,
    read_annotated_sets,
    statistics_text,
    summary,
)
from forestalign.evaluation.phrase_scores import Match
from forestalign.formats.pairs import PairFormat, PairRecord, format_pair
from forestalign.tokens import Sentence


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("action", choices=("check", "agreement", "statistics", "pairs", "project"), help="what to do")
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="annotated pairs as JSON lines; for project, gold word links in any format",
    )
    parser.add_argument(
        "--match",
        choices=[match.value for match in Match],
        default=Match.SPAN.value,
        help="how to match pairs (default: span)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="check: also require what our own set has: its sizes, sentence lengths, phenomena and annotators",
    )
    parser.add_argument(
        "--annotator",
        default="",
        help="project: use the links of this annotator (default: the majority, or the only one)",
    )
    parser.add_argument(
        "--trees", nargs=2, metavar=("SOURCE", "TARGET"), help="project: use these trees (default: the parser's 1-best)"
    )
    parser.add_argument("--quiet", action="store_true", help="check: print errors only, no notes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Do what the action says and print it."""
    actions = {
        "check": _check,
        "project": _project,
        "pairs": _pairs,
        "agreement": _agreement,
        "statistics": _statistics,
    }
    return actions[args.action](args)


def _check(args: argparse.Namespace) -> int:
    found, pair_count = check_paths(args.files, args.strict)
    findings = [finding for finding in found if finding.is_error or not args.quiet]
    if args.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        print("\n".join(map(str, findings)), end="\n" if findings else "")
    print(summary(findings, pair_count), file=sys.stderr)
    return 1 if any(finding.is_error for finding in findings) else 0


def _project(args: argparse.Namespace) -> int:
    for path in args.files:
        for line in project_gold(path, args.annotator, tuple(args.trees) if args.trees else None):
            print(line)
    return 0


def _pairs(args: argparse.Namespace) -> int:
    for pair in read_annotated_sets(args.files):
        source, target = Sentence.from_words(pair.source.tokens), Sentence.from_words(pair.target.tokens)
        print(format_pair(PairRecord(pair.line, pair.id, source, target), PairFormat.JSON))
    return 0


def _agreement(args: argparse.Namespace) -> int:
    found = agreement(read_annotated_sets(args.files), Match(args.match))
    print(json.dumps(asdict(found)) if args.json else agreement_text(found))
    return 0


def _statistics(args: argparse.Namespace) -> int:
    found = statistics(read_annotated_sets(args.files))
    print(json.dumps(asdict(found)) if args.json else statistics_text(found))
    return 0
