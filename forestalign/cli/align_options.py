"""The options of every command that aligns: where pairs, parses and links come from, and the settings."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import zip_longest
from pathlib import Path

from forestalign.alignment import WordAlignment
from forestalign.batch import BadLine, Job
from forestalign.cli.batch_options import line_count
from forestalign.config import CHOICES, DEFAULT_CONFIG, AlignConfig
from forestalign.errors import UsageError
from forestalign.formats import BadRecord, PairRecord, parse_pharaoh, read_lines, read_pairs, read_parallel
from forestalign.tokens import Sentence

SEEDS = CHOICES["seed"]
NUMBERS = {
    "beam": "µb: hypotheses kept for each source phrase",
    "gap": "µg: generations between a pair and what supports it",
    "null_penalty": "µn: price of a null word",
    "noncompositional_penalty": "µc: price of a non-compositional pair, in null words",
    "parse_weight": "µp: share of the parse score",
}


@dataclass(frozen=True, slots=True)
class Task:
    """The payload of a job: a pair, and the user's links where there are some."""

    source: Sentence
    target: Sentence
    links: WordAlignment | None


def add_align_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pairs", nargs="?", default="-", help="pairs: tab, ' ||| ', or JSON lines (default: stdin)")
    parser.add_argument("target", nargs="?", help="a second file: then the first has the sources, this one the targets")
    parser.add_argument("--tokenized", action="store_true", help="words are what stands between spaces")
    parser.add_argument(
        "--seed", default=DEFAULT_CONFIG.seed, metavar="SEED", help=f"{', '.join(SEEDS)}, or a file of Pharaoh links"
    )
    parses = parser.add_mutually_exclusive_group()
    parses.add_argument("--trees", metavar="FILE", help="your own parses: brackets, one or n-best")
    parses.add_argument("--forests", metavar="FILE", help="your own parses: forest JSON lines")
    add_settings(parser)


def add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("settings")
    group.add_argument("--model", metavar="FILE", help="phrase model (default: the shipped one; 'uniform': none)")
    group.add_argument("--nbest", type=int, metavar="K", help="trees in a forest")
    group.add_argument("--profile", choices=CHOICES["profile"], help="of the word aligner")
    group.add_argument("--ppdb", metavar="FILE", help="a PPDB-format list of word pairs")
    group.add_argument("--vectors", metavar="FILE", help="word vectors: word2vec, GloVe, fastText")
    for name, help in NUMBERS.items():
        kind = type(getattr(DEFAULT_CONFIG, name))
        group.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="N", help=help)
    group.add_argument("--monotonic", action="store_true", default=None, help="no non-compositional steps")
    group.add_argument("--one-best", action="store_true", default=None, help="1-best trees instead of forests")
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting; see the README"
    )


def config_of(args: argparse.Namespace) -> AlignConfig:
    """The settings that the options give."""
    changes: dict[str, object] = {}
    for field in fields(AlignConfig):
        value = getattr(args, field.name, None)
        if value is not None and field.name not in ("seed",):
            changes[field.name] = value
    if getattr(args, "seed", DEFAULT_CONFIG.seed) in SEEDS:
        changes["seed"] = getattr(args, "seed", DEFAULT_CONFIG.seed)
    if getattr(args, "trees", None) or getattr(args, "forests", None):
        changes["backend"] = "trees"
    for setting in args.set:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"--set takes NAME=VALUE, not {setting!r}")
        changes[name.strip()] = _value(text.strip())
    return DEFAULT_CONFIG.with_(**changes)


def given_file(args: argparse.Namespace) -> str:
    return args.trees or args.forests or ""


def read_jobs(args: argparse.Namespace, config: AlignConfig) -> Iterator[Job | BadLine]:
    """One job a pair, with its line of links where a file of links was named."""
    if args.target is None:
        records = read_pairs(args.pairs, args.tokenized, config.max_words)
    else:
        records = read_parallel(args.pairs, args.target, args.tokenized, config.max_words)
    if args.seed in SEEDS:
        for record in records:
            yield _job(record, None) if isinstance(record, PairRecord) else record
        return
    if not Path(args.seed).is_file():
        raise UsageError(f"--seed is {args.seed!r}: neither {', '.join(SEEDS)} nor a file of Pharaoh links")
    for record, line in zip_longest(records, read_lines(args.seed)):
        if record is None:
            raise UsageError(f"{args.seed}:{line.number}: links without a pair; the pairs have ended")
        if isinstance(record, BadRecord):
            yield record
        elif line is None:
            yield BadRecord(record.number, record.id, f"{args.seed} has no line of links for this pair")
        else:
            yield _linked(record, line.text)


def count_of(args: argparse.Namespace) -> int | None:
    return line_count(args.pairs)


def _job(record: PairRecord, links: WordAlignment | None) -> Job:
    return Job(record.number, record.id, Task(record.source, record.target, links))


def _linked(record: PairRecord, text: str) -> Job | BadRecord:
    try:
        return _job(record, parse_pharaoh(text, len(record.source), len(record.target)))
    except ValueError as error:
        return BadRecord(record.number, record.id, f"links: {error}")


def _value(text: str) -> object:
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(text.lower(), text))
    except (ValueError, SyntaxError):
        return text
