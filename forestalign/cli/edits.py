"""Say how the second sentence of each pair differs from the first.

    forestalign edits pairs.tsv
    forestalign edits pairs.tsv -o edits.jsonl --report edits.html
    forestalign edits "He bought a car." "A car was bought by him."
    forestalign edits results.jsonl > edits.jsonl
    forestalign edits --sentences draft.txt final.txt --report edits.html
    forestalign edits results.jsonl --m2 > edits.m2

One line of JSON per pair: what was kept, replaced (by what relation), moved, deleted and inserted, sentences that were
split or merged, changes of voice, negation and number, and words that changed places. --report writes one page about
the whole corpus. Pairs are aligned first; results of `align --json` need no aligning.
--sentences takes two versions of a text instead of results, cuts them into sentences, pairs these, moved ones
included, and aligns the pairs; a sentence without a partner is deleted or inserted as a whole. `compare` shows the same
to readers.
--m2 writes the edits of words in the form of ERRANT instead, one block per pair.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

from forestalign.cli.batch_options import add_force_option, add_jobs_option, check_outputs
from forestalign.cli.result_input import INPUT_HELP, result_files
from forestalign.errors import ForestAlignError, UsageError, counted
from forestalign.formats.codec import read_phrases
from forestalign.formats.lines import read_text
from forestalign.mining.edit_report import EditReport
from forestalign.mining.edits import PairEdits, edits_of
from forestalign.mining.m2 import m2_of
from forestalign.outputs import packed_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", nargs="*", metavar="INPUT", help=INPUT_HELP)
    parser.add_argument(
        "--sentences",
        nargs=2,
        metavar=("FIRST", "SECOND"),
        help="compare these two versions of a text, instead of results",
    )
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="write the edits to FILE (default: stdout)")
    parser.add_argument(
        "--m2", action="store_true", help="write ERRANT's M2 form instead of JSON; without --sentences and --report"
    )
    parser.add_argument("--report", default="", metavar="FILE.html", help="also write a page about all pairs")
    add_jobs_option(parser, "align")
    add_force_option(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary")


def run(args: argparse.Namespace) -> int:
    """Print the edits and write the page."""
    if bool(args.results) == bool(args.sentences):
        raise UsageError("expected results, pairs or two sentences; or two texts with --sentences")
    if args.m2 and (args.sentences or args.report):
        raise UsageError("--m2 writes the edits of results; expected it without --sentences and --report")
    check_outputs(args, "output", "report")
    if args.m2:
        return _write_m2(args)
    failures: list[str] = []
    report = EditReport("Edits: " + ", ".join(args.sentences or args.results))
    with result_files(args.results, args, "edits") as found, packed_file(args.output) as file:
        pairs = _of_texts(args, failures) if args.sentences else _of_results(found.paths)
        file.writelines(pair.to_json().encode() + b"\n" for pair in _counted(pairs, report))
    if args.report:
        with packed_file(args.report) as file:
            file.write(report.html().encode())
    for failure in failures:
        print(failure, file=sys.stderr)
    if not args.quiet:
        print(f"{counted(report.pair_count, 'pair')}, {counted(sum(report.kinds.values()), 'edit')}", file=sys.stderr)
    return 1 if failures or found.failed_count else 0


def _write_m2(args: argparse.Namespace) -> int:
    count = 0
    with result_files(args.results, args, "edits") as found, packed_file(args.output) as file:
        for path in found.paths:
            for result in read_phrases(path):
                file.write(m2_of(result).encode() + b"\n\n")
                count += 1
    if not args.quiet:
        print(counted(count, "pair"), file=sys.stderr)
    return 1 if found.failed_count else 0


def _counted(pairs: Iterable[PairEdits], report: EditReport) -> Iterator[PairEdits]:
    for pair in pairs:
        report.add(pair)
        yield pair


def _of_results(paths: Iterable[str]) -> Iterator[PairEdits]:
    for path in paths:
        yield from map(edits_of, read_phrases(path))


def _of_texts(args: argparse.Namespace, failures: list[str]) -> Iterator[PairEdits]:
    from forestalign.aligner import load  # models are slow to load, and results need none
    from forestalign.texts.text_edits import PairedTexts, edits_of_texts

    source, target = map(read_text, args.sentences)
    aligner = load()
    texts = PairedTexts.of(source, target, aligner)
    for path, sentences in zip(args.sentences, (texts.source, texts.target), strict=True):
        if not sentences:
            raise UsageError(f"{path} has no sentence; expected a text")
    if not args.quiet:
        counts = " and ".join(counted(len(side), "sentence") for side in (texts.source, texts.target))
        pair_count = len(texts.both)
        alone = len(texts.pairs) - pair_count
        print(f"{counts}: {counted(pair_count, 'pair')}, {alone} without a partner", file=sys.stderr)
    for found in edits_of_texts(texts, aligner, args.jobs):
        if isinstance(found, ForestAlignError):
            failures.append(str(found))
        else:
            yield found
