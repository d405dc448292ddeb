"""Speed, memory and work of this tree, alone or beside another commit; both are measured in turns in one run.

    python scripts/bench.py                                  # this tree; `make bench`
    python scripts/bench.py --against 85d870f --growth       # beside version 0.2.0
    python scripts/bench.py --check                          # only counts of work, against .ci/budget.json

Pairs are those of annotations/train.jsonl with 18 to 32 words on both sides, or those of `--pairs` (tab-separated).
Times are processor times, the best of some rounds, less those of a run of few pairs. Counts (Python calls by cProfile,
nodes, searches) do not depend on the machine: `--check` exits with 1 if one is above the budget; `--lower` lowers it.

A commit is checked out into `runs/bench/COMMIT` and its core is built there, once, with this interpreter and the
packages of this tree. Only commands, `load()`, `align()` and `to_json()` are used, whatever the layout of a tree.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import os
import platform
import pstats
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import linear_regression
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAIRS, FEW = 120, 20  # pairs of the long run, and of the one that is subtracted
COUNTED, WARM = 40, 8  # pairs whose work is counted, and pairs before them
WORDS = range(18, 33)
SEARCHES = ("search", "align_forests")  # the compiled function that searches two forests, here and in 0.2.0
LENGTHS, BEAMS, NBESTS = (10, 20, 40, 80, 120), (10, 30, 100, 200), (3, 10, 30, 100)
COUNTS = ("python_calls_per_pair", "nodes_per_forest", "searches_per_pair")
Figures = dict[str, float]
Pair = tuple[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", default="", metavar="COMMIT", help="measure this commit, too, in turns")
    parser.add_argument("--pairs", type=Path, metavar="FILE", help="pairs to measure on, tab-separated")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each measurement (default: 3)")
    parser.add_argument("--growth", action="store_true", help="also how time grows with length, beam and n-best")
    parser.add_argument("--profile", action="store_true", help="also the shares of the folders in the time")
    parser.add_argument("--check", action="store_true", help="only count work, and compare it with the budget")
    parser.add_argument("--lower", action="store_true", help="with --check: lower the budget to the counts")
    parser.add_argument("--folder", type=Path, default=ROOT / "runs" / "bench", help="for worktrees and inputs")
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        print(json.dumps(INSIDE[args.inside[0]](read_pairs(Path(args.inside[1])))))
        return 0
    (folder := args.folder.resolve()).mkdir(parents=True, exist_ok=True)
    pairs, here = read_pairs(args.pairs), SourceTree("this tree", ROOT)
    if args.check:
        return check_counts(here.inside("work", write_pairs(folder / "counted.tsv", pairs[:COUNTED])), args.lower)
    trees = [here, *([check_out(args.against, folder)] if args.against else [])]
    machine = f"{read_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}; {len(pairs)} pairs", flush=True)
    measured = measure_rounds(trees, pairs, args.rounds, folder)
    counted, whole = write_pairs(folder / "counted.tsv", pairs[:COUNTED]), str(folder / "pairs.tsv")
    for tree, figures in zip(trees, measured, strict=True):
        work = tree.inside("work", counted)
        figures |= {name: value for name, value in work.items() if args.profile or not name.startswith("in ")}
        figures |= tree.inside("growth", whole) if args.growth else {}
    print_table([tree.name for tree in trees], measured)
    return 0


def print_table(names: Sequence[str], measured: Sequence[Figures]) -> None:
    """A row for each figure; beside another tree also the ratio of the first to the second."""
    print("  ".join([f"{'':36}", *(f"{name:>12}" for name in names)]))
    for row in dict.fromkeys(name for figures in measured for name in figures):
        values = [figures.get(row, 0.0) for figures in measured]
        cells = [f"{value:12,.2f}" if value else f"{'-':>12}" for value in values]
        ratio = f"{values[0] / values[1]:8.2f}" if len(values) > 1 and all(values) else ""
        print("  ".join([f"{row.replace('_', ' '):36}", *cells, ratio]).rstrip())


# ---- pairs, trees, budget ----


def read_pairs(path: Path | None) -> list[Pair]:
    """The pairs to measure on."""
    if path is not None:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        return [(row[0], row[1]) for row in rows]
    lines = (ROOT / "annotations" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    sides = [[row[side] for side in ("source", "target")] for row in map(json.loads, lines)]
    chosen = [both for both in sides if all(len(each["tokens"]) in WORDS for each in both)]
    return [(both[0]["text"], both[1]["text"]) for both in chosen][:PAIRS]


def write_pairs(path: Path, pairs: Sequence[Pair]) -> str:
    """The name of a file of these pairs."""
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return str(path)


def read_processor() -> str:
    """What the machine calls its processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


