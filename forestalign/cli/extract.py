"""Make a table of paraphrases from aligned corpora.

    forestalign extract pairs.tsv -o table.tsv
    forestalign extract pairs.tsv -o table.csv --posterior .8 --both-ways
    forestalign extract results.jsonl -o table.tsv --min-count 2
    forestalign extract one.jsonl two.jsonl -o table.parquet --no-bars --relation equal --relation similar
    forestalign extract results.jsonl -o mined.ppdb --posterior .8
    forestalign align next.tsv --ppdb mined.ppdb

One row for each phrase, paraphrase and pair of labels: how often, the sum of posteriors, p(paraphrase|phrase) and
p(phrase|paraphrase), relation, evidence and the ids of up to five examples; the most frequent first, those that are
just similar after the others, those with digits last. What does not read as a paraphrase is written with --all only:
function words, rows that differ in marks, case or the forms of words alone, a word more on one side, other names,
opposites and other values.
--relation and --min-count choose rows, too; the probabilities stay those of all pairs that --posterior, --max-words and
--bars let pass. DuckDB does the counting (pip install 'forestalign[tables]').
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from forestalign.cli.align_options import add_bars_option
from forestalign.cli.options import (
    INPUT_HELP,
    add_force_option,
    add_worker_options,
    check_outputs,
    open_workers,
    result_files,
    share,
)
from forestalign.errors import counted
from forestalign.lexicon.findings import PHRASE_RELATIONS
from forestalign.mining.occurrences import MOST_SLOTS
from forestalign.mining.pair_counts import OccurrenceFilter
from forestalign.mining.phrase_table import RowFilter
from forestalign.mining.table_files import TableForm, TableOptions, TableSummary, extract_table


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", nargs="+", metavar="INPUT", help=INPUT_HELP)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="write the table to FILE (-: stdout)")
    parser.add_argument(
        "--format",
        choices=[form.value for form in TableForm],
        help="write the table in this form (default: by the ending of FILE, else tsv)",
    )
    pairs = parser.add_argument_group("which phrase pairs to count")
    pairs.add_argument(
        "--posterior", type=share, default=0.0, metavar="P", help="count pairs with a posterior of P or more"
    )
    pairs.add_argument(
        "--max-words", type=_count, default=7, metavar="N", help="count pairs of at most N words (default: %(default)s)"
    )
    add_bars_option(pairs)
    pairs.add_argument("--both-ways", action="store_true", help="count each pair from target to source, too")
    pairs.add_argument("--keep-case", action="store_true", help="keep upper and lower case apart")
    pairs.add_argument(
        "--patterns",
        type=int,
        choices=range(1, MOST_SLOTS + 1),
        default=0,
        metavar="N",
        help="also count patterns with up to N slots in place of smaller pairs (1 or 2)",
    )
    parser.add_argument("--mixed", action="store_true", help="count results of different versions or settings together")
    rows = parser.add_argument_group("which rows to write")
    rows.add_argument(
        "--all",
        action="store_true",
        help="write rows of all pairs, not only those that read as paraphrases",
    )
    rows.add_argument("--different", action="store_true", help="with --all: write rows of two different phrases")
    rows.add_argument(
        "--relation",
        action="append",
        default=[],
        choices=PHRASE_RELATIONS,
        help="write rows with this relation (repeatable)",
    )
    rows.add_argument("--min-count", type=_count, default=1, metavar="N", help="write rows counted at least N times")
    add_worker_options(parser)
    add_force_option(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary")


def run(args: argparse.Namespace) -> int:
    """Write the table."""
    check_outputs(args, "output")
    options = TableOptions(
        _form(args),
        OccurrenceFilter(args.posterior, args.max_words, args.bars, args.both_ways, args.keep_case, args.patterns),
        RowFilter(args.different, not args.all, tuple(args.relation), args.min_count),
        args.mixed,
    )
    with result_files(args.results, args, "extract") as found, open_workers(args) as workers:
        summary = extract_table(found.paths, args.output, options, workers)
    if not args.quiet:
        print(_summarise(summary, args.output), file=sys.stderr)
    return 1 if found.failed_count else 0


def _form(args: argparse.Namespace) -> TableForm:
    ending = Path(args.output.removesuffix(".gz")).suffix.removeprefix(".")
    return TableForm(args.format or (ending if ending in list(TableForm) else TableForm.TSV))


def _summarise(summary: TableSummary, output: str) -> str:
    unjudged = f"; {counted(summary.unjudged_count, 'pair')} without a posterior left out"
    return (
        f"{output}: {counted(summary.row_count, 'row')} from {counted(summary.pair_count, 'phrase pair')} "
        f"in {counted(summary.line_count, 'result')}{unjudged if summary.unjudged_count else ''}"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a count; expected a whole number of at least 1")
    return int(text)
