"""Pairs of sentences with word links, gold or a teacher's, as tables that the link head is trained on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forestalign.arrays import BoolArray, Float32Array
from forestalign.formats import read_gold_links

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class LinkedPair:
    """Words of both sides, the probability of each link [source, target], and the cells that say nothing."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: Float32Array
    is_open: BoolArray

    @property
    def size(self) -> int:
        """Words of the longer side, which decides how much a batch is padded."""
        return max(len(self.source), len(self.target))


def gold_pair(source: tuple[str, ...], target: tuple[str, ...], sure: Links, possible: Links) -> LinkedPair:
    """Sure links are links, possible ones are left open, the rest are none."""
    links, is_open = np.zeros((len(source), len(target)), dtype=np.float32), np.zeros((len(source), len(target)), bool)
    for cell in possible:
        is_open[cell] = True
    for cell in sure:
        links[cell], is_open[cell] = 1.0, False
    return LinkedPair(source, target, links, is_open)


def read_links(path: Path) -> list[LinkedPair]:
    """All pairs of a file, in its order, on which `split` depends."""
    golds = (pair.gold for pair in read_gold_links(path))
    return [gold_pair(g.source, g.target, frozenset(g.sure), frozenset(g.possible)) for g in golds]


def split(pairs: Sequence[LinkedPair], step: int) -> tuple[list[LinkedPair], list[LinkedPair]]:
    """All pairs but every step-th, and every step-th: the same ones that scripts/train_words.py --leave keeps out."""
    kept = [pair for number, pair in enumerate(pairs) if number % step != step - 1]
    return kept, [pair for number, pair in enumerate(pairs) if number % step == step - 1]


def unrelated(pairs: Sequence[LinkedPair], rng: random.Random) -> LinkedPair:
    """The source of one pair and the target of another: no word of one means a word of the other."""
    one, other = rng.sample(range(len(pairs)), 2)
    return gold_pair(pairs[one].source, pairs[other].target, frozenset(), frozenset())


def f1(gold: Sequence[LinkedPair], found: Sequence[BoolArray]) -> float:
    """Micro F1 in per cent against sure links; open cells count neither way."""
    right = sum(int((table & (pair.links > 0.5)).sum()) for pair, table in zip(gold, found, strict=True))
    guessed = sum(int((table & ~pair.is_open).sum()) for pair, table in zip(gold, found, strict=True))
    wanted = sum(int((pair.links > 0.5).sum()) for pair in gold)
    return 200 * right / max(1, guessed + wanted)
