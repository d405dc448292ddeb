"""How time and memory grow with the length of sentences, the beam and the trees of a forest, for scripts/bench.py."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from bench_common import LENGTH, Bench, Figures, pair_file, peak_megabytes, seconds_of
from memory_curve import figures_of, memory_curve, plot_memory
from paraphrases import paraphrases

from forestalign.config import AlignConfig
from forestalign.forest import Forest
from forestalign.tokens import tokenize
from forestalign.words.alignment import WordAlignment

LENGTHS = (10, 20, 30, 40, 60, 80, 100, 120, 150)
BEAMS = (10, 25, 50, 100, 200)
NBESTS = (1, 3, 10, 30, 100)
LONGEST = 300  # words of the long pair whose memory is measured


def bench_growth(bench: Bench) -> Figures:
    """Milliseconds of the phrase stage by length, by beam and by trees per forest, the others fixed; a plot of them."""
    curves = {
        "length": (LENGTHS, [_milliseconds(bench, length=length) for length in LENGTHS]),
        "beam": (BEAMS, [_milliseconds(bench, beam=beam) for beam in BEAMS]),
        "nbest": (NBESTS, [_milliseconds(bench, nbest=nbest) for nbest in NBESTS]),
    }
    _plot(bench.folder / "growth.png", curves)
    figures: Figures = {}
    for name, (sizes, times) in curves.items():
        figures[f"milliseconds_by_{name}"] = dict(zip(map(str, sizes), times, strict=True))
        figures[f"exponent_in_{name}"] = _exponent(sizes, times)
    return figures


def _milliseconds(bench: Bench, length: int = LENGTH, count: int = 5, **changes: Any) -> float:
    """The median over some pairs, in processor time; `changes` are settings."""
    config = bench.config.replace(**changes)
    tasks = phrase_tasks(bench, list(paraphrases(count, length, seed=2)), config)
    bench.align(*tasks[0], **changes)
    return 1000 * statistics.median(seconds_of(partial(bench.align, *task, **changes)) for task in tasks)


def phrase_tasks(
    bench: Bench, pairs: Sequence[tuple[str, str]], config: AlignConfig
) -> list[tuple[Forest, Forest, WordAlignment]]:
    """What the phrase stage takes for each pair."""
    flat = replace(bench.parser, config=config).parse([tokenize(text) for pair in pairs for text in pair])
    parses = list(zip(flat[::2], flat[1::2], strict=True))
    return [(one.forest, other.forest, w) for (one, other), w in zip(parses, bench.links(parses), strict=True)]


def _exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _plot(path: Path, curves: Mapping[str, tuple[Sequence[int], Sequence[float]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(curves), figsize=(4.5 * len(curves), 3.6), layout="constrained")
    for axis, (name, (sizes, times)) in zip(axes, curves.items(), strict=True):
        axis.loglog(sizes, times, "o-", label=f"measured, exponent {_exponent(sizes, times):.2f}")
        axis.loglog(sizes, [times[0] * (size / sizes[0]) ** 2 for size in sizes], ":", color="grey", label="quadratic")
        axis.set_xlabel({"length": "words per sentence", "nbest": "trees per forest"}.get(name, name))
        axis.set_ylabel("milliseconds per pair")
        axis.set_xticks(sizes, map(str, sizes), minor=False)
        axis.minorticks_off()
        axis.legend()
    figure.suptitle("Phrase stage: features, probabilities, search")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


ALIGNING = """
from forestalign import AlignConfig, load
load(AlignConfig(max_words=400)).align(*pathlib.Path(sys.argv[1]).read_text().rstrip().split("\\t")).to_json()
"""
PARSING = """
from forestalign import AlignConfig, Sentence, load_parser
count, length = map(int, sys.argv[1:])
parser = load_parser(AlignConfig(nbest=30, threads=1))
parser.parse([Sentence.from_words(["The", "cat", "sat", ","] * (length // 4))] * count, forests=False)
"""


def bench_memory(bench: Bench) -> Figures:
    """Peaks of fresh processes: some align one pair, of the usual and of the greatest length, others only parse."""
    figures: Figures = {}
    for length in (LENGTH, LONGEST):
        file = pair_file(bench.folder, list(paraphrases(1, length, seed=3)), f"pair{length}")
        figures[f"megabytes_for_a_{length}_word_pair"] = peak_megabytes(ALIGNING, file)
    for count, length in ((256, 20), (64, 48), (2, 300), (1, 508)):
        name = f"megabytes_to_parse_{count}_x_{length}_words"
        figures[name] = peak_megabytes(PARSING, str(count), str(length))
    return figures


def bench_curve(bench: Bench) -> Figures:
    """Memory while the distinct pairs of --real pass through the aligner; nothing without them."""
    if not bench.real:
        return {}
    measured = memory_curve(bench.real, bench.real_count, bench.config)
    plot_memory(bench.folder / "memory.png", measured)
    return figures_of(measured)
