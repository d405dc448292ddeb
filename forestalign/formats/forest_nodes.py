"""Constituents of a forest that the chosen tree does not have, as records of phrase alignments list them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from forestalign.formats.fields import Fields, finite_number, shorten


class ForestNode(NamedTuple):
    """A constituent of the forest that the chosen tree does not have."""

    begin: int
    end: int
    label: str
    marginal: float


@dataclass(frozen=True, slots=True)
class ForestNodes:
    """The constituents of a forest that were not chosen."""

    source: tuple[ForestNode, ...]
    target: tuple[ForestNode, ...]


def forest_nodes(fields: Fields, counts: tuple[int, int]) -> ForestNodes:
    """The field `forests` of a record; `counts` are the numbers of words."""
    return ForestNodes(_parse_nodes(fields, "source", counts[0]), _parse_nodes(fields, "target", counts[1]))


def _parse_nodes(fields: Fields, name: str, word_count: int) -> tuple[ForestNode, ...]:
    expectation = f"[begin, end, label, marginal] with 0 <= begin < end <= {word_count}"
    nodes = []
    for row in fields.rows(name, 4, f"a list of {expectation}"):
        match row:
            case (int(begin), int(end), str(label), value) if (
                0 <= begin < end <= word_count and finite_number(value) is not None
            ):
                nodes.append(ForestNode(begin, end, label, float(value)))  # type: ignore[arg-type]
            case _:
                fields.complain(name, f"found {shorten(row)}; expected {expectation}")
    return tuple(nodes)
