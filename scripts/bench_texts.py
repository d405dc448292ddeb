"""Two versions of a text of 10,000 words compared, for scripts/bench.py: a draft after editing, and one all reworded.

The command runs as a user runs it, in a process of its own, whose processor seconds and memory are counted.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench_common import Bench, Figures
from paraphrases import paraphrases

WORDS, LENGTH = 10_000, 20
EDITED, MOVED, GONE = 0.25, 0.03, 0.03  # shares of the sentences of an edited draft


def bench_texts(bench: Bench) -> Figures:
    """Seconds by the clock and of the processor, and megabytes, of `compare` on both kinds of draft."""
    pairs = list(paraphrases(WORDS // LENGTH, LENGTH))
    old = bench.folder / "old.txt"
    old.write_text(_paragraphs([source for source, _ in pairs]), encoding="utf-8")
    figures: Figures = {}
    for name, sentences in {"edited": edited(pairs), "reworded": [target for _, target in pairs]}.items():
        new = bench.folder / f"{name}.txt"
        new.write_text(_paragraphs(sentences), encoding="utf-8")
        figures[f"compare_{name}"] = compared(old, new)
        print(f"texts    {name}: {figures[f'compare_{name}']}", flush=True)
    return figures


def edited(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """A draft after editing: some sentences reworded, some moved, some left out."""
    chance = random.Random(1)
    kept = [pair for pair in pairs if chance.random() >= GONE]
    sentences = [target if chance.random() < EDITED else source for source, target in kept]
    for place in [k for k in range(len(sentences)) if chance.random() < MOVED]:
        sentences.insert(chance.randrange(len(sentences)), sentences.pop(place))
    return sentences


def compared(old: Path, new: Path) -> dict[str, float]:
    """What one run of the command costs."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-P", "-m", "forestalign", "compare", str(old), str(new), "--json", "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.monotonic() - begin, "processor": spent, "megabytes": after.ru_maxrss / 1000}


def _paragraphs(sentences: Sequence[str]) -> str:
    return "\n\n".join(" ".join(sentences[begin : begin + 5]) for begin in range(0, len(sentences), 5)) + "\n"
