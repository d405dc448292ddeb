"""Make a page to look at alignments in a browser. It is one file and needs no network.

    forestalign align pairs.tsv --json -o results.jsonl
    forestalign view results.jsonl -o page.html

With two files of results the page shows the two systems side by side and marks where they differ:

    forestalign view one.jsonl two.jsonl -o page.html
"""

from __future__ import annotations

import argparse
import sys

from forestalign.view import write_page


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", metavar="RESULTS.jsonl", help="what `align --json` wrote")
    parser.add_argument("second", nargs="?", metavar="SECOND.jsonl", help="another system on the same pairs")
    parser.add_argument("-o", "--output", default="page.html", metavar="FILE", help="the page (default: page.html)")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing")


def run(args: argparse.Namespace) -> int:
    count = write_page([path for path in (args.results, args.second) if path], args.output)
    if not args.quiet:
        print(f"{args.output}: {count} pairs", file=sys.stderr)
    return 0
