"""Align the words of pairs of sentences.

    forestalign words pairs.tsv > links.txt
    echo 'He bought a car. ||| He purchased an automobile.' | forestalign words --scores
    forestalign words --tokenized sources.txt targets.txt --json -o words.jsonl --jobs 2
    forestalign words --conllu sources.conllu targets.conllu --profile published --ppdb ppdb.tsv

Prints one line a pair in Pharaoh format, `i-j` with tokens counted from 0; with --scores `i-j:score`. --json gives
lines with tokens, links with the stage that made each, and sentence scores. A pair that fails leaves an empty line
(none with --json), is reported on stderr with its number, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from forestalign.alignment import WordAlignment
from forestalign.batch import BadLine, Handler, Job, Layout, Outcome
from forestalign.cli.batch_options import add_batch_options, line_count, run_batch
from forestalign.cli.compilation import PARSING
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import UsageError
from forestalign.formats import BadRecord, DependencyRecord, format_pharaoh, read_conll, read_pairs, read_parallel
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.parsers import Parse, Parser, load_parser
from forestalign.tokens import Sentence
from forestalign.word_alignment import (
    PROFILES,
    Analysis,
    WordAligner,
    analyse_given,
    analyse_parse,
    dictionary_links,
    sentence_scores,
)

if TYPE_CHECKING:
    from forestalign.crf import CrfAligner

METHODS = ("sultan", "crf", "dictionary")
Pair = tuple[Sentence, Sentence] | tuple[Analysis, Analysis]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pairs", nargs="?", default="-", help="pairs: tab, ' ||| ', or JSON lines (default: stdin)")
    parser.add_argument("target", nargs="?", help="a second file: then the first has the sources, this one the targets")
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--tokenized", action="store_true", help="words are what stands between spaces")
    given.add_argument("--conllu", action="store_true", help="two files with your own analyses, in CoNLL-U")
    parser.add_argument("--method", choices=METHODS, default="sultan", help="default: %(default)s")
    parser.add_argument("--profile", choices=PROFILES, default=DEFAULT_CONFIG.profile, help="default: %(default)s")
    parser.add_argument("--ppdb", default="", metavar="FILE", help="a PPDB-format list of word pairs")
    parser.add_argument("--vectors", default="", metavar="FILE", help="word vectors: word2vec, GloVe, fastText")
    parser.add_argument("--model", default="", metavar="FILE", help="a CRF model, with --method crf")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--scores", action="store_true", help="links as i-j:score")
    form.add_argument("--json", action="store_true", help="JSON lines with stages and sentence scores")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    config = DEFAULT_CONFIG.with_(
        profile=args.profile, ppdb=args.ppdb, vectors=args.vectors, crf_model=args.model, nbest=1
    )
    start = StartWords(config, args.method, "json" if args.json else "scores" if args.scores else "pharaoh")
    layout = Layout.JSON if args.json else Layout.LINES
    count = None if args.conllu else args.pairs
    return run_batch(args, read_jobs(args), start, layout, lambda: line_count(count) if count else None, PARSING)


def read_jobs(args: argparse.Namespace) -> Iterator[Job | BadLine]:
    """Pairs of sentences, or of analyses."""
    if args.conllu:
        yield from _conllu_jobs(args.pairs, args.target)
        return
    if args.target:
        records = read_parallel(args.pairs, args.target, args.tokenized)
    else:
        records = read_pairs(args.pairs, args.tokenized)
    for record in records:
        yield record if isinstance(record, BadRecord) else Job(record.number, record.id, (record.source, record.target))


def _conllu_jobs(source: str, target: str | None) -> Iterator[Job | BadLine]:
    if not target:
        raise UsageError("--conllu takes two files: the sources and the targets")
    for number, (left, right) in enumerate(zip_longest(read_conll(source), read_conll(target)), start=1):
        if left is None or right is None:
            yield BadRecord(number, str(number), f"{source if left is None else target} has no sentence {number}")
        else:
            yield Job(number, left.id or str(number), (_given(left), _given(right)))


@dataclass(frozen=True, slots=True)
class StartWords:
    """What a process needs to align words: loaded once, then a chunk of pairs at a time."""

    config: AlignConfig
    method: str
    form: str

    def __call__(self) -> Handler[str]:
        linker = Linker(self.config, self.method)

        def handle(jobs: Sequence[Job]) -> Iterable[Outcome[str]]:
            for job, result in zip(jobs, linker.link([job.payload for job in jobs]), strict=True):
                yield (
                    Outcome.failed(job, result) if isinstance(result, str) else Outcome.of(job, self.text(job, result))
                )

        return handle

    def text(self, job: Job, result: Linked) -> str:
        if self.form != "json":
            return format_pharaoh(result.words, scores=self.form == "scores")
        scores = sentence_scores(result.source, result.target, result.words, load_vectors().idf)
        record = {
            "id": job.key,
            "source": result.source.words,
            "target": result.target.words,
            "links": [
                {"source": link.source, "target": link.target, "score": round(link.score, 4), "stage": link.stage}
                for link in result.words
            ],
            "scores": {name: round(value, 4) for name, value in asdict(scores).items()},
        }
        return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Linked:
    """A pair with its links."""

    source: Sentence
    target: Sentence
    words: WordAlignment


class Linker:
    """Links of pairs by one method; sentences without an analysis are parsed, a chunk at a time."""

    def __init__(self, config: AlignConfig, method: str):
        self.config, self.method = config, method
        self._parser: Parser | None = None
        self._aligner = WordAligner(config) if method == "sultan" else None
        self._crf = _load_crf(config) if method == "crf" else None
        self._lexicon = (load_wordnet(), load_vectors(config.vectors)) if method == "dictionary" else None

    def link(self, pairs: Sequence[Pair]) -> Iterator[Linked | str]:
        """One result a pair; a string says what was wrong."""
        sides = iter(self._analyses([side for pair in pairs for side in pair]))
        for source, target in zip(sides, sides, strict=True):
            if isinstance(source, str) or isinstance(target, str):
                side, message = ("source", source) if isinstance(source, str) else ("target", target)
                yield f"the {side} cannot be parsed: {message}"
            else:
                yield Linked(source.sentence, target.sentence, self._links(source, target))

    def _analyses(self, sides: Sequence[Sentence | Analysis]) -> list[Analysis | str]:
        sentences = [side for side in sides if isinstance(side, Sentence)]
        parses = iter(self._parse(sentences) if sentences else ())
        return [side if isinstance(side, Analysis) else _analysis(next(parses)) for side in sides]

    def _parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        self._parser = self._parser or load_parser(self.config)
        return self._parser.parse(sentences)

    def _links(self, source: Analysis, target: Analysis) -> WordAlignment:
        if self._aligner is not None:
            return self._aligner.align(source, target)
        if self._crf is not None:
            return self._crf.align(source.sentence, target.sentence)
        assert self._lexicon is not None
        return dictionary_links(source.sentence, target.sentence, *self._lexicon)


def _load_crf(config: AlignConfig) -> CrfAligner:
    from forestalign.crf import load_crf  # slow to import, and not always needed

    return load_crf(config.crf_model, config.ppdb, config.vectors)


def _given(record: DependencyRecord) -> Analysis:
    return analyse_given(record.sentence, record.dependencies, record.categories)


def _analysis(parse: Parse) -> Analysis | str:
    return parse.error or analyse_parse(parse)
