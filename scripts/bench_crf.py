"""Speed of the CRF aligners: pairs decoded a second, and the time that training takes.

    python scripts/bench_crf.py mtref.dev.jsonl.gz --analyses tags.jsonl
    python scripts/bench_crf.py mtref.train.jsonl.gz --analyses tags.jsonl --train 2000

Decoding is features, both directions, best paths and posteriors, on one core, for pairs cut to 27 words a side (the
length that the token paper gives its speed for). Training is both directions of the token and of the phrase model.
Times are processor seconds of this process and its children, so that other work on the machine does not count;
training is spread evenly over the processes, so that on two idle cores it takes about half of what is printed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import replace

from score_crf import read_training_pairs

from forestalign.crf import (
    FAMILIES,
    CrfAligner,
    TrainingPair,
    TrainSettings,
    feature_space,
    load_crf,
    load_resources,
    synthetic_phrases,
    train,
)
from forestalign.tokens import Sentence

LENGTH = 27
ROUNDS = 3


def cut(sentence: Sentence, length: int) -> Sentence:
    words = Sentence.from_words(sentence.words[:length])
    return words.with_analysis(sentence.tags[:length], sentence.lemmas[:length])


def pairs_per_second(aligner: CrfAligner, pairs: Sequence[tuple[Sentence, Sentence]]) -> float:
    """The best of some rounds; the first, which compiles, does not count."""
    best = float("inf")
    for round_ in range(ROUNDS + 1):
        began = time.process_time()
        for source, target in pairs:
            aligner.align(source, target)
        if round_:
            best = min(best, time.process_time() - began)
    return len(pairs) / best


def training_seconds(pairs: Sequence[TrainingPair], longest: int, settings: TrainSettings) -> float:
    space, resources = feature_space(FAMILIES, longest, longest), load_resources()
    began = processor_seconds()
    forward = train(pairs, "s2t", space, resources, settings)
    train(pairs, "t2s", space, resources, settings, forward)
    return processor_seconds() - began


def processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", help="gold links; for the speed of decoding only the sentences are used")
    parser.add_argument("--analyses", default="", help="file that keeps tags and lemmas")
    parser.add_argument("--models", nargs="+", default=["token", "phrase"], help="names or files")
    parser.add_argument("--pairs", type=int, default=100, help="pairs to decode")
    parser.add_argument("--train", type=int, default=0, metavar="N", help="also train on the first N pairs")
    parser.add_argument("--jobs", type=int, default=2, help="processes of training")
    args = parser.parse_args()
    gold = read_training_pairs([args.gold], args.analyses, with_parser=True)
    long = [pair for pair in gold if min(len(pair.source), len(pair.target)) >= LENGTH][: args.pairs]
    cut_pairs = [(cut(pair.source, LENGTH), cut(pair.target, LENGTH)) for pair in long]
    for name in args.models:
        rate = pairs_per_second(load_crf(name), cut_pairs)
        print(f"{name}: {rate:.0f} pairs of {LENGTH}/{LENGTH} words a second, one core, {len(cut_pairs)} pairs")
    chosen = gold[: args.train]
    settings = replace(TrainSettings(), processes=args.jobs)
    for label, longest in (("token", 1), ("phrase", 3)) if chosen else ():
        pairs = [synthetic_phrases(pair) for pair in chosen] if longest > 1 else chosen
        seconds = training_seconds(pairs, longest, settings)
        print(f"{label}: trained both directions on {len(pairs)} pairs in {seconds:.0f} processor seconds", flush=True)


if __name__ == "__main__":
    main()
