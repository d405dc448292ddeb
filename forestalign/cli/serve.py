"""Align sentences in a browser: the viewer's page with two text boxes, on this machine only.

    forestalign serve
    forestalign serve --port 8900

Programs can post {"source": "...", "target": "..."} to /align and get the JSON of `align --json`:

    curl -H 'Content-Type: application/json' -d '{"source": "He died.", "target": "He passed away."}' \\
        http://127.0.0.1:8765/align
"""

from __future__ import annotations

import argparse
import ipaddress
import sys

import forestalign
from forestalign.errors import UsageError
from forestalign.formats import record_of
from forestalign.formats.phrases import PhraseRecord
from forestalign.view.server import AlignServer


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=8765, help="where to listen (default: 8765; 0: any free one)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, which only this machine reaches)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="do not print requests")


def run(args: argparse.Namespace) -> int:
    if not 0 <= args.port <= 65535:
        raise UsageError(f"port {args.port} does not exist; ports go from 0 to 65535")
    if not _is_loopback(args.host):
        print(f"warning: everybody who reaches {args.host} can use this server", file=sys.stderr)
    aligner = forestalign.load(kbest=3)
    aligner.load_parts()  # a missing model is told now, and the first request is as quick as the others

    def align(source: str, target: str) -> PhraseRecord:
        return record_of(aligner.align(source, target), forests=True)

    with AlignServer((args.host, args.port), align, quiet=args.quiet) as server:
        print(f"open {server.url} in a browser; Ctrl-C ends", file=sys.stderr)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return 0


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
