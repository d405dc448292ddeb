"""How often the search misses its own best alignment: its bounds against the widest, with the scores that ship.

    python scripts/search_error.py annotations/dev.jsonl msr-rte2.dev.jsonl.gz:A,C mtref.dev.jsonl.gz --limit 100

The reference is the best that searches with wide bounds find for a pair: beam `--beam` by gain and prospect, and by
gain alone, no cube pruning, gap 20. For each set and each way to search: the share of pairs for which the reference
scores higher (`error`), by how much in the mean over all pairs (`deficit`), how often the way beats the reference (a
beam of any width is no proof), and milliseconds of the search per pair.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from forestalign.config import AlignConfig
from forestalign.evaluation.development import read_development
from forestalign.evaluation.development_answers import best_trees, prepared_pairs
from forestalign.pair_cache import cache_folder, read_cached
from forestalign.phrases.scoring.features import weigh_features
from forestalign.phrases.search.directed_search import DirectedSearch
from forestalign.phrases.search.hypotheses import Derivation
from forestalign.phrases.stage import load_stage

Rank = tuple[bool, float]  # reached without completion, score: the larger is better
CLOSE = 1e-6  # scores that differ by less are equal
MOST_DEFICIT = 50.0  # of one pair, so that a pair without a root does not hide all others


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """What one way to search misses on one set."""

    pairs: int
    errors: int
    deficit: float
    better: int
    milliseconds: float

    @classmethod
    def of(cls, reference: Sequence[Rank], found: Sequence[Rank], seconds: float) -> ErrorRow:
        """Compare pair by pair."""
        worse = [(ref, got) for ref, got in zip(reference, found, strict=True) if _is_better(ref, got)]
        better = sum(_is_better(got, ref) for ref, got in zip(reference, found, strict=True))
        deficit = sum(min(MOST_DEFICIT, abs(ref[1] - got[1])) for ref, got in worse) / max(len(found), 1)
        return cls(len(found), len(worse), deficit, better, 1000 * seconds / max(len(found), 1))

    def __str__(self) -> str:
        share = 100 * self.errors / max(self.pairs, 1)
        return f"error {share:5.1f} %  deficit {self.deficit:6.3f}  better {self.better:3}  {self.milliseconds:6.1f} ms"


def _is_better(one: Rank, other: Rank) -> bool:
    return one[0] > other[0] or (one[0] == other[0] and one[1] > other[1] + CLOSE)


def search_tasks(gold: str, config: AlignConfig, limit: int) -> list[DirectedSearch]:
    """The pairs of a gold file, FILE or FILE:ANNOTATORS, with the tables of the shipped scores."""
    path, _, names = gold.partition(":")
    annotators = names.split(",") if names else ()
    found = read_development(
        path,
        lambda records: best_trees(prepared_pairs(records, cache_folder(), config.replace(mutual=False))),
        annotators,
        limit,
    )
    stage = load_stage(config)
    assert stage.score_model is not None
    tasks = []
    for cached in prepared_pairs(found.records, cache_folder(), config):
        pair = read_cached(cached)
        features = stage.derivation_features(pair.source, pair.target, pair.words)
        tables = weigh_features(features, stage.score_model.weights)
        tasks.append(DirectedSearch(pair.source, pair.target, *tables, config))
    return tasks


def ways_to_search(config: AlignConfig) -> dict[str, AlignConfig]:
    """The default, what each of its parts is worth, and the bounds of version 0.2.0."""
    return {
        "default": config,
        "without single trees": config.replace(single_trees=False),
        "by gain alone": config.replace(prospect_share=0.0),
        "best trees alone": config.replace(one_best=True),
        "as in 0.2.0": config.replace(single_trees=False, prospect_share=0.0, beam=50, gap=6, cube=100, variants=3),
    }


def ranks(tasks: Sequence[DirectedSearch], config: AlignConfig) -> tuple[list[Rank], float]:
    """The best score of each pair under some settings, and the seconds it took."""
    begin = time.process_time()
    found = [_searched(task, config) for task in tasks]
    return [(not best.completed, best.score) for best in found], time.process_time() - begin


def _searched(task: DirectedSearch, config: AlignConfig) -> Derivation:
    search = DirectedSearch(task.source, task.target, task.weights, task.seeds, config)
    return (search.on_best_trees() if config.one_best else search).best().derivations[0]


def reference(tasks: Sequence[DirectedSearch], config: AlignConfig, beam: int) -> list[Rank]:
    """The best that two wide searches find."""
    wide = config.replace(beam=beam, cube=0, gap=20, trace_states=beam, variants=0)
    both = ranks(tasks, wide)[0], ranks(tasks, wide.replace(prospect_share=0.0))[0]
    return [max(pair) for pair in zip(*both, strict=True)]


def main() -> int:
    args = _arguments()
    config = AlignConfig()
    for gold in args.gold:
        tasks = search_tasks(gold, config, args.limit)
        wanted = reference(tasks, config, args.beam)
        print(f"{gold}: {len(tasks)} pairs, reference beam {args.beam}", flush=True)
        for name, settings in ways_to_search(config).items():
            print(f"  {name:20} {ErrorRow.of(wanted, *ranks(tasks, settings))}", flush=True)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "gold", nargs="+", metavar="GOLD", help="annotated pairs, or word links: FILE or FILE:ANNOTATORS"
    )
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="use at most N pairs of each file")
    parser.add_argument("--beam", type=int, default=300, metavar="N", help="beam of the reference (default: 300)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
