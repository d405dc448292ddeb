"""Switch off feature families one by one and print what each is worth: Table 3 of the token paper, and more.

    python scripts/ablate_crf.py msr.jsonl.gz --analyses tags.jsonl

The first rows are the paper's: without tags, without WordNet, without both. All rows are cross-validated.
"""

from __future__ import annotations

import argparse

from score_crf import Setting, cross_validate, read_training_pairs

from forestalign.crf import COMBINATIONS, FAMILIES, TrainSettings
from forestalign.metrics import GoldLinks, score_words

# the pair list is left out: without a list its features are silent anyway
OTHERS = (family for family in FAMILIES if family not in ("tags", "wordnet", "ppdb", "chunks"))
ROWS = ((), ("tags",), ("wordnet",), ("tags", "wordnet"), *((family,) for family in OTHERS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", help="gold links")
    parser.add_argument("--combination", default="posterior", choices=COMBINATIONS)
    parser.add_argument("--analyses", default="", help="file that keeps tags and lemmas")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=TrainSettings().iterations)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    pairs = read_training_pairs([args.gold], args.analyses, with_parser=True)
    gold = [GoldLinks("", pair.source.words, pair.target.words, frozenset(pair.links)) for pair in pairs]
    print(f"{'':24}{'P':>7}{'R':>7}{'F1':>7}{'E':>7}")
    for without in ROWS:
        families = tuple(family for family in FAMILIES if family not in without)
        setting = Setting(1, families, TrainSettings(iterations=args.iterations), args.folds, args.seed, "")
        found = cross_validate(pairs, [], setting, args.jobs)
        scores = score_words(gold, [each[args.combination] for each in found])
        label = f"- {', '.join(without)}" if without else "all"
        print(f"{label:24}" + "".join(f"{100 * scores[name]:7.1f}" for name in ("P", "R", "F1", "E")), flush=True)


if __name__ == "__main__":
    main()
