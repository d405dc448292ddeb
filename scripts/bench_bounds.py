"""What the bounds of the search cost when its scores are perfect, for scripts/bench.py.

An oracle knows which pairs the gold allows: such a pair is worth 1, any other -1. Whatever the best alignment still
misses, the bounds cut off, or the forests and the seeds do not hold. The widest bounds tell the two apart.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench_common import Bench, Figures

from forestalign.config import AlignConfig
from forestalign.evaluation.development import Judge, read_development
from forestalign.evaluation.development_answers import best_trees, prepared_pairs
from forestalign.forest import Forest
from forestalign.pair_cache import cache_folder, read_cached
from forestalign.phrases.score import Step, Weights, best_inside, edge_log_probs
from forestalign.phrases.seeds import Seeds
from forestalign.phrases.stage import align_weighted, load_stage
from forestalign.tokens import Span

WIDEST = {"beam": 300, "cube": 0, "variants": 0, "gap": 30, "paths": 0, "trace_states": 0}
BEAMS = (10, 20, 30, 50, 80, 120, 200, 300)
LIMIT = 60  # pairs of each file
TREES = 1e-3  # of the parser's log probability, so that equal alignments differ


@dataclass(frozen=True, slots=True, eq=False)
class OracleTask:
    """A pair of sentences with perfect scores."""

    source: Forest
    target: Forest
    judge: Judge
    seeds: Seeds
    weights: Weights

    def judgements(self, config: AlignConfig) -> tuple[float, float, float, float]:
        """Required and found, given and allowed pairs, summed over references."""
        best = align_weighted(self.source, self.target, self.seeds, self.weights, config)[0]
        found = self.judge.judgements(frozenset((pair.source, pair.target) for pair in best.pairs))
        columns = zip(*((each.required, each.found, each.given, each.allowed) for each in found), strict=True)
        required, right, given, allowed = map(sum, columns)
        return required, right, given, allowed


def bench_bounds(bench: Bench) -> Figures:
    """F1 with perfect scores and milliseconds of the search, by its bounds; a plot over the beam."""
    tasks = [task for path in bench.gold_phrases for task in oracle_tasks(path, bench.config)]
    if not tasks:
        return {}
    plain = bench.config
    ways = {"widest": plain.with_(**WIDEST), "default": plain}
    ways |= {f"beam {beam}": plain.with_(beam=beam, trace_states=beam) for beam in BEAMS if beam != plain.beam}
    ways |= {f"{name} {value or 'all'}": plain.with_(**{name: value}) for name, value in WIDEST.items()}
    measured = {name: _measured(tasks, config) for name, config in ways.items()}
    top = measured["widest"][0]
    _plot(bench.folder / "bounds.png", measured, plain.beam)
    return {
        f"bounds_{name.replace(' ', '_')}": {"F1": f1, "loss": top - f1, "milliseconds": milliseconds}
        for name, (f1, milliseconds) in measured.items()
    }


def oracle_tasks(gold: str, config: AlignConfig) -> list[OracleTask]:
    """The pairs of a gold file, FILE or FILE:ANNOTATORS, with perfect scores."""
    path, _, names = gold.partition(":")
    paper = config.with_(scoring="paper")
    found = read_development(
        path,
        lambda records: best_trees(prepared_pairs(records, cache_folder(), paper)),
        names.split(",") if names else (),
        LIMIT,
    )
    stage, tasks = load_stage(paper), []
    judges: Sequence[Judge] = found.judges()
    for cached, judge in zip(prepared_pairs(found.records, cache_folder(), paper), judges, strict=True):
        pair = read_cached(cached)
        seeds = stage.parts(pair.source, pair.target, pair.words).seeds
        weights = oracle_weights(pair.source, pair.target, judge)
        tasks.append(OracleTask(pair.source, pair.target, judge, seeds, weights))
    return tasks


def oracle_weights(source: Forest, target: Forest, judge: Judge) -> Weights:
    """1 for pairs that the gold allows, -1 for others, nothing for nulls and steps, next to nothing for trees."""
    known: dict[tuple[Span, Span], float] = {}
    value = np.empty((len(source), len(target)))
    for i, one in enumerate(source.nodes):
        for j, other in enumerate(target.nodes):
            spans = Span(one.begin, one.end), Span(other.begin, other.end)
            if spans not in known:
                known[spans] = 2.0 * judge.is_right(spans) - 1.0
            value[i, j] = known[spans]
    sides = [_tree_values(forest) for forest in (source, target)]
    (source_inside, source_edge), (target_inside, target_edge) = sides
    return Weights(
        pair=value,
        source_step=np.zeros((len(Step), len(source))),
        target_step=np.zeros((len(Step), len(target))),
        source_null=source_inside,
        target_null=target_inside,
        source_inside=source_inside,
        target_inside=target_inside,
        source_edge=source_edge,
        target_edge=target_edge,
    )


def _tree_values(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    return TREES * np.array(best_inside(forest)), TREES * edge_log_probs(forest)


def _measured(tasks: Sequence[OracleTask], config: AlignConfig) -> tuple[float, float]:
    """F1 in per cent, and milliseconds of processor time per pair."""
    begin = time.process_time()
    rows = [task.judgements(config) for task in tasks]
    milliseconds = 1000 * (time.process_time() - begin) / len(tasks)
    required, right, given, allowed = map(sum, zip(*rows, strict=True))
    recall, precision = right / required, allowed / given
    return 200 * recall * precision / (recall + precision), milliseconds


def _plot(path: Path, measured: dict[str, tuple[float, float]], beam: int) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    by_beam = {int(name.split()[1]): both for name, both in measured.items() if name.startswith("beam")}
    by_beam[beam] = measured["default"]
    figure, axis = pyplot.subplots(figsize=(6.4, 4), layout="constrained")
    top = measured["widest"][0]
    for size, (f1, milliseconds) in sorted(by_beam.items()):
        axis.plot(milliseconds, top - f1, "o", color="tab:blue" if size != beam else "tab:red")
        axis.annotate(f"beam {size}", (milliseconds, top - f1), textcoords="offset points", xytext=(5, 4))
    axis.set_xscale("log")
    axis.set_xlabel("milliseconds of the search per pair")
    axis.set_ylabel("loss of F1 against the widest bounds")
    axis.set_title("Bounds of the search with perfect scores")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
