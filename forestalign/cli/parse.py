"""Parse sentences, one per line, into Penn trees, n-best lists or forests.

    forestalign parse sentences.txt > trees.mrg
    echo "The cat sat on the mat." | forestalign parse --nbest 5
    forestalign parse --tokenized --forest tokens.txt > forests.jsonl

Without options each line of output is one tree. `--nbest K` prints up to K lines per sentence,
`sentence index<TAB>log probability<TAB>tree`; the index counts input lines from 0. `--forest` prints one line of JSON
per sentence, whose id is the number of the input line, from 1. A line that cannot be parsed is reported on stderr with
its number and gives no output; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from forestalign.batch import BadLine, Job, Layout, StartWork
from forestalign.cli.batch_options import add_batch_options, line_count, run_batch
from forestalign.cli.idle_options import Idle
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import NoParseError, UsageError
from forestalign.formats import BadRecord, Line, Unread, checked_sentence, format_forest, format_nbest, read_lines
from forestalign.formats.given_parses import read_given
from forestalign.parsers import BACKENDS, Parse, load_parser
from forestalign.tokens import tokenize
from forestalign.trees import format_brackets

IDLE = (Idle("--prune", lambda args: not args.forest, "without --forest"),)
WARM_UP = "The dogs were barking."
MOST_WORDS = 510  # the shipped parser takes no more word pieces


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("file", nargs="?", default="-", help="text with one sentence per line (default: stdin)")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--nbest", type=int, default=0, metavar="K", help="print the K best trees with log probabilities")
    kind.add_argument("--forest", action="store_true", help="print forests as JSON lines")
    parser.add_argument("--tokenized", action="store_true", help="take the text as tokenized: split at spaces only")
    parser.add_argument(
        "--backend", choices=BACKENDS, default=DEFAULT_CONFIG.backend, help="use this parser (default: %(default)s)"
    )
    parser.add_argument(
        "--model", default="", metavar="PATH", help="use this parser model: a folder, or the name of a benepar model"
    )
    parser.add_argument(
        "--trees", default="", metavar="FILE", help="use your own parses: brackets, n-best lists or forests"
    )
    parser.add_argument(
        "--prune", type=float, metavar="P", help="with --forest: keep all phrases whose marginal is at least P"
    )
    parser.add_argument(
        "--temperature",
        type=float,
        default=DEFAULT_CONFIG.temperature,
        metavar="T",
        help="divide the chart scores by T",
    )
    parser.add_argument(
        "--threads", type=int, default=DEFAULT_CONFIG.threads, metavar="N", help="run N encoder passes side by side"
    )
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Parse the sentences and print the parses."""
    start = StartWork(LoadParser(config_of(args), args.forest, given_file(args)), ParseText(args.nbest, args.forest))
    layout = Layout.JSON if args.forest else Layout.BLOCKS
    jobs = read_sentences(args.file, args.tokenized)
    return run_batch(args, jobs, start, layout, lambda: line_count(args.file))


def given_file(args: argparse.Namespace) -> str:
    """The file of the user's own parses; `--backend trees --model FILE`, as it was written before, still names one."""
    if args.trees:
        return str(args.trees)
    if args.backend != "trees":
        return ""
    if not args.model:
        raise UsageError("--backend trees needs a file of parses: --trees FILE")
    print("forestalign parse: --backend trees --model FILE is now called --trees FILE; both work", file=sys.stderr)
    return str(args.model)


def config_of(args: argparse.Namespace) -> AlignConfig:
    """The settings that the options give."""
    given = args.trees or args.backend == "trees"
    config = DEFAULT_CONFIG.with_(
        backend="trees" if given else args.backend,
        parser_model="" if given else args.model,
        temperature=args.temperature,
        threads=args.threads,
    )
    if args.prune is not None:
        config = config.with_(forest="pruned", prune=args.prune)
    if args.forest:
        return config
    return config.with_(nbest=args.nbest or 1)


def read_sentences(path: str, tokenized: bool) -> Iterator[Unread[Job | BadLine]]:
    """One job per line; lines that are empty or not text are bad."""
    for line in read_lines(path):
        yield Unread(line.text or line.error, partial(_job, line, tokenized))


def _job(line: Line, tokenized: bool) -> Job | BadLine:
    identity = str(line.number)
    try:
        sentence = checked_sentence("sentence", line.text, MOST_WORDS, tokenized=tokenized)
    except ValueError as error:
        return BadRecord(line.number, identity, str(error))
    if line.error or not sentence.tokens:
        return BadRecord(line.number, identity, line.error or "the line is empty; expected a sentence")
    return Job(line.number, identity, sentence)


@dataclass(frozen=True, slots=True)
class LoadParser:
    """Loads a parser in a worker process; the payload of its jobs is a sentence."""

    config: AlignConfig
    forests: bool
    given_file: str = ""

    def __call__(self) -> Callable[[Sequence[Job]], list[Parse | NoParseError]]:
        """The work of the process: parses a chunk of sentences."""
        parser = load_parser(self.config, read_given(self.given_file) if self.given_file else None)
        if not self.given_file:  # what happens once, such as compilation, is not the first sentence's time
            parser.parse([tokenize(WARM_UP)], self.forests)

        def parse(jobs: Sequence[Job]) -> list[Parse | NoParseError]:
            found = parser.parse([job.payload for job in jobs], self.forests)
            return [NoParseError(parse.error) if parse.error else parse for parse in found]

        return parse


@dataclass(frozen=True, slots=True)
class ParseText:
    """A parse as one tree, as an n-best list, or as a forest."""

    nbest: int
    forest: bool

    def __call__(self, job: Job, parse: Parse) -> str:
        """What is printed of one parse."""
        if self.forest:
            return format_forest(parse.forest, job.key)
        if self.nbest:
            return "\n".join(format_nbest(job.number - 1, parse.trees))
        return format_brackets(parse.trees[0].tree)
