"""Measure `forestalign extract` on made-up results: time, processor time and peak memory for a number of phrase pairs.

    python scripts/bench_tables.py --pairs 1000000 10000000 --folder runs/tables

Words are drawn as Zipf says, from 50,000; a sentence has 14 of them in a balanced tree, and a line of results has 25
phrase pairs and about 6 kB, as real ones have. The results stay in the folder and are made once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORDS = 14
VOCABULARY = 50_000
RELATIONS = ("equal", "equal", "similar", "more general", "")


def main() -> None:
    """Make the results that are missing and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--folder", type=Path, default=Path("runs/tables"))
    parser.add_argument("options", nargs="*", help="options of extract, after --")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for count in args.pairs:
        results = args.folder / f"{count}.jsonl"
        if not results.is_file():
            make_results(results, count)
        measure(results, args.folder / f"{count}.tsv", args.options)


def make_results(path: Path, pair_count: int) -> None:
    """Results with at least so many phrase pairs."""
    rng, made = random.Random(0), 0
    names = [_word(number) for number in range(VOCABULARY)]
    weights = [1 / (rank + 3) for rank in range(VOCABULARY)]
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        while made < pair_count:
            words = rng.choices(names, weights, k=WORDS * 1000)
            for begin in range(0, len(words), WORDS):
                line = result(rng, words[begin : begin + WORDS], str(made))
                made += len(line["phrases"])
                file.write(json.dumps(line) + "\n")
    part.rename(path)


def result(rng: random.Random, words: list[str], id: str) -> dict[str, Any]:
    """One line: the target has every fifth word replaced and two halves of the tree exchanged now and then."""
    other = [word if rng.random() < 0.8 else _word(rng.randrange(VOCABULARY)) for word in words]
    spans = list(_spans(0, len(words)))
    return {
        "version": 1,
        "id": id,
        "source": _side(words),
        "target": _side(other),
        "words": [[k, k, 0.9] for k in range(len(words))],
        "phrases": [_pair(rng, span, index, spans) for index, span in enumerate(spans)],
        "nulls": {"source": [], "target": []},
        "reached_root": True,
        "completed": False,
        "log_score": -1.5,
        "signature": "forestalign made-up results",
    }


def _word(number: int) -> str:
    return "".join("bdfgklmnprst"[number // 12**k % 12] + "aeiou"[number // 7**k % 5] for k in range(1 + number % 4))


def _spans(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The nodes of a balanced tree, children first."""
    if end - begin > 1:
        middle = (begin + end) // 2
        yield from _spans(begin, middle)
        yield from _spans(middle, end)
    yield begin, end


def _pair(rng: random.Random, span: tuple[int, int], index: int, spans: list[tuple[int, int]]) -> dict[str, Any]:
    label = "NN" if span[1] - span[0] == 1 else ("NP", "VP", "S")[(span[1] - span[0]) % 3]
    inside = [k for k in range(index) if span[0] <= spans[k][0] and spans[k][1] <= span[1]]
    return {
        "source": span,
        "target": span,
        "source_label": label,
        "target_label": label,
        "compositional": True,
        "score": -0.01294,
        "supports": inside[-1:],
        "bar": span[1] - span[0] == 3,
        "inverted": False,
        "evidence": ["links"],
        "relation": rng.choice(RELATIONS),
        "posterior": round(rng.random(), 5),
    }


def _side(words: list[str]) -> dict[str, Any]:
    tree = "(TOP (S " + " ".join(f"(NP (NN {word}))" for word in words) + "))"
    return {"text": " ".join(words), "tokens": words, "tree": tree}


def measure(results: Path, table: Path, options: list[str]) -> None:
    """Run the command once, in a process of its own."""
    command = [sys.executable, "-m", "forestalign", "extract", str(results), "-o", str(table), "--force", *options]
    begin = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - begin
    print(
        f"{results.name}: {results.stat().st_size / 1e6:.0f} MB, exit {os.waitstatus_to_exitcode(status)}; "
        f"{elapsed:.1f} s elapsed, {used.ru_utime + used.ru_stime:.1f} s of processors, "
        f"{used.ru_maxrss / 1024:.0f} MB; table {table.stat().st_size / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
