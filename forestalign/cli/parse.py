"""Parse sentences, one a line, into Penn trees, n-best lists or forests.

    forestalign parse sentences.txt > trees.mrg
    echo "The cat sat on the mat." | forestalign parse --nbest 5
    forestalign parse --tokenized --forest tokens.txt > forests.jsonl

Without options each line of output is one tree. `--nbest K` prints up to K lines a sentence,
`sentence index<TAB>log probability<TAB>tree`; the index counts input lines from 0. `--forest` prints one line of JSON a
sentence, whose id is the number of the input line, from 1. A line that cannot be parsed is reported on stderr with its
number and gives no output; the exit code is then 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forestalign.batch import BadLine, Handler, Job, Layout, Outcome
from forestalign.cli.batch_options import add_batch_options, line_count, run_batch
from forestalign.cli.compilation import PARSING
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import UsageError
from forestalign.formats import BadRecord, format_forest, format_nbest, read_lines, split_on_spaces
from forestalign.formats.given import read_given
from forestalign.parsers import BACKENDS, Parse, load_parser
from forestalign.tokens import tokenize
from forestalign.trees import format_brackets


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="text, one sentence a line (default: stdin)")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--nbest", type=int, default=0, metavar="K", help="the K best trees with log probabilities")
    kind.add_argument("--forest", action="store_true", help="forests as JSON lines")
    parser.add_argument("--tokenized", action="store_true", help="words are what stands between spaces")
    parser.add_argument("--backend", choices=BACKENDS, default=DEFAULT_CONFIG.backend)
    parser.add_argument(
        "--model", default="", metavar="PATH", help="model folder or name; for 'trees' a file of parses"
    )
    parser.add_argument("--prune", type=float, metavar="P", help="with --forest: all phrases of at least this marginal")
    parser.add_argument("--temperature", type=float, default=DEFAULT_CONFIG.temperature, metavar="T")
    parser.add_argument("--threads", type=int, default=DEFAULT_CONFIG.threads, metavar="N", help="of the encoder")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    if args.backend == "trees" and not args.model:
        raise UsageError("--backend trees needs a file of parses: --model FILE")
    start = StartParser(config_of(args), args.nbest, args.forest)
    layout = Layout.JSON if args.forest else Layout.BLOCKS
    jobs = read_sentences(args.file, args.tokenized)
    return run_batch(args, jobs, start, layout, lambda: line_count(args.file), PARSING)


def config_of(args: argparse.Namespace) -> AlignConfig:
    config = DEFAULT_CONFIG.with_(
        backend=args.backend, parser_model=args.model, temperature=args.temperature, threads=args.threads
    )
    if args.prune is not None:
        config = config.with_(forest="pruned", prune=args.prune)
    if args.forest:
        return config
    return config.with_(nbest=args.nbest or 1)


def read_sentences(path: str, tokenized: bool) -> Iterator[Job | BadLine]:
    """One job a line; lines that are no text, or empty, are bad."""
    for line in read_lines(path):
        identity = str(line.number)
        sentence = split_on_spaces(line.text) if tokenized else tokenize(line.text)
        if line.error or not sentence.tokens:
            yield BadRecord(line.number, identity, line.error or "the line is empty; expected a sentence")
        else:
            yield Job(line.number, identity, sentence)


@dataclass(frozen=True, slots=True)
class StartParser:
    """What a process needs to parse: loaded once, then a chunk of sentences at a time."""

    config: AlignConfig
    nbest: int
    forest: bool

    def __call__(self) -> Handler[str]:
        given = read_given(Path(self.config.parser_model)) if self.config.backend == "trees" else None
        parser = load_parser(self.config, given)

        def handle(jobs: Sequence[Job]) -> Iterable[Outcome[str]]:
            for job, parse in zip(jobs, parser.parse([job.payload for job in jobs], self.forest), strict=True):
                yield Outcome.failed(job, parse.error) if parse.error else Outcome.of(job, self.text(job, parse))

        return handle

    def text(self, job: Job, parse: Parse) -> str:
        if self.forest:
            return format_forest(parse.forest, job.key)
        if self.nbest:
            return "\n".join(format_nbest(job.number - 1, parse.trees))
        return format_brackets(parse.trees[0].tree)
