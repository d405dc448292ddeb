"""Fit the word profile `best` to gold links: its metric and the weights of its matching model.

    python scripts/train_words.py msr-rte2.dev.jsonl.gz:1.5 edinburgh.train.jsonl.gz:1.5 mtref.train.jsonl.gz:0.7:300 \
        wiki.train.jsonl.gz:0.7:200 --metric mtref.train.jsonl.gz wiki.train.jsonl.gz:0.5:1200 --ppdb ppdb.tsv.gz \
        --unrelated stsb.train.jsonl.gz --cache analyses.npz [-o grammar]

`FILE:WEIGHT:N` gives a set its weight and takes its first N pairs, `FILE:WEIGHT:BEGIN-END` those between. `--metric`
names more gold for the metric alone. Without `-o` nothing is written, and scores of held-out halves are printed.
forestalign/learning/word_run.py says how it is learned; the only randomness is the order of pairs and the sample of
easy negatives, and both have a fixed seed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from forestalign.learning.word_gold import every, read_sets
from forestalign.learning.word_run import WordTraining, mismatched, read_unrelated


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "gold", nargs="+", metavar="FILE[:WEIGHT[:N]]", help="gold links, their weight, how many of them"
    )
    parser.add_argument(
        "--ppdb", default="", metavar="FILE", help="a PPDB-format list, for weights with and without it"
    )
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep analyses in FILE (.npz) and reuse them")
    parser.add_argument("--metric", nargs="+", default=[], metavar="FILE[:WEIGHT[:N]]", help="more gold for the metric")
    parser.add_argument("--unrelated", type=Path, metavar="FILE", help="pairs of texts with human similarity scores")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="where to write; without it only scores")
    parser.add_argument("--leave", type=int, metavar="N", help="leave every Nth pair of each gold file out")
    args = parser.parse_args()
    sets, more = read_sets(args.gold, args.cache), read_sets(args.metric, args.cache)
    if args.leave:
        sets = [every(gold_set, args.leave, are_left_out=False) for gold_set in sets]
    unlike = [pair for gold_set in sets for pair in mismatched(gold_set)]
    unlike += read_unrelated(args.unrelated, args.cache) if args.unrelated else []
    training = WordTraining(sets, more, unlike, args.ppdb)
    if args.output:
        training.write(args.output)
    else:
        for line in training.held_out():
            print(line, flush=True)


if __name__ == "__main__":
    main()
