"""Align the words of pairs of sentences.

    forestalign words pairs.tsv > links.txt
    forestalign words pairs.tsv --scores
    echo 'He bought a car. ||| He purchased an automobile.' | forestalign words --scores
    forestalign words --tokenized sources.txt targets.txt --json -o words.jsonl --jobs 2
    forestalign words --links meteor pairs.tsv
    forestalign words --conllu sources.conllu targets.conllu --profile published --ppdb ppdb.tsv

Prints one line per pair in Pharaoh format, `i-j` with tokens counted from 0; with --scores `i-j:score`. --json gives
lines with tokens, links with the stage that made each, and sentence scores. A pair that fails leaves an empty line
(none with --json), is reported on stderr with its number, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest

from forestalign.batch.workers import Job, Layout, StartWork
from forestalign.cli.options import (
    Unused,
    add_batch_options,
    add_pair_arguments,
    line_count,
    read_pair_input,
    run_batch,
)
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import NoParseError, UsageError
from forestalign.formats.conll import DependencyRecord, read_conll
from forestalign.formats.lines import Unread
from forestalign.formats.pairs import BadRecord, PairRecord
from forestalign.formats.word_links import format_pharaoh
from forestalign.lexicon import load_vectors
from forestalign.tokens import tokenize
from forestalign.words import PROFILES, Analysis, analyse_given, sentence_scores
from forestalign.words.linking import LinkedPair, SentenceLinker

METHODS = ("sultan", "crf", "dictionary", "meteor", "similarity")
BASELINES = ("meteor", "similarity")
UNUSED = (
    Unused("--profile", lambda args: args.links != "sultan", "with --links {links}"),
    Unused("--model", lambda args: args.links != "crf", "without --links crf"),
    Unused("--ppdb", lambda args: args.links not in ("sultan", "crf", "meteor"), "with --links {links}"),
    Unused("--vectors", lambda args: args.links in BASELINES, "with --links {links}"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_pair_arguments(parser)
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--tokenized", action="store_true", help="take the text as tokenized: split at spaces only")
    given.add_argument("--conllu", action="store_true", help="read two files with your own analyses in CoNLL-U")
    parser.add_argument("--links", choices=METHODS, default="sultan", help="how to align (default: %(default)s)")
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default=DEFAULT_CONFIG.profile,
        help="with --links sultan: use this profile (default: %(default)s)",
    )
    parser.add_argument("--ppdb", default="", metavar="FILE", help="add word pairs from a list in PPDB format")
    parser.add_argument(
        "--vectors", default="", metavar="FILE", help="use these word vectors (word2vec, GloVe or fastText)"
    )
    parser.add_argument(
        "--model", default="", metavar="FILE", help="with --links crf: use this model (token, phrase or a file)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--scores", action="store_true", help="print links as i-j:score")
    form.add_argument("--json", action="store_true", help="print JSON lines with stages and sentence scores")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Link the words of the pairs and print the links."""
    show, layout = LinkText(args.json, args.scores), Layout.JSON if args.json else Layout.LINES
    config = DEFAULT_CONFIG.replace(
        links=args.links, profile=args.profile, ppdb=args.ppdb, vectors=args.vectors, crf_model=args.model, nbest=1
    )
    start = StartWork(LoadLinker(config, not args.conllu), show)
    count = None if args.conllu else args.pairs
    return run_batch(args, read_jobs(args), start, layout, lambda: line_count(count) if count else None)


def read_jobs(args: argparse.Namespace) -> Iterator[Job | BadRecord | Unread[Job | BadRecord]]:
    """Pairs of sentences, or of analyses."""
    if args.conllu:
        yield from _conllu_jobs(args.pairs, args.target)
        return
    yield from (record.then(_job) for record in read_pair_input(args))


def _job(record: PairRecord | BadRecord) -> Job | BadRecord:
    if isinstance(record, BadRecord):
        return record
    return Job(record.number, record.id, (record.source, record.target))


def _conllu_jobs(source: str, target: str | None) -> Iterator[Job | BadRecord]:
    if not target:
        raise UsageError("--conllu takes two files: the sources and the targets")
    for number, (left, right) in enumerate(zip_longest(read_conll(source), read_conll(target)), start=1):
        if left is None or right is None:
            yield BadRecord(number, str(number), f"{source if left is None else target} has no sentence {number}")
        else:
            yield Job(number, left.id or str(number), (_given(left), _given(right)))


@dataclass(frozen=True, slots=True)
class LoadLinker:
    """Loads a word aligner in a worker process; the payload of its jobs is a pair of sentences or of analyses."""

    config: AlignConfig
    parses: bool = True

    def __call__(self) -> Callable[[Sequence[Job]], Iterator[LinkedPair | NoParseError]]:
        """The work of the process: links a chunk of pairs."""
        linker = SentenceLinker(self.config)
        if self.parses:  # what happens once, such as loading the parser, is not the first pair's time
            list(linker.link([(tokenize("The dogs were barking."), tokenize("A dog barked."))]))
        return lambda jobs: linker.link([job.payload for job in jobs])


@dataclass(frozen=True, slots=True)
class LinkText:
    """Links as Pharaoh lines, with or without scores, or as JSON."""

    json: bool
    scores: bool

    def __call__(self, job: Job, pair: LinkedPair) -> str:
        """What is printed of one pair."""
        return _linked_json(pair, job.key) if self.json else format_pharaoh(pair.words, scores=self.scores)


def _linked_json(pair: LinkedPair, id: str) -> str:
    """Tokens, links with the stage that made each, and sentence scores, in one line."""
    scores = sentence_scores(pair.source, pair.target, pair.words, load_vectors().idf)
    record = {
        "id": id,
        "source": pair.source.written_words,
        "target": pair.target.written_words,
        "links": [
            {"source": link.source, "target": link.target, "score": round(link.score, 4), "stage": link.stage}
            for link in pair.words
        ],
        "scores": {name: round(value, 4) for name, value in asdict(scores).items()},
    }
    return json.dumps(record, ensure_ascii=False)


def _given(record: DependencyRecord) -> Analysis:
    return analyse_given(record.sentence, record.dependencies, record.categories)
