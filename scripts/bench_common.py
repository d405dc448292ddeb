"""What the stages of scripts/bench.py share: settings, pairs and parses that are made once, clocks, fresh processes."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from paraphrases import paraphrases

from forestalign.config import AlignConfig
from forestalign.forest import Forest
from forestalign.learning.crf_run import WeightedGold
from forestalign.parsers import Parse, load_parser
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.phrases.stage import PhraseStage, load_stage
from forestalign.tokens import tokenize
from forestalign.words import WordAligner, analyse_parse
from forestalign.words.alignment import WordAlignment

LENGTH = 25  # words of the sentences that rates are given for
ROUNDS = 3
Figures = dict[str, Any]


@dataclass
class Bench:
    """What the stages share: settings, pairs, and parses that are made once."""

    pair_count: int
    config: AlignConfig
    folder: Path
    encoder: str = ""
    sentences: str = ""
    benepar: str = ""
    threads: int = 2
    gold: WeightedGold | None = None
    train: int = 0
    real: tuple[str, ...] = ()
    real_count: int = 20_000
    gold_phrases: tuple[str, ...] = ()

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
        return load_stage(self.config)

    def align(self, source: Forest, target: Forest, links: WordAlignment, **changes: Any) -> object:
        """The phrase stage, with some settings changed."""
        return replace(self.phrases, config=self.config.replace(**changes)).align(PreparedPair(source, target, links))

    def parse(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Parse, Parse]]:
        flat = self.parser.parse([tokenize(text) for pair in pairs for text in pair])
        return list(zip(flat[::2], flat[1::2], strict=True))

    def links(self, parses: Iterable[tuple[Parse, Parse]]) -> list[WordAlignment]:
        """The seeds of the search."""
        return [self.words.candidates(analyse_parse(source), analyse_parse(target)) for source, target in parses]


def seconds_of(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    begin = clock()
    work()
    return clock() - begin


def best_rates(ways: dict[str, Callable[[], Any]], count: int, clock: Callable[[], float]) -> dict[str, float]:
    """So many things a second by each way, the best of some rounds; the ways take turns, and first they warm up."""
    best = dict.fromkeys(ways, 0.0)
    for turn in range(ROUNDS + 1):
        for name, way in ways.items():
            rate = count / seconds_of(way, clock)
            best[name] = max(best[name], rate if turn else 0.0)
    return best


def command_seconds(*arguments: str) -> float:
    """Seconds of one run of the command."""
    command = [sys.executable, "-m", "forestalign", *arguments]
    return seconds_of(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), time.perf_counter)


def processor_seconds_of(work: Callable[[], Any]) -> float:
    """Processor seconds of the processes that some work starts and waits for, whatever else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_alone() -> None:
    """A fresh process that imports the package."""
    subprocess.run([sys.executable, "-c", "import forestalign"], check=True)


def peak_megabytes(work: str, *arguments: str) -> float:
    """Most memory that a fresh process has for some lines of Python."""
    # not getrusage, which would tell the peak of this process if it is higher
    code = f"""
import pathlib, re, sys
{work}
print(int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1e3, file=sys.stderr)
"""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return float(done.stderr.split()[-1])


def pair_file(folder: Path, pairs: Sequence[tuple[str, str]], name: str = "") -> str:
    path = folder / f"{name or f'pairs{len(pairs)}'}.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return str(path)
