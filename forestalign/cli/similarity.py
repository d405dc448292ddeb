"""Say how similar the sentences of each pair are, and why.

    forestalign similarity pairs.tsv
    forestalign similarity pairs.tsv --json -o similarity.jsonl --jobs 2
    forestalign similarity --results results.jsonl

One line per pair: the score from 0 (nothing in common) to 5 (the same meaning), the probability that the pair is a
paraphrase, and the reasons in words, separated by tabs; with --json an object. --results judges results of
`align --json`, which hold no sentence vectors, and is less exact.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from forestalign.aligner import Alignment
from forestalign.batch import Job, Layout
from forestalign.cli.align_options import add_align_options
from forestalign.cli.batch_options import add_batch_options, check_outputs
from forestalign.cli.pair_batch import align_batch
from forestalign.errors import UsageError
from forestalign.formats.phrase_records import read_phrases
from forestalign.mining.sentence_similarity import Similarity, load_similarity
from forestalign.outputs import packed_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_align_options(parser)
    parser.add_argument("--results", default="", metavar="FILE", help="judge these results instead of aligning pairs")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the similarities."""
    if not args.results:
        return align_batch(args, SimilarityText(args.json), Layout.JSON if args.json else Layout.LINES)
    if args.pairs != "-":
        raise UsageError(f"--results and the pairs {args.pairs}; expected one of them")
    if args.resume:
        raise UsageError("--resume continues aligning; with --results nothing is aligned, and --force starts anew")
    args.pairs = ""
    check_outputs(args, "output")
    model = load_similarity()
    with packed_file(args.output) as file:
        for record in read_phrases(args.results):
            file.write(_text(model.judge(record), record.id, args.json).encode() + b"\n")
    return 0


@dataclass(frozen=True, slots=True)
class SimilarityText:
    """The similarity of an alignment as JSON or as columns."""

    json: bool

    def __call__(self, job: Job, alignment: Alignment) -> str:
        """What is printed of one alignment."""
        return _text(alignment.similarity(), job.key, self.json)


def _text(similarity: Similarity, id: str, json: bool) -> str:
    return similarity.to_json(id) if json else str(similarity)
