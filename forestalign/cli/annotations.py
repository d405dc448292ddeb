"""Check annotated pairs, print how well their annotators agree, make sheets and read answers, or project word links.

    forestalign annotations project gold.jsonl
    forestalign annotations project gold.jsonl > phrases.jsonl
    forestalign annotations check mine.jsonl
    forestalign annotations agreement annotations/test.jsonl --match node
    forestalign annotations agreement mine.jsonl yours.jsonl --by-phenomenon
    forestalign annotations pairs annotations/dev.jsonl | forestalign align - --json > aligned.jsonl
    forestalign annotations sheet pairs.jsonl -o sheet.txt
    forestalign annotations collect pairs.jsonl --annotator pa1=one.txt --annotator pa2=two.txt -o gold.jsonl
    forestalign annotations project links.jsonl --annotator A > phrases.jsonl

`pairs` prints only the sentences, tokenized, for `forestalign align`. `sheet` writes the sentences and the numbered
nodes of their trees as a text, into which people write what they align; `collect` reads what they wrote.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from forestalign.cli.options import add_force_option
from forestalign.errors import UsageError, counted
from forestalign.evaluation.annotated_pairs import agreement, agreement_by_phenomenon, format_annotated_pair
from forestalign.evaluation.annotation_sheets import (
    agreement_text,
    check_paths,
    collect_paths,
    phenomena_text,
    project_gold,
    read_annotated_sets,
    sheet_text,
    summary,
)
from forestalign.evaluation.phrase_scores import Match
from forestalign.formats.pairs import PairRecord, format_pair
from forestalign.outputs import check_output, packed_file
from forestalign.tokens import Sentence


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("action", choices=sorted(_ACTIONS), help="what to do")
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="annotated pairs as JSON lines; for sheet and collect, results of align; for project, gold links",
    )
    parser.add_argument(
        "--match",
        choices=[match.value for match in Match],
        default=Match.SPAN.value,
        help="how to match pairs (default: span)",
    )
    parser.add_argument(
        "--by-phenomenon", action="store_true", help="agreement: also print it for the pairs of each phenomenon"
    )
    parser.add_argument(
        "--annotator",
        action="append",
        default=[],
        metavar="NAME",
        help="project: use the links of this annotator (default: the majority, or the only one); sheet: fill in the "
        "answers of this one; collect: NAME=ANSWERS, a file of answers, for each annotator one or more",
    )
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="sheet, collect: write to FILE (default: stdout)"
    )
    add_force_option(parser)
    parser.add_argument(
        "--trees", nargs=2, metavar=("SOURCE", "TARGET"), help="project: use these trees (default: the parser's 1-best)"
    )
    parser.add_argument("--quiet", action="store_true", help="check: print errors only, no notes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Do what the action says and print it."""
    return _ACTIONS[args.action](args)


def _check(args: argparse.Namespace) -> int:
    found, pair_count = check_paths(args.files)
    findings = [finding for finding in found if finding.is_error or not args.quiet]
    if args.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        print("\n".join(map(str, findings)), end="\n" if findings else "")
    print(summary(findings, pair_count), file=sys.stderr)
    return 1 if any(finding.is_error for finding in findings) else 0


def _project(args: argparse.Namespace) -> int:
    for path in args.files:
        for line in project_gold(path, _one_annotator(args), tuple(args.trees) if args.trees else None):
            print(line)
    return 0


def _pairs(args: argparse.Namespace) -> int:
    for pair in read_annotated_sets(args.files):
        source, target = Sentence.from_words(pair.source.tokens), Sentence.from_words(pair.target.tokens)
        print(format_pair(PairRecord(pair.line, pair.id, source, target)))
    return 0


def _agreement(args: argparse.Namespace) -> int:
    pairs = read_annotated_sets(args.files)
    found = agreement(pairs, Match(args.match))
    parts = agreement_by_phenomenon(pairs, Match(args.match)) if args.by_phenomenon else ()
    if args.json:
        fields = {"phenomena": {name: asdict(each) for name, each in parts}} if args.by_phenomenon else {}
        print(json.dumps(asdict(found) | fields))
    else:
        print(agreement_text(found) + (f"\n{phenomena_text(parts)}" if args.by_phenomenon else ""))
    return 0


def _sheet(args: argparse.Namespace) -> int:
    check_output(args.output, args.files, force=args.force)
    pairs = read_annotated_sets(args.files)
    with packed_file(args.output) as file:
        file.write(sheet_text(pairs, _one_annotator(args)).encode())
    return 0


def _collect(args: argparse.Namespace) -> int:
    answers = [_named_answers(each) for each in args.annotator]
    if not answers:
        raise UsageError("no answers; expected --annotator NAME=ANSWERS, for each annotator one or more")
    check_output(args.output, [*args.files, *(path for _, path in answers)], force=args.force)
    pairs, findings = collect_paths(args.files, answers)
    print("\n".join(map(str, findings)), end="\n" if findings else "", file=sys.stderr)
    if findings:
        print(f"{counted(len(findings), 'mistake')}; nothing was written", file=sys.stderr)
        return 1
    with packed_file(args.output) as file:
        file.writelines(format_annotated_pair(pair).encode() + b"\n" for pair in pairs)
    return 0


def _one_annotator(args: argparse.Namespace) -> str:
    if len(args.annotator) > 1:
        raise UsageError(f"--annotator is given {len(args.annotator)} times; {args.action} takes one")
    return args.annotator[0] if args.annotator else ""


def _named_answers(value: str) -> tuple[str, str]:
    name, sign, path = value.partition("=")
    if not name or not sign or not path:
        raise UsageError(f"--annotator {value!r} names no file; expected NAME=ANSWERS")
    return name, path


_ACTIONS = {
    "agreement": _agreement,
    "check": _check,
    "collect": _collect,
    "pairs": _pairs,
    "project": _project,
    "sheet": _sheet,
}
