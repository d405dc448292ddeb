#!/usr/bin/env python
"""Speed and memory of the shipped parser, and of benepar with torch on the same model in the same run.

    python scripts/bench_parser.py sentences.txt
    python scripts/bench_parser.py ewt.dev.mrg.gz --benepar runs/parser/model

The input is text, one tokenized sentence a line, or Penn trees; sentences of 18 to 22 words are taken from it. Without
--benepar (which needs the extra) only the shipped parser is measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from forestalign.chart import inside, kbest, marginals
from forestalign.config import AlignConfig
from forestalign.formats import read_lines, read_trees, split_on_spaces
from forestalign.parsers import ChartParser, load_parser
from forestalign.tokens import Sentence

BATCH = 16
FIRST_PARSE = "The cat sat on the mat."
PEAK = """
import pathlib, re
from forestalign.config import AlignConfig
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
parser = load_parser(AlignConfig(nbest=30, threads={threads}))
parser.parse([Sentence.from_words(["The", "cat", "sat", ","] * ({words} // 4))] * {count}, forests=False)
print(int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024)
"""


def bench_parser(
    sentences: Sequence[Sentence], threads: int = 2, benepar_model: str = "", rounds: int = 3
) -> dict[str, float]:
    """Sentences a second of each way to parse them, the best of some rounds; the ways take turns."""
    parser = load_parser(AlignConfig(threads=threads, batch_size=BATCH, nbest=1))
    assert isinstance(parser, ChartParser)
    ways: dict[str, Callable[[], object]] = {
        "1 best": lambda: parser.parse(sentences, forests=False),
        "charts, inside-outside, 30 best": lambda: _analyse(parser, sentences),
    }
    if benepar_model:
        ways["benepar with torch, 1 best"] = _benepar(benepar_model, sentences, threads)
    best = dict.fromkeys(ways, 0.0)
    for turn in range(rounds + 1):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            if turn:  # the first round warms up
                best[name] = max(best[name], len(sentences) / (time.perf_counter() - started))
    if benepar_model:
        best["times benepar"] = best["1 best"] / best["benepar with torch, 1 best"]
    return best


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


def first_parse() -> float:
    """Seconds from the start of the command to its end, for one sentence; the second run finds compiled kernels."""
    command = [sys.executable, "-m", "forestalign", "parse"]
    for _ in range(2):
        started = time.perf_counter()
        subprocess.run(command, input=FIRST_PARSE.encode(), capture_output=True, check=True)
    return time.perf_counter() - started


def peak_memory(words: int, count: int, threads: int = 1) -> float:
    """MB that a process has used at most after parsing so many sentences of so many words."""
    code = PEAK.format(words=words, count=count, threads=threads)
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)


def read_sentences(path: str) -> list[Sentence]:
    first = next(read_lines(path)).text
    if first.startswith("("):
        found = [Sentence.from_words([str(leaf.word) for leaf in item.tree.leaves()]) for item in read_trees(path)]
    else:
        found = [split_on_spaces(line.text) for line in read_lines(path)]
    return [sentence for sentence in found if 18 <= len(sentence) <= 22]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--benepar", default="", metavar="MODEL", help="folder or name of the same model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=160)
    args = parser.parse_args()
    sentences = read_sentences(args.file)[: args.sentences]
    print(f"{len(sentences)} sentences of 18 to 22 words, {args.threads} threads, batch {BATCH}")
    for name, value in bench_parser(sentences, args.threads, args.benepar).items():
        print(f"{name:<40} {value:.2f}" + ("" if "times" in name else " sentences/s"))
    print(f"{'first parse':<40} {first_parse():.2f} s")
    for words, count in ((20, 256), (48, 64), (300, 2), (508, 1)):
        print(f"{f'peak memory, {count} x {words} words':<40} {peak_memory(words, count):.0f} MB")


if __name__ == "__main__":
    main()
