"""A sample of pairs without their annotation, to train the phrase model on.

    python scripts/sample_pairs.py mtref.train.jsonl.gz:900 wiki.train.jsonl.gz:500 msrp.train.jsonl.gz:900 \
        bible.jsonl.gz:500 -o pairs.jsonl

`FILE:N` draws N pairs of a file of JSON lines at random, with a fixed seed; pairs that are marked as no paraphrases
(`"paraphrase": 0`) are passed over.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import Any


def sample(text: str, seed: int) -> list[dict[str, Any]]:
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


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE:N")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    pairs = [pair for text in args.files for pair in sample(text, args.seed)]
    args.output.write_text("".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs), encoding="utf-8")


if __name__ == "__main__":
    main()
