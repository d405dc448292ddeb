"""The options of every command that aligns: where pairs, parses and links come from, and the settings."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from forestalign.aligner import PairToAlign
from forestalign.batch.workers import Job
from forestalign.cli.options import add_pair_arguments, line_count, read_pair_input
from forestalign.config import CHOICES, DEFAULT_CONFIG, HAND_SET, AlignConfig
from forestalign.errors import UsageError
from forestalign.formats.lines import Unread, read_lines
from forestalign.formats.pairs import BadRecord, PairRecord
from forestalign.formats.word_links import parse_pharaoh
from forestalign.words.alignment import WordAlignment

METHODS = CHOICES["links"]
NUMBERS = {
    "beam": "µb: keep this many hypotheses for each source phrase",
    "gap": "µg: allow this many generations between a pair and what supports it",
    "null_penalty": "µn: charge this much for each null word",
    "noncompositional_penalty": "µc: charge this many null words for a non-compositional pair",
    "parse_weight": "µp: give the parse score this share",
}


def add_align_options(parser: argparse.ArgumentParser) -> None:
    """Add pairs, links, parses and settings."""
    add_pair_arguments(parser)
    parser.add_argument("--tokenized", action="store_true", help="take the text as tokenized: split at spaces only")
    parser.add_argument(
        "--links",
        default=DEFAULT_CONFIG.links,
        metavar="METHOD|FILE",
        help=f"take word links from here: {', '.join(METHODS)}, or a file of Pharaoh links (default: %(default)s)",
    )
    parses = parser.add_mutually_exclusive_group()
    parses.add_argument("--trees", metavar="FILE", help="use your own parses: Penn brackets or n-best lists")
    parses.add_argument("--forests", metavar="FILE", help="use your own parses: forests as JSON lines")
    add_settings(parser)


def add_bars_option(parser: argparse._ActionsContainer) -> None:
    """Add --bars and --no-bars."""
    parser.add_argument(
        "--bars",
        action=argparse.BooleanOptionalAction,
        help="take all phrases that exist only in the binarised trees, or none (default: those whose parts do not say "
        "the same)",
    )


def add_settings(parser: argparse.ArgumentParser, phrase_model: bool = True) -> None:
    """Add the settings of the aligner, with or without --model."""
    group = parser.add_argument_group("settings")
    if phrase_model:
        group.add_argument(
            "--model",
            metavar="FILE",
            help=f"use this phrase model (default: the shipped one; {HAND_SET!r}: nothing learned)",
        )
    group.add_argument("--nbest", type=int, metavar="K", help="pack the K best trees into a forest")
    group.add_argument("--profile", choices=CHOICES["profile"], help="use this profile of the word aligner")
    group.add_argument("--ppdb", metavar="FILE", help="add word pairs from a list in PPDB format")
    group.add_argument("--vectors", metavar="FILE", help="use these word vectors (word2vec, GloVe or fastText)")
    for name, help in NUMBERS.items():
        kind = type(getattr(DEFAULT_CONFIG, name))
        group.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="N", help=help)
    group.add_argument("--monotonic", action="store_true", default=None, help="forbid non-compositional steps")
    group.add_argument("--one-best", action="store_true", default=None, help="use 1-best trees instead of forests")
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="set any other setting; see docs/settings.md"
    )


def config_of(args: argparse.Namespace) -> AlignConfig:
    """The settings that the options give; those that will change nothing are named."""
    config = settings_of(args)
    for name in config.without_effect():
        print(f"forestalign: {name} has no effect with scoring=best; add --set scoring=paper", file=sys.stderr)
    return config


def settings_of(args: argparse.Namespace) -> AlignConfig:
    """The settings that the options give."""
    changes: dict[str, Any] = {}
    for field in fields(AlignConfig):
        value = getattr(args, field.name, None)
        if value is not None and field.name != "links":
            changes[field.name] = value
    if getattr(args, "links", None) in METHODS:
        changes["links"] = args.links
    if getattr(args, "trees", None) or getattr(args, "forests", None):
        changes["backend"] = "trees"
    for setting in args.set:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"--set takes NAME=VALUE, not {setting!r}")
        changes[name.strip()] = _value(text.strip())
    return DEFAULT_CONFIG.replace(**changes)


def given_file(args: argparse.Namespace) -> str:
    """The file of the user's own parses; empty where our parser is to parse."""
    return args.trees or args.forests or ""


def read_jobs(args: argparse.Namespace, config: AlignConfig) -> Iterator[Unread[Job | BadRecord]]:
    """One job per pair, with its line of links where a file of links was named."""
    records = read_pair_input(args, config.max_words)
    if args.links in METHODS:
        yield from (record.then(_job) for record in records)
        return
    if not Path(args.links).is_file():
        raise UsageError(f"--links is {args.links!r}: neither {', '.join(METHODS)} nor a file of Pharaoh links")
    for record, line in zip_longest(records, read_lines(args.links)):
        if record is None:
            raise UsageError(
                f"{args.links}:{line.number}: this line of links has no pair; expected as many lines as pairs"
            )
        links = None if line is None else line.text
        linked = replace(record, text=f"{record.text}\t{links}")
        yield linked.then(partial(_add_links, path=args.links, links=links))


def count_of(args: argparse.Namespace) -> int | None:
    """How many pairs there are, where that is quickly known."""
    return line_count(args.pairs)


def _job(record: PairRecord | BadRecord, links: WordAlignment | None = None) -> Job | BadRecord:
    if isinstance(record, BadRecord):
        return record
    return Job(record.number, record.id, PairToAlign(record.source, record.target, links))


def _add_links(record: PairRecord | BadRecord, path: str, links: str | None) -> Job | BadRecord:
    if isinstance(record, BadRecord):
        return record
    if links is None:
        message = f"{path} has no line for this pair; expected as many lines of links as pairs"
        return BadRecord(record.number, record.id, message)
    try:
        return _job(record, parse_pharaoh(links, len(record.source), len(record.target)))
    except ValueError as error:
        return BadRecord(record.number, record.id, f"links: {error}")


def _value(text: str) -> object:
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(text.lower(), text))
    except (ValueError, SyntaxError):
        return text
