"""Learn the weights of `rerank`, grammar/rerank_weights.tsv, from pairs with gold trees on both sides.

    python scripts/train_rerank.py permuted.jsonl annotations/train.jsonl --ambiguous annotations/ambiguity.jsonl \\
        --limit 120 -o grammar/rerank_weights.tsv
    python scripts/train_rerank.py --children ewt.train.mrg.gz -o grammar/known_children.tsv

Of ambiguous pairs only the half `dev` is read. With --children it writes what stands below each phrase in a treebank.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scoring.ambiguous_pairs import read_ambiguous

from forestalign.aligner import Aligner
from forestalign.arrays import FloatArray
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import NoParseError
from forestalign.evaluation.annotated_pairs import AnnotatedPair, read_annotations
from forestalign.forest import Forest, edge_marginals
from forestalign.formats.lines import write_lines
from forestalign.formats.tree_files import read_trees
from forestalign.grammar import base_label
from forestalign.phrases.evidence.logistic import minimise
from forestalign.reranking.rerank import ParsedPair, weighed_sides
from forestalign.reranking.tree_features import FEATURES, Weights, rerank_weights_text
from forestalign.trees import Tree, preorder, strip_annotation

BATCH = 32
FEWEST, LEAST_SHARE = 3, 5e-4  # of a child that counts as known below a phrase
ROOT = "TOP"
Item = tuple[AnnotatedPair, tuple[float, float]]


# ---- the expected gain of a tree, G(w) = sum over e of p(e) g(e); its slope is d/dt E[f] under scores + t g ----


STEP = 1e-3  # t of the difference


@dataclass(frozen=True, slots=True, eq=False)
class TreeChoice:
    """The trees of a sentence as a forest, features and gains of its edges, and what the sentence counts."""

    forest: Forest
    features: FloatArray
    gains: FloatArray
    weight: float

    def marginals(self, weights: Weights, push: float = 0.0) -> FloatArray:
        """Probabilities of the edges, with the scores pushed along the gains."""
        arrays = self.forest.arrays
        scores = arrays.log_prob + self.features @ weights + push * self.gains
        return edge_marginals(Forest.of_arrays(self.forest.sentence, replace(arrays, log_prob=scores)))


def edge_gains(forest: Forest, gold: Tree) -> FloatArray:
    """For each edge: brackets of its phrase that the gold tree has, less those that it has not."""
    wanted = {(node.begin, node.end, node.label) for node in preorder(gold) if not node.is_leaf}
    gains = [
        0.0
        if node.is_bar or node.is_leaf
        else float(sum(1 if (node.begin, node.end, name) in wanted else -1 for name in node.label.split("+")))
        for node in forest.nodes
    ]
    return np.array(gains)[forest.arrays.edge_node]


def tree_choices(
    pair: ParsedPair, gold: tuple[Tree, Tree], weights: Weights, counts: tuple[float, float]
) -> list[TreeChoice]:
    """Both sides of a pair with the forests that these weights lead to, all exact spans alike, and what each counts."""
    return [
        TreeChoice(side.plain, side.features, edge_gains(side.plain, tree), count)
        for side, tree, count in zip(weighed_sides(pair, weights, 1.0), gold, counts, strict=True)
    ]


def fit(choices: Sequence[TreeChoice], weights: Weights, penalty: float, steps: int) -> Weights:
    """The weights of the greatest expected gain, less the penalty on their squares."""
    total = sum(choice.weight for choice in choices)

    def loss(at: Weights) -> tuple[float, Weights]:
        value, slope = risk(choices, at)
        return value / total + penalty * float(at @ at), slope / total + 2 * penalty * at

    return minimise(loss, weights, steps)


def risk(choices: Sequence[TreeChoice], weights: Weights) -> tuple[float, Weights]:
    """Less the expected gain, and its derivatives."""
    value, slope = 0.0, np.zeros_like(weights)
    for choice in choices:
        value -= choice.weight * float(choice.marginals(weights) @ choice.gains)
        change = choice.marginals(weights, STEP) - choice.marginals(weights, -STEP)
        slope -= choice.weight * (change @ choice.features) / (2 * STEP)
    return value, slope


# ---- the script ----


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
