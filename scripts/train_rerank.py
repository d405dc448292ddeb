"""Learn the weights of `rerank`, grammar/rerank_weights.tsv, from pairs with gold trees on both sides.

    python scripts/make_pairs.py ewt.train.mrg.gz --permutations --every 8 -o made.jsonl
    python scripts/train_rerank.py made.jsonl annotations/train.jsonl --ambiguous annotations/ambiguity.jsonl \\
        --limit 120 -o grammar/rerank_weights.tsv
    python scripts/train_rerank.py --children ewt.train.mrg.gz -o grammar/known_children.tsv

Of ambiguous pairs only the half `dev` is read. With --children it writes what stands below each phrase in a treebank.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from forestalign.aligner import Aligner
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import NoParseError
from forestalign.evaluation.ambiguous_pairs import read_ambiguous
from forestalign.evaluation.annotated_pairs import AnnotatedPair, read_annotations
from forestalign.formats.lines import write_lines
from forestalign.formats.tree_files import read_trees
from forestalign.grammar import base_label
from forestalign.learning.rerank_training import fit, risk, tree_choices
from forestalign.reranking.rerank import ParsedPair
from forestalign.reranking.tree_features import FEATURES, rerank_weights_text
from forestalign.trees import Tree, preorder, strip_annotation

BATCH = 32
FEWEST, LEAST_SHARE = 3, 5e-4  # of a child that counts as known below a phrase
ROOT = "TOP"
Item = tuple[AnnotatedPair, tuple[float, float]]


def main() -> int:
    args = _arguments()
    if args.children:
        write_lines(args.output, children_rows(args.children))
        return 0
    items = list(_items(args))
    parsed = list(_parsed([pair for pair, _ in items], Aligner(DEFAULT_CONFIG)))
    weights = np.zeros(len(FEATURES))
    for number in range(args.passes):
        choices = []
        for (pair, counts), both in zip(items, parsed, strict=True):
            trees = pair.source.tree, pair.target.tree
            choices += tree_choices(both, trees, weights, counts)
        weights = fit(choices, weights, args.penalty, args.steps)
        print(f"pass {number + 1}: risk {risk(choices, weights)[0] / len(choices):.4f} a sentence", flush=True)
    names = ", ".join(Path(path).name for path in (*args.gold, args.ambiguous) if path)
    comment = f"NAME, WEIGHT: what the other sentence adds to the log score of a tree; learned on {names}"
    write_lines(args.output, rerank_weights_text(weights, comment).splitlines())
    return 0


def _items(args: argparse.Namespace) -> Iterator[Item]:
    """Pairs and what their sides count; each sentence counts the same, whatever its length."""
    for path in args.gold:
        for pair in list(read_annotations(path))[: args.limit or None]:
            yield pair, (1.0 / _size(pair.source.tree), 1.0 / _size(pair.target.tree))
    for each in read_ambiguous(args.ambiguous) if args.ambiguous else ():
        if each.split == "dev":
            factors = (args.emphasis, args.partner) if each.side == "source" else (args.partner, args.emphasis)
            pair = each.pair
            yield pair, (factors[0] / _size(pair.source.tree), factors[1] / _size(pair.target.tree))


def _size(tree: Tree) -> int:
    return sum(not node.is_leaf for node in preorder(tree))


def _parsed(pairs: Sequence[AnnotatedPair], aligner: Aligner) -> Iterator[ParsedPair]:
    for begin in range(0, len(pairs), BATCH):
        part = pairs[begin : begin + BATCH]
        rows = [(pair.id, pair.source.tokens, pair.target.tokens, None) for pair in part]
        for found in aligner.parse_pairs(rows):
            if isinstance(found, NoParseError):
                raise found
            yield found


def children_rows(path: str) -> list[str]:
    """The rows of known_children.tsv from the trees of a file."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for numbered in read_trees(path):
        for node in preorder(strip_annotation(numbered.tree)):
            counts[base_label(node.label)].update(base_label(child.label) for child in node.children)
    rows = ["# LABEL, CHILDREN: labels and tags that stand directly below a phrase in the English Web Treebank"]
    for label in sorted(set(counts) - {ROOT}):
        least = max(FEWEST, LEAST_SHARE * counts[label].total())
        kept = sorted(child for child, count in counts[label].items() if count >= least)
        if kept:
            rows.append(f"{label}\t{' '.join(kept)}")
    return rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="*", metavar="GOLD", help="annotated pairs")
    parser.add_argument("--ambiguous", default="", metavar="FILE", help="pairs of which one sentence is ambiguous")
    parser.add_argument("--children", default="", metavar="TREEBANK", help="write known children instead of weights")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="what is written")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N pairs of each file of GOLD")
    parser.add_argument("--emphasis", type=float, default=4.0, metavar="X", help="what an ambiguous sentence counts")
    parser.add_argument("--partner", type=float, default=0.3, metavar="X", help="what its partner counts")
    parser.add_argument("--penalty", type=float, default=1e-3, metavar="X", help="on squares of weights")
    parser.add_argument("--passes", type=int, default=2, metavar="N", help="forests are made again for each")
    parser.add_argument("--steps", type=int, default=25, metavar="N", help="steps of the optimiser in each")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
