"""Rates of every stage, start-up, memory and growth, on made-up sentences; `make bench` runs it.

    python scripts/bench.py [--pairs 200] [--output runs/bench] [--only parse words ...]

Prints a table; writes bench.json (figures, machine, versions) and growth.png into the output folder. Other word
aligners are measured on the same pairs where they are installed: eflomal, and simalign (--encoder DIR gives it the
encoder directory). Stages are timed by this process's own processor seconds, so that other work on the machine does not
count; whole commands by the clock, so the load is part of the report.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import argparse
import importlib.metadata
import importlib.util
import json
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from echo_worker import start_echo
from paraphrases import paraphrases

from forestalign.alignment import WordAlignment
from forestalign.batch import Job, run_jobs
from forestalign.config import AlignConfig
from forestalign.features import FeatureExtractor
from forestalign.forest import Forest
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.model import load_model
from forestalign.parsers import Parse, load_parser
from forestalign.phrase_alignment import align_phrases
from forestalign.tokens import tokenize
from forestalign.word_alignment import WordAligner, analyse_parse

LENGTH = 25  # words of the sentences that rates are given for
LENGTHS = (10, 20, 30, 40, 50, 60)
BEAMS = (10, 25, 50, 100, 200)
Figures = dict[str, Any]


@dataclass
class Bench:
    """What the stages share: settings, pairs, and parses that are made once."""

    pair_count: int
    config: AlignConfig
    folder: Path
    encoder: str

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        return list(paraphrases(self.pair_count, LENGTH))

    @cached_property
    def parser(self) -> Any:
        return load_parser(self.config)

    @cached_property
    def parses(self) -> list[tuple[Parse, Parse]]:
        return self.parse(self.pairs)

    @cached_property
    def words(self) -> WordAligner:
        return WordAligner(self.config)

    @cached_property
    def phrases(self) -> PhraseStage:
        return PhraseStage(self.config)

    def parse(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Parse, Parse]]:
        flat = self.parser.parse([tokenize(text) for pair in pairs for text in pair])
        return list(zip(flat[::2], flat[1::2], strict=True))

    def links(self, parses: Iterable[tuple[Parse, Parse]]) -> list[WordAlignment]:
        """The seeds of the search."""
        return [self.words.candidates(analyse_parse(source), analyse_parse(target)) for source, target in parses]


class PhraseStage:
    """Features, probabilities and the search: what comes after the word links."""

    def __init__(self, config: AlignConfig):
        self.config, self.model = config, load_model(config.model)
        self.extractor = FeatureExtractor(
            load_wordnet(), load_vectors(config.vectors), self.model.features, self.model.vocabulary
        )

    def align(self, source: Forest, target: Forest, words: WordAlignment, **changes: Any) -> None:
        config = self.config.with_(**changes)
        scores = self.model.score(self.extractor.extract(source, target, words), config)
        align_phrases(source, target, words, scores, config)


def seconds_of(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    begin = clock()
    work()
    return clock() - begin


# ---- stages ----


def bench_parse(bench: Bench) -> Figures:
    """Sentences a second to trees and forests, in batches."""
    bench.parse(bench.pairs[:8])
    seconds = seconds_of(lambda: bench.parse(bench.pairs))
    return {"sentences_per_second": 2 * len(bench.pairs) / seconds, "nbest": bench.config.nbest}


def bench_words(bench: Bench) -> Figures:
    """Pairs a second to word links, from parses; dependencies and names included."""
    bench.links(bench.parses[:8])
    seconds = seconds_of(lambda: bench.links(bench.parses))
    return {"pairs_per_second": len(bench.parses) / seconds, "profile": bench.config.profile}


def bench_phrases(bench: Bench) -> Figures:
    """Pairs a second through features and search, and the plain Python twin on a few of them."""
    tasks = [(s.forest, t.forest, w) for (s, t), w in zip(bench.parses, bench.links(bench.parses), strict=True)]
    bench.phrases.align(*tasks[0])
    compiled = seconds_of(lambda: [bench.phrases.align(*task) for task in tasks]) / len(tasks)
    few = tasks[:3]
    compiled_few = seconds_of(lambda: [bench.phrases.align(*task) for task in few])
    plain_few = seconds_of(lambda: [bench.phrases.align(*task, plain=True) for task in few])
    return {
        "pairs_per_second": 1 / compiled,
        "times_the_plain_twin": plain_few / compiled_few,
        "forest_nodes": statistics.mean(len(forest) for task in tasks for forest in task[:2]),
        "beam": bench.config.beam,
    }


def bench_growth(bench: Bench) -> Figures:
    """Milliseconds of the phrase stage by length at a fixed beam and by beam at a fixed length; a plot of both."""
    by_length = [_milliseconds(bench, length, bench.config.beam) for length in LENGTHS]
    by_beam = [_milliseconds(bench, LENGTH, beam) for beam in BEAMS]
    _plot(bench.folder / "growth.png", by_length, by_beam)
    return {
        "milliseconds_by_length": dict(zip(map(str, LENGTHS), by_length, strict=True)),
        "milliseconds_by_beam": dict(zip(map(str, BEAMS), by_beam, strict=True)),
        "exponent_in_length": _exponent(LENGTHS, by_length),
        "exponent_in_beam": _exponent(BEAMS, by_beam),
    }


def _milliseconds(bench: Bench, length: int, beam: int, count: int = 6) -> float:
    parses = bench.parse(list(paraphrases(count, length, seed=2)))
    tasks = [(s.forest, t.forest, w) for (s, t), w in zip(parses, bench.links(parses), strict=True)]
    bench.phrases.align(*tasks[0], beam=beam)
    return 1000 * statistics.median(
        seconds_of(lambda task=task: bench.phrases.align(*task, beam=beam)) for task in tasks
    )


def _exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _plot(path: Path, by_length: Sequence[float], by_beam: Sequence[float]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, sizes, times, name in ((axes[0], LENGTHS, by_length, "words"), (axes[1], BEAMS, by_beam, "beam")):
        axis.loglog(sizes, times, "o-", label=f"measured, exponent {_exponent(sizes, times):.2f}")
        axis.loglog(sizes, [times[0] * (size / sizes[0]) ** 2 for size in sizes], ":", color="grey", label="quadratic")
        axis.set_xlabel(name)
        axis.set_ylabel("milliseconds a pair")
        axis.set_xticks(sizes, map(str, sizes), minor=False)
        axis.minorticks_off()
        axis.legend()
    figure.suptitle("Phrase stage: features, probabilities, search")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def bench_memory(bench: Bench) -> Figures:
    """Peak of a fresh process that aligns one pair of the common and of the greatest length."""
    return {
        f"megabytes_for_a_{length}_word_pair": _peak_megabytes(
            "align", _pair_file(bench.folder, list(paraphrases(1, length, seed=3)), f"pair{length}"), "--json", "-q"
        )
        for length in (LENGTH, LENGTHS[-1])
    }


# ---- the whole command, as users run it ----


def _command(*arguments: str, **environment: str) -> float:
    """Seconds of one run of the command."""
    command = [sys.executable, "-m", "forestalign", *arguments]
    return seconds_of(
        lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment}),
        time.perf_counter,
    )


def _peak_megabytes(*arguments: str) -> float:
    """Most memory that one run of the command has."""
    # not getrusage, which would tell the peak of this process if it is higher
    code = """
