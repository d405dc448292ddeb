"""Train the token CRF or the semi-Markov phrase CRF on gold links, and use the features that only they have.

    forestalign crf score pairs.tsv
    forestalign crf kbest pairs.tsv --count 5
    forestalign crf train gold.jsonl -o token.json
    forestalign crf train gold.jsonl -o phrase.json --phrase --synthetic
    forestalign crf synthesise gold.jsonl > phrases.jsonl

Gold is read in any format that `evaluate words` reads. `forestalign words --links crf --model MODEL` aligns with a
trained model; here are training, phrase gold made from token gold, scores of whole pairs and k-best lists.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import fields
from itertools import islice
from typing import Any, TypeVar

from forestalign.cli.options import add_force_option, add_jobs_option, check_outputs
from forestalign.config import AlignConfig
from forestalign.formats.pairs import BadRecord, read_pairs
from forestalign.formats.word_links import format_pharaoh
from forestalign.learning.crf_run import CrfGold, CrfPlan, synthesise_gold, train_crf
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
from forestalign.words.crf import load_crf
from forestalign.words.crf.feature_space import FAMILIES
from forestalign.words.crf.training import TrainSettings

Gold = TypeVar("Gold", bound=CrfGold)
PARSED_TOGETHER = 32  # pairs


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="train|synthesise|score|kbest")
    _add_train(kinds.add_parser("train", help="train a model on gold links"))
    synthesise = kinds.add_parser("synthesise", help="make phrase gold from token gold, as JSON lines")
    _add_gold(synthesise)
    for name, line in (
        ("score", "print one decision score per pair"),
        ("kbest", "print the best alignments of each pair"),
    ):
        command = kinds.add_parser(name, help=line)
        command.add_argument("pairs", help="sentence pairs in any pair format; - is stdin")
        command.add_argument(
            "--model",
            default="",
            metavar="FILE",
            help="use this model: a file, or the shipped token or phrase (default: token)",
        )
        command.add_argument("--ppdb", default="", metavar="FILE", help="add word pairs from a tab-separated list")
        command.add_argument(
            "--tokenized", action="store_true", help="take the text as tokenized: split at spaces only"
        )
        command.add_argument("--no-parser", action="store_true", help="use no tags: faster, less accurate")
        if name == "kbest":
            command.add_argument(
                "--count", type=int, default=5, metavar="K", help="print K alignments per pair (default: 5)"
            )


def _add_gold(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", nargs="+", help="gold links: JSON lines, Jacana JSON or MultiMWA TSV, plain or gzipped")
    parser.add_argument("--possible", action="store_true", help="count possible links as sure ones")
    parser.add_argument(
        "--no-parser", action="store_true", help="use no tags; features of tags and chunks stay inactive"
    )


def _add_train(parser: argparse.ArgumentParser) -> None:
    _add_gold(parser)
    defaults = TrainSettings()
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the model file to write")
    parser.add_argument(
        "--phrase", action="store_true", help="train the semi-Markov model, with spans of up to --longest words"
    )
    parser.add_argument(
        "--longest",
        type=int,
        default=3,
        metavar="N",
        help="with --phrase: longest span on either side, Ls and Lt (default: 3)",
    )
    parser.add_argument("--synthetic", action="store_true", help="turn matching chunks of the gold into phrases first")
    parser.add_argument("--by-kind", action="store_true", help="learn separate weights for each kind of pair")
    parser.add_argument("--start", default="", metavar="MODEL", help="start from the weights of this model")
    parser.add_argument(
        "--without", nargs="+", default=[], choices=FAMILIES, metavar="FAMILY", help="leave out this family of features"
    )
    parser.add_argument(
        "--sample", nargs="+", type=int, default=[], metavar="N", help="take N pairs of each gold file; 0 takes all"
    )
    parser.add_argument(
        "--weights", nargs="+", type=float, default=[], metavar="W", help="give the pairs of each gold file this weight"
    )
    parser.add_argument("--ppdb", default="", metavar="FILE", help="fit the weights of a pair list after all others")
    parser.add_argument("--l2", type=float, default=defaults.l2, help=f"use this L2 weight (default: {defaults.l2})")
    parser.add_argument(
        "--iterations",
        type=int,
        default=defaults.iterations,
        help=f"at most this many L-BFGS iterations (default: {defaults.iterations})",
    )
    add_jobs_option(parser, "work")
    parser.add_argument("--seed", type=int, default=0, help="random seed of --sample (default: 0)")
    parser.add_argument("--resume", action="store_true", help="continue an earlier run from MODEL.checkpoint.npz")
    add_force_option(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress")


def run(args: argparse.Namespace) -> int:
    """Do what the sub-command says."""
    if args.kind == "train":
        check_outputs(args, "output")
        train_crf(_given(args, CrfPlan))
        return 0
    if args.kind == "synthesise":
        for line in synthesise_gold(_given(args, CrfGold)):
            print(line)
        return 0
    return _use(args)


def _given(args: argparse.Namespace, kind: type[Gold]) -> Gold:
    """The options under the names of a plan's fields."""
    values: dict[str, Any] = {field.name: getattr(args, field.name) for field in fields(kind)}
    for name, value in values.items():
        values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)


# ---- score and kbest ----


def _use(args: argparse.Namespace) -> int:
    """A pair that fails leaves an empty line among scores, so that line n is pair n; and none among k-best lists."""
    aligner = load_crf(args.model, args.ppdb)
    failed = False
    for number, source, target in _sentences(args):
        if isinstance(source, str):
            print(f"{args.pairs}:{number}: {source}", file=sys.stderr)
            failed = True
            lines = [""] if args.kind == "score" else []
        elif args.kind == "score":
            lines = [f"{aligner.decision_score(source, target):.4f}"]
        else:
            best = enumerate(aligner.k_best(source, target, args.count))
            lines = [f"{number}\t{rank}\t{log_prob:.4f}\t{format_pharaoh(links)}" for rank, (log_prob, links) in best]
        for line in lines:
            print(line)
    return int(failed)


def _sentences(args: argparse.Namespace) -> Iterator[tuple[int, Sentence | str, Sentence]]:
    """Pairs with tags; a bad line has its message in place of the source."""
    parser = None if args.no_parser else load_parser(AlignConfig(nbest=1))
    records = iter(read_pairs(args.pairs, tokenized=args.tokenized))
    while batch := list(islice(records, PARSED_TOGETHER)):
        sides = [side for each in batch if not isinstance(each, BadRecord) for side in (each.source, each.target)]
        parsed = iter(sides if parser is None else [parse.sentence for parse in parser.parse(sides)])
        for record in batch:
            if isinstance(record, BadRecord):
                yield record.number, record.message, Sentence.from_words(())
            else:
                yield record.number, next(parsed), next(parsed)
