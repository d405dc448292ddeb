"""Look into a phrase model: its card and its strongest features, in words.

    forestalign model show
    forestalign model show my-model.json.gz --top 30

Prints the card, the weights of the features, then the strongest pairs of categories and of words.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from forestalign.features import CATEGORIES, DENSE
from forestalign.grammar import grammar_root
from forestalign.model import SHIPPED, load_model

MEANINGS = {
    "surface": "heads equal, or one in the other",
    "wordnet": "heads are synonyms or derivations in WordNet",
    "embedding": "cosine of the heads over the threshold",
    "preposition": "both heads are prepositions",
    "same_category": "the same category",
    "coverage": "share of word links inside both phrases",
    "cosine": "cosine of the mean word vectors",
    "length": "shorter length divided by longer",
    "null_linked": "share of linked words in a phrase left null",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show",))
    parser.add_argument("model", nargs="?", default="", help="model file (default: the shipped one)")
    parser.add_argument("--top", type=int, default=15, metavar="N", help="features of each kind (default: 15)")
    parser.add_argument("--json", action="store_true", help="the card and all weights as JSON")


def run(args: argparse.Namespace) -> int:
    model = load_model(args.model)
    path = Path(args.model) if args.model else grammar_root() / SHIPPED
    with gzip.open(path, "rt", encoding="utf-8") as file:
        content = json.load(file)
    if args.json:
        print(json.dumps(content, ensure_ascii=False))
        return 0
    print(f"{path.name}")
    for name, value in content["card"].items():
        print(f"  {name}: {value}")
    print(f"  embedding threshold: {model.features.embedding_threshold}")
    print("features:")
    for k in sorted(range(len(DENSE)), key=lambda k: -abs(model.dense[k])):
        print(f"  {model.dense[k]:+8.3f}  {DENSE[k]:<14} {MEANINGS[DENSE[k]]}")
    print("category pairs:")
    names = [category.value for category in CATEGORIES]
    for k in sorted(range(len(model.category)), key=lambda k: -abs(model.category[k]))[: args.top]:
        print(f"  {model.category[k]:+8.3f}  {names[k // len(names)]} ~ {names[k % len(names)]}")
    print(f"word pairs ({len(model.lexical)}):")
    for k in sorted(range(len(model.lexical)), key=lambda k: -abs(model.lexical[k]))[: args.top]:
        lemma, category, other, other_category = model.lexical_keys[k]
        print(f"  {model.lexical[k]:+8.3f}  {lemma} ({category}) ~ {other} ({other_category})")
    return 0
