"""The search error for scripts/bench.py: what its bounds miss of the best alignments by the shipped scores."""

from __future__ import annotations

from bench_common import Bench, Figures
from search_error import ErrorRow, ranks, reference, search_tasks, ways_to_search

LIMIT = 60  # pairs of each file
BEAM = 300


def bench_search_error(bench: Bench) -> Figures:
    """Share of pairs, mean deficit and milliseconds of each way to search, over all files."""
    tasks = [task for path in bench.gold_phrases for task in search_tasks(path, bench.config, LIMIT)]
    if not tasks:
        return {}
    wanted = reference(tasks, bench.config, BEAM)
    rows = {name: ErrorRow.of(wanted, *ranks(tasks, config)) for name, config in ways_to_search(bench.config).items()}
    return {
        f"search_{name.replace(' ', '_')}": {
            "error": 100 * row.errors / row.pairs,
            "deficit": row.deficit,
            "milliseconds": row.milliseconds,
        }
        for name, row in rows.items()
    }
