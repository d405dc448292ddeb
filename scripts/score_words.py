"""Print the scores of the word profiles on gold links, with and without a PPDB-format list, and the pairs a second.

    python scripts/score_words.py msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --ppdb ppdb.tsv.gz

Weights that were fitted without every fourth pair, scored on just these pairs:

    python scripts/train_words.py ... --leave 4 -o FOLDER
    python scripts/score_words.py ... --every 4 --weights FOLDER --hard

`--hard` adds how many gold links between different content words without a relation in the lexicon are found.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from gold_options import add_gold_options

from forestalign.config import DEFAULT_CONFIG
from forestalign.learning.word_gold import GoldSet, Links, every, macro_line, read_sets
from forestalign.learning.word_run import fitted_links, hard_links
from forestalign.words import PROFILES, Analysis, WordAligner

LinkFinder = Callable[[Analysis, Analysis], Links]


def link_finder(profile: str, ppdb: str, weights: Path | None) -> LinkFinder:
    """The shipped profile, or profile `best` with weights from a folder."""
    if weights is not None:
        return fitted_links(weights, ppdb)
    aligner = WordAligner(DEFAULT_CONFIG.with_(profile=profile, ppdb=ppdb))
    return lambda source, target: frozenset(aligner.align(source, target).pairs)


def found_share(gold_set: GoldSet, system: list[Links]) -> str:
    """Hard links found, of how many."""
    hard = [hard_links(*pair, gold.sure) for pair, gold in zip(gold_set.pairs, gold_set.gold, strict=True)]
    found = sum(len(links & ours) for links, ours in zip(hard, system, strict=True))
    count = sum(map(len, hard))
    return f"  hard links {found}/{count} = {100 * found / max(count, 1):.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_gold_options(parser)
    parser.add_argument("--profile", action="append", choices=PROFILES, help="only this one; may be repeated")
    parser.add_argument("--weights", type=Path, metavar="FOLDER", help="what train_words.py wrote, for profile best")
    parser.add_argument(
        "--every", type=int, metavar="N", help="only every Nth pair, as train_words.py --leave N leaves"
    )
    parser.add_argument("--hard", action="store_true", help="links of different, unrelated content words too")
    args = parser.parse_args()
    sets = read_sets(args.gold, args.cache)
    if args.every:
        sets = [every(gold_set, args.every, are_left_out=True) for gold_set in sets]
    for profile in args.profile or (("best",) if args.weights else PROFILES):
        for ppdb in ("", args.ppdb) if args.ppdb else ("",):
            find = link_finder(profile, ppdb, args.weights)
            for gold_set in sets:
                begin = time.process_time()
                system = [find(*pair) for pair in gold_set.pairs]
                rate = len(system) / (time.process_time() - begin)
                line = macro_line(gold_set.gold, system) + f"  {rate:6.0f} pairs/s"
                line += found_share(gold_set, system) if args.hard else ""
                print(f"{profile:<10}{'ppdb' if ppdb else '-':<6}{gold_set.name:<18}{line}", flush=True)


if __name__ == "__main__":
    main()
