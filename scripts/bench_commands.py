"""Memory of every command while many pairs pass through it, for scripts/bench.py.

A command runs as a user runs it, in fresh processes, and the memory of all its processes is looked at while it works.
What a command needs for its pairs it needs from the beginning on; so a curve that rises shows what is not given back.
How many pairs are done is told by the share of processor time, which other work on the machine does not change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench_common import LENGTH, Bench, Figures
from memory_curve import distinct_pairs
from paraphrases import paraphrases

LOOK_SECONDS = 0.5
MARKS = (0.05, 0.25, 0.5, 1.0)  # shares of the pairs after which memory is told: 1,000, 5,000, 10,000 of 20,000
AROUND = 0.05  # the share of a run before such a mark whose median is told
CHUNK = 4  # words of the chunks that pairs are cut into
COMPARED = 0.05  # the share of the pairs that make two texts: whole texts are kept in memory
# by the files that pairs_folder makes; later lines read what earlier ones wrote
COMMANDS = {
    "align": "align pairs.tsv --json -q -o results.jsonl",
    "align --chunks": "align --chunks chunks.jsonl --json -q -o chunks.aligned.jsonl",
    "words": "words pairs.tsv -q -o words.txt",
    "words crf": "words pairs.tsv --links crf -q -o crf.txt",
    "parse": "parse sentences.txt -q -o trees.mrg",
    "rerank": "rerank pairs.tsv -q -o reranked.txt",
    "similarity": "similarity pairs.tsv -q -o similarity.tsv",
    "extract": "extract results.jsonl -q -o table.tsv",
    "edits": "edits results.jsonl -q -o edits.jsonl",
    "compare": "compare old.txt new.txt --json -q -o changes.jsonl",
    "crf score": "crf score pairs.tsv",
    "view": "view results.jsonl -q -o page.html",
    "train": "train pairs.tsv -q -o model.json.gz --cache cache --passes 1",
}


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """Megabytes of all processes of a command by processor seconds since its start."""

    seconds: tuple[float, ...]
    megabytes: tuple[float, ...]

    def at(self, share: float) -> float:
        """The median before this share of the run is done."""
        end = share * self.seconds[-1]
        begin = end - AROUND * self.seconds[-1]
        found = sorted(size for at, size in zip(self.seconds, self.megabytes, strict=True) if begin <= at <= end)
        return found[len(found) // 2] if found else max(self.megabytes)

    @property
    def growth(self) -> float:
        """Megabytes from the first mark to the last one."""
        return self.at(MARKS[-1]) - self.at(MARKS[0])


def bench_commands(bench: Bench) -> Figures:
    """Memory at the marks of the run of every command over --real-pairs pairs, and a plot of all."""
    folder = pairs_folder(bench)
    figures: Figures = {}
    curves: dict[str, MemoryCurve] = {}
    for name, line in COMMANDS.items():
        curve = curves[name] = curve_of(line.split(), folder)
        marks = {f"{round(bench.real_count * share):,}": curve.at(share) for share in MARKS}
        figures[f"megabytes_of_{name.replace(' ', '_')}"] = {**marks, "most": max(curve.megabytes)}
        told = "  ".join(f"{pairs}: {size:.0f}" for pairs, size in marks.items())
        print(f"memory   {name:<15} {told}  most: {max(curve.megabytes):.0f} MB", flush=True)
    _plot(bench.folder / "commands.png", curves, bench.real_count)
    return figures


def pairs_folder(bench: Bench) -> Path:
    """A folder with pairs, sentences, chunks and two texts: real ones, or made-up ones where none were named."""
    folder = bench.folder / "commands"
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        if left.is_file():
            left.unlink()
    pairs = list(islice(_pairs(bench), bench.real_count))
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")
    (folder / "sentences.txt").write_text("".join(f"{one}\n" for one, _ in pairs), encoding="utf-8")
    (folder / "chunks.jsonl").write_text("".join(f"{_chunked(*pair)}\n" for pair in pairs), encoding="utf-8")
    texts = pairs[: round(COMPARED * len(pairs))]
    for name, sentences in (("old", [one for one, _ in texts]), ("new", [other for _, other in texts])):
        (folder / f"{name}.txt").write_text("".join(f"{each}\n\n" for each in sentences), encoding="utf-8")
    return folder


def _chunked(*pair: str) -> str:
    source, target = (text.split() for text in pair)
    chunks = ([(k, min(k + CHUNK, len(side))) for k in range(0, len(side), CHUNK)] for side in (source, target))
    names = ("source", "target", "source_chunks", "target_chunks")
    return json.dumps(dict(zip(names, (source, target, *chunks), strict=True)))


def _pairs(bench: Bench) -> Iterator[tuple[str, str]]:
    if not bench.real:
        yield from paraphrases(bench.real_count, LENGTH)
    for pair in distinct_pairs(bench.real, bench.config.max_words):
        yield " ".join(pair.source.words), " ".join(pair.target.words)


def curve_of(arguments: Sequence[str], folder: Path) -> MemoryCurve:
    """Run a command and look at its memory and its processor time until it ends."""
    command = [sys.executable, "-P", "-m", "forestalign", *arguments]
    seconds, megabytes = [0.0], [0.0]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    while run.poll() is None:
        time.sleep(LOOK_SECONDS)
        processes = family(run.pid)
        if size := sum(map(resident, processes)):
            seconds.append(max(seconds[-1], sum(map(processor_seconds, processes))))
            megabytes.append(size)
    if run.returncode not in (0, 1):  # 1: some pair could not be read or parsed
        raise subprocess.CalledProcessError(run.returncode, command)
    return MemoryCurve(tuple(seconds), tuple(megabytes))


def family(process: int) -> list[int]:
    """A process with all that its threads have started."""
    children: list[str] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has ended
            children += task.read_text(encoding="utf-8").split()
    return [process, *(each for child in children for each in family(int(child)))]


def resident(process: int) -> float:
    """Megabytes of a process that are its own: pages shared with others are counted in equal parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:  # it has ended
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("Pss:")), 0.0)


def processor_seconds(process: int) -> float:
    """What a process has used, with those that it started and that have ended."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return sum(map(int, told.rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")


def _plot(path: Path, curves: dict[str, MemoryCurve], count: int) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for name, curve in curves.items():
        axis.plot(
            [at / curve.seconds[-1] for at in curve.seconds], curve.megabytes, label=f"{name} {curve.growth:+.0f}"
        )
    axis.set_ylim(0)
    axis.set_xlabel(f"share of the run over {count:,} pairs")
    axis.set_ylabel("megabytes of all processes")
    axis.legend(title="growth in MB", ncols=2, fontsize="small")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
