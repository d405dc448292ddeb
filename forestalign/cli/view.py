"""Write a page for browsing alignments. It is a single file and needs no network.

    forestalign view pairs.tsv
    forestalign view pairs.tsv -o pairs.html --jobs 2
    forestalign view "He bought a car." "A car was bought by him." -o page.html
    forestalign view results.jsonl -o page.html

Pairs are aligned first; results of `align --json` need no aligning. With two files of results the page shows the two
systems side by side and marks where they differ:

    forestalign view one.jsonl two.jsonl -o page.html
"""

from __future__ import annotations

import argparse
import sys

from forestalign.cli.options import INPUT_HELP, add_force_option, add_jobs_option, check_outputs, result_files
from forestalign.errors import counted
from forestalign.view import write_page


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", metavar="INPUT", help=INPUT_HELP)
    parser.add_argument("second", nargs="?", metavar="SECOND", help="results of another system, or the second sentence")
    parser.add_argument(
        "-o",
        "--output",
        default="page.html",
        metavar="FILE",
        help="write the page to FILE (default: page.html; -: stdout)",
    )
    add_jobs_option(parser, "align")
    add_force_option(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    check_outputs(args, "output")
    with result_files([path for path in (args.results, args.second) if path], args, "view") as found:
        count = write_page(found.paths, args.output)
    if not args.quiet:
        print(f"{args.output}: {counted(count, 'pair')}", file=sys.stderr)
    return 1 if found.failed_count else 0
