"""Choose parses by aligning: the trees that the best phrase alignment uses, next to the parser's 1-best.

    forestalign rerank pairs.tsv
    forestalign rerank pairs.tsv --tokenized --trees nbest.txt
    forestalign rerank pairs.tsv --forests forests.jsonl --json

Prints two lines a pair, for source and target, tab-separated: id, side, log probability and tree of the 1-best, log
probability and tree of the chosen parse. With --json one object a pair.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestalign.aligner import Aligner, Alignment
from forestalign.batch import Handler, Job, Layout, Outcome
from forestalign.cli.align import align_jobs
from forestalign.cli.align_options import add_align_options, config_of, count_of, given_file, read_jobs
from forestalign.cli.batch_options import add_batch_options, run_batch
from forestalign.cli.compilation import ALIGNING, SEARCHING
from forestalign.config import AlignConfig
from forestalign.errors import ForestAlignError
from forestalign.forest import Forest, NodeId, log_partition, tree_of, viterbi
from forestalign.formats.given import read_given
from forestalign.trees import Tree, format_brackets


def configure(parser: argparse.ArgumentParser) -> None:
    add_align_options(parser)
    parser.add_argument("--json", action="store_true", help="JSON lines")
    add_batch_options(parser)


def run(args: argparse.Namespace) -> int:
    config = config_of(args)
    start = StartReranker(config, given_file(args), args.json)
    layout = Layout.JSON if args.json else Layout.BLOCKS
    kernels = SEARCHING if given_file(args) else ALIGNING
    return run_batch(args, read_jobs(args, config), start, layout, lambda: count_of(args), kernels)


@dataclass(frozen=True, slots=True)
class Reranked:
    """One sentence: the parser's tree and the chosen one, with their log probabilities in the forest."""

    best_log_prob: float
    best: str
    chosen_log_prob: float
    chosen: str


def reranked(forest: Forest, chosen: Tree, edges: Sequence[tuple[NodeId, int]]) -> Reranked:
    total = log_partition(forest)
    best = viterbi(forest)
    weight = sum(forest.edges[node][index].log_prob for node, index in edges)
    return Reranked(
        round(best.log_prob - total, 4),
        format_brackets(tree_of(forest, best.root, best.choice)),
        round(weight - total, 4),
        format_brackets(chosen),
    )


@dataclass(frozen=True, slots=True)
class StartReranker:
    config: AlignConfig
    given: str
    json: bool

    def __call__(self) -> Handler[str]:
        aligner = Aligner(self.config, given=read_given(self.given) if self.given else None)
        aligner.load_parts()

        def handle(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
            for job, result in align_jobs(aligner, jobs):
                if isinstance(result, ForestAlignError):
                    yield Outcome.failed(job, result)
                else:
                    yield Outcome.of(job, self.text(job.key, result))

        return handle

    def text(self, key: str, alignment: Alignment) -> str:
        phrases = alignment.phrases
        sides = {
            "source": reranked(alignment.source_forest, alignment.source_tree, phrases.source_edges),
            "target": reranked(alignment.target_forest, alignment.target_tree, phrases.target_edges),
        }
        if self.json:
            rows = {
                side: {"best": [one.best_log_prob, one.best], "chosen": [one.chosen_log_prob, one.chosen]}
                for side, one in sides.items()
            }
            return json.dumps({"id": key, **rows, "log_score": phrases.log_score}, ensure_ascii=False)
        return "\n".join(
            f"{key}\t{side}\t{one.best_log_prob}\t{one.best}\t{one.chosen_log_prob}\t{one.chosen}"
            for side, one in sides.items()
        )
