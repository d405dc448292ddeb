"""Head rules and orders of attachment as tables of numbers, for the labels and tags of one parser; made once.

A *symbol* is a label or tag without function labels, as head rules see it. A label of the chart is a chain such as
`S::VP`; its highest symbol is what the parent looks at, its lowest is what its own children are attached under.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from forestalign.chart import CHAIN
from forestalign.compiled import core
from forestalign.grammar import (
    ANY,
    COORDINATORS,
    SEPARATORS,
    HeadTable,
    base_label,
    binarisation_order,
    head_rules,
    punctuation_tags,
    semantic_head_rules,
)

SEARCHES = ("first", "last", "conjunct")
Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class PackingTables:
    """What the core needs to pack: `binarisation` is its own object, `labels` are those of the forest."""

    binarisation: Any
    labels: tuple[str, ...]
    symbols: dict[str, int]


@lru_cache(maxsize=16)
def packing_tables(labels: tuple[str, ...], tags: tuple[str, ...]) -> PackingTables:
    """The tables for a parser with these labels and tags."""
    chains = [label.split(CHAIN) for label in labels]
    names = sorted({"+".join(chain) for chain in chains[1:]} | {chain[-1] for chain in chains[1:]} | set(tags))
    number = {name: k for k, name in enumerate(names)}
    used = {base_label(name) for chain in chains for name in (chain[0], chain[-1])} | {base_label(tag) for tag in tags}
    symbols = {symbol: k for k, symbol in enumerate(sorted(used))}
    columns = (
        _ints([symbols[base_label(chain[0])] for chain in chains]),
        _ints([symbols[base_label(chain[-1])] for chain in chains]),
        _ints([number.get("+".join(chain), 0) for chain in chains]),
        _ints([number.get(chain[-1], 0) for chain in chains]),
        _ints([symbols[base_label(tag)] for tag in tags]),
        _ints([number[tag] for tag in tags]),
    )
    compiled = core()
    assert compiled is not None
    tables = compiled.BinarisationTables(columns, _rules(list(symbols)), _flags(list(symbols)))
    return PackingTables(tables, tuple(names), symbols)


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int32)


def _rules(symbols: Sequence[str]) -> tuple[Ints, Ints, Bytes]:
    """Where the rules of each table and symbol start, the rules (search, first group, last group), group members."""
    starts: list[list[int]] = []
    rules: list[tuple[int, int, int]] = []
    groups: list[list[bool]] = []
    for table in (head_rules(), semantic_head_rules()):
        starts.append([])
        for symbol in symbols:
            starts[-1].append(len(rules))
            for rule in _rules_of(table, symbol):
                first = len(groups)
                groups += [[_is_member(other, group) for other in symbols] for group in rule.groups]
                rules.append((SEARCHES.index(rule.search), first, len(groups)))
        starts[-1].append(len(rules))
    return np.array(starts, np.int32), np.array(rules, np.int32), np.array(groups, np.uint8)


def _rules_of(table: HeadTable, symbol: str) -> tuple[Any, ...]:
    return table.rules.get(symbol, table.rules.get(ANY, ()))


def _is_member(symbol: str, group: frozenset[str]) -> bool:
    return symbol in group or (ANY in group and symbol not in punctuation_tags())


def _flags(symbols: Sequence[str]) -> tuple[Bytes, Bytes, Bytes, Bytes]:
    """Punctuation, separators of conjuncts, coordinators, and whether what stands right of the head joins it first."""
    sets = (punctuation_tags(), SEPARATORS, COORDINATORS)
    marks = [np.array([symbol in members for symbol in symbols], np.uint8) for members in sets]
    right_first = np.array([binarisation_order(symbol)[0] == "right" for symbol in symbols], np.uint8)
    return marks[0], marks[1], marks[2], right_first
