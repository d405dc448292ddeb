"""Pairs of sentences with gold trees on both sides, made from the gold trees of a treebank by rules.

    python scripts/make_pairs.py ewt.train.mrg.gz -o pairs.jsonl

Each sentence gives at most one pair, by the rarest kind of rule that fires: voice, dative, relative clauses, order of
clauses and predicates, fronting, coordination. A rule fires only where the tree allows it surely. The output has the
form of `annotations/*.jsonl`: its one annotator, `rules`, aligns what the words that a rule kept link on the two gold
trees. `--show N` prints N pairs of the output, drawn at random, with their trees.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraphrase_rules.dative import double_objects, prepositional_datives
from paraphrase_rules.nominals import (
    bare_relatives,
    full_relatives,
    marked_relatives,
    reduced_relatives,
    relatives_as_predicates,
    swapped_conjuncts,
)
from paraphrase_rules.order import (
    fronted_adjuncts,
    fronted_clauses,
    moved_back_adjuncts,
    moved_back_clauses,
    swapped_clauses,
)
from paraphrase_rules.tree_edits import Link, Paraphrase, finished
from paraphrase_rules.usage import Usage, usage_of
from paraphrase_rules.voice import actives, passives

from forestalign.errors import counted
from forestalign.evaluation import project
from forestalign.evaluation.annotated_pairs import (
    AnnotatedPair,
    AnnotatedSentence,
    Annotation,
    NamedPair,
    node_names,
)
from forestalign.evaluation.annotation_files import format_annotated_pair
from forestalign.evaluation.phrase_scores import one_tree_forest
from forestalign.formats.lines import write_lines
from forestalign.formats.tree_files import read_trees
from forestalign.tokens import Sentence
from forestalign.trees import Tree, format_brackets, strip_annotation
from forestalign.words.alignment import WordAlignment, WordLink

ANNOTATOR = "rules"
FEWEST_WORDS, MOST_WORDS = 5, 40
_ODD_TAGS = frozenset({"GW", "ADD", "LS", "XX", "FW", "NFP", "UH", "-LRB-", "-RRB-"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say a sentence again; `phenomenon` is as in annotations/."""

    name: str
    phenomenon: str
    apply: Callable[[Tree, Usage], Iterator[Tree]]


RULES = (
    Rule("active", "voice", actives),
    Rule("passive", "voice", passives),
    Rule("prepositional-dative", "dative", prepositional_datives),
    Rule("double-object", "dative", double_objects),
    Rule("relative-as-predicate", "relative-clause", relatives_as_predicates),
    Rule("reduced-relative", "relative-clause", reduced_relatives),
    Rule("full-relative", "relative-clause", full_relatives),
    Rule("bare-relative", "relative-clause", bare_relatives),
    Rule("marked-relative", "relative-clause", marked_relatives),
    Rule("clause-back", "clause-reordering", moved_back_clauses),
    Rule("clause-front", "clause-reordering", fronted_clauses),
    Rule("clause-swap", "conjunct-order", swapped_clauses),
    Rule("adjunct-back", "adjunct-fronting", moved_back_adjuncts),
    Rule("adjunct-front", "adjunct-fronting", fronted_adjuncts),
    Rule("swap", "coordination", swapped_conjuncts),
)


# rules that keep all words and change their order alone
PERMUTATIONS = tuple(
    rule
    for rule in RULES
    if rule.phenomenon in {"clause-reordering", "conjunct-order", "adjunct-fronting", "coordination"}
)


def main() -> int:
    args = _arguments()
    trees = _trees(args.treebank)
    stem = Path(args.treebank).name.partition(".mrg")[0]
    rules = PERMUTATIONS if args.permutations else RULES
    pairs = list(made_pairs(trees, usage_of(_trees(args.usage) if args.usage else trees), stem, rules))
    pairs = pairs[:: args.every][: args.most or None]
    write_lines(args.output, [format_annotated_pair(pair) for pair in pairs])
    for name, count in sorted(Counter(rule_of(pair) for pair in pairs).items()):
        print(f"{name:24} {count:5}")
    print(f"{counted(len(pairs), 'pair')} from {counted(len(trees), 'tree')}")
    for pair in random.Random(args.seed).sample(pairs, min(args.show, len(pairs))):
        print(
            f"\n{pair.id}",
            *(f"  {side.text}\n    {format_brackets(side.tree)}" for side in (pair.source, pair.target)),
            sep="\n",
        )
    return 0


