"""Pairs written by hand whose meaning changed or stayed: tests/data/meaning, rows KIND, SOURCE, TARGET."""

from __future__ import annotations

from typing import NamedTuple

from tests.builders.places import ROOT


class MeaningPair(NamedTuple):
    """Two sentences, what the case is about, and whether they say different things."""

    kind: str
    source: str
    target: str
    is_changed: bool


def meaning_pairs(name: str) -> list[MeaningPair]:
    """The pairs of a file; those with `changed` in its name say different things."""
    rows = (ROOT / "tests" / "data" / "meaning" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [MeaningPair(*row.split("\t"), "changed" in name) for row in rows]
