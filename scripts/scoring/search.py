"""How often the search misses its own best alignment."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from forestalign.cli.align_options import config_of
from forestalign.config import AlignConfig
from forestalign.evaluation.development import prepared_pairs
from forestalign.pair_cache import read_cached
from forestalign.phrases.scoring.features import weigh_features
from forestalign.phrases.search.directed_search import DirectedSearch
from forestalign.phrases.stage import load_stage
from scoring.phrases import add_set_options, read_set

Rank = tuple[bool, float]  # reached without completion, score: the larger is better
CLOSE = 1e-6  # scores that differ by less are equal
MOST_DEFICIT = 50.0  # of one pair, so that a pair without a root does not hide all others


def print_search(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """The search error: the bounds of the search against the widest, with the scores that ship.

        score.py search annotations/dev.jsonl msr-rte2.dev.jsonl.gz:A,C mtref.dev.jsonl.gz --limit 100

    The reference is the best that searches with wide bounds find for a pair: beam --wide by gain and prospect, and by
    gain alone, no cube pruning, gap 20. For each set and each way to search: the share of pairs for which the reference
    scores higher (`error`), by how much in the mean over all pairs (`deficit`), how often the way beats the reference
    (a beam of any width is no proof), and milliseconds of the search per pair.
    """
    add_set_options(parser)
    parser.add_argument("--wide", type=int, default=300, metavar="N", help="beam of the reference (default: 300)")
    args = parser.parse_args(arguments)
    config = config_of(args)
    for gold in args.gold:
        tasks = search_tasks(gold, config, args)
        wide = config.replace(beam=args.wide, cube=0, gap=20, trace_states=args.wide, variants=0)
        both = rank_all(tasks, wide)[0], rank_all(tasks, wide.replace(prospect_share=0.0))[0]
        reference = [max(pair) for pair in zip(*both, strict=True)]
        print(f"{gold}: {len(tasks)} pairs, reference beam {args.wide}", flush=True)
        for name, settings in (("default", config), ("by gain alone", config.replace(prospect_share=0.0))):
            print(f"  {name:20} {format_error(reference, *rank_all(tasks, settings))}", flush=True)


def search_tasks(gold: str, config: AlignConfig, args: argparse.Namespace) -> list[DirectedSearch]:
    """The pairs of a gold file with the tables of the shipped scores."""
    stage, tasks = load_stage(config), []
    assert stage.score_model is not None
    for path in prepared_pairs(read_set(gold, config, args).records, args.cache, config):
        pair = read_cached(path)
        features = stage.derivation_features(pair.source, pair.target, pair.words)
        tables = weigh_features(features, stage.score_model.weights)
        tasks.append(DirectedSearch(pair.source, pair.target, *tables, config))
    return tasks


def rank_all(tasks: Sequence[DirectedSearch], config: AlignConfig) -> tuple[list[Rank], float]:
    """The best score of each pair under some settings, and the seconds it took."""
    begin, ranks = time.process_time(), []
    for task in tasks:
        search = DirectedSearch(task.source, task.target, task.weights, task.seeds, config)
        best = search.best().derivations[0]
        ranks.append((not best.completed, best.score))
    return ranks, time.process_time() - begin


def format_error(reference: Sequence[Rank], ranks: Sequence[Rank], seconds: float) -> str:
    """What one way to search misses, compared pair by pair."""
    pairs, count = list(zip(reference, ranks, strict=True)), max(len(ranks), 1)
    worse = [(wanted, got) for wanted, got in pairs if is_better(wanted, got)]
    better = sum(is_better(got, wanted) for wanted, got in pairs)
    deficit = sum(min(MOST_DEFICIT, abs(wanted[1] - got[1])) for wanted, got in worse) / count
    error = 100 * len(worse) / count
    return f"error {error:5.1f} %  deficit {deficit:6.3f}  better {better:3}  {1000 * seconds / count:6.1f} ms"


def is_better(one: Rank, other: Rank) -> bool:
    """Whether one alignment beats the other by more than rounding."""
    return one[0] > other[0] or (one[0] == other[0] and one[1] > other[1] + CLOSE)
