"""Score the CRF aligners by cross-validation on gold links, and print the tables of both papers.

    python scripts/score_crf.py msr.jsonl.gz edinburgh.jsonl.gz --analyses tags.jsonl
    python scripts/score_crf.py edinburgh.jsonl.gz --phrases --analyses tags.jsonl
    python scripts/score_crf.py msr.jsonl.gz --model grammar/crf/token.json --analyses tags.jsonl
    python scripts/score_crf.py --paraphrases msrp.jsonl.gz --analyses tags.jsonl

Each file is cut into folds by the seed; every pair is aligned by a model that has not seen it. `--phrases` does so on
synthetic phrases (section 4.1 of the phrase paper) with the token and the phrase model. `--also` adds the pairs of
other files to every training part. `--model` scores a ready model and trains nothing. `--paraphrases` reads pairs with
a field `paraphrase` and reports accuracy and F1 of a threshold on the decision score, tuned on the other folds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from forestalign.config import AlignConfig
from forestalign.crf import (
    COMBINATIONS,
    FAMILIES,
    CrfAligner,
    CrfModel,
    TrainingPair,
    TrainSettings,
    feature_space,
    load_crf,
    load_resources,
    synthetic_phrases,
    train,
)
from forestalign.crf.analysis import AnalysisStore
from forestalign.formats import read_gold_links
from forestalign.metrics import GoldLinks, score_paraphrases, score_words, tune_threshold
from forestalign.parsers import load_parser
from forestalign.tokens import tokenize

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Setting:
    """One row group of a table: what to train, on what."""

    longest: int
    families: tuple[str, ...]
    settings: TrainSettings
    fold_count: int
    seed: int
    ppdb: str
    by_kind: bool = False


def read_training_pairs(paths: Sequence[str], analyses: str, with_parser: bool) -> list[TrainingPair]:
    annotations = [pair.gold for path in paths for pair in read_gold_links(path)]
    store = AnalysisStore(analyses or None)
    if with_parser:
        sentences = [words for each in annotations for words in (each.source, each.target)]
        store.analyse(sentences, load_parser(AlignConfig(nbest=1)))
    return [TrainingPair(store.sentence(each.source), store.sentence(each.target), each.sure) for each in annotations]


def other_pairs(args: argparse.Namespace) -> list[TrainingPair]:
    """The pairs of the files of --also: at most --also-sample of each, drawn by the seed."""
    others = []
    for path in args.also:
        pairs = read_training_pairs([path], args.analyses, not args.no_parser)
        size = min(args.also_sample or len(pairs), len(pairs))
        chosen = np.random.default_rng(args.seed).choice(len(pairs), size, replace=False)
        others += [replace(pairs[number], weight=args.also_weight) for number in sorted(chosen.tolist())]
    return others


def cross_validate(
    pairs: list[TrainingPair], others: list[TrainingPair], setting: Setting, jobs: int
) -> list[dict[str, Links]]:
    """For each pair the links of every combination, by the model of the folds that do not hold it."""
    folds = range(setting.fold_count)
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            parts = list(
                pool.map(score_fold, [pairs] * len(folds), [others] * len(folds), [setting] * len(folds), folds)
            )
    else:
        parts = [score_fold(pairs, others, setting, fold) for fold in folds]
    found: list[dict[str, Links]] = [{} for _ in pairs]
    for part in parts:
        for number, links in part.items():
            found[number] = links
    return found


def score_fold(
    pairs: list[TrainingPair], others: list[TrainingPair], setting: Setting, fold: int
) -> dict[int, dict[str, Links]]:
    order = np.random.default_rng(setting.seed).permutation(len(pairs)).tolist()
    held_out = order[fold :: setting.fold_count]
    kept = sorted(set(order) - set(held_out))
    training = [pairs[number] for number in kept] + others
    space = feature_space(setting.families, setting.longest, setting.longest, setting.by_kind)
    resources = load_resources(setting.ppdb)
    forward = train(training, "s2t", space, resources, setting.settings)
    backward = train(training, "t2s", space, resources, setting.settings, forward)
    model = CrfModel(space, forward, backward)
    return {number: all_combinations(model, pairs[number], setting.ppdb) for number in held_out}


def all_combinations(model: CrfModel, pair: TrainingPair, ppdb: str) -> dict[str, Links]:
    """One decoding, put together in every way."""
    aligner = CrfAligner(model, load_resources(ppdb))
    return {name: frozenset(links.pairs) for name, links in aligner.align_all(pair.source, pair.target).items()}


def print_table(title: str, pairs: Sequence[TrainingPair], found: Sequence[dict[str, Links]]) -> None:
    gold = [GoldLinks("", pair.source.words, pair.target.words, frozenset(pair.links)) for pair in pairs]
    print(f"\n{title}, {len(pairs)} pairs")
    print(f"{'':22}{'P':>7}{'R':>7}{'F1':>7}{'E':>7}")
    for combination in COMBINATIONS:
        scores = score_words(gold, [each[combination] for each in found])
        row = "".join(f"{100 * scores[name]:7.1f}" for name in ("P", "R", "F1", "E"))
        print(f"{combination:22}{row}", flush=True)


def report_file(path: str, args: argparse.Namespace) -> None:
    pairs = read_training_pairs([path], args.analyses, not args.no_parser)
    others = other_pairs(args)
    name = Path(path).name
    if args.model:
        model = load_crf(args.model, args.ppdb).model
        if args.phrases:
            pairs = [synthetic_phrases(pair) for pair in pairs]
        print_table(
            f"{name}, {Path(args.model).name}", pairs, [all_combinations(model, pair, args.ppdb) for pair in pairs]
        )
        return
    kinds = [("token CRF", 1)]
    if args.phrases:
        pairs, others = ([synthetic_phrases(pair) for pair in part] for part in (pairs, others))
        kinds.append(("phrase CRF", args.longest))
    families = tuple(family for family in FAMILIES if family not in args.without)
    settings = TrainSettings(l2=args.l2, iterations=args.iterations)
    for label, longest in kinds:
        began = time.perf_counter()
        setting = Setting(longest, families, settings, args.folds, args.seed, args.ppdb, args.by_kind)
        found = cross_validate(pairs, others, setting, args.jobs)
        gold = "synthetic phrases of " if args.phrases else ""
        print_table(f"{label}, {gold}{name}, {args.folds}-fold", pairs, found)
        print(f"{time.perf_counter() - began:.0f} s")


def report_paraphrases(path: str, args: argparse.Namespace) -> None:
    """A threshold on the decision score, tuned on the other folds."""
    opener: Callable[..., object] = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:  # type: ignore[attr-defined]
        records = [json.loads(line) for line in file]
    sides = [[_words(record[side]) for side in ("source", "target")] for record in records]
    store = AnalysisStore(args.analyses or None)
    if not args.no_parser:
        store.analyse([words for pair in sides for words in pair], load_parser(AlignConfig(nbest=1)))
    aligner = load_crf(args.model, args.ppdb)
    scores = np.array([aligner.decision_score(*(store.sentence(words) for words in pair)) for pair in sides])
    labels = np.array([bool(record["paraphrase"]) for record in records])
    order = np.random.default_rng(args.seed).permutation(len(records))
    margins = np.zeros(len(records))
    for fold in range(args.folds):
        test = order[fold :: args.folds]
        others = np.setdiff1d(order, test)
        margins[test] = scores[test] - tune_threshold(labels[others].tolist(), scores[others].tolist())
    found = score_paraphrases(labels.tolist(), margins.tolist(), 0.0)
    figures = ", ".join(f"{name} {100 * found[name]:.1f}" for name in ("accuracy", "P", "R", "F1"))
    print(f"{Path(path).name}, {args.folds}-fold: {figures}; always yes: accuracy {100 * labels.mean():.1f}")


def _words(side: str | list[str]) -> tuple[str, ...]:
    return tuple(tokenize(side).words) if isinstance(side, str) else tuple(side)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="*", help="gold links, each scored on its own")
    parser.add_argument("--also", nargs="*", default=[], help="gold added to every training part")
    parser.add_argument("--also-sample", type=int, default=0, metavar="N", help="at most N pairs of each of these")
    parser.add_argument("--also-weight", type=float, default=1.0, metavar="W", help="of each of these pairs")
    parser.add_argument("--by-kind", action="store_true", help="weights of their own for each kind of pair")
    parser.add_argument("--phrases", action="store_true", help="synthetic phrases, token and phrase model")
    parser.add_argument("--paraphrases", default="", help="pairs with a field `paraphrase`")
    parser.add_argument("--model", default="", help="score this model; no training")
    parser.add_argument("--analyses", default="", help="file that keeps tags and lemmas")
    parser.add_argument("--no-parser", action="store_true")
    parser.add_argument("--ppdb", default="")
    parser.add_argument("--without", nargs="*", default=[], choices=FAMILIES)
    parser.add_argument("--longest", type=int, default=3)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--l2", type=float, default=TrainSettings().l2)
    parser.add_argument("--iterations", type=int, default=TrainSettings().iterations)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    for path in args.gold:
        report_file(path, args)
    if args.paraphrases:
        report_paraphrases(args.paraphrases, args)


if __name__ == "__main__":
    main()
