"""Parse sentences, one per line, into Penn trees, n-best lists or forests.

    cut -f 1 pairs.tsv | forestalign parse
    cut -f 1 pairs.tsv | forestalign parse --nbest 3
    forestalign parse "The cat sat on the mat."
    forestalign parse sentences.txt > trees.mrg
    forestalign parse --tokenized --forest tokens.txt > forests.jsonl

Without options each line of output is one tree. `--nbest K` prints up to K lines per sentence,
`sentence index<TAB>log probability<TAB>tree`; the index counts input lines from 0. `--forest` prints one line of JSON
per sentence, whose id is the number of the input line, from 1. `--format` prints Universal Dependencies of the best
tree (conllu), or the best tree or the forest for Graphviz (dot, forest-dot). A line that cannot be parsed is reported
on stderr with its number and gives no output; the exit code is then 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from forestalign.batch.workers import Job, Layout, StartWork
from forestalign.cli.options import add_batch_options, is_file, line_count, run_batch
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.dependencies import to_dependencies
from forestalign.errors import NoParseError, UsageError
from forestalign.formats.conll import DependencyRecord, format_conll, universal_tags
from forestalign.formats.fields import checked_sentence
from forestalign.formats.lines import Line, Unread, read_lines
from forestalign.formats.pairs import BadRecord
from forestalign.formats.tree_files import (
    format_forest,
    format_forest_graph,
    format_nbest,
    format_tree_graph,
    read_given,
)
from forestalign.parsers import BACKENDS, Parse, load_parser
from forestalign.tokens import analyse, tokenize
from forestalign.trees import format_brackets

FORMATS = ("conllu", "dot", "forest-dot")
WARM_UP = "The dogs were barking."
MOST_WORDS = 510  # the shipped parser takes no more word pieces


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "file", nargs="?", default="-", help="text with one sentence per line (default: stdin), or a sentence"
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--nbest", type=int, default=0, metavar="K", help="print the K best trees with log probabilities")
    kind.add_argument("--forest", action="store_true", help="print forests as JSON lines")
    kind.add_argument("--format", choices=FORMATS, default="", help="print trees or forests in another format")
    parser.add_argument("--tokenized", action="store_true", help="take the text as tokenized: split at spaces only")
    parser.add_argument(
        "--backend", choices=BACKENDS, default=DEFAULT_CONFIG.backend, help="use this parser (default: %(default)s)"
    )
    parser.add_argument(
        "--model", default="", metavar="PATH", help="use this parser model: a folder, or the name of a benepar model"
    )
    parser.add_argument(
        "--trees",
        default="",
        metavar="FILE",
        help="use your own parses: brackets, n-best lists, or forests as JSON lines",
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
    load = LoadParser(config_of(args), wants_forest(args), args.trees)
    start = StartWork(load, ParseText(args.nbest, "forest" if args.forest else args.format))
    layout = Layout.JSON if args.forest else Layout.BLOCKS
    jobs = read_sentences(args.file, args.tokenized)
    return run_batch(args, jobs, start, layout, lambda: line_count(args.file))


def wants_forest(args: argparse.Namespace) -> bool:
    """Whether forests are printed, in whatever format."""
    return bool(args.forest) or args.format == "forest-dot"


def config_of(args: argparse.Namespace) -> AlignConfig:
    """The settings that the options give."""
    if args.backend == "trees" and not args.trees:
        raise UsageError("--backend trees needs a file of parses: --trees FILE")
    config = DEFAULT_CONFIG.replace(
        backend="trees" if args.trees else args.backend,
        parser_model="" if args.trees else args.model,
        temperature=args.temperature,
        threads=args.threads,
    )
    return config if wants_forest(args) else config.replace(nbest=args.nbest or 1)


def read_sentences(path: str, tokenized: bool) -> Iterator[Unread[Job | BadRecord]]:
    """One job per line, or one for a sentence that is no file; lines that are empty or not text are bad."""
    is_sentence = " " in path.strip() and not is_file(path)
    for line in [Line(1, path)] if is_sentence else read_lines(path):
        yield Unread(line.text or line.error, partial(_job, line, tokenized))


def _job(line: Line, tokenized: bool) -> Job | BadRecord:
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
    """A parse as one tree, as an n-best list, or in the format of that name."""

    nbest: int
    form: str = ""

    def __call__(self, job: Job, parse: Parse) -> str:
        """What is printed of one parse."""
        if self.nbest:
            return "\n".join(format_nbest(job.number - 1, parse.trees))
        match self.form:
            case "forest":
                return format_forest(parse.forest, job.key)
            case "forest-dot":
                return format_forest_graph(parse.forest)
            case "dot":
                return format_tree_graph(parse.trees[0].tree)
            case "conllu":
                return _conllu(job.key, parse)
        return format_brackets(parse.trees[0].tree)


def _conllu(identity: str, parse: Parse) -> str:
    sentence = analyse(parse.sentence, parse.sentence.tags)
    dependencies = to_dependencies(parse.trees[0].tree, sentence)
    tags = universal_tags(sentence, dependencies)
    return format_conll(DependencyRecord(identity, sentence, dependencies, tags))
