"""Development sets: phrases over forests and over 1-best trees, and phrases in other words."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from forestalign.aligner import Aligner
from forestalign.cli.align_options import add_settings, config_of
from forestalign.config import AlignConfig
from forestalign.evaluation.development import (
    DevelopmentSet,
    align_cached,
    best_trees,
    prepared_pairs,
    project_cached,
    read_development,
)
from forestalign.evaluation.scores import SAMPLES, Evaluation, compare, pick_scores, union
from forestalign.evaluation.written_pairs import Words, WrittenJudge, read_written
from forestalign.pair_cache import cache_folder, read_cached
from forestalign.phrases.stage import PhraseStage, load_stage
from forestalign.tokens import Span

COLUMNS = ("recall", "precision", "F1", "several links F1", "UAS", "root reached")
KEPT_BACK = ("test.", "natural.")  # for the final scores


class Row(NamedTuple):
    """One system: settings, and the stage where it is not what these settings load."""

    name: str
    config: AlignConfig
    stage: PhraseStage | None = None


def add_set_options(parser: argparse.ArgumentParser) -> None:
    """Gold files, how many pairs of them, and significance."""
    parser.add_argument("gold", nargs="+", metavar="GOLD[:ANNOTATORS]", help="annotated pairs, or word links")
    parser.add_argument("--cache", type=Path, default=cache_folder(), metavar="DIR", help="folder of parsed pairs")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N pairs of each file")
    parser.add_argument("--test", action="store_true", help="score the files that are kept back, too")
    parser.add_argument("-B", "--samples", type=int, default=SAMPLES, help="shuffles of a significance test")
    add_settings(parser)


def read_set(gold: str, config: AlignConfig, args: argparse.Namespace) -> DevelopmentSet:
    """The pairs of a gold file, FILE or FILE:ANNOTATORS."""
    path, _, names = gold.partition(":")
    if Path(path).name.startswith(KEPT_BACK) and not args.test:
        raise SystemExit(f"{path} is for the final scores; --test scores it all the same")
    alone = config.replace(mutual=False)
    return read_development(
        path,
        lambda records: best_trees(prepared_pairs(records, args.cache, alone)),
        names.split(",") if names else (),
        args.limit,
    )


def evaluate_row(row: Row, development: DevelopmentSet, folder: Path) -> Evaluation:
    """The scores of one system; parses and links come from the cache, so that a row costs only its search."""
    stage = row.stage or load_stage(row.config)
    paths = prepared_pairs(development.records, folder, row.config)
    return development.evaluate([align_cached(read_cached(path), stage) for path in paths])


def print_table(rows: Iterable[Row], config: AlignConfig, args: argparse.Namespace) -> None:
    """Each file with the human row, the baseline and the systems; the mean over the files; p against the first row."""
    sets = [read_set(gold, config, args) for gold in args.gold]
    for development in sets:
        print(f"{development.name}: {len(development.records)} pairs")
        human = development.human
        if human is not None:
            print(format_row("human", human))
        paths = prepared_pairs(development.records, args.cache, config)
        print(format_row("project", development.evaluate([project_cached(read_cached(path)) for path in paths])))
    first: list[Evaluation] = []
    for row in rows:
        scores = [evaluate_row(row, development, args.cache) for development in sets]
        first = first or scores
        for development, one, other in zip(sets, first, scores, strict=True):
            cell = "" if one is other else f"p {p_value(one, other, args.samples):.4f}"
            print(f"{format_row(row.name, other)}  {cell}  {development.name}", flush=True)
        if len(sets) > 1:
            mean, best = (union([pick_scores(each, ["F1"]) for each in part]) for part in (scores, first))
            cell = "" if scores is first else f"p {p_value(best, mean, args.samples):.4f}"
            print(f"{row.name:28}mean F1 {100 * mean['F1']:6.2f}  {cell}", flush=True)
    print(Aligner(config).signature)


def format_row(name: str, evaluation: Evaluation) -> str:
    """The scores that an evaluation has, under fixed names."""
    known = {score.name: score.value for score in evaluation.scores()}
    return f"{name:28}" + "  ".join(f"{column} {100 * known[column]:6.2f}" for column in COLUMNS if column in known)


def p_value(first: Evaluation, second: Evaluation, samples: int) -> float:
    """Of the difference in F1, by approximate randomisation over pairs of sentences."""
    one, other = (pick_scores(each, ["F1"]) for each in (first, second))
    return compare(one, other, np.random.default_rng(0), samples)[0].p_value


def print_phrases(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Phrases of development sets: over forests, over 1-best trees, and of the baseline `project`.

        score.py phrases annotations/dev.jsonl msr-rte2.dev.jsonl.gz:A,C mtref.dev.jsonl.gz

    A file holds annotated pairs with gold trees (by span; UAS of the chosen parses), or human word links from which
    phrase gold is projected (by links). p is against the row `forests`.
    """
    add_set_options(parser)
    args = parser.parse_args(arguments)
    config = config_of(args)
    one_best = Row("1-best trees", config.replace(one_best=True, mutual=False))
    print_table([Row("forests", config), one_best], config, args)


def print_reworded(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Marked phrases that the output has as pairs of exactly these words, adjacent or not, and what of the pairs in
    other words is marked, of those that the marks judge; of the dev part of written pairs, without punctuation.

        score.py reworded annotations/written.jsonl
    """
    parser.add_argument("file", type=Path, metavar="FILE", help="pairs with marked phrases")
    add_settings(parser)
    args = parser.parse_args(arguments)
    aligner, counts = Aligner(config_of(args)), Counter[tuple[str, str]]()
    for pair in read_written(args.file):
        if pair.record.split == "dev":
            sides = pair.source.tokens, pair.target.tokens
            phrases = aligner.align(list(sides[0]), list(sides[1])).phrases
            given = {_bare((range(*each.source), range(*each.target)), sides): "adjacent" for each in phrases.pairs}
            given |= {_bare((each.source, each.target), sides): "beside" for each in phrases.scattered}
            asked = {_bare(each, sides) for each in pair.phrases}
            counts.update((_wording(each, sides), "found" if each in given else "missing") for each in asked)
            for each, kind in given.items():
                is_wrong = each not in asked and WrittenJudge(pair).contradicts(
                    *(Span(min(own, default=0), max(own, default=-1) + 1) for own in each)
                )
                if _wording(each, sides) == "several words":
                    counts[kind, "found" if each in asked else "wrong" if is_wrong else "not judged"] += 1
    for name in ("several words", "one word", "the same words", "adjacent", "beside"):
        right, wrong = counts[name, "found"], counts[name, "missing"] + counts[name, "wrong"]
        more = f"; {counts[name, 'not judged']} not judged" if counts[name, "not judged"] else ""
        print(f"{name:16} {100 * right / max(1, right + wrong):.1f} % ({right} of {right + wrong}{more})")
    print(aligner.signature)


def _bare(pair: tuple[Iterable[int], Iterable[int]], sides: tuple[Sequence[str], Sequence[str]]) -> tuple[Words, Words]:
    """Two sets of words without the marks of punctuation."""
    one, other = (
        frozenset(k for k in own if any(map(str.isalnum, words[k]))) for own, words in zip(pair, sides, strict=True)
    )
    return one, other


def _wording(pair: tuple[Words, Words], sides: tuple[Sequence[str], Sequence[str]]) -> str:
    texts = [[words[k].lower() for k in sorted(own)] for own, words in zip(pair, sides, strict=True)]
    return "the same words" if texts[0] == texts[1] else "one word" if max(map(len, texts)) == 1 else "several words"
