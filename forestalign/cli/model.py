"""Look into a phrase model: its card and its strongest features, in words.

    forestalign model show
    forestalign model show my-model.json.gz --top 30

Prints the card, the weights of the features, then the strongest pairs of categories and of words.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from forestalign.errors import UsageError
from forestalign.features import CATEGORIES, DENSE
from forestalign.grammar import grammar_root
from forestalign.model import SHIPPED, FloatArray, PhraseModel, load_model
from forestalign.training import plot_objective

MEANINGS = {
    "surface": "heads equal, or one in the other",
    "wordnet": "heads are synonyms or derivations in WordNet",
    "embedding": "cosine of the heads over the threshold",
    "preposition": "both heads are prepositions",
    "same_category": "the same category",
    "coverage": "share of word links inside both phrases, by probability",
    "cosine": "cosine of the mean word vectors",
    "length": "shorter length divided by longer",
    "null_linked": "how likely the words of a phrase left null are linked",
    "link": "how likely the two heads are linked",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show",))
    parser.add_argument("model", nargs="?", default="", help="model file (default: the shipped one)")
    parser.add_argument("--top", type=int, default=15, metavar="N", help="features of each kind (default: 15)")
    parser.add_argument("--json", action="store_true", help="the card and all weights as JSON")
    parser.add_argument("--plot", default="", metavar="PNG", help="draw how the objective grew")


def run(args: argparse.Namespace) -> int:
    if args.model == "uniform":
        raise UsageError("the uniform model has no file and no card; name a model file, or none for the shipped one")
    model = load_model(args.model)
    path = Path(args.model) if args.model else grammar_root() / SHIPPED
    with gzip.open(path, "rt", encoding="utf-8") as file:
        content = json.load(file)
    if args.plot:
        plot_objective(args.plot, content["card"].get("objective", ()))
    if args.json:
        print(json.dumps(content, ensure_ascii=False))
        return 0
    _show_card(path.name, content["card"], model)
    _show_weights(model, args.top)
    return 0


def _show_card(name: str, card: Mapping[str, object], model: PhraseModel) -> None:
    print(name)
    for field, value in card.items():
        print(f"  {field}: {value}")
    print(f"  embedding threshold: {model.features.embedding_threshold}")


def _show_weights(model: PhraseModel, top: int) -> None:
    print("features:")
    for k in _strongest(model.dense, len(DENSE)):
        print(f"  {model.dense[k]:+8.3f}  {DENSE[k]:<14} {MEANINGS[DENSE[k]]}")
    print("category pairs:")
    names = [category.value for category in CATEGORIES]
    for k in _strongest(model.category, top):
        print(f"  {model.category[k]:+8.3f}  {names[k // len(names)]} ~ {names[k % len(names)]}")
    print(f"word pairs ({len(model.lexical)}):")
    for k in _strongest(model.lexical, top):
        lemma, category, other, other_category = model.lexical_keys[k]
        print(f"  {model.lexical[k]:+8.3f}  {lemma} ({category}) ~ {other} ({other_category})")


def _strongest(weights: FloatArray, count: int) -> Sequence[int]:
    return sorted(range(len(weights)), key=lambda k: (-abs(weights[k]), k))[:count]
