"""Say how the second sentence of each pair differs from the first.

    forestalign edits pairs.tsv
    forestalign edits pairs.tsv --json -o edits.jsonl --report edits.html
    forestalign edits "He bought a car." "A car was bought by him."
    forestalign edits results.jsonl --json > edits.jsonl
    forestalign edits results.jsonl --m2 > edits.m2

Prints what was replaced, moved, removed and added, sentences that were split or merged, changes of voice, negation and
number, and words that changed places; with --json one line per pair. --report writes one page about the whole corpus.
Pairs are aligned first; results of `align --json` need no aligning. For two versions of a text, see `compare`.
--m2 writes the edits of words in the form of ERRANT instead, one block per pair.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from forestalign.cli.options import INPUT_HELP, add_force_option, add_jobs_option, check_outputs, result_files
from forestalign.errors import counted
from forestalign.formats.codec import read_phrases
from forestalign.meaning.differences import Difference
from forestalign.mining.edit_report import EditReport
from forestalign.mining.edits import EditKind, PairEdits, edits_of
from forestalign.mining.m2 import m2_of
from forestalign.outputs import packed_file
from forestalign.phrases.result.alignment import Alignment


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", nargs="+", metavar="INPUT", help=INPUT_HELP)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="write the edits to FILE (default: stdout)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON lines")
    form.add_argument("--m2", action="store_true", help="print ERRANT's M2 form")
    parser.add_argument("--report", default="", metavar="FILE.html", help="also write a page about all pairs")
    add_jobs_option(parser, "align")
    add_force_option(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary")


def run(args: argparse.Namespace) -> int:
    """Print the edits and write the page."""
    check_outputs(args, "output", "report")
    report = EditReport("Edits: " + ", ".join(args.results))
    with result_files(args.results, args, "edits") as found, packed_file(args.output) as file:
        for path in found.paths:
            for result in read_phrases(path):
                edits = edits_of(result)
                report.add(edits)
                file.write(_shown(args, result, edits).encode() + b"\n")
    if args.report:
        with packed_file(args.report) as file:
            file.write(report.html().encode())
    if not args.quiet:
        print(f"{counted(report.pair_count, 'pair')}, {counted(report.edit_count, 'edit')}", file=sys.stderr)
    return 1 if found.failed_count else 0


def _shown(args: argparse.Namespace, result: Alignment, edits: PairEdits) -> str:
    if args.m2:
        return f"{m2_of(result)}\n"
    return edits.to_json() if args.json else edits_text(edits, result.differences)


def edits_text(edits: PairEdits, differences: Sequence[Difference]) -> str:
    """The id, and a line for each change; of words that do not mean the same with the kind of difference."""
    lines = [edits.id or "pair"]
    for edit in edits.changes:
        if edit.kind is EditKind.REPLACED and edit.source and edit.target:
            sides = set(range(*edit.source)), set(range(*edit.target))
            kinds = [each.kind for each in differences if sides[0] & {*each.source} and sides[1] & {*each.target}]
            edit = replace(edit, detail=", ".join(dict.fromkeys(kinds)))
        lines.append(f"  {edit}")
    return "\n".join(lines if len(lines) > 1 else [*lines, "  nothing changed"]) + "\n"
