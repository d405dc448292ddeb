"""Resident memory while distinct pairs pass through the aligner, for scripts/bench.py."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from forestalign.aligner import Aligner
from forestalign.config import AlignConfig
from forestalign.errors import NoParseError
from forestalign.formats import read_pairs
from forestalign.formats.pairs import PairRecord
from forestalign.process_memory import give_back

CHUNK = 20  # pairs that are parsed together
STEP = 1000  # pairs between two measurements


def memory_curve(paths: Sequence[str], count: int, config: AlignConfig, step: int = STEP) -> dict[int, float]:
    """Megabytes after each `step` of the first `count` pairs; for a fresh process, whose memory is the aligner's."""
    aligner = Aligner(config)
    aligner.load_parts()
    measured, done = {0: resident_megabytes()}, 0
    pairs = islice(distinct_pairs(paths, config.max_words), count)
    while chunk := list(islice(pairs, CHUNK)):
        for prepared in aligner.prepare([(pair.id, pair.source, pair.target, None) for pair in chunk]):
            if not isinstance(prepared, NoParseError):
                aligner.align_prepared(prepared).to_json()
        done += len(chunk)
        if done % step < CHUNK:
            measured[done] = resident_megabytes()
            print(f"memory   after {done:,} pairs: {measured[done]:.1f} MB", flush=True)
    return measured


def distinct_pairs(paths: Sequence[str], max_words: int) -> Iterator[PairRecord]:
    """The pairs of all files, each once, without what is too long or cannot be read."""
    seen: set[int] = set()
    for path in paths:
        for pair in read_pairs(path):
            if not isinstance(pair, PairRecord) or max(len(pair.source), len(pair.target)) > max_words:
                continue
            key = hash((pair.source.words, pair.target.words))
            if key not in seen:
                seen.add(key)
                yield pair


def resident_megabytes() -> float:
    """Memory of this process that is in use now: what nothing refers to, or is free, is given back before."""
    gc.collect()
    give_back(0)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1e3


def kilobytes_per_pair(measured: dict[int, float], after: int = STEP) -> float:
    """How much memory grows by, from the measurement at `after` pairs to the last one."""
    last = max(measured)
    return 1e3 * (measured[last] - measured[after]) / (last - after) if last > after else 0.0


def plot_memory(path: Path, measured: dict[int, float]) -> None:
    """Megabytes by pairs, from zero."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
    axis.plot(list(measured), list(measured.values()), "o-")
    axis.set_ylim(0)
    axis.set_xlabel("distinct pairs")
    axis.set_ylabel("resident megabytes")
    axis.set_title(f"{kilobytes_per_pair(measured):.1f} kilobytes per pair after the first {STEP:,}")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def figures_of(measured: dict[int, float]) -> dict[str, Any]:
    """What the report says of a curve."""
    last = max(measured)
    return {
        "resident_megabytes_after_pairs": {str(pairs): megabytes for pairs, megabytes in measured.items()},
        "kilobytes_per_pair_after_the_first_1000": kilobytes_per_pair(measured),
        "last_to_first_1000": measured[last] / measured[STEP] if STEP in measured else 1.0,
    }
