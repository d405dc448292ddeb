"""Counts, ratios and tables of evaluations, and what is said about annotated sets, against tables set by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from forestalign.evaluation.annotated_pairs import Agreement, AnnotationStatistics
from forestalign.evaluation.annotation_checks import AnnotationFinding
from forestalign.evaluation.annotation_sheets import agreement_text, statistics_text, summary
from forestalign.evaluation.parse_scores import KindChange
from forestalign.evaluation.reports import Column, Report, as_json, as_text, data_hash, measured, signature
from forestalign.evaluation.scores import (
    Comparison,
    Evaluation,
    Interval,
    Score,
    combine,
    count_table,
    harmonic_mean,
    precision_recall,
    ratio,
    share,
)

# ---- counts ----


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_a_ratio_to_nothing_is_zero() -> None:
    assert ratio(array(1, 3, 0), array(2, 0, 0)).tolist() == [0.5, 0.0, 0.0]


def test_a_share_of_nothing_is_perfect_only_where_nothing_was_given() -> None:
    assert share(array(1, 0, 0), array(4, 0, 0), array(9, 0, 2)).tolist() == [0.25, 1.0, 0.0]


def test_the_harmonic_mean_of_nothing_is_zero() -> None:
    assert harmonic_mean(array(0.5, 0), array(1, 0)).tolist() == pytest.approx([2 / 3, 0])


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


def test_a_table_without_rows_has_its_columns() -> None:
    assert count_table([], 3).shape == (0, 3)


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


def test_intervals_stand_behind_their_score() -> None:
    column = Column("sys", (Score("P", 0.5),), (Interval(0.4, 0.65),))
    assert "50.00 [40.00, 65.00]" in as_text(report(column))


def test_a_score_that_a_column_has_not_is_a_dash() -> None:
    lines = as_text(report(Column("a", (Score("P", 0.5), Score("R", 1.0))), Column("b", (Score("P", 0.25),))))
    assert lines.splitlines()[2].split() == ["R", "100.00", "-"]


def test_two_systems_have_a_signed_difference_and_a_p_value() -> None:
    columns = Column("a", (Score("P", 0.5),)), Column("b", (Score("P", 0.75),))
    lines = as_text(report(*columns, comparisons=(Comparison("P", 0.5, 0.75, 0.03125),))).splitlines()
    assert lines[0].split() == ["a", "b", "difference", "p"]
    assert lines[1].split() == ["P", "50.00", "75.00", "+25.00", "0.0312"]


def test_changes_are_summed_over_their_kinds() -> None:
    changes = KindChange("PP", 5, 2, 1), KindChange("root", 4, 0, 1)
    lines = as_text(report(Column("a", (Score("UAS", 1.0),)), changes=changes)).splitlines()
    assert [line.split() for line in lines[4:8]] == [
        ["words", "better", "worse"],
        ["PP", "5", "2", "1"],
        ["root", "4", "0", "1"],
        ["all", "9", "2", "2"],
    ]


def test_json_has_the_differences_too() -> None:
    fields = json.loads(as_json(report(Column("a", ()), comparisons=(Comparison("P", 0.5, 0.75, 0.1),))))
    assert fields["comparisons"] == [{"name": "P", "first": 0.5, "second": 0.75, "p_value": 0.1, "difference": 0.25}]
    assert fields["signature"] == "the signature"


def test_rows_of_people_and_baselines_have_no_intervals_and_are_not_compared() -> None:
    found = measured("x", [("sys", total("a", 1, 2))], np.random.default_rng(0), 10, [("human", total("a", 3, 4))])
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


def test_standard_input_has_no_hash() -> None:
    assert data_hash("-") == "stdin"


# ---- annotated sets ----


def finding(code: str) -> AnnotationFinding:
    return AnnotationFinding("x.jsonl", 1, code, "message")


@pytest.mark.parametrize(
    ("codes", "pairs", "expected"),
    [
        ((), 1, "1 pair: nothing found"),
        ((), 0, "0 pairs: nothing found"),
        (("T2", "A1", "T2"), 3, "3 pairs: A1 1, T2 2"),
    ],
)
def test_the_summary_counts_pairs_and_codes(codes: tuple[str, ...], pairs: int, expected: str) -> None:
    assert summary([finding(code) for code in codes], pairs) == expected


def test_agreement_is_told_in_lines() -> None:
    found = Agreement(
        pairwise=(Score("A-B", 0.875),),
        human=(Score("recall", 0.5),),
        sentence_count=3,
        pair_count=9,
        by_two=5,
        by_all=2,
    )
    assert agreement_text(found).splitlines() == [
        "F1 A-B         87.50",
        "human recall    50.00",
        "sentence pairs that all annotators did 3",
        "phrase pairs by at least one 9, by two 5, by all 2",
    ]


def test_statistics_end_with_the_phenomena() -> None:
    found = AnnotationStatistics(
        pair_count=2,
        word_count=20,
        phrase_count=12,
        alignment_count=8,
        multiword_count=5,
        noncompositional_count=1,
        lengths=(("8-15", 1), ("16-25", 1)),
        origins=(("web", 2),),
        phenomena=(("passive", 2),),
    )
    assert statistics_text(found).splitlines() == [
        "pairs 2, words 20, phrases 12",
        "alignments 8, multiword 5, non-compositional 1",
        "words of the longer sentence: 8-15: 1, 16-25: 1",
        "origin web: 2",
        "    2 passive",
    ]
