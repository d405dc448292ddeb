"""Trees chosen with the help of the other sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from forestalign.aligner import Aligner
from forestalign.cli.align_options import add_settings, config_of
from forestalign.dependencies import unlabelled_heads
from forestalign.evaluation.annotated_pairs import AnnotatedPair, read_annotations
from forestalign.evaluation.parse_scores import Attachments, score_brackets, score_parses
from forestalign.evaluation.scores import SAMPLES, compare, pick_scores
from forestalign.reranking import RerankedPair
from forestalign.trees import Tree
from scoring.ambiguous_pairs import KINDS, SPLITS, AmbiguousPair, read_ambiguous


def print_rerank(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """What `rerank` is worth: trees chosen with the help of the other sentence, against the parser's 1-best.

        score.py rerank annotations/dev.jsonl --ambiguous annotations/ambiguity.jsonl --split dev

    Of ambiguous sentences: how many of those that the 1-best reads wrongly are put right, and how many of those that it
    reads rightly are broken, by the brackets that matter and by whole trees. Of all files: F1 of brackets and UAS
    before and after, with p-values of approximate randomisation over sentences.
    """
    parser.add_argument("gold", nargs="*", metavar="GOLD", help="annotated pairs")
    parser.add_argument("--ambiguous", default="", metavar="FILE", help="pairs of which one sentence is ambiguous")
    parser.add_argument("--split", choices=SPLITS, default="dev", help="half of these pairs (default: dev)")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N pairs of each other file")
    parser.add_argument("-B", "--samples", type=int, default=SAMPLES, help="shuffles of a significance test")
    add_settings(parser)
    args = parser.parse_args(arguments)
    aligner = Aligner(config_of(args))
    sets = {path: list(read_annotations(path))[: args.limit or None] for path in args.gold}
    if args.ambiguous:
        ambiguous = [pair for pair in read_ambiguous(args.ambiguous) if pair.split == args.split]
        sets[args.ambiguous] = [each.pair for each in ambiguous]
    for path, pairs in sets.items():
        answers = [aligner.rerank(pair.source.tokens, pair.target.tokens) for pair in pairs]
        print(f"{path}: {len(pairs)} pairs")
        if path == args.ambiguous:
            print(format_readings(ambiguous, answers))
        print(format_tree_scores(read_choices(pairs, answers), args.samples), flush=True)
    print(aligner.signature)


class Choice(NamedTuple):
    """A sentence: its gold tree, the 1-best, the chosen tree."""

    gold: Tree
    best: Tree
    chosen: Tree


def read_choices(pairs: Sequence[AnnotatedPair], answers: Sequence[RerankedPair]) -> list[Choice]:
    """All sentences, sources before targets."""
    return [
        Choice(gold.tree, one.best.tree, one.chosen.tree)
        for pair, both in zip(pairs, answers, strict=True)
        for gold, one in ((pair.source, both.source), (pair.target, both.target))
    ]


def format_readings(pairs: Sequence[AmbiguousPair], answers: Sequence[RerankedPair]) -> str:
    """The table of readings put right and broken, by kind and together."""
    sides = [both.source if pair.side == "source" else both.target for pair, both in zip(pairs, answers, strict=True)]
    changes: dict[str, list[tuple[bool, bool]]] = {kind: [] for kind in (*KINDS, "brackets that matter", "whole trees")}
    for pair, side in zip(pairs, sides, strict=True):
        before, after = side.best.tree, side.chosen.tree
        read = pair.reading.is_of(before), pair.reading.is_of(after)
        changes[pair.kind].append(read)
        changes["brackets that matter"].append(read)
        gold = pair.sentence.tree
        changes["whole trees"].append((is_complete(gold, before), is_complete(gold, after)))
    lines = []
    for name, each in changes.items():
        wrong, right = ([after for before, after in each if before is state] for state in (False, True))
        share = f"{sum(wrong)} of {len(wrong)} wrong put right"
        lines.append(f"  {name:22} {share:24} {sum(not after for after in right)} of {len(right)} right broken")
    return "\n".join(lines)


def is_complete(gold: Tree, tree: Tree) -> bool:
    """Whether all brackets of a tree are those of the gold tree."""
    return score_brackets([gold], [tree])["complete match"] == 1.0


def format_tree_scores(choices: Sequence[Choice], samples: int) -> str:
    """F1 of brackets and UAS before and after."""
    gold = [one.gold for one in choices]
    first, second = (
        pick_scores(score_parses(gold, trees, _heads(gold), _heads(trees)), ("bracket F1", "UAS"))
        for trees in ([one.best for one in choices], [one.chosen for one in choices])
    )
    return "\n".join(
        f"  {each.name:12} {100 * each.first:.2f} -> {100 * each.second:.2f}  {100 * each.difference:+.2f}  "
        f"p {each.p_value:.4f}"
        for each in compare(first, second, np.random.default_rng(0), samples)
    )


def _heads(trees: Sequence[Tree]) -> list[Attachments]:
    return [Attachments(tuple(str(leaf.word) for leaf in tree.leaves()), unlabelled_heads(tree)) for tree in trees]
