"""Print the scores of the word profiles on gold links, with and without a PPDB-format list, and the pairs a second.

    python scripts/score_words.py msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --ppdb ppdb.tsv.gz

Weights that were fitted without every fourth pair, scored on just these pairs:

    python scripts/train_words.py ... --leave 4 -o FOLDER
    python scripts/score_words.py ... --every 4 --weights FOLDER --hard

`--hard` adds how many gold links between different content words without a relation in the lexicon are found, and how
many of words that have several.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from gold_options import add_gold_options

from forestalign.config import CHOICES, DEFAULT_CONFIG, Profile, Reader
from forestalign.learning.word_gold import GoldSet, Links, every, macro_line, read_sets
from forestalign.learning.word_run import fitted_links, hard_links
from forestalign.words import PROFILES, Analysis, WordAligner

OTHER_PROFILES = tuple(name for name in PROFILES if name != "fast")  # which is best without the joint reader
LinkFinder = Callable[[Analysis, Analysis], Links]


def link_finder(profile: Profile, ppdb: str, weights: Path | None, reader: Reader) -> LinkFinder:
    """The shipped profile, or profile `best` with weights from a folder."""
    if weights is not None:
        return fitted_links(weights, ppdb)
    aligner = WordAligner(DEFAULT_CONFIG.replace(profile=profile, ppdb=ppdb, reader=reader))
    return lambda source, target: frozenset(aligner.align(source, target).pairs)


def found_share(gold_set: GoldSet, system: list[Links]) -> str:
    """Hard links found, of how many."""
    hard = [hard_links(*pair, gold.sure) for pair, gold in zip(gold_set.pairs, gold_set.gold, strict=True)]
    found = sum(len(links & ours) for links, ours in zip(hard, system, strict=True))
    count = sum(map(len, hard))
    return f"  hard links {found}/{count} = {100 * found / max(count, 1):.1f} %"


def found_in_blocks(gold_set: GoldSet, system: list[Links]) -> str:
    """Gold links of words that have several: how many are found; and how many of ours of such words are right."""
    found = wanted = right = given = 0
    for gold, ours in zip(gold_set.gold, system, strict=True):
        blocks, own = several(gold.sure), several(ours) - (gold.possible - gold.sure)
        found, wanted = found + len(blocks & ours), wanted + len(blocks)
        right, given = right + len(own & gold.sure), given + len(own)
    shares = (100 * found / max(wanted, 1), 100 * right / max(given, 1))
    return f"  in blocks R {found}/{wanted} = {shares[0]:.1f} % P {right}/{given} = {shares[1]:.1f} %"


def several(links: Links) -> Links:
    """Those of which one word has another link."""
    rows, columns = Counter(i for i, _ in links), Counter(j for _, j in links)
    return frozenset((i, j) for i, j in links if rows[i] > 1 or columns[j] > 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_gold_options(parser)
    parser.add_argument("--profile", action="append", choices=PROFILES, help="only this one; may be repeated")
    parser.add_argument("--reader", choices=CHOICES["reader"], default=DEFAULT_CONFIG.reader, help="of profile best")
    parser.add_argument("--weights", type=Path, metavar="FOLDER", help="what train_words.py wrote, for profile best")
    parser.add_argument(
        "--every", type=int, metavar="N", help="only every Nth pair, as train_words.py --leave N leaves"
    )
    parser.add_argument("--hard", action="store_true", help="links of different, unrelated content words too")
    args = parser.parse_args()
    sets = read_sets(args.gold, args.cache)
    if args.every:
        sets = [every(gold_set, args.every, are_left_out=True) for gold_set in sets]
    profiles: tuple[Profile, ...] = args.profile or (("best",) if args.weights else OTHER_PROFILES)
    for profile in profiles:
        for ppdb in ("", args.ppdb) if args.ppdb else ("",):
            find = link_finder(profile, ppdb, args.weights, args.reader)
            for gold_set in sets:
                begin = time.process_time()
                system = [find(*pair) for pair in gold_set.pairs]
                rate = len(system) / (time.process_time() - begin)
                line = macro_line(gold_set.gold, system) + f"  {rate:6.0f} pairs/s"
                line += found_share(gold_set, system) + found_in_blocks(gold_set, system) if args.hard else ""
                print(f"{profile:<10}{'ppdb' if ppdb else '-':<6}{gold_set.name:<18}{line}", flush=True)


if __name__ == "__main__":
    main()
