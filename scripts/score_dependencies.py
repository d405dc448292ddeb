"""Score the conversion to Universal Dependencies against a treebank that has both kinds of trees.

    python scripts/score_dependencies.py TREES CONLLU

TREES holds Penn brackets, one tree per line, CONLLU the same sentences in the same order; gzip by suffix. Punctuation,
by the gold universal tag, is left out. LAS is given twice: with relations exactly as in the file, and without subtypes.
Then the relations that are confused most, and precision and recall of each.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from forestalign.dependencies import to_dependencies
from forestalign.grammar import grammar_hash
from forestalign.tokens import Sentence, lemmatize
from forestalign.trees import parse_brackets


class GoldToken(NamedTuple):
    """What is needed of a line of CoNLL-U."""

    form: str
    universal_tag: str
    head: int  # -1 for the root
    relation: str


class Scored(NamedTuple):
    """One token: gold relation, relation of the conversion, and whether the heads agree."""

    gold: str
    found: str
    same_head: bool


def open_text(path: Path) -> TextIO:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def read_conllu(path: Path) -> Iterator[list[GoldToken]]:
    """The basic tokens of each sentence."""
    sentence: list[GoldToken] = []
    with open_text(path) as file:
        for line in file:
            columns = line.rstrip("\n").split("\t")
            if len(columns) < 8:
                if sentence and not line.strip():
                    yield sentence
                    sentence = []
            elif columns[0].isdigit():
                sentence.append(GoldToken(columns[1], columns[3], int(columns[6]) - 1, columns[7]))
    if sentence:
        yield sentence


def score(trees: Path, conllu: Path) -> tuple[list[Scored], int]:
    """Every token that is not punctuation, and the number of sentences."""
    scored, count = [], 0
    with open_text(trees) as file:
        for line, gold in zip(file, read_conllu(conllu), strict=True):
            tree = parse_brackets(line)
            tags, words = [leaf.label for leaf in tree.leaves()], [token.form for token in gold]
            sentence = Sentence.from_words(words).with_analysis(tags, lemmatize(words, tags))
            found = to_dependencies(tree, sentence)
            for token, head, relation in zip(gold, found.heads, found.plain_relations, strict=True):
                if token.universal_tag != "PUNCT":
                    scored.append(Scored(token.relation, relation, head == token.head))
            count += 1
    return scored, count


def base(relation: str) -> str:
    return relation.split(":")[0]


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "-"


def report(scored: list[Scored], sentence_count: int, row_count: int) -> None:
    total = len(scored)
    print(f"sentences {sentence_count}, tokens without punctuation {total}, grammar {grammar_hash()}")
    print(f"UAS {percent(sum(token.same_head for token in scored), total)}")
    print(f"LAS {percent(sum(token.same_head and token.gold == token.found for token in scored), total)}")
    labels = sum(token.same_head and base(token.gold) == base(token.found) for token in scored)
    print(f"LAS without subtypes {percent(labels, total)}")
    print("\ncount\tgold\tfound\thead")
    wrong = Counter(token for token in scored if not token.same_head or token.gold != token.found)
    for token, count in sorted(wrong.items(), key=lambda item: (-item[1], item[0]))[:row_count]:
        print(f"{count}\t{token.gold}\t{token.found}\t{'right' if token.same_head else 'wrong'}")
    print("\nrelation\tgold\tprecision\trecall")
    gold, found = Counter(token.gold for token in scored), Counter(token.found for token in scored)
    right = Counter(token.gold for token in scored if token.same_head and token.gold == token.found)
    for relation, count in sorted(gold.items(), key=lambda item: (-item[1], item[0])):
        print(f"{relation}\t{count}\t{percent(right[relation], found[relation])}\t{percent(right[relation], count)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, metavar="TREES")
    parser.add_argument("conllu", type=Path, metavar="CONLLU")
    parser.add_argument("--rows", type=int, default=40, help="rows of the confusion table (40)")
    args = parser.parse_args()
    report(*score(args.trees, args.conllu), args.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
