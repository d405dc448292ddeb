"""Print the scores of the word profiles on gold links, with and without a PPDB-format list, and the pairs a second.

python scripts/score_words.py msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --ppdb ppdb.tsv.gz
"""

from __future__ import annotations

import argparse
import time

from gold_words import add_gold_options, macro_line, read_sets

from forestalign.config import DEFAULT_CONFIG
from forestalign.word_alignment import PROFILES, WordAligner


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_gold_options(parser)
    parser.add_argument("--profile", action="append", choices=PROFILES, help="only this one; may be repeated")
    args = parser.parse_args()
    sets = read_sets(args.gold, args.cache)
    for profile in args.profile or PROFILES:
        for ppdb in ("", args.ppdb) if args.ppdb else ("",):
            aligner = WordAligner(DEFAULT_CONFIG.with_(profile=profile, ppdb=ppdb))
            for gold_set in sets:
                begin = time.process_time()
                system = [frozenset(aligner.align(*pair).pairs) for pair in gold_set.pairs]
                rate = len(system) / (time.process_time() - begin)
                line = macro_line(gold_set.gold, system)
                print(f"{profile:<10}{'ppdb' if ppdb else '-':<6}{gold_set.name:<18}{line}  {rate:6.0f} pairs/s")


if __name__ == "__main__":
    main()
