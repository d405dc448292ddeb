"""Trees of a parser against gold trees."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from forestalign.chart import CHAIN, Chart, marginals
from forestalign.config import AlignConfig
from forestalign.evaluation.annotated_pairs import read_annotations
from forestalign.evaluation.parse_scores import PUNCTUATION_TAGS, brackets, score_brackets
from forestalign.formats.tree_files import read_trees
from forestalign.parsers import Parser, load_parser
from forestalign.tokens import Sentence
from forestalign.trees import ScoredTree, Tree, collapse_chain, strip_annotation

CHUNK = 64  # sentences parsed at a time, so that their charts fit in memory
BINS = 10
NBEST = (10, 50)  # lists that the best tree is looked for in
LEAST = (0.1, 0.01)  # marginals that the calibration is measured on
WRITTEN = "written for this set"  # the corpus of sentences that were not taken from one
Figures = dict[str, float]


def print_parser(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """A parser on the gold tokens of treebank files, or of both sides of annotated pairs.

        score.py parser ewt.dev.mrg.gz annotations/train.jsonl
        score.py parser tests/data/genres.mrg --groups questions imperatives headlines quotations lists tweets
        score.py parser ewt.dev.mrg.gz --card grammar/parser/card.json --without-quantisation runs/float

    Prints labelled bracket F1 and tagging accuracy by the conventions of evalb (`forestalign evaluate parses` counts
    the same way), the F1 of the best tree among the k best, the calibration error of span marginals, and F1 on
    lower-cased text and without final punctuation. The calibration error is the mean distance, weighted by counts,
    between the mean marginal and the share of right span-label pairs in ten equal bins, over all pairs whose marginal
    is at least 0.1 (in a second row 0.01). --groups names parts of equal size that a file consists of, in order. Where
    annotated pairs say their origin, each corpus is a part.
    """
    parser.add_argument("trees", nargs="+", metavar="TREES", help="Penn brackets, or annotated pairs (.jsonl)")
    parser.add_argument("--groups", nargs="+", default=[], metavar="NAME", help="names of equal parts of each file")
    parser.add_argument("--backend", choices=("embedded", "benepar"), default="embedded")
    parser.add_argument("--model", default="", help="folder; for 'embedded' default: the shipped one")
    parser.add_argument("--temperature", type=float, default=1.0, help="divide the scores of spans by this")
    parser.add_argument("--quick", action="store_true", help="F1 and tags only")
    parser.add_argument("--card", type=Path, help="write the figures of the first file into this model card")
    parser.add_argument("--without-quantisation", metavar="FOLDER", help="the same parser in 32 bits, for the card")
    args = parser.parse_args(arguments)
    settings = {"backend": args.backend, "parser_model": args.model, "temperature": args.temperature}
    config = AlignConfig(nbest=1 if args.quick else max(NBEST)).replace(**settings)
    loaded = load_parser(config)
    for number, path in enumerate(args.trees):
        gold = read_gold(path, args.groups)
        figures = measure_parser(loaded, config, gold, args.quick)
        print(path)
        for name, value in figures.items():
            print(f"  {name:<38} {value:.2f}")
        if args.card and not number:
            exact = load_parser(AlignConfig(parser_model=args.without_quantisation, nbest=1))
            write_card(args.card, figures, score_trees(exact, [each.tree for each in gold])["F1"])


class GoldTree(NamedTuple):
    """A tree, and the part of its file that it is in, where there are parts."""

    tree: Tree
    part: str = ""


def read_gold(path: str, groups: Sequence[str] = ()) -> list[GoldTree]:
    """The trees of a file."""
    if path.removesuffix(".gz").endswith(".jsonl"):
        return [
            GoldTree(strip_annotation(sentence.tree), _corpus(pair.origin, side))
            for pair in read_annotations(path)
            for side, sentence in (("source", pair.source), ("target", pair.target))
        ]
    trees = [strip_annotation(numbered.tree) for numbered in read_trees(path)]
    if groups and len(trees) % len(groups):
        raise SystemExit(f"{path}: {len(trees)} trees cannot be cut into {len(groups)} equal groups")
    names = [name for name in groups for _ in range(len(trees) // len(groups))] or [""] * len(trees)
    return list(map(GoldTree, trees, names))


def _corpus(origin: object, side: str) -> str:
    if origin is None:
        return ""
    return str(origin.corpus) if origin.side == side else WRITTEN  # type: ignore[attr-defined]


def measure_parser(parser: Parser, config: AlignConfig, trees: Sequence[GoldTree], quick: bool) -> Figures:
    """All figures of one file by their names."""
    gold = [each.tree for each in trees]
    figures = {"sentences": float(len(gold)), **score_trees(parser, gold, has_charts=not quick)}
    parts: dict[str, list[Tree]] = defaultdict(list)
    for tree, part in trees:
        parts[part].append(tree)
    for part, own in parts.items():
        if part:
            scores = score_trees(parser, own)
            figures |= {f"F1 of {part}": scores["F1"], f"tags of {part}": scores["tags"]}
    if not quick:
        one_best = replace(parser, config=config.replace(nbest=1))  # type: ignore[type-var]
        lowered = score_trees(one_best, gold, edit=str.lower)
        figures |= {"F1 lower-cased": lowered["F1"], "tags lower-cased": lowered["tags"]}
        bare = score_trees(one_best, list(map(without_final_punctuation, gold)))
        figures["F1 without final punctuation"] = bare["F1"]
    return figures


def score_trees(
    parser: Parser, gold: Sequence[Tree], has_charts: bool = False, edit: Callable[[str], str] = str
) -> Figures:
    """Parse the words of the gold trees, each changed by `edit`, and compare; in per cent."""
    best: list[Tree] = []
    nearest: dict[int, list[Tree]] = {k: [] for k in NBEST}
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    for begin in range(0, len(gold), CHUNK):
        part = gold[begin : begin + CHUNK]
        sentences = [Sentence.from_words([edit(str(leaf.word)) for leaf in tree.leaves()]) for tree in part]
        for tree, parse in zip(part, parser.parse(sentences, forests=False, charts=has_charts), strict=True):
            if parse.error:
                raise SystemExit(parse.error)
            best.append(parse.trees[0].tree)
            if parse.chart is not None:
                pairs.append(span_pairs(parse.chart, tree))
                for k in NBEST:
                    nearest[k].append(nearest_tree(tree, parse.trees[:k]))
    scores = score_brackets(gold, best)
    names = {"F1": "bracket F1", "tags": "tag accuracy", "complete": "complete match"}
    figures = {name: 100 * scores[score] for name, score in names.items()}
    if pairs:
        for k in NBEST:
            figures[f"oracle F1 of {k} best"] = 100 * score_brackets(gold, nearest[k])["bracket F1"]
        for least in LEAST:
            figures[f"calibration error, marginals >= {least}"] = calibration_error(pairs, least)
    return figures


def without_final_punctuation(tree: Tree) -> Tree:
    """The tree less its last word, when that ends the sentence and others stay."""
    leaves = list(tree.leaves())
    if len(leaves) < 3 or leaves[-1].word not in {".", "!", "?"}:
        return tree
    return _without_last(tree, len(leaves) - 1)


def _without_last(node: Tree, last: int) -> Tree:
    children = [child for child in node.children if child.begin < last]
    if children and children[-1].end > last:
        children[-1] = _without_last(children[-1], last)
    return replace(node, end=min(node.end, last), children=tuple(children))


def nearest_tree(gold: Tree, trees: Sequence[ScoredTree]) -> Tree:
    """The tree of a list with the best F1."""
    kept = [leaf.label not in PUNCTUATION_TAGS for leaf in gold.leaves()]
    wanted = brackets(gold, kept)

    def f1(scored: ScoredTree) -> float:
        given = brackets(scored.tree, kept)
        return 2 * (wanted & given).total() / max(1, wanted.total() + given.total())

    return max(trees, key=f1).tree


def span_pairs(chart: Chart, gold: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Marginals of all likely span-label pairs, and whether the gold tree has them, unary chains as one label."""
    index = {label: i for i, label in enumerate(chart.labels)}
    right = np.zeros(chart.potentials.shape, dtype=bool)
    stack = [gold]
    while stack:
        begin, end, label, lowest = collapse_chain(stack.pop())
        label = label.replace("+", CHAIN)
        if label in index:
            right[begin, end - 1, index[label]] = True
        stack += [child for child in lowest.children if not child.is_leaf]
    shares = marginals(chart)[:, :, 1:]
    likely = shares >= min(LEAST)
    return shares[likely], right[:, :, 1:][likely]


def calibration_error(pairs: Sequence[tuple[np.ndarray, np.ndarray]], least: float) -> float:
    """In per cent, over all pairs whose marginal is at least so much."""
    shares, right = (np.concatenate([each[k] for each in pairs]) for k in (0, 1))
    right, shares = right[shares >= least], shares[shares >= least]
    bins = np.minimum((shares * BINS).astype(int), BINS - 1)
    distance = sum(abs(float(np.sum(shares[bins == b]) - np.sum(right[bins == b]))) for b in range(BINS))
    return 100 * distance / len(shares)


def write_card(path: Path, figures: Figures, exact: float) -> None:
    """The card with what this run measured; what it says of model and data stays as it is."""
    card = json.loads(path.read_text(encoding="utf-8"))
    card |= {
        "F1 without quantisation": round(exact, 2),
        "scores": {name: round(value, 2) for name, value in figures.items()},
        "date": date.today().isoformat(),
    }
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
