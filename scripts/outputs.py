"""Write what the commands print for the same pairs, so that two versions of the program can be compared byte by byte.

    python scripts/outputs.py pairs.tsv before/        # at one commit
    python scripts/outputs.py pairs.tsv after/         # at another
    diff -rq before after

Runs `align --json`, `words --json`, `edits`, `similarity --json`, `compare --json` and `parse` on the given pairs
(tab-separated) and prints the digest of each output.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

COMMANDS = {
    "align": ["align", "PAIRS", "--json"],
    "words": ["words", "PAIRS", "--json"],
    "edits": ["edits", "PAIRS"],
    "similarity": ["similarity", "PAIRS", "--json"],
    "compare": ["compare", "SOURCES", "TARGETS", "--json"],
    "parse": ["parse", "SOURCES"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="pairs of sentences, tab-separated")
    parser.add_argument("folder", type=Path, help="where the outputs go")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), metavar="COMMAND")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rows = [line.split("\t")[:2] for line in args.pairs.read_text(encoding="utf-8").splitlines()]
    places = {"PAIRS": args.pairs, "SOURCES": args.folder / "sources.txt", "TARGETS": args.folder / "targets.txt"}
    for side, name in enumerate(("SOURCES", "TARGETS")):
        places[name].write_text("".join(f"{row[side]}\n" for row in rows), encoding="utf-8")
    for name in args.only:
        command = [str(places.get(word, word)) for word in COMMANDS[name]]
        output = args.folder / f"{name}.out"
        with output.open("wb") as stream:
            subprocess.run([sys.executable, "-m", "forestalign", *command, "-q"], stdout=stream, check=True)
        print(f"{name:12}{hashlib.sha256(output.read_bytes()).hexdigest()[:16]}", flush=True)


if __name__ == "__main__":
    main()