class Run(NamedTuple):
    """What a process took: processor and elapsed seconds, megabytes at most, and what it printed."""

    processor: float
    elapsed: float
    megabytes: float
    output: str


class SourceTree(NamedTuple):
    """A source tree: how it is called in the table, and where it is."""

    name: str
    folder: Path

    def run(self, *arguments: str) -> Run:
        """Run Python with the packages of this interpreter and the package of this tree."""
        fixed = {"PYTHONPATH": str(self.folder), "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | fixed
        command, begin = [sys.executable, "-P", *arguments], time.perf_counter()
        with subprocess.Popen(command, env=own, cwd="/", stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            output = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{self.name}: {' '.join(arguments)[:200]}: exit {process.returncode}")
        return Run(used.ru_utime + used.ru_stime, time.perf_counter() - begin, used.ru_maxrss / 1000, output)

    def command(self, *arguments: str) -> Run:
        """Run `forestalign`."""
        return self.run("-m", "forestalign", *arguments)

    def inside(self, name: str, pairs: str) -> Figures:
        """What a function of this script finds in a process of the tree."""
        return dict(json.loads(self.run(__file__, "--inside", name, pairs).output.splitlines()[-1]))


def check_out(commit: str, folder: Path) -> SourceTree:
    """A worktree of the commit with its core built, made if it is not there."""
    git = ["git", "-C", str(ROOT)]
    found = subprocess.run([*git, "rev-parse", "--short", f"{commit}^{{commit}}"], capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(f"--against {commit}: {found.stderr.strip()}")
    tree = SourceTree(found.stdout.strip(), folder / found.stdout.strip())
    if not (tree.folder / "forestalign").is_dir():
        subprocess.run([*git, "worktree", "prune"], check=True)
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(tree.folder), tree.name], check=True)
    if not list(tree.folder.glob("forestalign/**/*.so")):
        print(f"building the core of {tree.name} in {tree.folder}", flush=True)
        subprocess.run([sys.executable, str(tree.folder / "scripts" / "build_core.py")], cwd=tree.folder, check=True)
    return tree


def check_counts(figures: Figures, lower: bool) -> int:
    """Print the counts beside the budget; 1 if one is above it."""
    from size import BUDGET, lower_budget, read_budget, report_excess

    counts, budget = {name: math.ceil(figures[name]) for name in COUNTS if figures[name]}, read_budget()
    for name, count in counts.items():
        print(f"{name:24} {count:8,} of {budget.get(name)}")
    if lower:
        BUDGET.write_text(json.dumps(lower_budget(budget, counts), indent=2) + "\n", encoding="utf-8")
    return report_excess(counts, budget)


# ---- from outside: commands, as users run them ----


def measure_rounds(trees: Sequence[SourceTree], pairs: Sequence[Pair], rounds: int, folder: Path) -> list[Figures]:
    """Time and memory of the commands of each tree, the best of the rounds; the trees take turns."""
    parts = {"pairs": pairs, "few": pairs[:FEW]}
    files = {name: write_pairs(folder / f"{name}.tsv", part) for name, part in parts.items()}
    parsed = {name: write_parses(trees[0], part, folder / name) for name, part in parts.items()}
    best: list[Figures] = [{} for _ in trees]
    for _ in range(rounds):
        for tree, figures in zip(trees, best, strict=True):
            whole, few = (tree.command("align", file, "--json", "-q", "--jobs", "1") for file in files.values())
            words, few_words = (
                tree.command("words", "--conllu", *both, "-q", "--jobs", "1") for both in parsed.values()
            )
            first, count = tree.command("align", *pairs[0]), len(pairs) - FEW
            for name, value in {
                "text to JSON, ms a pair": 1000 * (whole.processor - few.processor) / count,
                "words of parsed pairs, ms a pair": 1000 * (words.processor - few_words.processor) / count,
                "first answer, processor s": first.processor,
                "first answer, elapsed s": first.elapsed,
                "memory, MB": whole.megabytes,
            }.items():
                figures[name] = min(value, figures.get(name, math.inf))
    return best


def write_parses(tree: SourceTree, pairs: Sequence[Pair], stem: Path) -> tuple[str, str]:
    """The names of two files of CoNLL-U, sources and targets, parsed by one tree for all."""
    names = []
    for side in (0, 1):
        text, parsed = stem.with_suffix(f".{side}.txt"), stem.with_suffix(f".{side}.conllu")
        text.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
        parsed.write_text(tree.command("parse", str(text), "--format", "conllu", "-q").output, encoding="utf-8")
        names.append(str(parsed))
    return names[0], names[1]


# ---- from inside: in a process of either tree ----


def measure_work(pairs: Sequence[Pair]) -> Figures:
    """Counts a pair, the share of the encoder, and that of each folder in the time of its own functions."""
    import forestalign

    aligner, searches, spent = forestalign.load(), Counter[str](), [0.0]
    for pair in pairs[:WARM]:
        aligner.align(*pair).to_json()
    count_searches(searches)
    time_encoder(spent)
    begin = time.process_time()
    results = [aligner.align(*pair) for pair in pairs]
    for result in results:
        result.to_json()
    share = 100 * spent[0] / (time.process_time() - begin)
    count, searched = len(pairs), sum(searches.values())
    nodes = [len(forest.nodes) for each in results for forest in (each.source_forest, each.target_forest)]
    profile = cProfile.Profile()
    profile.enable()
    for pair in pairs:
        aligner.align(*pair).to_json()
    profile.disable()
    calls = sum(entry.callcount for entry in profile.getstats())  # pstats joins functions that begin in one line
    values = (calls / count, sum(nodes) / len(nodes), searched / count)
    return {
        "share_of_the_encoder, %": share,
        **dict(zip(COUNTS, values, strict=True)),
        **share_of_folders(pstats.Stats(profile)),
    }


def count_searches(searches: Counter[str]) -> None:
    """Count the calls of the compiled search from now on, whatever module of the tree it is in."""

    def counted(name: str, search: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            searches[name] += 1
            return search(*arguments, **named)

        return call

    for module in [each for name, each in sys.modules.items() if name.startswith("forestalign.")]:
        for name in SEARCHES if str(getattr(module, "__file__", "")).endswith(".so") else ():
            if hasattr(module, name):
                setattr(module, name, counted(name, getattr(module, name)))


def time_encoder(spent: list[float]) -> None:
    """Add up the processor seconds of onnxruntime from now on."""
    from onnxruntime import InferenceSession

    run = InferenceSession.run

    def timed(*arguments: Any, **named: Any) -> Any:
        begin = time.thread_time()
        try:
            return run(*arguments, **named)
        finally:
            spent[0] += time.thread_time() - begin

    InferenceSession.run = timed


def share_of_folders(stats: Any) -> Figures:
    """Per cent of the time in each folder of the package, with what its functions call elsewhere."""

    def folder_of(file: str) -> str:
        _, _, inner = file.partition("/forestalign/")
        return inner.split("/")[0].removesuffix(".py") or "other code"

    times: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in stats.stats.items():
        if "/forestalign/" in file:
            times[folder_of(file)] += own
        for (caller, _, _), (_, _, share, _) in () if "/forestalign/" in file else callers.items():
            times[folder_of(caller)] += share
    return {
        f"in {name}, %": 100 * own / times.total() for name, own in times.most_common() if own > 0.01 * times.total()
    }


def measure_growth(pairs: Sequence[Pair]) -> Figures:
    """Exponents of the time a pair in the length of sentences, in the beam and in the trees of a forest."""
    import forestalign

    def milliseconds(some: Sequence[Pair], **settings: Any) -> float:
        aligner, times = forestalign.load(max_words=400, **settings), []
        aligner.align(*some[0]).to_json()
        for pair in some:
            begin = time.process_time()
            aligner.align(*pair).to_json()
            times.append(time.process_time() - begin)
        return 1000 * sorted(times)[len(times) // 2]

    few = pairs[:7]
    return {
        "growth in length": exponent(LENGTHS, [milliseconds(join_pairs(pairs, length)) for length in LENGTHS]),
        "growth in beam": exponent(BEAMS, [milliseconds(few, beam=beam) for beam in BEAMS]),
        "growth in n-best": exponent(NBESTS, [milliseconds(few, nbest=nbest) for nbest in NBESTS]),
    }


def join_pairs(pairs: Sequence[Pair], length: int) -> list[Pair]:
    """Some pairs of about so many words: sentences cut, or joined by commas."""
    made = []
    for first in range(0, 25, 5):
        sides: list[list[str]] = [[], []]
        for pair in pairs[first:]:
            for words, text in zip(sides, pair, strict=True):
                words += [*text.rstrip(".!?").split(), ","]
            if min(map(len, sides)) >= length:
                break
        made.append((f"{' '.join(sides[0][:length])} .", f"{' '.join(sides[1][:length])} ."))
    return made


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    return linear_regression(list(map(math.log, sizes)), list(map(math.log, times))).slope


INSIDE: dict[str, Callable[[Sequence[Pair]], Figures]] = {"work": measure_work, "growth": measure_growth}

if __name__ == "__main__":
    sys.exit(main())
