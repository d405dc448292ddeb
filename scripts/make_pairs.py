"""Pairs of sentences to learn from and to measure on: permutations of a treebank's sentences, or a sample of files.

    python scripts/make_pairs.py permute ewt.dev.mrg.gz --usage ewt.train.mrg.gz -o permuted.jsonl
    python scripts/make_pairs.py sample mtref.train.jsonl.gz:900 msrp.train.jsonl.gz:900 -o pairs.jsonl

`permute`: each sentence gives at most one pair, by the rarest kind of rule that fires (scripts/permutation_rules.py):
order of clauses and predicates, fronting, coordination. The output has the form of `annotations/*.jsonl` with gold
trees on both sides; its one annotator, `rules`, aligns what the words that a rule kept link on these trees.
`sample`: FILE:N draws N pairs of a file of JSON lines at random, with a fixed seed, without their annotation; pairs
that are marked as no paraphrases (`"paraphrase": 0`) are passed over.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from permutation_rules import (
    Link,
    Usage,
    count_usage,
    fronted_adjuncts,
    fronted_clauses,
    moved_back_adjuncts,
    moved_back_clauses,
    number_anew,
    swapped_clauses,
    swapped_conjuncts,
)

from forestalign.evaluation.annotated_pairs import (
    AnnotatedPair,
    AnnotatedSentence,
    Annotation,
    NamedPair,
    format_annotated_pair,
    node_names,
)
from forestalign.evaluation.phrase_scores import one_tree_forest
from forestalign.evaluation.projection import project
from forestalign.formats.lines import write_lines
from forestalign.formats.tree_files import read_trees
from forestalign.tokens import Sentence
from forestalign.trees import Tree, strip_annotation
from forestalign.words.alignment import WordAlignment, WordLink

ANNOTATOR = "rules"
FEWEST_WORDS, MOST_WORDS = 5, 40
_ODD_TAGS = frozenset({"GW", "ADD", "LS", "XX", "FW", "NFP", "UH", "-LRB-", "-RRB-"})


class Rule(NamedTuple):
    """One way to say a sentence again; `phenomenon` is as in annotations/."""

    name: str
    phenomenon: str
    apply: Callable[[Tree, Usage], Iterator[Tree]]


RULES = (
    Rule("clause-back", "clause-reordering", moved_back_clauses),
    Rule("clause-front", "clause-reordering", fronted_clauses),
    Rule("clause-swap", "conjunct-order", swapped_clauses),
    Rule("adjunct-back", "adjunct-fronting", moved_back_adjuncts),
    Rule("adjunct-front", "adjunct-fronting", fronted_adjuncts),
    Rule("swap", "coordination", swapped_conjuncts),
)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    permute = commands.add_parser("permute", help="say the sentences of a treebank again in another order")
    permute.add_argument("treebank", metavar="TREEBANK", help="Penn brackets, plain or gzipped")
    permute.add_argument("--usage", default="", metavar="TREEBANK", help="count words in this one (default: the same)")
    permute.add_argument("--every", type=int, default=1, metavar="N", help="write every N-th pair")
    permute.add_argument("--most", type=int, default=0, metavar="N", help="write at most N pairs (default: all)")
    permute.set_defaults(run=write_permutations)
    sample = commands.add_parser("sample", help="draw pairs of files")
    sample.add_argument("files", nargs="+", metavar="FILE:N")
    sample.add_argument("--seed", type=int, default=1)
    sample.set_defaults(run=write_sample)
    for command in (permute, sample):
        command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the pairs as JSON lines")
    args = parser.parse_args(arguments)
    args.run(args)


def write_permutations(args: argparse.Namespace) -> None:
    trees, stem = read_plain_trees(args.treebank), Path(args.treebank).name.partition(".mrg")[0]
    usage = count_usage(read_plain_trees(args.usage) if args.usage else trees)
    pairs = list(make_pairs(trees, usage, stem))[:: args.every][: args.most or None]
    write_lines(args.output, [format_annotated_pair(pair) for pair in pairs])
    for name, count in sorted(Counter(pair.phenomena[0] for pair in pairs).items()):
        print(f"{name:24} {count:5}")
    print(f"{len(pairs)} pairs from {len(trees)} trees")


def read_plain_trees(path: str) -> list[Tree]:
    """The trees of a file without traces and function labels."""
    return [strip_annotation(numbered.tree) for numbered in read_trees(path)]


def make_pairs(trees: Sequence[Tree], usage: Usage, stem: str) -> Iterator[AnnotatedPair]:
    """One pair of each sentence that a rule fires on; sentences that were there before are left out."""
    seen: set[tuple[str, ...]] = set()
    for number, tree in enumerate(trees, start=1):
        pair = make_pair(tree, usage, f"{stem}-{number}")
        if pair is not None and not {pair.source.tokens, pair.target.tokens} & seen:
            seen |= {pair.source.tokens, pair.target.tokens}
            yield pair


def make_pair(tree: Tree, usage: Usage, name: str) -> AnnotatedPair | None:
    """The sentence with what the first rule that fires makes of it; None if none does."""
    if not is_plain_sentence(tree):
        return None
    for rule in RULES:
        changed = next(rule.apply(tree, usage), None)
        if changed is not None:
            other, links = number_anew(changed, usage.lower_case)
            annotation = Annotation(ANNOTATOR, _align(tree, other, links))
            sentences = _sentence(tree), _sentence(other)
            return AnnotatedPair(f"{name}-{rule.name}", (rule.phenomenon,), *sentences, (annotation,))
    return None


def is_plain_sentence(tree: Tree) -> bool:
    """A whole sentence of middling length that begins with a capital letter and ends with a full stop."""
    leaves = list(tree.leaves())
    first, last, tags = str(leaves[0].word), str(leaves[-1].word), [leaf.label for leaf in leaves]
    is_whole = tree.label == "S" and first[0].isupper() and last in {".", "!"} and tags[0].isalpha()
    is_shouted = first.isupper() and len(first) > 1
    is_odd = bool(_ODD_TAGS.intersection(tags)) or "." in tags[:-1] or tags.count("``") != tags.count("''")
    return is_whole and not is_shouted and FEWEST_WORDS <= len(leaves) <= MOST_WORDS and not is_odd


def _sentence(tree: Tree) -> AnnotatedSentence:
    tokens = tuple(str(leaf.word) for leaf in tree.leaves())
    return AnnotatedSentence(Sentence.from_words(tokens).text, tokens, tree)


def _align(source: Tree, target: Tree, links: Sequence[Link]) -> tuple[NamedPair, ...]:
    """The phrase pairs that the links give on the gold trees."""
    forests = one_tree_forest(source), one_tree_forest(target)
    names = node_names(forests[0]), node_names(forests[1])
    pairs = project(*forests, WordAlignment(tuple(WordLink(i, j, 1.0, ANNOTATOR) for i, j in links)))
    return tuple(NamedPair(names[0][left], names[1][right]) for left, right in pairs)


def write_sample(args: argparse.Namespace) -> None:
    rows = [row for text in args.files for row in sample_pairs(text, args.seed)]
    write_lines(args.output, [json.dumps(row, ensure_ascii=False) for row in rows])


def sample_pairs(text: str, seed: int) -> list[dict[str, Any]]:
    """The pairs of FILE:N in the order of the file, with identifiers that name the file."""
    name, _, count = text.rpartition(":")
    if not name or not count.isdigit():
        raise SystemExit(f"{text!r}; expected FILE:N")
    opener = gzip.open if name.endswith(".gz") else open
    with opener(name, "rt", encoding="utf-8") as file:
        records = [record for record in map(json.loads, filter(str.strip, file)) if record.get("paraphrase", 1)]
    if len(records) < int(count):
        raise SystemExit(f"{name}: {len(records)} pairs; expected at least {count}")
    stem = Path(name).name.split(".jsonl")[0]
    chosen = sorted(random.Random(seed).sample(range(len(records)), int(count)))
    return [{"id": f"{stem}:{i}", "source": records[i]["source"], "target": records[i]["target"]} for i in chosen]


if __name__ == "__main__":
    main()
