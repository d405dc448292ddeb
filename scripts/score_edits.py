"""Print precision, recall and F1 of edits on pairs that were marked by hand (tests/data/meaning/edits.tsv).

    python scripts/score_edits.py
    python scripts/score_edits.py --wrong

An edit is right if its kind and its words on both sides are those marked; kept words are not counted.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from forestalign.aligner import load

FILE = Path(__file__).resolve().parent.parent / "tests" / "data" / "meaning" / "edits.tsv"
Marked = tuple[str, str, str]  # kind, source and target text in lower case


def marked_edits(column: str) -> list[Marked]:
    """What a row says: `replaced: bought = purchased | inserted: = old`."""
    found = []
    for each in column.split(" | "):
        kind, _, words = each.partition(": ")
        source, _, target = words.partition("=")
        found.append((kind, source.strip().lower(), target.strip().lower()))
    return found


def main() -> None:
    """Align, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrong", action="store_true", help="print the edits that differ")
    args = parser.parse_args()
    aligner, right, found_count, gold_count = load(), 0, 0, 0
    rows = [row.split("\t") for row in FILE.read_text(encoding="utf-8").splitlines()]
    for source, target, column in rows:
        gold = Counter(marked_edits(column))
        edits = aligner.align(source, target).edits().edits
        found = Counter(
            (str(edit.kind), edit.source_text.lower(), edit.target_text.lower())
            for edit in edits
            if edit.kind != "kept"
        )
        right += (gold & found).total()
        found_count += found.total()
        gold_count += gold.total()
        if args.wrong and gold != found:
            print(f"{source} | {target}\n  missed {sorted(gold - found)}\n  too many {sorted(found - gold)}")
    precision, recall = 100 * right / max(found_count, 1), 100 * right / gold_count
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    print(f"{len(rows)} pairs: precision {precision:.1f}, recall {recall:.1f}, F1 {f1:.1f}")


if __name__ == "__main__":
    main()
