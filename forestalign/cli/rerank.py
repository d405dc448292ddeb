"""Choose parses with the help of the other sentence, and show the parser's 1-best beside them.

    forestalign rerank pairs.tsv
    forestalign rerank pairs.tsv --json
    forestalign rerank pairs.tsv --tokenized --trees nbest.txt
    forestalign rerank pairs.tsv --forests forests.jsonl --json

Prints two lines per pair, for source and target, tab-separated: id, side, log probability and tree of the 1-best, log
probability and tree of the chosen parse. Log probabilities are the parser's own, as in `parse --nbest`. With --json
one object per pair. No phrases are aligned, so settings of the search change nothing.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass

from forestalign.aligner import AlignerParts, LoadReranker
from forestalign.batch.workers import Job, Layout, StartWork
from forestalign.cli.align_options import add_align_options, config_of, count_of, given_file, read_jobs
from forestalign.cli.options import add_batch_options, run_batch
from forestalign.reranking import RerankedPair
from forestalign.trees import ScoredTree, format_brackets

DIGITS = 4  # of log probabilities, as in n-best lists


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_align_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Parse the pairs and print the trees that were chosen."""
    config, layout = config_of(args), Layout.JSON if args.json else Layout.BLOCKS
    start = StartWork(LoadReranker(config, AlignerParts(given_file=given_file(args))), RerankedText(args.json))
    return run_batch(args, read_jobs(args, config), start, layout, lambda: count_of(args))


@dataclass(frozen=True, slots=True)
class RerankedText:
    """The two parses of a pair as JSON or as two lines."""

    as_json: bool

    def __call__(self, job: Job, pair: RerankedPair) -> str:
        """What is printed of one pair."""
        sides = {"source": pair.source, "target": pair.target}
        if self.as_json:
            rows = {side: {"best": _cells(one.best), "chosen": _cells(one.chosen)} for side, one in sides.items()}
            return json.dumps({"id": pair.id, **rows}, ensure_ascii=False)
        return "\n".join(
            "\t".join(map(str, (pair.id, side, *_cells(one.best), *_cells(one.chosen)))) for side, one in sides.items()
        )


def _cells(scored: ScoredTree) -> list[object]:
    return [round(float(scored.log_prob), DIGITS), format_brackets(scored.tree)]
