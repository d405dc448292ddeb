"""Word metrics of the seed papers (Yao et al. 2013; Sultan et al. 2014).

P and R are averages over sentence pairs (macro), F1 is the harmonic mean of those averages, and E the share of pairs
whose links are exactly the gold links. Micro scores pool the links of all pairs. AER is 1 - (|A ∩ S| + |A ∩ P|) /
(|A| + |S|) with S the sure links and P the sure and possible ones.

Conventions for pairs without links: empty output against some gold has P = R = 0, and so has some output against empty
gold; both empty is P = R = 1 (and exact).

Links of identical words and others are scored apart; so are single links ("token") and larger blocks ("phrase"), a
block being a connected group of links. A pair counts in such an average if gold or output has something of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import UsageError, counted
from forestalign.evaluation.scores import (
    Evaluation,
    columns,
    combine,
    count_table,
    harmonic_mean,
    precision_recall,
    ratio,
)

Link = tuple[int, int]
Links = frozenset[Link]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """Human links of one sentence pair; words are empty where the file gave links only."""

    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links
    possible: Links = frozenset()

    @property
    def all(self) -> Links:
        """Sure and possible links."""
        return self.sure | self.possible


@dataclass(frozen=True, slots=True)
class Block:
    """A connected group of links: source words and target words that hang together."""

    source: frozenset[int]
    target: frozenset[int]

    @property
    def is_token(self) -> bool:
        """Whether it links one word with one word."""
        return len(self.source) == len(self.target) == 1


def score_words(gold: Sequence[GoldLinks], system: Sequence[Links], count_possible: bool = False) -> Evaluation:
    """All word scores; `count_possible` makes possible links part of the gold (AER always tells the two apart)."""
    if len(gold) != len(system):
        raise UsageError(f"the gold standard has {counted(len(gold), 'pair')} and the system {len(system)}")
    wanted = [pair.all if count_possible else pair.sure for pair in gold]
    parts = [_overall(wanted, system), _alignment_error_rate(gold, system)]
    if all(pair.source and pair.target for pair in gold):
        for name, kind in (("identical", True), ("non-identical", False)):
            keeps = [_keeps_identical(pair, kind) for pair in gold]
            parts.append(_of_kind(name, _select_links(wanted, keeps), _select_links(system, keeps)))
    wanted_blocks, system_blocks = [blocks(links) for links in wanted], [blocks(links) for links in system]
    for name, kind in (("token", True), ("phrase", False)):
        keeps_blocks = [_keeps_tokens(kind)] * len(gold)
        parts.append(
            _of_kind(name, _select_links(wanted_blocks, keeps_blocks), _select_links(system_blocks, keeps_blocks))
        )
    return combine(parts)


def blocks(links: Links) -> frozenset[Block]:
    """The connected groups of links."""
    groups: list[Block] = []
    for source, target in sorted(links):
        touching = [group for group in groups if source in group.source or target in group.target]
        merged = Block(
            frozenset({source}).union(*(group.source for group in touching)),
            frozenset({target}).union(*(group.target for group in touching)),
        )
        groups = [group for group in groups if group not in touching] + [merged]
    return frozenset(groups)


def _overall(gold: Sequence[Links], system: Sequence[Links]) -> Evaluation:
    rows = []
    for wanted, given in zip(gold, system, strict=True):
        hits = len(wanted & given)
        precision = hits / len(given) if given else float(not wanted)
        recall = hits / len(wanted) if wanted else float(not given)
        rows.append((1, precision, recall, wanted == given, hits, len(given), len(wanted)))
    return Evaluation(("P", "R", "F1", "E", "micro P", "micro R", "micro F1"), count_table(rows, 7), _aggregate_overall)


def _aggregate_overall(sums: FloatArray) -> FloatArray:
    pairs, *per_pair, hits, given, wanted = columns(sums)
    precision, recall, exact = (ratio(part, pairs) for part in per_pair)
    macro = np.stack([precision, recall, harmonic_mean(precision, recall), exact], axis=-1)
    return np.concatenate([macro, precision_recall(hits, given, wanted)], axis=-1)


def _alignment_error_rate(gold: Sequence[GoldLinks], system: Sequence[Links]) -> Evaluation:
    rows = [
        (len(given & pair.sure) + len(given & pair.all), len(given) + len(pair.sure))
        for pair, given in zip(gold, system, strict=True)
    ]

    def aggregate(sums: FloatArray) -> FloatArray:
        # no links anywhere: no error
        return np.where(sums[..., 1:] == 0, 0.0, 1 - ratio(sums[..., :1], sums[..., 1:]))

    return Evaluation(("AER",), count_table(rows, 2), aggregate)


def _of_kind(name: str, gold: Sequence[frozenset[Item]], system: Sequence[frozenset[Item]]) -> Evaluation:
    """Macro scores over the pairs where the kind occurs."""
    rows = []
    for wanted, given in zip(gold, system, strict=True):
        hits = len(wanted & given)
        rows.append((bool(wanted or given), hits / len(given) if given else 0, hits / len(wanted) if wanted else 0))

    def aggregate(sums: FloatArray) -> FloatArray:
        pairs, *per_pair = columns(sums)
        precision, recall = (ratio(part, pairs) for part in per_pair)
        return np.stack([precision, recall, harmonic_mean(precision, recall)], axis=-1)

    return Evaluation((f"{name} P", f"{name} R", f"{name} F1"), count_table(rows, 3), aggregate)


def _keeps_identical(pair: GoldLinks, identical: bool) -> Callable[[Link], bool]:
    return lambda link: (pair.source[link[0]] == pair.target[link[1]]) == identical


def _keeps_tokens(token: bool) -> Callable[[Block], bool]:
    return lambda block: block.is_token == token


def _select_links(sets: Iterable[frozenset[Item]], keeps: Iterable[Callable[[Item], bool]]) -> list[frozenset[Item]]:
    return [frozenset(filter(keep, items)) for items, keep in zip(sets, keeps, strict=True)]
