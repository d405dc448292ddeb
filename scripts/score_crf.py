"""Score the CRF aligners by cross-validation on gold links, and print the tables of both papers.

    python scripts/score_crf.py msr.jsonl.gz edinburgh.jsonl.gz --analyses tags.jsonl
    python scripts/score_crf.py edinburgh.jsonl.gz --phrases --analyses tags.jsonl
    python scripts/score_crf.py msr.jsonl.gz --ablate --analyses tags.jsonl
    python scripts/score_crf.py msr.jsonl.gz --model grammar/crf/token.json --analyses tags.jsonl
    python scripts/score_crf.py --paraphrases msrp.jsonl.gz --analyses tags.jsonl

Each file is cut into folds by the seed; every pair is aligned by a model that has not seen it. `--phrases` does so on
synthetic phrases (section 4.1 of the phrase paper) with the token and the phrase model. `--also` adds the pairs of
other files to every training part. `--ablate` switches off feature families one by one, first those of Table 3 of the
token paper: tags, WordNet, both. `--model` scores a ready model and trains nothing. `--paraphrases` reads pairs with a
field `paraphrase` and reports accuracy and F1 of a threshold on the decision score, tuned on the other folds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forestalign.learning.crf_run import WeightedGold, link_scores, read_training_pairs
from forestalign.learning.crf_validation import (
    Folds,
    Links,
    align_all_ways,
    cross_validate,
    decision_scores,
    read_labelled_pairs,
    validate_threshold,
)
from forestalign.words.crf import COMBINATIONS, FAMILIES, TrainingPair, TrainSettings, load_crf, synthetic_phrases
from forestalign.words.crf.feature_space import ENCODER

# the pair list is left out: without a list its features are silent anyway
OTHERS = (family for family in FAMILIES if family not in ("tags", "wordnet", "ppdb", "chunks"))
ABLATIONS = ((), ("tags",), ("wordnet",), ("tags", "wordnet"), *((family,) for family in OTHERS))
COLUMNS = ("P", "R", "F1", "E")


def print_head(title: str, pairs: Sequence[TrainingPair]) -> None:
    print(f"\n{title}, {len(pairs)} pairs")
    print(f"{'':24}" + "".join(f"{name:>7}" for name in COLUMNS))


def print_row(label: str, pairs: Sequence[TrainingPair], found: Sequence[Links]) -> None:
    scores = link_scores(pairs, found)
    print(f"{label:24}" + "".join(f"{100 * scores[name]:7.1f}" for name in COLUMNS), flush=True)


def print_table(title: str, pairs: Sequence[TrainingPair], found: Sequence[dict[str, Links]]) -> None:
    print_head(title, pairs)
    for combination in COMBINATIONS:
        print_row(combination, pairs, [each[combination] for each in found])


def folds_of(args: argparse.Namespace) -> Folds:
    settings = TrainSettings(l2=args.l2, iterations=args.iterations)
    return Folds(1, tuple(args.without), settings, args.folds, args.seed, args.ppdb, args.by_kind)


def needs_vectors(args: argparse.Namespace) -> bool:
    if args.model:
        return load_crf(args.model).model.space.is_contextual
    return ENCODER not in args.without


def gold_of(args: argparse.Namespace, *paths: str, **more: Any) -> list[TrainingPair]:
    gold = WeightedGold(paths, analyses=args.analyses, no_parser=args.no_parser, seed=args.seed, **more)
    pairs = read_training_pairs(gold, needs_vectors(args)) if paths else []
    return [synthetic_phrases(pair) for pair in pairs] if args.phrases else pairs


def others_of(args: argparse.Namespace) -> list[TrainingPair]:
    """The pairs of the files of --also."""
    count = len(args.also)
    return gold_of(args, *args.also, sample=(args.also_sample,) * count, weights=(args.also_weight,) * count)


def report_model(path: str, args: argparse.Namespace) -> None:
    pairs = gold_of(args, path)
    found = align_all_ways(load_crf(args.model, args.ppdb).model, pairs, args.ppdb)
    print_table(f"{Path(path).name}, {Path(args.model).name}", pairs, found)


def report_folds(path: str, args: argparse.Namespace) -> None:
    pairs, others = gold_of(args, path), others_of(args)
    kinds = [("token CRF", 1), *([("phrase CRF", args.longest)] if args.phrases else [])]
    for label, longest in kinds:
        began = time.perf_counter()
        found = cross_validate(pairs, others, replace(folds_of(args), longest=longest), args.jobs)
        gold = "synthetic phrases of " if args.phrases else ""
        print_table(f"{label}, {gold}{Path(path).name}, {args.folds}-fold", pairs, found)
        print(f"{time.perf_counter() - began:.0f} s")


def report_ablation(path: str, args: argparse.Namespace) -> None:
    pairs, others = gold_of(args, path), others_of(args)
    print_head(f"token CRF, {Path(path).name}, {args.folds}-fold, {args.combination}", pairs)
    for without in ABLATIONS:
        folds = replace(folds_of(args), without=(*args.without, *without))
        found = cross_validate(pairs, others, folds, args.jobs)
        label = f"- {', '.join(without)}" if without else "all"
        print_row(label, pairs, [each[args.combination] for each in found])


def report_paraphrases(path: str, args: argparse.Namespace) -> None:
    pairs = read_labelled_pairs(path)
    scores = decision_scores(load_crf(args.model, args.ppdb), pairs, args.analyses, args.no_parser)
    found = validate_threshold(pairs.labels, scores, folds_of(args))
    figures = ", ".join(f"{name} {100 * found[name]:.1f}" for name in ("accuracy", "P", "R", "F1"))
    always = 100 * sum(pairs.labels) / len(pairs.labels)
    print(f"{Path(path).name}, {args.folds}-fold: {figures}; always yes: accuracy {always:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="*", help="gold links, each scored on its own")
    parser.add_argument("--also", nargs="*", default=[], help="gold added to every training part")
    parser.add_argument("--also-sample", type=int, default=0, metavar="N", help="at most N pairs of each of these")
    parser.add_argument("--also-weight", type=float, default=1.0, metavar="W", help="weight of each of these pairs")
    parser.add_argument("--by-kind", action="store_true", help="learn separate weights for each kind of pair")
    parser.add_argument("--phrases", action="store_true", help="synthetic phrases, token and phrase model")
    parser.add_argument("--ablate", action="store_true", help="switch off feature families one by one")
    parser.add_argument("--combination", default="posterior", choices=COMBINATIONS, help="of the rows of --ablate")
    parser.add_argument("--paraphrases", default="", help="pairs with a field `paraphrase`")
    parser.add_argument("--model", default="", help="score this model; no training")
    parser.add_argument("--analyses", default="", help="file that keeps tags, lemmas and vectors")
    parser.add_argument("--no-parser", action="store_true", help="use no tags")
    parser.add_argument("--ppdb", default="", help="a PPDB-format list of word pairs")
    parser.add_argument("--without", nargs="*", default=[], choices=FAMILIES, help="leave out these feature families")
    parser.add_argument("--longest", type=int, default=3, help="longest span of the phrase model")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--l2", type=float, default=TrainSettings().l2)
    parser.add_argument("--iterations", type=int, default=TrainSettings().iterations)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    report = report_model if args.model else report_ablation if args.ablate else report_folds
    for path in args.gold:
        report(path, args)
    if args.paraphrases:
        report_paraphrases(args.paraphrases, args)


if __name__ == "__main__":
    main()
