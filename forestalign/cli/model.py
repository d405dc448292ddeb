"""Show what a phrase model, or a file of phrase scores, has learned: its card and its strongest features, in words.

    forestalign model show
    forestalign model show scores
    forestalign model show my-model.json.gz --top 30
    forestalign model show my-scores.json

Prints the card and the weights: of a model the features, then the strongest pairs of categories and of words; of scores
(`scores` is the shipped file of `scoring=best`) the parts of a derivation and what posteriors mean.
"""

from __future__ import annotations

import argparse
import json

from forestalign.grammar import grammar_root
from forestalign.learning.model_description import describe_model, read_model_content
from forestalign.phrases.scoring.score_model import SHIPPED


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("action", choices=("show",), help="what to do")
    parser.add_argument(
        "model", nargs="?", default="", help="model or scores file, or `scores` (default: the shipped model)"
    )
    parser.add_argument("--top", type=int, default=15, metavar="N", help="show N features of each kind (default: 15)")
    parser.add_argument("--json", action="store_true", help="print the card and all weights as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the model."""
    if args.model == "scores":
        args.model = str(grammar_root() / SHIPPED)
    content = read_model_content(args.model)
    print(json.dumps(content, ensure_ascii=False) if args.json else describe_model(args.model, args.top))
    return 0
