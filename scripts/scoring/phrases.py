"""Development sets: phrases over forests and over 1-best trees, and with gold trees and links given."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
from forestalign.evaluation.scores import SAMPLES, Evaluation, compare, picked, union
from forestalign.forest import pack
from forestalign.pair_cache import cache_folder, read_cached
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.phrases.stage import PhraseStage, load_stage
from forestalign.tokens import Sentence, analyse
from forestalign.trees import ScoredTree, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink

COLUMNS = ("recall", "precision", "F1", "several links F1", "UAS", "root reached")
KEPT_BACK = ("test.", "natural.")  # for the final scores
Span = tuple[int, int]
SpanPair = tuple[Span, Span]


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
            mean, best = (union([picked(each, ["F1"]) for each in part]) for part in (scores, first))
            cell = "" if scores is first else f"p {p_value(best, mean, args.samples):.4f}"
            print(f"{row.name:28}mean F1 {100 * mean['F1']:6.2f}  {cell}", flush=True)
    print(Aligner(config).signature)


def format_row(name: str, evaluation: Evaluation) -> str:
    """The scores that an evaluation has, under fixed names."""
    known = {score.name: score.value for score in evaluation.scores()}
    return f"{name:28}" + "  ".join(f"{column} {100 * known[column]:6.2f}" for column in COLUMNS if column in known)


def p_value(first: Evaluation, second: Evaluation, samples: int) -> float:
    """Of the difference in F1, by approximate randomisation over pairs of sentences."""
    one, other = (picked(each, ["F1"]) for each in (first, second))
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


# ---- words and phrases of annotated pairs ----


def print_spans(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Recall of what two annotators aligned and precision by what any did, of words, of phrases of several words on
    both sides, and of phrases that hold no gold word link.

        score.py spans annotations/dev.jsonl
        score.py spans annotations/dev.jsonl --given

    With --given the aligner is given the gold trees and the gold word links.
    """
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="annotated pairs")
    parser.add_argument("--given", action="store_true", help="with gold trees and gold word links")
    add_settings(parser)
    args = parser.parse_args(arguments)
    aligner = Aligner(config_of(args))
    for path in args.files:
        counts: Counter[str] = Counter()
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            answer = given_pair(record, aligner) if args.given else None
            phrases = (
                aligner.stage.align(answer).phrases
                if answer is not None
                else aligner.align(record["source"]["tokens"], record["target"]["tokens"]).phrases
            )
            counts += count_spans({(tuple(each.source), tuple(each.target)) for each in phrases.pairs}, record)
        print(f"{path.name}")
        for name in ("words", "several words", "no link"):
            asked, hits, given, right = (counts[f"{name} {what}"] for what in ("required", "found", "given", "right"))
            recall, precision = 100 * hits / max(1, asked), 100 * right / max(1, given)
            print(
                f"  {name:14} recall {recall:.1f} ({hits} of {asked}), precision {precision:.1f} ({right} of {given})"
            )
    print(aligner.signature)


def count_votes(record: dict[str, Any]) -> Counter[SpanPair]:
    """How many annotators aligned two spans."""
    votes: Counter[SpanPair] = Counter()
    for annotator in record["annotators"].values():
        votes.update({(tuple(source[:2]), tuple(target[:2])) for source, target in annotator["pairs"]})
    return votes


def count_spans(system: set[Any], record: dict[str, Any]) -> Counter[str]:
    """What of a pair was asked for, found, given and right, by kind."""
    votes = count_votes(record)
    gold = {pair for pair, count in votes.items() if count > 1}
    words = {pair for pair in gold if max(map(_length, pair)) == 1}
    counts: Counter[str] = Counter()
    for name, is_kind in (
        ("words", lambda pair: max(map(_length, pair)) == 1),
        ("several words", lambda pair: min(map(_length, pair)) > 1),
        ("no link", lambda pair: max(map(_length, pair)) > 1 and not any(_holds(pair, word) for word in words)),
    ):
        required, given = set(filter(is_kind, gold)), set(filter(is_kind, system))
        counts[f"{name} required"] = len(required)
        counts[f"{name} found"] = len(required & system)
        counts[f"{name} given"] = len(given)
        counts[f"{name} right"] = sum(pair in votes for pair in given)
    return counts


def _length(span: Span) -> int:
    return span[1] - span[0]


def _holds(pair: SpanPair, word: SpanPair) -> bool:
    return all(begin <= inner[0] < end for (begin, end), inner in zip(pair, word, strict=True))


def given_pair(record: dict[str, Any], aligner: Aligner) -> PreparedPair:
    """An annotated pair with the gold trees and the gold links; vectors are those of the parser."""
    forests = []
    for side in (record["source"], record["target"]):
        tree = parse_brackets(side["tree"])
        words, tags = [str(leaf.word) for leaf in tree.leaves()], [leaf.label for leaf in tree.leaves()]
        tagged = analyse(Sentence.from_words(words), tags)
        (parse,) = aligner.parser.parse([Sentence.from_words(words)])
        forests.append(pack([ScoredTree(tree, 0.0)], parse.sentence.with_analysis(tagged.tags, tagged.lemmas)))
    gold = sorted(pair for pair, count in count_votes(record).items() if count > 1 and max(map(_length, pair)) == 1)
    links = [WordLink(source[0], target[0], 1.0, "gold") for source, target in gold]
    return PreparedPair(forests[0], forests[1], WordAlignment(tuple(links)))