import pathlib, re, sys
from forestalign.cli import main
try:
    main(sys.argv[1:])
finally:
    print(int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1e3, file=sys.stderr)
"""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return float(done.stderr.split()[-1])


def _pair_file(folder: Path, pairs: Sequence[tuple[str, str]], name: str = "") -> str:
    path = folder / f"{name or f'pairs{len(pairs)}'}.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return str(path)


def bench_align(bench: Bench) -> Figures:
    """Pairs a second from text to JSON with one and two processes; start-up is taken off by a run over one pair."""
    many, one = _pair_file(bench.folder, bench.pairs), _pair_file(bench.folder, bench.pairs[:1])
    options = ["--json", "-q", *(["--model", bench.config.model] if bench.config.model else [])]
    _command("align", one, *options)
    figures: Figures = {}
    for jobs in ("1", "2"):
        start = _command("align", one, *options, "--jobs", jobs)
        rate = (len(bench.pairs) - 1) / (_command("align", many, *options, "--jobs", jobs) - start)
        figures[f"pairs_per_second_{jobs}_process{'es' if jobs > '1' else ''}"] = rate
    return figures


def bench_start(bench: Bench) -> Figures:
    """Seconds until the version and the first pair are printed, and of the first compilation."""
    one = _pair_file(bench.folder, bench.pairs[:1])
    with tempfile.TemporaryDirectory() as empty:
        first = _command("align", one, "--json", "-q", NUMBA_CACHE_DIR=empty)
    return {
        "version_seconds": min(_command("--version") for _ in range(5)),
        "first_pair_seconds": min(_command("align", one, "--json", "-q") for _ in range(3)),
        "first_pair_with_compilation_seconds": first,
    }


def bench_batch(bench: Bench) -> Figures:
    """Pairs a second that reading, chunking, processes and ordered output can pass on, and how memory grows."""
    figures: Figures = {}
    output = str(bench.folder / "batch.jsonl")
    for count, processes in ((20_000, 1), (100_000, 1), (100_000, 2)):
        jobs = (Job(number, str(number), bench.pairs[number % len(bench.pairs)]) for number in range(count))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        run_jobs(jobs, start_echo, output=output, processes=processes)
        seconds = time.perf_counter() - begin
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        figures[f"pairs_per_second_{processes}_process{'es' if processes > 1 else ''}"] = count / seconds
        figures[f"megabytes_grown_over_{count}_{processes}"] = grown / 1e3
    return figures


# ---- what somebody would take instead ----


def bench_others(bench: Bench) -> Figures:
    """Pairs a second of other word aligners on the same, tokenized pairs; missing ones are left out."""
    pairs = [(tokenize(source).words, tokenize(target).words) for source, target in bench.pairs]
    figures: Figures = {}
    if importlib.util.find_spec("eflomal"):
        figures["eflomal_pairs_per_second"] = len(pairs) / seconds_of(
            lambda: _eflomal(pairs, bench.folder), time.perf_counter
        )
    if bench.encoder and importlib.util.find_spec("simalign"):
        figures["simalign_pairs_per_second"] = _simalign(pairs, bench.encoder)
    return figures


def _eflomal(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], folder: Path) -> None:
    """Model 3, the default; it learns from the very pairs that it aligns."""
    import eflomal

    texts = [[" ".join(pair[side]) + "\n" for pair in pairs] for side in (0, 1)]
    eflomal.Aligner().align(*texts, links_filename_fwd=str(folder / "eflomal.links"), quiet=True)


def _simalign(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], encoder: str) -> float:
    import simalign

    aligner = simalign.SentenceAligner(model=encoder, token_type="bpe", matching_methods="i", layer=5)
    few = pairs[:50]
    return len(few) / seconds_of(lambda: [aligner.get_word_aligns(list(s), list(t)) for s, t in few])


# ---- report ----

STAGES: dict[str, Callable[[Bench], Figures]] = {
    "start": bench_start,
    "parse": bench_parse,
    "words": bench_words,
    "phrases": bench_phrases,
    "memory": bench_memory,
    "growth": bench_growth,
    "align": bench_align,
    "batch": bench_batch,
    "others": bench_others,
}


def machine() -> Figures:
    names = ("forestalign", "numpy", "scipy", "numba", "onnxruntime", "tokenizers", "nltk", "gensim")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        "versions": {name: importlib.metadata.version(name) for name in names},
        "commit": _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _commit() -> str:
    git = shutil.which("git")
    if git is None:
        return "unknown"
    command = [git, "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"


def show(stage: str, figures: Figures) -> None:
    for name, value in figures.items():
        if isinstance(value, dict):
            value = "  ".join(f"{key}: {number:.1f}" for key, number in value.items())
        text = f"{value:.2f}" if isinstance(value, float) else str(value)
        print(f"{stage:<8} {name.replace('_', ' '):<40} {text}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--output", type=Path, default=Path("runs/bench"))
    parser.add_argument("--only", nargs="+", choices=tuple(STAGES), default=tuple(STAGES))
    parser.add_argument("--model", default="", help="phrase model; 'uniform' for the untrained one")
    parser.add_argument("--encoder", default="", help="encoder directory for simalign")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    bench = Bench(args.pairs, AlignConfig().with_(model=args.model), args.output, args.encoder)
    report: Figures = {"machine": machine(), "pairs": args.pairs, "words_a_sentence": LENGTH}
    show("machine", {name: value for name, value in report["machine"].items() if not isinstance(value, dict)})
    for name in args.only:
        report[name] = STAGES[name](bench)
        show(name, report[name])
    (args.output / "bench.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
