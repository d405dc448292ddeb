"""Say whether the sentences of each pair mean the same, how similar they are, and why.

    forestalign similarity pairs.tsv
    forestalign similarity pairs.tsv --json -o similarity.jsonl
    forestalign similarity "He bought a car." "He purchased an automobile."
    forestalign similarity results.jsonl

One line per pair: its id, the verdict (same meaning, changed, related, unrelated), the probability that both mean the
same, the score from 0 (nothing in common) to 5 (the same meaning), and the reasons in words, separated by tabs; with
--json an object. Results of `align --json` are used as they are, which is quicker but less exact: they hold no
sentence vectors.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

from forestalign.batch.workers import Job, Layout
from forestalign.cli.align import align_batch
from forestalign.cli.align_options import add_align_options
from forestalign.cli.options import add_batch_options, check_outputs, is_results
from forestalign.errors import UsageError
from forestalign.formats.codec import read_phrases
from forestalign.mining.verdicts import Similarity
from forestalign.outputs import packed_file
from forestalign.phrases.result.alignment import Alignment


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_align_options(parser)
    parser.add_argument("--results", default="", metavar="FILE", help="judge these results instead of aligning pairs")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the similarities."""
    if not args.results and args.target is None and os.path.isfile(args.pairs) and is_results(args.pairs):
        args.results, args.pairs = args.pairs, "-"
    if not args.results:
        return align_batch(args, SimilarityText(args.json), Layout.JSON if args.json else Layout.LINES)
    if args.pairs != "-":
        raise UsageError(f"--results and the pairs {args.pairs}; expected one of them")
    if args.resume:
        raise UsageError("--resume continues aligning; with --results nothing is aligned, and --force starts anew")
    args.pairs = ""
    check_outputs(args, "output")
    with packed_file(args.output) as file:
        for result in read_phrases(args.results):
            file.write(_text(result.similarity(), result.id, args.json).encode() + b"\n")
    return 0


@dataclass(frozen=True, slots=True)
class SimilarityText:
    """The similarity of an alignment as JSON or as columns."""

    json: bool

    def __call__(self, job: Job, alignment: Alignment) -> str:
        """What is printed of one alignment."""
        return _text(alignment.similarity(), job.key, self.json)


def _text(similarity: Similarity, id: str, json: bool) -> str:
    return similarity.to_json(id) if json else f"{id}\t{similarity}"
