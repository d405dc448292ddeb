"""How well sentences of two versions of a text are paired: ours with and without vectors, and two libraries.

    python scripts/score_sentence_pairing.py msrp.train.jsonl.gz bible.jsonl.gz --texts 10

Input: JSON lines with `source` and `target`. Texts of 40 pairs in the order of the file are made of them: in the new
version 40 of 100 sentences are as they were, the others are the targets; some are moved, left out, put in from
elsewhere or merged with the next one. Counted are pairs of sentence numbers. The libraries, nltk's and galechurch's
programs of Gale and Church (`pip install galechurch`), go by the lengths of sentences alone and keep their order.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from nltk.translate import gale_church

import forestalign
from forestalign.texts.sentence_pairing import pair_sentences

SIZE = 40
KEPT, MOVED, GONE, COME, MERGED = 0.4, 0.1, 0.1, 0.1, 0.06
Links = set[tuple[int, int]]


class TwoVersions(NamedTuple):
    """The sentences of both versions, and which of them belong together."""

    old: list[str]
    new: list[str]
    links: Links


def made_versions(rows: list[dict[str, str]], others: list[str], chance: random.Random) -> TwoVersions:
    """Two versions of a text from pairs of sentences."""
    old = [row["source"] for row in rows]
    parts = [([k], row["source"] if chance.random() < KEPT else row["target"]) for k, row in enumerate(rows)]
    merged: list[tuple[list[int], str]] = []
    for numbers, text in parts:
        if merged and len(merged[-1][0]) == 1 and chance.random() < MERGED:
            merged[-1] = (merged[-1][0] + numbers, f"{merged[-1][1].rstrip(' .')}, and {text}")
        elif chance.random() >= GONE:
            merged.append((numbers, text))
    for place in [k for k in range(len(merged)) if chance.random() < MOVED]:
        merged.insert(chance.randrange(len(merged)), merged.pop(place))
    for _ in range(int(COME * SIZE)):
        merged.insert(chance.randrange(len(merged)), ([], chance.choice(others)))
    links = {(number, place) for place, (numbers, _) in enumerate(merged) for number in numbers}
    return TwoVersions(old, [text for _, text in merged], links)


def by_galechurch(old: list[str], new: list[str]) -> Links:
    """The library galechurch."""
    import galechurch

    beads = galechurch.align(old, new).beads
    return {
        (i, j)
        for bead in beads
        for i in range(bead.source_start, bead.source_end)
        for j in range(bead.target_start, bead.target_end)
    }


def by_nltk(old: list[str], new: list[str]) -> Links:
    """The library nltk."""
    return set(gale_church.align_blocks([len(text) for text in old], [len(text) for text in new]))


def by_us(aligner: forestalign.Aligner | None) -> Callable[[list[str], list[str]], Links]:
    """Ours; without an aligner by words alone."""

    def paired(old: list[str], new: list[str]) -> Links:
        pairs = pair_sentences(old, new, aligner)
        return {(i, j) for pair in pairs for i in range(*pair.source) for j in range(*pair.target)}

    return paired


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--texts", type=int, default=10, metavar="N", help="texts of each file (default: 10)")
    args = parser.parse_args()
    aligner = forestalign.load()
    systems = {"galechurch": by_galechurch, "nltk": by_nltk, "words": by_us(None), "words and vectors": by_us(aligner)}
    for path in args.files:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        chance = random.Random(1)
        others = [row["source"] for row in rows[-500:]]
        begins = range(0, min(args.texts * SIZE, len(rows) - 500), SIZE)
        texts = [made_versions(rows[begin : begin + SIZE], others, chance) for begin in begins]
        for name, system in systems.items():
            found = [system(text.old, text.new) for text in texts]
            right = sum(len(links & text.links) for links, text in zip(found, texts, strict=True))
            precision = right / max(sum(map(len, found)), 1)
            recall = right / sum(len(text.links) for text in texts)
            f1 = 2 * precision * recall / max(precision + recall, 1e-9)
            print(f"{path.name:<24} {name:<18} P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}", flush=True)


if __name__ == "__main__":
    main()
