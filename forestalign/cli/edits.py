"""Say how the second sentence of each aligned pair differs from the first.

    forestalign edits results.jsonl > edits.jsonl
    forestalign edits results.jsonl -o edits.jsonl --report edits.html
    forestalign edits --sentences draft.txt final.txt --report edits.html

One line of JSON per pair: what was kept, replaced (by what relation), moved, deleted and inserted, sentences that were
split or merged, and changes of voice, negation and number. --report writes one page about the whole corpus.
--sentences takes two versions of a text instead of results, cuts them into sentences, pairs these in order by the
words that they share, and aligns the pairs; a sentence without a partner is deleted or inserted as a whole.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

from forestalign.cli.batch_options import add_force_option, check_outputs, process_count
from forestalign.errors import ForestAlignError, UsageError, counted
from forestalign.formats.lines import read_text
from forestalign.formats.phrase_records import read_phrases
from forestalign.mining.edit_report import EditReport
from forestalign.mining.edits import PairEdits, edits_of
from forestalign.outputs import packed_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", nargs="*", metavar="RESULTS", help="results written by `align --json`")
    parser.add_argument(
        "--sentences",
        nargs=2,
        metavar=("FIRST", "SECOND"),
        help="compare these two versions of a text, instead of results",
    )
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="write the edits to FILE (default: stdout)")
    parser.add_argument("--report", default="", metavar="FILE.html", help="also write a page about all pairs")
    parser.add_argument(
        "-j", "--jobs", type=process_count, default=1, metavar="N", help="align in N processes (default: 1)"
    )
    add_force_option(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary")


def run(args: argparse.Namespace) -> int:
    """Print the edits and write the page."""
    if bool(args.results) == bool(args.sentences):
        raise UsageError("expected results of `align --json`, or two texts with --sentences")
    check_outputs(args, "output", "report")
    failures: list[str] = []
    pairs = _of_texts(args, failures) if args.sentences else _of_results(args.results)
    report = EditReport("Edits: " + ", ".join(args.sentences or args.results))
    with packed_file(args.output) as file:
        file.writelines(pair.to_json().encode() + b"\n" for pair in _counted(pairs, report))
    if args.report:
        with packed_file(args.report) as file:
            file.write(report.html().encode())
    for failure in failures:
        print(failure, file=sys.stderr)
    if not args.quiet:
        print(f"{counted(report.pair_count, 'pair')}, {counted(sum(report.kinds.values()), 'edit')}", file=sys.stderr)
    return 1 if failures else 0


def _counted(pairs: Iterable[PairEdits], report: EditReport) -> Iterator[PairEdits]:
    for pair in pairs:
        report.add(pair)
        yield pair


def _of_results(paths: Iterable[str]) -> Iterator[PairEdits]:
    for path in paths:
        for record in read_phrases(path):
            yield edits_of(record)


def _of_texts(args: argparse.Namespace, failures: list[str]) -> Iterator[PairEdits]:
    from forestalign.aligner import load  # models are slow to load, and results need none
    from forestalign.text_edits import PairedTexts, edits_of_texts

    texts = PairedTexts.of(*map(read_text, args.sentences))
    for path, sentences in zip(args.sentences, (texts.source, texts.target), strict=True):
        if not sentences:
            raise UsageError(f"{path} has no sentence; expected a text")
    if not args.quiet:
        counts = " and ".join(counted(len(side), "sentence") for side in (texts.source, texts.target))
        pair_count = len(texts.both)
        alone = len(texts.pairs) - pair_count
        print(f"{counts}: {counted(pair_count, 'pair')}, {alone} without a partner", file=sys.stderr)
    for found in edits_of_texts(texts, load(), args.jobs):
        if isinstance(found, ForestAlignError):
            failures.append(str(found))
        else:
            yield found
