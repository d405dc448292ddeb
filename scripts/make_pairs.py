"""A sample of pairs of sentences, to learn a phrase model from.

    python scripts/make_pairs.py mtref.train.jsonl.gz:900 msrp.train.jsonl.gz:900 -o pairs.jsonl

FILE:N draws N pairs of a file of JSON lines at random, with a fixed seed, without their annotation; pairs that are
marked as no paraphrases (`"paraphrase": 0`) are passed over.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import Any

from forestalign.formats.lines import write_lines


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE:N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the pairs as JSON lines")
    args = parser.parse_args(arguments)
    rows = [row for text in args.files for row in sample_pairs(text, args.seed)]
    write_lines(args.output, [json.dumps(row, ensure_ascii=False) for row in rows])


def sample_pairs(text: str, seed: int) -> list[dict[str, Any]]:
    """The pairs of FILE:N in the order of the file, with identifiers that name the file."""
    name, _, count = text.rpartition(":")
    if not name or not count.isdigit():
        raise SystemExit(f"{text!r}; expected FILE:N")
    opener = gzip.open if name.endswith(".gz") else open
    with opener(name, "rt", encoding="utf-8") as file:
        records = [record for record in map(json.loads, filter(str.strip, file)) if record.get("paraphrase", 1)]
    if len(records) < int(count):
        raise SystemExit(f"{name}: {len(records)} pairs; expected at least {count}")
    stem = Path(name).name.split(".jsonl")[0]
    chosen = sorted(random.Random(seed).sample(range(len(records)), int(count)))
    return [{"id": f"{stem}:{i}", "source": records[i]["source"], "target": records[i]["target"]} for i in chosen]


if __name__ == "__main__":
    main()
