"""Print how well changes of meaning are told from changes of wording, on the hand-made pairs of tests/data/meaning.

    python scripts/score_meaning.py
    python scripts/score_meaning.py --wrong

Of pairs that say different things (a negation, an opposite, a number, other roles) and of paraphrases: how many are
marked at the root, and of how many the probability of a paraphrase is on the right side of one half. --wrong also
prints the pairs that came out wrong.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from forestalign.aligner import load
from forestalign.lexicon.findings import AGAINST, OTHER_ROLES

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "meaning"

NAMES = ("changed", "same", "new_user_changed", "new_user_same", "twins_changed", "twins_same")


def main() -> None:
    """Align and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrong", action="store_true", help="print what came out wrong")
    args = parser.parse_args()
    aligner = load()
    for path in (FOLDER / f"{name}.tsv" for name in NAMES):
        is_changed = "changed" in path.stem
        marked: Counter[str] = Counter()
        total: Counter[str] = Counter()
        right = 0
        for row in path.read_text(encoding="utf-8").splitlines():
            kind, source, target = row.split("\t")
            result = aligner.align(source, target)
            is_marked = result.phrases.pairs[-1].relation in {*AGAINST, OTHER_ROLES}
            similarity = result.similarity()
            is_right = (similarity.paraphrase < 0.5) == is_changed
            marked[kind] += is_marked
            total[kind] += 1
            right += is_right
            if args.wrong and (is_marked != is_changed or not is_right):
                print(f"  {path.stem}, {kind}: {source} | {target} | marked: {is_marked}, {similarity}")
        shares = ", ".join(f"{kind} {marked[kind]} of {total[kind]}" for kind in sorted(total))
        print(f"{path.stem}: marked at the root {marked.total()} of {total.total()} ({shares})")
        print(f"{path.stem}: probability right {right} of {total.total()}")


if __name__ == "__main__":
    main()
