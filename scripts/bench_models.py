"""The parser and the CRFs on sentences of fixed lengths, and what somebody would take instead, for scripts/bench.py."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench_common import Bench, Figures, best_rates, seconds_of
from paraphrases import paraphrases

from forestalign.chart import inside, kbest, marginals
from forestalign.config import AlignConfig
from forestalign.formats import read_lines, read_trees, split_on_spaces
from forestalign.learning.crf_run import read_training_pairs
from forestalign.parsers import ChartParser, load_parser
from forestalign.tokens import Sentence, tokenize
from forestalign.words.crf import (
    FAMILIES,
    TrainingPair,
    TrainSettings,
    feature_space,
    load_crf,
    load_resources,
    synthetic_phrases,
    train,
)

PARSED_LENGTHS = range(18, 23)
CRF_LENGTH = 27
BATCH = 16


def bench_parser(bench: Bench) -> Figures:
    """Sentences a second by the clock: best trees, charts with 30 best trees, and benepar on the same model."""
    sentences = _sentences(bench)
    parser = load_parser(AlignConfig(threads=bench.threads, batch_size=BATCH, nbest=1))
    assert isinstance(parser, ChartParser)
    ways: dict[str, Callable[[], object]] = {
        "sentences_per_second_1_best": lambda: parser.parse(sentences, forests=False),
        "sentences_per_second_charts_30_best": lambda: _analyse(parser, sentences),
    }
    if bench.benepar:
        ways["sentences_per_second_benepar"] = _benepar(bench.benepar, sentences, bench.threads)
    figures: Figures = {"sentences": len(sentences), "threads": bench.threads, "batch": BATCH}
    figures |= best_rates(ways, len(sentences), time.perf_counter)
    if bench.benepar:
        figures["times_benepar"] = figures["sentences_per_second_1_best"] / figures["sentences_per_second_benepar"]
    return figures


def _sentences(bench: Bench) -> list[Sentence]:
    path = bench.sentences
    if not path:
        found = [tokenize(text) for pair in paraphrases(bench.pair_count, PARSED_LENGTHS[-1]) for text in pair]
    elif next(read_lines(path)).text.startswith("("):
        found = [Sentence.from_words([str(leaf.word) for leaf in item.tree.leaves()]) for item in read_trees(path)]
    else:
        found = [split_on_spaces(line.text) for line in read_lines(path)]
    return [sentence for sentence in found if len(sentence) in PARSED_LENGTHS][: bench.pair_count]


def _analyse(parser: ChartParser, sentences: Sequence[Sentence]) -> None:
    for _, sentence, chart in parser.charts(sentences, range(len(sentences))):
        scores = inside(chart)
        marginals(chart, scores)
        kbest(chart, sentence.words, 30, scores.log_partition)


def _benepar(model: str, sentences: Sequence[Sentence], threads: int) -> Callable[[], object]:
    import benepar
    import torch

    torch.set_num_threads(threads)
    parser = benepar.Parser(model, batch_size=BATCH)
    inputs = [
        benepar.InputSentence(words=list(sentence.words), space_after=[True] * len(sentence)) for sentence in sentences
    ]
    return lambda: list(parser.parse_sents(inputs))


def bench_crf(bench: Bench) -> Figures:
    """Pairs a second that the CRFs decode on one core, and the processor seconds that training takes."""
    gold = read_training_pairs(bench.gold) if bench.gold else []
    pairs = [(pair.source, pair.target) for pair in gold] or _tagged(bench)
    long = [pair for pair in pairs if min(map(len, pair)) >= CRF_LENGTH][: bench.pair_count]
    cut = [(_cut(source), _cut(target)) for source, target in long]
    figures: Figures = {"pairs": len(cut)}
    for name in ("token", "phrase"):
        aligner = load_crf(name)
        ways: dict[str, Callable[[], object]] = {name: partial(lambda a: [a.align(*pair) for pair in cut], aligner)}
        figures[f"{name}_pairs_per_second"] = best_rates(ways, len(cut), time.process_time)[name]
    chosen = gold[: bench.train]
    for name, longest in (("token", 1), ("phrase", 3)) if chosen else ():
        figures[f"{name}_training_seconds_{len(chosen)}_pairs"] = seconds_of(
            partial(_train, [synthetic_phrases(pair) for pair in chosen] if longest > 1 else chosen, longest),
            _seconds_of_all_processes,
        )
    return figures


def _tagged(bench: Bench) -> list[tuple[Sentence, Sentence]]:
    parses = bench.parse(list(paraphrases(bench.pair_count, CRF_LENGTH + 8)))
    return [(source.sentence, target.sentence) for source, target in parses]


def _cut(sentence: Sentence) -> Sentence:
    words = Sentence.from_words(sentence.words[:CRF_LENGTH])
    middle = None if sentence.context_vectors is None else sentence.context_vectors[:CRF_LENGTH]
    return replace(
        words.with_analysis(sentence.tags[:CRF_LENGTH], sentence.lemmas[:CRF_LENGTH]), context_vectors=middle
    )


def _train(pairs: Sequence[TrainingPair], longest: int) -> None:
    space, resources, settings = feature_space(FAMILIES, longest, longest), load_resources(), TrainSettings(processes=2)
    forward = train(pairs, "s2t", space, resources, settings)
    train(pairs, "t2s", space, resources, settings, forward)


def _seconds_of_all_processes() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


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
