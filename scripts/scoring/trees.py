"""Sentences in another order, and trees chosen with the help of the other sentence."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from forestalign import Alignment
from forestalign.aligner import Aligner
from forestalign.cli.align_options import add_settings, config_of
from forestalign.dependencies import unlabelled_heads
from forestalign.evaluation.annotated_pairs import AnnotatedPair, read_annotations
from forestalign.evaluation.parse_scores import Attachments, score_brackets, score_parses
from forestalign.evaluation.scores import SAMPLES, compare, picked
from forestalign.forest import Forest
from forestalign.reranking import RerankedPair
from forestalign.tokens import Span
from forestalign.trees import Tree
from forestalign.words.alignment import is_content
from scoring.ambiguous_pairs import KINDS, SPLITS, AmbiguousPair, read_ambiguous

SpanPair = tuple[Span, Span]


def print_permutations(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """What is found again of sentences whose own parts were only put elsewhere.

        make_pairs.py permute ewt.dev.mrg.gz --usage ewt.train.mrg.gz -o permuted.jsonl
        score.py permutations permuted.jsonl

    Every word of such a pair has itself as its partner, and every constituent of several words that was kept whole. A
    constituent can be found only where the parser has it on both sides; that share is printed beside.
    """
    parser.add_argument("gold", nargs="+", metavar="PAIRS", help="pairs of make_pairs.py permute")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="the first N pairs of each file")
    add_settings(parser)
    args = parser.parse_args(arguments)
    aligner = Aligner(config_of(args))
    for path in args.gold:
        pairs = list(read_annotations(path))[: args.limit or None]
        counts: Counter[str] = Counter()
        for pair in pairs:
            counts += count_parts(pair, aligner.align(pair.source.tokens, pair.target.tokens))
        print(f"{path}: {len(pairs)} pairs\n{format_parts(counts)}")
    print(aligner.signature)


class Parts(NamedTuple):
    """What two sentences share: their words without punctuation, and their constituents of several words."""

    words: frozenset[SpanPair]
    constituents: frozenset[SpanPair]


def shared_parts(pair: AnnotatedPair) -> Parts:
    """The parts that the rule which made a pair kept."""
    words, constituents = set(), set()
    for source, target in pair.annotations[0].pairs:
        spans = Span(source.begin, source.end), Span(target.begin, target.end)
        if all(span.size == 1 for span in spans):
            if any(character.isalnum() for character in pair.source.tokens[source.begin]):
                words.add(spans)
        elif not source.is_bar and not target.is_bar:
            constituents.add(spans)
    return Parts(frozenset(words), frozenset(constituents))


def count_parts(pair: AnnotatedPair, result: Alignment) -> Counter[str]:
    """What of a pair was found, by the names of the table."""
    parts = shared_parts(pair)
    spans = {(one.source, one.target) for one in result.phrases.pairs}
    tokens, partner = pair.source.tokens, dict(parts.words)
    single = {source: target for source, target in spans if source.size == target.size == 1}
    small = [span for span in partner if not is_content(tokens[span.begin])]
    linked = {(Span(link.source, link.source + 1), Span(link.target, link.target + 1)) for link in result.words}
    content = [both for both in linked & parts.words if is_content(tokens[both[0].begin])]
    reached = _spans(result.source_forest), _spans(result.target_forest)
    missing = len(parts.words - spans) + len(parts.constituents - spans)
    return Counter(
        {
            "pairs": 1,
            "words": len(parts.words),
            "words found": len(parts.words & spans),
            "constituents": len(parts.constituents),
            "constituents found": len(parts.constituents & spans),
            "constituents parsed": sum(s in reached[0] and t in reached[1] for s, t in parts.constituents),
            "whole found": int(not missing),
            "function words": len(small),
            "function words elsewhere": sum(span in single and single[span] != partner[span] for span in small),
            "linked": len(content),
            "linked in no pair": len(set(content) - spans),
        }
    )


def _spans(forest: Forest) -> set[Span]:
    return {Span(node.begin, node.end) for node in forest.nodes if not node.is_bar}


def format_parts(counts: Counter[str]) -> str:
    """The shares, a row each."""
    rows = (
        ("words", "words found", "words"),
        ("constituents", "constituents found", "constituents"),
        ("constituents in both forests", "constituents parsed", "constituents"),
        ("whole pairs", "whole found", "pairs"),
        ("function words paired with another", "function words elsewhere", "function words"),
        ("linked content words in no pair", "linked in no pair", "linked"),
    )
    return "\n".join(
        f"  {name:36} {100 * counts[part] / max(counts[whole], 1):6.2f} %  ({counts[part]} of {counts[whole]})"
        for name, part, whole in rows
    )


# ---- rerank ----


def print_rerank(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """What `rerank` is worth: trees chosen with the help of the other sentence, against the parser's 1-best.

        score.py rerank annotations/dev.jsonl permuted.jsonl --ambiguous annotations/ambiguity.jsonl --split dev

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
        picked(score_parses(gold, trees, _heads(gold), _heads(trees)), ("bracket F1", "UAS"))
        for trees in ([one.best for one in choices], [one.chosen for one in choices])
    )
    return "\n".join(
        f"  {each.name:12} {100 * each.first:.2f} -> {100 * each.second:.2f}  {100 * each.difference:+.2f}  "
        f"p {each.p_value:.4f}"
        for each in compare(first, second, np.random.default_rng(0), samples)
    )


def _heads(trees: Sequence[Tree]) -> list[Attachments]:
    return [Attachments(tuple(str(leaf.word) for leaf in tree.leaves()), unlabelled_heads(tree)) for tree in trees]
