"""Counts, ratios and tables of evaluations, and what is said about annotated sets, against tables set by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from forestalign.evaluation.reports import Column, Report, as_text, data_hash, measure, signature
from forestalign.evaluation.scores import (
    Evaluation,
    Score,
    combine,
    count_table,
    precision_recall,
    share,
)

# ---- counts ----


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_a_share_of_nothing_is_perfect_only_where_nothing_was_given() -> None:
    assert share(array(1, 0, 0), array(4, 0, 0), array(9, 0, 2)).tolist() == [0.25, 1.0, 0.0]


@pytest.mark.parametrize(
    ("hits", "given", "asked", "expected"),
    [
        (2, 4, 8, (1 / 2, 1 / 4, 1 / 3)),
        (0, 0, 0, (1, 1, 1)),
        (0, 0, 5, (0, 0, 0)),
        (0, 5, 0, (0, 0, 0)),
    ],
)
def test_precision_recall_and_f1(hits: int, given: int, asked: int, expected: tuple[float, float, float]) -> None:
    assert precision_recall(array(hits)[0], array(given)[0], array(asked)[0]).tolist() == pytest.approx(expected)


def total(name: str, *rows: float) -> Evaluation:
    return Evaluation((name,), count_table([(row,) for row in rows], 1), lambda sums: sums / 10)


def test_evaluations_side_by_side_keep_their_own_scores() -> None:
    both = combine([total("a", 1, 2), total("b", 3, 4)])
    assert both.scores() == (Score("a", 0.3), Score("b", 0.7))
    assert (both["b"], len(both)) == (0.7, 2)


# ---- tables ----


def report(*columns: Column, **more: object) -> Report:
    return Report("the signature", columns, **more)  # type: ignore[arg-type]


def test_scores_are_in_per_cent_and_the_signature_is_last() -> None:
    text = as_text(report(Column("sys", (Score("P", 0.5), Score("R", 0.12345)))))
    assert text.splitlines() == ["     sys", "P  50.00", "R  12.35", "", "the signature"]


@pytest.mark.parametrize("name", ["Pearson r", "MAP", "MRR"])
def test_correlations_and_ranks_are_not_in_per_cent(name: str) -> None:
    assert "0.5000" in as_text(report(Column("sys", (Score(name, 0.5),))))


def test_a_score_that_a_column_has_not_is_a_dash() -> None:
    lines = as_text(report(Column("a", (Score("P", 0.5), Score("R", 1.0))), Column("b", (Score("P", 0.25),))))
    assert lines.splitlines()[2].split() == ["R", "100.00", "-"]


def test_rows_of_people_and_baselines_have_no_intervals_and_are_not_compared() -> None:
    found = measure("x", [("sys", total("a", 1, 2))], np.random.default_rng(0), 10, [("human", total("a", 3, 4))])
    assert [(column.name, len(column.intervals)) for column in found.columns] == [("sys", 1), ("human", 0)]
    assert found.comparisons == ()


# ---- signatures ----


def test_the_signature_names_settings_and_data(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    path.write_bytes(b"abc")
    # the first twelve digits of the SHA-256 of `abc`, which is in the standard
    assert signature({"B": 50}, path).endswith(" | B=50 | data ba7816bf8f01")
    assert " | defaults | " in signature({}, path)


def test_a_folder_is_the_files_in_it_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "gold"
    (folder / "more").mkdir(parents=True)
    (folder / "more" / "b").write_bytes(b"c")
    (folder / "a").write_bytes(b"ab")
    assert data_hash(folder) == "ba7816bf8f01"
