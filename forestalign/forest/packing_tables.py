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

from forestalign.arrays import ByteArray, Int32Array
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
TABLES = ("syntactic", "semantic")  # of head rules


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumns:
    """The symbols and the forest's labels of the chart's labels and of the tags, by their numbers."""

    top_symbol: Int32Array  # of each label of the chart: as its parent sees it
    low_symbol: Int32Array  # as its children are attached under it
    whole_label: Int32Array  # the label of its node
    bar_label: Int32Array  # the label of its bar nodes
    tag_symbol: Int32Array
    tag_label: Int32Array


@dataclass(frozen=True, slots=True, eq=False)
class RuleColumns:
    """Head rules; a group is a row of `members`."""

    start: Int32Array  # [TABLES, symbols + 1]
    search: Int32Array  # of each rule: place in SEARCHES
    first_group: Int32Array
    end_group: Int32Array
    members: ByteArray  # [groups, symbols]


@dataclass(frozen=True, slots=True, eq=False)
class SymbolMarks:
    """What is asked about each symbol."""

    is_punctuation: ByteArray
    is_separator: ByteArray  # of conjuncts
    is_coordinator: ByteArray
    right_first: ByteArray  # what stands right of the head joins it first


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
    columns = LabelColumns(
        top_symbol=_ints([symbols[base_label(chain[0])] for chain in chains]),
        low_symbol=_ints([symbols[base_label(chain[-1])] for chain in chains]),
        whole_label=_ints([number.get("+".join(chain), 0) for chain in chains]),
        bar_label=_ints([number.get(chain[-1], 0) for chain in chains]),
        tag_symbol=_ints([symbols[base_label(tag)] for tag in tags]),
        tag_label=_ints([number[tag] for tag in tags]),
    )
    compiled = core("forest._packing")
    assert compiled is not None
    tables = compiled.BinarisationTables(columns, _rules(list(symbols)), _marks(list(symbols)))
    return PackingTables(tables, tuple(names), symbols)


def _ints(values: Sequence[int]) -> Int32Array:
    return np.array(values, np.int32)


def _rules(symbols: Sequence[str]) -> RuleColumns:
    tables = {"syntactic": head_rules(), "semantic": semantic_head_rules()}
    starts: list[list[int]] = []
    rules: list[tuple[int, int, int]] = []
    groups: list[list[bool]] = []
    for name in TABLES:
        starts.append([])
        for symbol in symbols:
            starts[-1].append(len(rules))
            for rule in _rules_of(tables[name], symbol):
                first = len(groups)
                groups += [[_is_member(other, group) for other in symbols] for group in rule.groups]
                rules.append((SEARCHES.index(rule.search), first, len(groups)))
        starts[-1].append(len(rules))
    search, first_group, end_group = (_ints(column) for column in zip(*rules, strict=True))
    return RuleColumns(np.array(starts, np.int32), search, first_group, end_group, np.array(groups, np.uint8))


def _rules_of(table: HeadTable, symbol: str) -> tuple[Any, ...]:
    return table.rules.get(symbol, table.rules.get(ANY, ()))


def _is_member(symbol: str, group: frozenset[str]) -> bool:
    return symbol in group or (ANY in group and symbol not in punctuation_tags())


def _marks(symbols: Sequence[str]) -> SymbolMarks:
    def members(group: frozenset[str]) -> ByteArray:
        return np.array([symbol in group for symbol in symbols], np.uint8)

    right_first = np.array([binarisation_order(symbol)[0] == "right" for symbol in symbols], np.uint8)
    return SymbolMarks(members(punctuation_tags()), members(SEPARATORS), members(COORDINATORS), right_first)
