"""Rates of each stage and of the whole command, for scripts/bench.py."""

from __future__ import annotations

import importlib.metadata
import re
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from bench_common import (
    LENGTH,
    Bench,
    Figures,
    command_seconds,
    import_alone,
    pair_file,
    processor_seconds_of,
    seconds_of,
)
from echo_worker import start_echo
from paraphrases import paraphrases

from forestalign import compiled
from forestalign.aligner import Aligner
from forestalign.batch import Job, OutputOptions, RunLimits, run_jobs
from forestalign.parsers import ChartParser, parse_of
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.tokens import tokenize


def bench_parse(bench: Bench) -> Figures:
    """Sentences a second to trees and forests, in batches."""
    bench.parse(bench.pairs[:8])
    seconds = seconds_of(lambda: bench.parse(bench.pairs))
    return {"sentences_per_second": 2 * len(bench.pairs) / seconds, "nbest": bench.config.nbest}


def bench_forests(bench: Bench) -> Figures:
    """Sentences a second from charts to packed forests: what parsing takes besides the encoder."""
    sentences = [tokenize(text) for pair in bench.pairs for text in pair]
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    found = [(sentence, chart) for _, sentence, chart in bench.parser.charts(sentences, order)]
    for sentence, chart in found[:16]:
        parse_of(sentence, chart, bench.config)
    seconds = seconds_of(lambda: [parse_of(sentence, chart, bench.config) for sentence, chart in found])
    return {"sentences_per_second": len(found) / seconds, "nbest": bench.config.nbest}


def bench_encoder(bench: Bench) -> Figures:
    """Share of the encoder in the processor time from text to JSON, in one process."""
    aligner, spent = Aligner(bench.config), [0.0]
    charts = aligner.parser.source.charts  # type: ignore[attr-defined]

    def timed(sentences: Sequence[Any]) -> Any:
        begin = time.thread_time()
        try:
            return charts(sentences)
        finally:
            spent[0] += time.thread_time() - begin

    aligner.parser.source.charts = timed  # type: ignore[attr-defined]
    _to_json(aligner, bench.pairs[:4])
    spent[0] = 0.0
    whole = seconds_of(lambda: _to_json(aligner, bench.pairs))
    return {"share": spent[0] / whole, "seconds": spent[0], "seconds_of_all": whole}


def _to_json(aligner: Aligner, pairs: Sequence[tuple[str, str]]) -> None:
    for begin in range(0, len(pairs), 32):
        for pair in aligner.prepare([("", *texts, None) for texts in pairs[begin : begin + 32]]):
            assert isinstance(pair, PreparedPair), pair
            aligner.align_prepared(pair).to_json()


PROFILED = (
    "tokens", "encoder", "trees_and_forests", "word_links", "features_and_scores", "evidence_and_similarity",
    "compiled_search", "parts_and_results", "json",
)  # fmt: skip


def bench_profile(bench: Bench) -> Figures:
    """Milliseconds of the processor per pair for each step of the way from text to JSON, taken one after the other."""
    aligner, spent = Aligner(bench.config), dict.fromkeys(PROFILED, 0.0)
    _to_json(aligner, bench.pairs[:4])
    for begin in range(0, len(bench.pairs), 32):
        _profile(aligner, bench.pairs[begin : begin + 32], spent)
    for part in ("features_and_scores", "evidence_and_similarity", "compiled_search"):  # they are done in it again
        spent["parts_and_results"] -= spent[part]
    steps = {name: 1000 * seconds / len(bench.pairs) for name, seconds in spent.items()}
    whole = sum(steps.values())
    shares = {name: 100 * step / whole for name, step in steps.items()}
    return {"milliseconds_per_pair": steps, "percent": shares, "milliseconds_of_all": whole}


def _profile(aligner: Aligner, pairs: Sequence[tuple[str, str]], spent: dict[str, float]) -> None:
    """Add the seconds of each step."""

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        value = work()
        spent[name] += time.process_time() - begin
        return value

    parser, core = aligner.parser, cast(Any, compiled.core("phrases.search._search"))
    assert isinstance(parser, ChartParser)
    assert core is not None
    search = core.search
    sentences = timed("tokens", lambda: [tokenize(text) for pair in pairs for text in pair])
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    charts = timed("encoder", lambda: sorted(parser.charts(sentences, order), key=itemgetter(0)))
    found = timed("trees_and_forests", lambda: [parse_of(each, chart, aligner.config) for _, each, chart in charts])
    core.search = lambda *given: timed("compiled_search", lambda: search(*given))
    try:
        for source, target in zip(found[::2], found[1::2], strict=True):
            words = timed("word_links", partial(aligner.link_words, source, target))
            timed("features_and_scores", partial(aligner.stage.score, source.forest, target.forest, words))
            timed("evidence_and_similarity", partial(aligner.stage.evidence, source.forest, target.forest, words))
            pair = PreparedPair(source.forest, target.forest, words, "")
            timed("json", timed("parts_and_results", partial(aligner.align_prepared, pair)).to_json)
    finally:
        core.search = search


