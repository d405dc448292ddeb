"""Fit what the joint reader's layers weigh beside the learned word aligner.

    python scripts/train_joint_words.py msr-rte2.dev.jsonl.gz:6 edinburgh.train.jsonl.gz:6 --every 4 \
        --whole mtref.train.jsonl.gz:0.7:600 wiki.train.jsonl.gz:0.7:400 --unrelated stsb.train.jsonl.gz \
        --known runs/joint-known --reader grammar/joint [-o grammar/joint/weights.tsv]

Of the first files only every Nth pair is used, of those of `--whole` all. Neither the reader nor the aligner in the
folder `--known` (scripts/train_words.py ... --leave N -o FOLDER) may have been fitted to any of them. Without `-o`
nothing is written: pairs of the first files are scored by weights that were fitted to the other half of them, and
those of `--asked` by weights that were fitted to all.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from gold_options import add_gold_options
from score_words import found_in_blocks, found_share

from forestalign.learning.joint_weights import (
    JointExample,
    JointExamples,
    KnownLinks,
    fit_joint,
    joint_probabilities,
)
from forestalign.learning.word_gold import GoldSet, every, macro_line, read_sets
from forestalign.learning.word_run import links_above, mismatched, read_unrelated
from forestalign.outputs import whole_file
from forestalign.words.joint.joint_reader import JointReader
from forestalign.words.joint.joint_weighing import format_joint_weights
from forestalign.words.learned.matching import MatchingModel

THRESHOLDS = (0.4, 0.45, 0.5, 0.55, 0.6)


def report(gold_set: GoldSet, items: Sequence[JointExample], models: Sequence[MatchingModel]) -> None:
    """Scores at several thresholds; pairs are dealt to the models in turn."""
    tables = [joint_probabilities(item, models[number % len(models)]) for number, item in enumerate(items)]
    for name, found, thresholds in (
        ("joint", tables, THRESHOLDS),
        ("reader", [item.layers[2] for item in items], (0.5,)),
        ("known", [item.layers[0] for item in items], (0.55,)),
    ):
        for threshold in thresholds:
            system = [links_above(table, threshold) for table in found]
            line = macro_line(gold_set.gold, system) + found_share(gold_set, system) + found_in_blocks(gold_set, system)
            print(f"{gold_set.name:<18}{name:<8}{threshold:<6}{line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_gold_options(parser)
    parser.add_argument("--every", type=int, default=4, metavar="N", help="every Nth pair of the first files")
    parser.add_argument("--whole", nargs="*", default=[], metavar="FILE[:WEIGHT[:N]]", help="gold that is used whole")
    parser.add_argument("--asked", nargs="*", default=[], metavar="FILE", help="gold that is only scored")
    parser.add_argument("--unrelated", type=Path, metavar="FILE", help="pairs of texts with human similarity scores")
    parser.add_argument("--known", type=Path, required=True, metavar="FOLDER", help="what train_words.py wrote")
    parser.add_argument("--reader", type=Path, required=True, metavar="FOLDER", help="what export_joint.py wrote")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write; without it only scores")
    args = parser.parse_args()
    make = JointExamples(KnownLinks(args.known), JointReader(args.reader))
    sets = [every(each, args.every, are_left_out=True) for each in read_sets(args.gold, args.cache)]
    whole = read_sets(args.whole, args.cache)
    unlike = [pair for each in (*sets, *whole) for pair in mismatched(each)]
    unlike += read_unrelated(args.unrelated, args.cache) if args.unrelated else []
    rest = [*chain.from_iterable(map(make.linked, whole)), *make.unlike(unlike)]
    items = [make.linked(each) for each in sets]
    if args.output:
        with whole_file(args.output) as file:
            file.write(format_joint_weights(fit_joint([*chain.from_iterable(items), *rest])).encode())
        return
    halves = [fit_joint([*chain.from_iterable(part[half::2] for part in items), *rest]) for half in (1, 0)]
    for gold_set, part in zip(sets, items, strict=True):
        report(gold_set, part, halves)
    everything = [fit_joint([*chain.from_iterable(items), *rest])] if args.asked else []
    for gold_set in read_sets(args.asked, args.cache):
        report(gold_set, make.linked(gold_set), everything)


if __name__ == "__main__":
    main()
