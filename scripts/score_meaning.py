"""Print how well changes of meaning are told from changes of wording, on the hand-made pairs of tests/data/meaning.

    python scripts/score_meaning.py
    python scripts/score_meaning.py --wrong
    python scripts/score_meaning.py --paraphrases annotations/train.jsonl --order paws.dev.jsonl.gz --most 200

Of pairs that say different things (a negation, an opposite, a number, other roles) and of paraphrases: how many are
marked at the root, and of how many the probability of a paraphrase is on the right side of one half. --wrong also
prints the pairs that came out wrong. --paraphrases counts marks on an annotated set, which holds paraphrases and pairs
that it calls none; --order on pairs of the same words, evenly taken from the first half of the file.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from similarity_pairs import read_records

from forestalign.aligner import Aligner, load
from forestalign.lexicon.findings import AGAINST, OTHER_ROLES
from forestalign.phrases.result.alignment import Alignment

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "meaning"
Pair = tuple[str, str, bool]  # source, target, whether they say different things
NAMES = (
    "changed",
    "same",
    "new_user_changed",
    "new_user_same",
    "twins_changed",
    "twins_same",
    "fresh_changed",
    "fresh_same",
)


def main() -> None:
    """Align and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrong", action="store_true", help="print what came out wrong")
    parser.add_argument("--paraphrases", type=Path, help="annotated pairs (JSON lines)")
    parser.add_argument("--order", type=Path, help="pairs of the same words with 0 or 1 (JSON lines, packed)")
    parser.add_argument("--most", type=int, default=200, metavar="N", help="about N pairs of --order (default 200)")
    args = parser.parse_args()
    aligner = load()
    if not (args.paraphrases or args.order):
        for name in NAMES:
            count_by_hand(FOLDER / f"{name}.tsv", aligner, args.wrong)
    if args.paraphrases:
        count_marks(args.paraphrases.name, annotated(args.paraphrases), aligner, args.wrong)
    if args.order:
        records = read_records(args.order)
        half = records[: len(records) // 2]
        pairs = [(row["source"], row["target"], not row["paraphrase"]) for row in half]
        count_marks(args.order.name, pairs[:: max(1, len(pairs) // args.most)], aligner, args.wrong)


def annotated(path: Path) -> list[Pair]:
    """The pairs of an annotated set."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(row["source"]["text"], row["target"]["text"], "no-paraphrase" in row["phenomena"]) for row in rows]


def count_marks(name: str, pairs: Sequence[Pair], aligner: Aligner, wrong: bool) -> None:
    """Print how many pairs that say the same, and how many others, are marked at the root."""
    marked: Counter[bool] = Counter()
    for source, target, is_changed in pairs:
        result = aligner.align(source, target)
        marked[is_changed] += is_marked(result)
        if wrong and is_marked(result) and not is_changed:
            print(f"  {source} | {target} | {result.phrases.pairs[-1].reason}")
    total = Counter(is_changed for *_, is_changed in pairs)
    print(f"{name}: paraphrases marked {marked[False]} of {total[False]}, others {marked[True]} of {total[True]}")


def is_marked(result: Alignment) -> bool:
    """Whether the pair of the roots contradicts."""
    return result.phrases.pairs[-1].relation in {*AGAINST, OTHER_ROLES}


def count_by_hand(path: Path, aligner: Aligner, wrong: bool) -> None:
    """Print the marks and the probabilities of one file of hand-made pairs."""
    is_changed = "changed" in path.stem
    marked: Counter[str] = Counter()
    total: Counter[str] = Counter()
    right = 0
    for row in path.read_text(encoding="utf-8").splitlines():
        kind, source, target = row.split("\t")
        result = aligner.align(source, target)
        similarity = result.similarity()
        is_right = (similarity.paraphrase < 0.5) == is_changed
        marked[kind] += is_marked(result)
        total[kind] += 1
        right += is_right
        if wrong and (is_marked(result) != is_changed or not is_right):
            print(f"  {path.stem}, {kind}: {source} | {target} | marked: {is_marked(result)}, {similarity}")
    shares = ", ".join(f"{kind} {marked[kind]} of {total[kind]}" for kind in sorted(total))
    print(f"{path.stem}: marked at the root {marked.total()} of {total.total()} ({shares})")
    print(f"{path.stem}: probability right {right} of {total.total()}")


if __name__ == "__main__":
    main()
