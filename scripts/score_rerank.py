"""What `rerank` is worth: trees chosen with the help of the other sentence, against the parser's 1-best.

    python scripts/score_rerank.py --ambiguous annotations/ambiguity.jsonl --split dev
    python scripts/make_pairs.py ewt.dev.mrg.gz --usage ewt.train.mrg.gz --permutations -o made.jsonl
    python scripts/score_rerank.py made.jsonl annotations/dev.jsonl

Of ambiguous sentences: how many of those that the 1-best reads wrongly are put right, and how many of those that it
reads rightly are broken, by the brackets that matter and by whole trees. Of all files: F1 of brackets and UAS before
and after, with p-values of approximate randomisation over sentences.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestalign.aligner import Aligner
from forestalign.cli.align_options import add_settings, config_of
from forestalign.dependencies import unlabelled_heads
from forestalign.errors import NoParseError
from forestalign.evaluation import Attachments, Evaluation, compare, score_brackets, score_parses
from forestalign.evaluation.ambiguous_pairs import KINDS, SPLITS, AmbiguousPair, read_ambiguous
from forestalign.evaluation.annotated_pairs import AnnotatedPair
from forestalign.evaluation.annotation_files import read_annotations
from forestalign.evaluation.counts import picked
from forestalign.evaluation.significance import SAMPLES
from forestalign.reranking import RerankedPair
from forestalign.trees import Tree

BATCH = 32


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence: its gold tree, the 1-best, the chosen tree."""

    gold: Tree
    best: Tree
    chosen: Tree


def main() -> int:
    args = _arguments()
    aligner = Aligner(config_of(args))
    if args.ambiguous:
        pairs = [pair for pair in read_ambiguous(args.ambiguous) if pair.split == args.split]
        found = list(reranked([pair.pair for pair in pairs], aligner))
        print(f"{args.ambiguous}, {args.split}: {len(pairs)} pairs\n{readings(pairs, found)}")
        print(tree_scores(scored([pair.pair for pair in pairs], found), args.seed, args.samples))
    for path in args.gold:
        annotated = list(read_annotations(path))[: args.limit or None]
        print(f"{path}: {len(annotated)} pairs")
        print(tree_scores(scored(annotated, list(reranked(annotated, aligner))), args.seed, args.samples), flush=True)
    print(aligner.signature)
    return 0


def reranked(pairs: Sequence[AnnotatedPair], aligner: Aligner) -> Iterator[RerankedPair]:
    """The pairs in order; one without a parse ends the run."""
    for begin in range(0, len(pairs), BATCH):
        part = pairs[begin : begin + BATCH]
        for found in aligner.rerank_many([(pair.id, pair.source.tokens, pair.target.tokens, None) for pair in part]):
            if isinstance(found, NoParseError):
                raise found
            yield found


def scored(pairs: Sequence[AnnotatedPair], found: Sequence[RerankedPair]) -> list[Scored]:
    """All sentences, sources before targets."""
    return [
        Scored(gold.tree, one.best.tree, one.chosen.tree)
        for pair, both in zip(pairs, found, strict=True)
        for gold, one in ((pair.source, both.source), (pair.target, both.target))
    ]


class Change(NamedTuple):
    """Whether something is right in the 1-best, and whether it is in the chosen tree."""

    before: bool
    after: bool


def readings(pairs: Sequence[AmbiguousPair], found: Sequence[RerankedPair]) -> str:
    """The table of readings put right and broken, by kind and together."""
    answers = [both.source if pair.side == "source" else both.target for pair, both in zip(pairs, found, strict=True)]
    trees = [(one.best.tree, one.chosen.tree) for one in answers]
    read = [Change(*map(pair.reading.is_of, both)) for pair, both in zip(pairs, trees, strict=True)]
    whole = [
        Change(*(is_complete(pair.sentence.tree, tree) for tree in both))
        for pair, both in zip(pairs, trees, strict=True)
    ]
    by_kind = [
        (kind, [change for pair, change in zip(pairs, read, strict=True) if pair.kind == kind]) for kind in KINDS
    ]
    rows = [*by_kind, ("brackets that matter", read), ("whole trees", whole)]
    return "\n".join(_row(name, changes) for name, changes in rows)


def is_complete(gold: Tree, tree: Tree) -> bool:
    """Whether all brackets of a tree are those of the gold tree."""
    return score_brackets([gold], [tree])["complete match"] == 1.0


def _row(name: str, changes: Sequence[Change]) -> str:
    wrong, right = ([change.after for change in changes if change.before is state] for state in (False, True))
    share = f"{sum(wrong)} of {len(wrong)} wrong put right"
    return f"  {name:22} {share:24} {sum(not after for after in right)} of {len(right)} right broken"


def tree_scores(sentences: Sequence[Scored], seed: int, samples: int) -> str:
    """F1 of brackets and UAS before and after."""
    first, second = (picked(_evaluated(sentences, which), ("bracket F1", "UAS")) for which in ("best", "chosen"))
    found = compare(first, second, np.random.default_rng(seed), samples)
    return "\n".join(
        f"  {each.name:12} {100 * each.first:.2f} -> {100 * each.second:.2f}  {100 * each.difference:+.2f}  "
        f"p {each.p_value:.4f}"
        for each in found
    )


def _evaluated(sentences: Sequence[Scored], which: str) -> Evaluation:
    gold, system = [one.gold for one in sentences], [getattr(one, which) for one in sentences]
    return score_parses(gold, system, [_heads(tree) for tree in gold], [_heads(tree) for tree in system])


def _heads(tree: Tree) -> Attachments:
    return Attachments(tuple(str(leaf.word) for leaf in tree.leaves()), unlabelled_heads(tree))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="*", metavar="GOLD", help="annotated pairs")
    parser.add_argument("--ambiguous", default="", metavar="FILE", help="pairs of which one sentence is ambiguous")
    parser.add_argument("--split", choices=SPLITS, default="dev", help="half of these pairs (default: dev)")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N pairs of each other file")
    parser.add_argument("-B", "--samples", type=int, default=SAMPLES, help="shuffles of a significance test")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the significance tests")
    add_settings(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