def _trees(path: str) -> list[Tree]:
    return [strip_annotation(numbered.tree) for numbered in read_trees(path)]


def made_pairs(
    trees: Sequence[Tree], usage: Usage, stem: str, rules: Sequence[Rule] = RULES
) -> Iterator[AnnotatedPair]:
    """One pair of each sentence that a rule fires on; sentences that were there before are left out."""
    seen: set[tuple[str, ...]] = set()
    for number, tree in enumerate(trees, start=1):
        found = made_pair(tree, usage, f"{stem}-{number}", rules)
        if found is None or {found.source.tokens, found.target.tokens} & seen:
            continue
        seen |= {found.source.tokens, found.target.tokens}
        yield found


def made_pair(tree: Tree, usage: Usage, name: str, rules: Sequence[Rule] = RULES) -> AnnotatedPair | None:
    """The sentence with what the first rule that fires makes of it; None if none does."""
    if not is_plain_sentence(tree):
        return None
    for rule in rules:
        changed = next(rule.apply(tree, usage), None)
        if changed is not None:
            made = finished(changed, usage.lower_case)
            return _annotated(f"{name}-{rule.name}", rule.phenomenon, tree, made)
    return None


def is_plain_sentence(tree: Tree) -> bool:
    """A whole sentence of middling length that begins with a capital letter and ends with a full stop."""
    leaves = list(tree.leaves())
    first, last = str(leaves[0].word), str(leaves[-1].word)
    is_whole = tree.label == "S" and first[0].isupper() and last in {".", "!"} and leaves[0].label.isalpha()
    is_shouted = first.isupper() and len(first) > 1
    return is_whole and not is_shouted and FEWEST_WORDS <= len(leaves) <= MOST_WORDS and not _has_odd_words(leaves)


def _has_odd_words(leaves: Sequence[Tree]) -> bool:
    tags = [leaf.label for leaf in leaves]
    return bool(_ODD_TAGS.intersection(tags)) or "." in tags[:-1] or tags.count("``") != tags.count("''")


def rule_of(pair: AnnotatedPair) -> str:
    """The name of the rule that made a pair, which its id ends in."""
    return next(rule.name for rule in RULES if pair.id.endswith(f"-{rule.name}"))


def _annotated(name: str, phenomenon: str, tree: Tree, made: Paraphrase) -> AnnotatedPair:
    annotation = Annotation(ANNOTATOR, _aligned(tree, made.tree, made.links))
    return AnnotatedPair(name, (phenomenon,), _sentence(tree), _sentence(made.tree), (annotation,))


def _sentence(tree: Tree) -> AnnotatedSentence:
    tokens = tuple(str(leaf.word) for leaf in tree.leaves())
    return AnnotatedSentence(Sentence.from_words(tokens).text, tokens, tree)


def _aligned(source: Tree, target: Tree, links: Sequence[Link]) -> tuple[NamedPair, ...]:
    """The phrase pairs that the links give on the gold trees."""
    forests = one_tree_forest(source), one_tree_forest(target)
    names = node_names(forests[0]), node_names(forests[1])
    found = project(*forests, WordAlignment(tuple(WordLink(i, j, 1.0, ANNOTATOR) for i, j in links)))
    return tuple(NamedPair(names[0][left], names[1][right]) for left, right in found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", metavar="TREEBANK", help="Penn brackets, plain or gzipped")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the pairs as JSON lines")
    parser.add_argument(
        "--usage", default="", metavar="TREEBANK", help="count words in this treebank (default: the same)"
    )
    parser.add_argument(
        "--permutations", action="store_true", help="only rules that put conjuncts, clauses and adjuncts elsewhere"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="write every N-th pair")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="write at most N pairs (default: all)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N pairs drawn at random")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed of the pairs that are printed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
