"""Scores as a table or as JSON, each with the signature that says what was measured, with what, and how."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from forestalign.evaluation import Comparison, Evaluation, Interval, KindChange, Score, bootstrap, compare
from forestalign.grammar import grammar_hash, program_version

_HASH_LENGTH = 12
_UNSCALED = frozenset({"Pearson r", "MAP", "MRR"})  # not given in per cent


@dataclass(frozen=True, slots=True)
class Column:
    """One system, annotator or baseline; `intervals` are empty where there are none."""

    name: str
    scores: tuple[Score, ...]
    intervals: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one evaluation prints."""

    signature: str
    columns: tuple[Column, ...]
    comparisons: tuple[Comparison, ...] = ()
    changes: tuple[KindChange, ...] = ()


def signature(settings: Mapping[str, object], data: str | Path) -> str:
    """Version, grammar, settings that differ from the defaults, data."""
    changed = " ".join(f"{name}={value}" for name, value in settings.items()) or "defaults"
    return f"forestalign {program_version()} | grammar {grammar_hash()} | {changed} | data {data_hash(data)}"


def data_hash(path: str | Path) -> str:
    """Of the bytes of a file, or of all files of a folder in the order of their names."""
    place = Path(path)
    if str(path) == "-":
        return "stdin"
    digest = hashlib.sha256()
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()[:_HASH_LENGTH]


def measured(
    label: str,
    systems: Sequence[tuple[str, Evaluation]],
    generator: np.random.Generator,
    samples: int,
    rows: Sequence[tuple[str, Evaluation]] = (),
    changes: tuple[KindChange, ...] = (),
) -> Report:
    """Scores with bootstrap intervals; two systems are compared; `rows` (human, baseline) are not."""
    columns = [
        Column(name, evaluation.scores(), bootstrap(evaluation, generator, samples)) for name, evaluation in systems
    ]
    columns += [Column(name, evaluation.scores()) for name, evaluation in rows]
    comparisons = compare(systems[0][1], systems[1][1], generator, samples) if len(systems) == 2 else ()
    return Report(label, tuple(columns), comparisons, changes)


def as_json(report: Report) -> str:
    """The whole report as one JSON object."""
    fields = asdict(report)
    for comparison, each in zip(fields["comparisons"], report.comparisons, strict=True):
        comparison["difference"] = each.difference
    return json.dumps(fields, ensure_ascii=False)


def as_text(report: Report) -> str:
    """A row for each score, a column for each system, then differences; the signature last."""
    names = [score.name for score in report.columns[0].scores]
    rows = [["", *(column.name for column in report.columns)]]
    rows += [[name, *(_cell(column, name) for column in report.columns)] for name in names]
    if report.comparisons:
        rows[0] += ["difference", "p"]
        for row, comparison in zip(rows[1:], report.comparisons, strict=True):
            row += [_number(comparison.name, comparison.difference, "+"), f"{comparison.p_value:.4f}"]
    lines = _aligned(rows)
    if report.changes:
        lines += ["", "attachments changed from the first to the second", *_aligned(_change_rows(report.changes))]
    return "\n".join([*lines, "", report.signature])


def _cell(column: Column, name: str) -> str:
    at = next((index for index, score in enumerate(column.scores) if score.name == name), None)
    if at is None:
        return "-"
    value = _number(name, column.scores[at].value)
    if not column.intervals:
        return value
    interval = column.intervals[at]
    return f"{value} [{_number(name, interval.low)}, {_number(name, interval.high)}]"


def _number(name: str, value: float, sign: str = "") -> str:
    return format(value, f"{sign}.4f") if name in _UNSCALED else format(100 * value, f"{sign}.2f")


def _change_rows(changes: Sequence[KindChange]) -> list[list[str]]:
    rows = [["", "words", "better", "worse"]]
    rows += [[change.kind, str(change.word_count), str(change.better), str(change.worse)] for change in changes]
    total = [
        sum(numbers) for numbers in zip(*((each.word_count, each.better, each.worse) for each in changes), strict=True)
    ]
    return [*rows, ["all", *map(str, total)]]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
