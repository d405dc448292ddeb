"""Rates of every stage, start-up, memory and growth, on made-up sentences; `make bench` runs it.

    python scripts/bench.py [--pairs 200] [--output runs/bench] [--only parse words ...]
    python scripts/bench.py --only parser --sentences ewt.dev.mrg.gz --benepar runs/parser/model
    python scripts/bench.py --only crf --gold mtref.train.jsonl.gz --analyses tags.jsonl --train 2000
    python scripts/bench.py --only curve commands --real msrp.train.jsonl.gz bible.jsonl.gz --real-pairs 20000

Prints a table; writes bench.json (figures, machine, versions) and growth.png into the output folder. Other word
aligners are measured on the same pairs where they are installed: eflomal, and simalign (--encoder DIR gives it the
encoder directory). Stages are timed by this process's own processor seconds, so that other work on the machine does not
count; whole commands by the clock, so the load is part of the report.

`parser` parses sentences of 18 to 22 words by the clock, the best of three rounds: those of --sentences (text, one
tokenized sentence per line, or Penn trees) or made-up ones; --benepar (which needs the extra) adds the same model by
benepar and torch, in turns. `crf` decodes pairs of 27 words a side on one core, the length that the token paper gives
its speed for: features, both directions, best paths, posteriors; --train N also trains both directions of the token
and of the phrase model on N pairs of --gold, in processor seconds of all processes. `curve` draws the memory of one
process over distinct real pairs (memory.png); `commands` that of every command while it runs (commands.png), on real
pairs or on made-up ones. `texts` compares two versions of a text of 10,000 words. `search` searches the pairs of
--phrases with wide bounds and with the default ones: how often the search misses its own best alignment, and by how
much.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import argparse
import importlib.metadata
import json
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench_commands import bench_commands
from bench_common import LENGTH, Bench, Figures
from bench_growth import bench_curve, bench_growth, bench_memory
from bench_models import bench_crf, bench_others, bench_parser
from bench_search import bench_search_error
from bench_stages import (
    bench_align,
    bench_batch,
    bench_encoder,
    bench_forests,
    bench_install,
    bench_parse,
    bench_phrases,
    bench_profile,
    bench_start,
    bench_words,
)
from bench_texts import bench_texts

from forestalign.config import AlignConfig
from forestalign.learning.crf_run import WeightedGold

STAGES: dict[str, Callable[[Bench], Figures]] = {
    "start": bench_start,
    "parse": bench_parse,
    "forests": bench_forests,
    "encoder": bench_encoder,
    "profile": bench_profile,
    "words": bench_words,
    "phrases": bench_phrases,
    "memory": bench_memory,
    "install": bench_install,
    "growth": bench_growth,
    "search": bench_search_error,
    "align": bench_align,
    "batch": bench_batch,
    "parser": bench_parser,
    "crf": bench_crf,
    "others": bench_others,
    "curve": bench_curve,
    "commands": bench_commands,
    "texts": bench_texts,
}


def machine() -> Figures:
    names = ("forestalign", "numpy", "scipy", "onnxruntime", "tokenizers", "nltk", "lemminflect")
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
    parser.add_argument("--model", default="", help="phrase model; 'hand-set' for the untrained one")
    parser.add_argument("--encoder", default="", help="encoder directory for simalign")
    parser.add_argument("--sentences", default="", metavar="FILE", help="sentences or trees for `parser`")
    parser.add_argument("--benepar", default="", metavar="MODEL", help="folder or name of the same model, for `parser`")
    parser.add_argument("--threads", type=int, default=2, help="threads of `parser`")
    parser.add_argument("--gold", default="", metavar="FILE", help="gold links for `crf`")
    parser.add_argument("--analyses", default="", metavar="FILE", help="keep tags and lemmas of the gold in FILE")
    parser.add_argument("--train", type=int, default=0, metavar="N", help="let `crf` also train on N pairs of the gold")
    parser.add_argument("--real", nargs="+", default=(), metavar="FILE", help="real pairs for `curve`, `commands`")
    parser.add_argument("--real-pairs", type=int, default=20_000, metavar="N", help="pairs for `curve` and `commands`")
    parser.add_argument(
        "--phrases", nargs="+", default=("annotations/dev.jsonl",), metavar="GOLD", help="gold for `search`"
    )
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    bench = Bench(
        args.pairs, AlignConfig().replace(model=args.model), args.output, args.encoder, args.sentences, args.benepar,
        args.threads, WeightedGold((args.gold,), analyses=args.analyses) if args.gold else None, args.train,
        tuple(args.real), args.real_pairs, tuple(args.phrases),
    )  # fmt: skip
    report: Figures = {"machine": machine(), "pairs": args.pairs, "words_per_sentence": LENGTH}
    show("machine", {name: value for name, value in report["machine"].items() if not isinstance(value, dict)})
    for name in args.only:
        report[name] = STAGES[name](bench)
        show(name, report[name])
    (args.output / "bench.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
