"""Write a page for browsing alignments. It is a single file and needs no network.

    forestalign align pairs.tsv --json -o results.jsonl
    forestalign view results.jsonl -o page.html

With two files of results the page shows the two systems side by side and marks where they differ:

    forestalign view one.jsonl two.jsonl -o page.html
"""

from __future__ import annotations

import argparse
import sys

from forestalign.cli.batch_options import add_force_option, check_outputs
from forestalign.errors import counted
from forestalign.view import write_page


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", metavar="RESULTS.jsonl", help="results written by `align --json`")
    parser.add_argument("second", nargs="?", metavar="SECOND.jsonl", help="results of another system on the same pairs")
    parser.add_argument(
        "-o",
        "--output",
        default="page.html",
        metavar="FILE",
        help="write the page to FILE (default: page.html; -: stdout)",
    )
    add_force_option(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    check_outputs(args, "output")
    count = write_page([path for path in (args.results, args.second) if path], args.output)
    if not args.quiet:
        print(f"{args.output}: {counted(count, 'pair')}", file=sys.stderr)
    return 0
