"""Check annotated pairs, print how far their annotators agree, or make phrase gold from human word links.

`pairs` prints the sentences alone, in their tokens, for `forestalign align`.

example:
  forestalign annotations check annotations/dev.jsonl annotations/test.jsonl
  forestalign annotations agreement annotations/test.jsonl --match node
  forestalign annotations statistics annotations/dev.jsonl
  forestalign annotations pairs annotations/dev.jsonl | forestalign align - --json > aligned.jsonl
  forestalign annotations project links.jsonl --annotator A > phrases.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from forestalign.cli.phrase_evaluation import read_or_parse
from forestalign.errors import UsageError
from forestalign.formats.annotations import read_annotated_file, read_annotations
from forestalign.formats.answers import read_word_gold
from forestalign.formats.pairs import PairFormat, PairRecord, format_pair
from forestalign.metrics import core_pairs
from forestalign.metrics.annotation_checks import Finding, check_files
from forestalign.metrics.annotations import AnnotatedPair, agreement, statistics
from forestalign.metrics.phrases import Match
from forestalign.tokens import Sentence

SPLIT_SIZES = {"dev": 40, "test": 80}  # what our own set has to have at least


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("check", "agreement", "statistics", "pairs", "project"))
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="JSON lines of annotated pairs; project: gold word links of any format"
    )
    parser.add_argument("--match", choices=[match.value for match in Match], default=Match.SPAN.value)
    parser.add_argument(
        "--any-size", action="store_true", help="check: do not ask for the sizes and phenomena of our own set"
    )
    parser.add_argument("--annotator", default="", help="project: whose links (default: the majority, or the only one)")
    parser.add_argument(
        "--trees", nargs=2, metavar=("SOURCE", "TARGET"), help="project: the trees (default: the parser's 1-best)"
    )
    parser.add_argument("--quiet", action="store_true", help="check: errors only, no notes")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")


def run(args: argparse.Namespace) -> int:
    if args.action == "check":
        return _check(args)
    if args.action == "project":
        return _project(args)
    pairs = [pair for path in args.files for pair in read_annotations(path)]
    if not pairs:
        raise UsageError(f"no annotated pairs in {', '.join(args.files)}")
    if args.action == "pairs":
        for pair in pairs:
            source, target = Sentence.from_words(pair.source.tokens), Sentence.from_words(pair.target.tokens)
            print(format_pair(PairRecord(pair.line, pair.id, source, target), PairFormat.JSON))
        return 0
    print(
        _agreement(pairs, Match(args.match), args.json) if args.action == "agreement" else _statistics(pairs, args.json)
    )
    return 0


def _check(args: argparse.Namespace) -> int:
    sizes = {} if args.any_size else SPLIT_SIZES
    files = [read_annotated_file(path, sizes.get(Path(path).stem, 0)) for path in args.files]
    findings = [
        finding
        for finding in check_files(files, require_phenomena=not args.any_size)
        if finding.is_error or not args.quiet
    ]
    if args.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        print("\n".join(map(str, findings)), end="\n" if findings else "")
    errors = sum(finding.is_error for finding in findings)
    print(_summary(findings, sum(len(file.pairs) for file in files)), file=sys.stderr)
    return 1 if errors else 0


def _summary(findings: Sequence[Finding], pair_count: int) -> str:
    codes = Counter(finding.code for finding in findings)
    listed = ", ".join(f"{code} {count}" for code, count in sorted(codes.items())) or "nothing found"
    return f"{pair_count} pairs: {listed}"


def _project(args: argparse.Namespace) -> int:
    """One JSON line a pair: its tokens and core pairs; what else is consistent follows from the links."""
    for path in args.files:
        gold = read_word_gold(path, args.annotator)
        without_words = next((pair.id for pair in gold if not pair.source or not pair.target), None)
        if without_words is not None:
            raise UsageError(f"{path}: pair {without_words} has no words; expected a format with sentences")
        trees = read_or_parse([(pair.source, pair.target) for pair in gold], tuple(args.trees) if args.trees else None)
        for pair, (source, target) in zip(gold, trees, strict=True):
            core = sorted(core_pairs(source, target, pair.all))
            fields = {"id": pair.id, "source": pair.source, "target": pair.target, "links": sorted(pair.all)}
            print(json.dumps(fields | {"core": core}, ensure_ascii=False))
    return 0


def _agreement(pairs: Sequence[AnnotatedPair], match: Match, as_json: bool) -> str:
    found = agreement(pairs, match)
    if as_json:
        return json.dumps(asdict(found))
    lines = [f"F1 {score.name:<10} {100 * score.value:6.2f}" for score in found.pairwise]
    lines += [f"human {score.name:<9} {100 * score.value:4.2f}" for score in found.human]
    lines.append(f"phrase pairs by at least one {found.pair_count}, by two {found.by_two}, by all {found.by_all}")
    return "\n".join(lines)


def _statistics(pairs: Sequence[AnnotatedPair], as_json: bool) -> str:
    found = statistics(pairs)
    if as_json:
        return json.dumps(asdict(found))
    lines = [
        f"pairs {found.pair_count}, words {found.word_count}, phrases {found.phrase_count}",
        f"alignments {found.alignment_count}, multiword {found.multiword_count}, "
        f"non-compositional {found.noncompositional_count}",
    ]
    return "\n".join(lines + [f"{count:5} {name}" for name, count in found.phenomena])