def bench_words(bench: Bench) -> Figures:
    """Pairs a second to word links, from parses; dependencies and names included."""
    bench.links(bench.parses[:8])
    seconds = seconds_of(lambda: bench.links(bench.parses))
    return {"pairs_per_second": len(bench.parses) / seconds, "profile": bench.config.profile}


def bench_phrases(bench: Bench) -> Figures:
    """Pairs a second through features and search, and the plain Python twin on a few of them."""
    tasks = [(s.forest, t.forest, w) for (s, t), w in zip(bench.parses, bench.links(bench.parses), strict=True)]
    bench.align(*tasks[0])
    compiled = seconds_of(lambda: [bench.align(*task) for task in tasks]) / len(tasks)
    few = tasks[:3]
    compiled_few = seconds_of(lambda: [bench.align(*task) for task in few])
    plain_few = seconds_of(lambda: [bench.align(*task, plain=True) for task in few])
    return {
        "pairs_per_second": 1 / compiled,
        "times_the_plain_twin": plain_few / compiled_few,
        "forest_nodes": statistics.mean(len(forest) for task in tasks for forest in task[:2]),
        "beam": bench.config.beam,
    }


# ---- the whole command, as users run it ----

FEW_PAIRS = 64  # enough for two processes to have work from the start
ALIGNED_PAIRS = 320


def bench_align(bench: Bench) -> Figures:
    """Pairs a second from text to JSON with one and two processes.

    What starting the processes takes falls out: it is in a long run and in a short one, and the difference counts.
    """
    pairs = list(paraphrases(max(len(bench.pairs), FEW_PAIRS + ALIGNED_PAIRS), LENGTH))
    many, few = pair_file(bench.folder, pairs), pair_file(bench.folder, pairs[:FEW_PAIRS])
    options = ["--json", "-q", *(["--model", bench.config.model] if bench.config.model else [])]
    figures: Figures = {}
    for jobs in ("1", "2"):
        start = command_seconds("align", few, *options, "--jobs", jobs)
        rate = (len(pairs) - FEW_PAIRS) / (command_seconds("align", many, *options, "--jobs", jobs) - start)
        figures[f"pairs_per_second_{jobs}_process{'es' if jobs > '1' else ''}"] = rate
    return figures


def bench_start(bench: Bench) -> Figures:
    """Seconds until the package is imported, and the version, the first tree and the first pair are printed."""
    one = pair_file(bench.folder, bench.pairs[:1])
    sentence = bench.folder / "sentence.txt"
    sentence.write_text("The cat sat on the mat.\n", encoding="utf-8")
    return {
        "import_seconds": min(seconds_of(import_alone, time.perf_counter) for _ in range(5)),
        "version_seconds": min(command_seconds("--version") for _ in range(5)),
        "first_parse_seconds": min(command_seconds("parse", str(sentence)) for _ in range(3)),
        "first_pair_seconds": min(command_seconds("align", one, "--json", "-q") for _ in range(3)),
        "first_pair_processor_seconds": processor_seconds_of(lambda: command_seconds("align", one, "--json", "-q")),
    }


def bench_batch(bench: Bench) -> Figures:
    """Pairs a second that reading, chunking, processes and ordered output can pass on, and how memory grows."""
    figures: Figures = {}
    output = str(bench.folder / "batch.jsonl")
    for count, processes in ((20_000, 1), (100_000, 1), (100_000, 2)):
        jobs = (Job(number, str(number), bench.pairs[number % len(bench.pairs)]) for number in range(count))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        run_jobs(jobs, start_echo, output=OutputOptions(output, force=True), limits=RunLimits(processes=processes))
        seconds = time.perf_counter() - begin
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        figures[f"pairs_per_second_{processes}_process{'es' if processes > 1 else ''}"] = count / seconds
        figures[f"megabytes_grown_over_{count}_{processes}"] = grown / 1e3
    return figures


def bench_install(bench: Bench) -> Figures:
    """Megabytes of all packages that `pip install forestalign` brings, optional ones not among them."""
    sizes = {name: size / 1e6 for name, size in _sizes("forestalign", {}).items() if name != "forestalign"}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:6]
    return {
        "packages": len(sizes),
        "megabytes_of_all": sum(sizes.values()),
        "megabytes_of_the_largest": {name: sizes[name] for name in largest},
    }


def _sizes(name: str, known: dict[str, int]) -> dict[str, int]:
    """Bytes of a distribution and of those that it requires, whatever requires them."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in known:
        return known
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:  # required on other systems only
        return known
    paths = (Path(str(found.locate_file(file))) for file in found.files or ())
    known[key] = sum(path.stat().st_size for path in paths if path.is_file())
    for requirement in found.requires or ():
        if "extra ==" not in requirement:
            _sizes(re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0], known)
    return known
