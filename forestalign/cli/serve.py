"""Align sentences in a browser: the viewer's page with two text boxes, on this machine only.

    forestalign serve
    forestalign serve --port 8900

With a file of results its pairs are shown, too. Alignments can be corrected in the page; with --annotate they are saved
to that file, one line per pair in the format of `annotations/`, and the next start continues where you stopped:

    forestalign serve results.jsonl --annotate mine.jsonl
    forestalign annotations agreement mine.jsonl yours.jsonl

Programs can post {"source": "...", "target": "..."} to /align and get the JSON of `align --json`:

    curl -H 'Content-Type: application/json' -d '{"source": "He died.", "target": "He passed away."}' \\
        http://127.0.0.1:8765/align
"""

from __future__ import annotations

import argparse
import ipaddress
import sys
from contextlib import ExitStack

import forestalign
from forestalign.errors import UsageError
from forestalign.evaluation.annotation_store import AnnotationStore, result_of_annotation
from forestalign.outputs import check_output
from forestalign.phrases.result.alignment import Alignment
from forestalign.view.page import read_results
from forestalign.view.server import AlignServer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "results", nargs="?", metavar="RESULTS.jsonl", help="show these pairs, written by `align --json`"
    )
    parser.add_argument("--annotate", metavar="FILE", help="save corrected pairs to this file, new or begun earlier")
    parser.add_argument("--port", type=int, default=8765, help="port to listen on (default: 8765; 0: any free port)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, which only this machine reaches)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="do not print requests")


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    if not 0 <= args.port <= 65535:
        raise UsageError(f"port {args.port} does not exist; ports go from 0 to 65535")
    if not _is_loopback(args.host):
        print(f"forestalign serve: anybody who can reach {args.host} can use this server", file=sys.stderr)
    if args.annotate:
        check_output(args.annotate, [args.results] if args.results else [], force=True)
    results = read_results(args.results) if args.results else {}
    with ExitStack() as stack:
        store = stack.enter_context(AnnotationStore(args.annotate, results.values())) if args.annotate else None
        for pair in store.pairs if store else ():
            results.setdefault(pair.id, result_of_annotation(pair))
        print("loading the models ...", file=sys.stderr, flush=True)
        aligner = forestalign.load(kbest=3)
        aligner.load_parts()  # a missing model is reported now, and the first request is as quick as the others

        def align(source: str, target: str) -> Alignment:
            return aligner.align(source, target).with_unchosen()

        server = AlignServer(
            (args.host, args.port), align, quiet=args.quiet, results=tuple(results.values()), annotate=store
        )
        _serve(stack.enter_context(server))
    return 0


def _serve(server: AlignServer) -> None:
    print(f"open {server.url} in a browser; press Ctrl-C to stop", file=sys.stderr)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print(file=sys.stderr)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
