"""Memory of every command while many pairs pass through it, for scripts/bench.py.

A command runs as a user runs it, in fresh processes, and the memory of all its processes is looked at while it works.
What a command needs for its pairs it needs from the beginning on; so a curve that rises shows what is not given back.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench_common import LENGTH, Bench, Figures
from memory_curve import distinct_pairs
from paraphrases import paraphrases

LOOK_SECONDS = 0.5
WARM = 0.1  # the share of a run after which everything is loaded and caches are full
# by the files that pairs_folder makes; later lines read what earlier ones wrote
COMMANDS = {
    "align": "align pairs.tsv --json -q -o results.jsonl",
    "words": "words pairs.tsv -q -o words.txt",
    "words crf": "words pairs.tsv --links crf -q -o crf.txt",
    "parse": "parse sentences.txt -q -o trees.mrg",
    "rerank": "rerank pairs.tsv -q -o reranked.txt",
    "similarity": "similarity pairs.tsv -q -o similarity.tsv",
    "extract": "extract results.jsonl -q -o table.tsv",
    "edits": "edits results.jsonl -q -o edits.jsonl",
    "crf score": "crf score pairs.tsv",
    "view": "view results.jsonl -q -o page.html",
    "train": "train pairs.tsv -q -o model.json.gz --cache cache --passes 1",
}


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """Megabytes of all processes of a command by seconds since its start."""

    seconds: tuple[float, ...]
    megabytes: tuple[float, ...]

    def after(self, share: float) -> float:
        """The median of the tenth of the run that begins after this share of it."""
        begin, end = share * self.seconds[-1], (share + 0.1) * self.seconds[-1]
        found = sorted(size for at, size in zip(self.seconds, self.megabytes, strict=True) if begin <= at <= end)
        return found[len(found) // 2] if found else max(self.megabytes)

    @property
    def growth(self) -> float:
        """Megabytes from the first tenth after everything is loaded to the last one."""
        return self.after(0.9) - self.after(WARM)


def bench_commands(bench: Bench) -> Figures:
    """Memory early, in the middle and late in the run of every command over --real-pairs pairs, and a plot of all."""
    folder = pairs_folder(bench)
    curves = {name: curve_of(line.split(), folder) for name, line in COMMANDS.items()}
    _plot(bench.folder / "commands.png", curves, bench.real_count)
    figures: Figures = {}
    for name, curve in curves.items():
        figures[f"megabytes_of_{name.replace(' ', '_')}"] = {
            "early": curve.after(WARM),
            "middle": curve.after(0.5),
            "late": curve.after(0.9),
            "most": max(curve.megabytes),
        }
    return figures


def pairs_folder(bench: Bench) -> Path:
    """A folder with pairs and sentences: real ones, or made-up ones where none were named."""
    folder = bench.folder / "commands"
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        if left.is_file():
            left.unlink()
    pairs = list(islice(_pairs(bench), bench.real_count))
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")
    (folder / "sentences.txt").write_text("".join(f"{one}\n" for one, _ in pairs), encoding="utf-8")
    return folder


def _pairs(bench: Bench) -> Iterator[tuple[str, str]]:
    if not bench.real:
        yield from paraphrases(bench.real_count, LENGTH)
    for pair in distinct_pairs(bench.real, bench.config.max_words):
        yield " ".join(pair.source.words), " ".join(pair.target.words)


def curve_of(arguments: Sequence[str], folder: Path) -> MemoryCurve:
    """Run a command and look at its memory until it ends."""
    command = [sys.executable, "-P", "-m", "forestalign", *arguments]
    begin, seconds, megabytes = time.monotonic(), [0.0], [0.0]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    while run.poll() is None:
        time.sleep(LOOK_SECONDS)
        if size := sum(map(resident, family(run.pid))):
            seconds.append(time.monotonic() - begin)
            megabytes.append(size)
    if run.returncode not in (0, 1):  # 1: some pair could not be read or parsed
        raise subprocess.CalledProcessError(run.returncode, command)
    print(f"memory   {' '.join(arguments[:2])}: {max(megabytes):.0f} MB at most", flush=True)
    return MemoryCurve(tuple(seconds), tuple(megabytes))


def family(process: int) -> list[int]:
    """A process with all that it has started."""
    try:
        told = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8")
    except OSError:
        told = ""
    return [process, *(each for child in told.split() for each in family(int(child)))]


def resident(process: int) -> float:
    """Megabytes of a process that are its own: pages shared with others are counted in equal parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:  # it has ended
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("Pss:")), 0.0)


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
