"""What training is made of: steps of EM, passes over items, cards, calibration, judges, tables of trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.batch import Worker
from forestalign.errors import UsageError
from forestalign.evaluation.development import AnnotatedJudge, risk
from forestalign.evaluation.phrase_scores import PhraseSet
from forestalign.learning.em import (
    CHUNK,
    EmSettings,
    TrainingReport,
    WeightedTask,
    card_of,
    plot_objective,
    run_pass,
)
from forestalign.learning.train_scores import GoldExample, calibration_error, isotonic, reliability, split
from forestalign.phrases.scoring.model import load_model
from forestalign.tokens import Span
from forestalign.tuning import (
    Parameter,
    Trial,
    TuningPlan,
    best_trial,
    parse_parameter,
    settings_block,
    table_head,
    table_row,
)

# ---- EM ----


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("batch_size", 0, "batch_size is 0; expected at least 1"),
        ("passes", 0, "passes is 0; expected at least 1"),
        ("l2", -1.0, "l2 is -1.0; expected at least 0"),
        ("l2", math.nan, "l2 is nan; expected at least 0"),
        ("iterations", 0, "iterations is 0; expected at least 1"),
        ("seed", -1, "seed is -1; expected at least 0"),
    ],
)
def test_settings_of_em_that_cannot_work_are_refused(name: str, value: float, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        EmSettings(**{name: value})  # type: ignore[arg-type]


# ---- passes ----


def doubled(task: WeightedTask[int]) -> list[float]:
    assert len(task.items) <= CHUNK
    return [float(task.weights.sum()) * item for item in task.items]


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_a_pass_gives_a_result_for_every_item_in_order(count: int) -> None:
    assert list(run_pass(Worker.of(doubled), np.array([0.5, 1.5]), range(count))) == [2.0 * k for k in range(count)]


def examples(count: int) -> list[GoldExample]:
    judge = AnnotatedJudge((PhraseSet(frozenset()),))
    return [GoldExample(Path(f"{number}.pair"), judge) for number in range(count)]


def test_folds_part_the_examples() -> None:
    all_examples = examples(7)
    kept_back: list[GoldExample] = []
    for fold in range(3):
        training, kept = split(all_examples, fold, 3)
        assert len(training) + len(kept) == 7
        assert not {each.path for each in training} & {each.path for each in kept}
        kept_back += kept
    assert {each.path for each in kept_back} == {each.path for each in all_examples}


# ---- judges ----


def spans(*pairs: tuple[int, int]) -> frozenset[tuple[Span, Span]]:
    """Pairs of one-word spans."""
    return frozenset((Span(i, i + 1), Span(j, j + 1)) for i, j in pairs)


def test_the_risk_counts_what_is_missing_and_what_is_wrong() -> None:
    judge = AnnotatedJudge((PhraseSet(spans((0, 0), (1, 1))), PhraseSet(spans((0, 0), (2, 2)))))
    assert risk(judge, spans((0, 0))) == 0.0
    assert risk(judge, spans()) == 1.0
    assert risk(judge, spans((0, 0), (1, 1), (2, 2))) == 0.0
    assert risk(judge, spans((0, 0), (3, 3))) == 1.0


def test_a_pair_is_as_right_as_references_allow_it() -> None:
    answers = tuple(PhraseSet(spans(*pairs)) for pairs in ([(0, 0)], [(0, 0), (1, 1)], []))
    judge = AnnotatedJudge(answers)
    (first,), (second,), (third,) = spans((0, 0)), spans((1, 1)), spans((2, 2))
    assert judge.is_right(first) == 1.0
    assert judge.is_right(second) == pytest.approx(2 / 3)
    assert judge.is_right(third) == 0.0


def test_one_annotator_is_required_and_allowed() -> None:
    judge = AnnotatedJudge((PhraseSet(spans((0, 0), (1, 1))),))
    assert risk(judge, spans((0, 0))) == 1.0
    assert risk(judge, spans((0, 0), (1, 1))) == 0.0


# ---- calibration ----


POINTS = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60)


@given(POINTS)
def test_the_curve_rises_from_0_to_1(observed: list[tuple[float, float]]) -> None:
    curve = isotonic(observed)
    posteriors, shares = [x for x, _ in curve], [y for _, y in curve]
    assert (posteriors[0], posteriors[-1]) == (0.0, 1.0)
    assert posteriors == sorted(posteriors)
    assert all(left <= right + 1e-9 for left, right in pairwise(shares))


@given(POINTS)
def test_every_point_lies_in_one_bin(predicted: list[tuple[float, float]]) -> None:
    rows = reliability(predicted)
    assert sum(count for _, _, count in rows) == len(predicted)
    assert 0.0 <= calibration_error(predicted) <= 1.0


def test_a_forecast_that_is_always_wrong_is_as_bad_as_can_be() -> None:
    assert calibration_error([(1.0, 0.0)] * 4 + [(0.0, 1.0)] * 4) == 1.0
    assert calibration_error([]) == 0.0


# ---- cards ----


def report() -> TrainingReport:
    return TrainingReport(load_model(""), ((1, -2.123456), (2, -1.5)), 2, 400, 0.98765, 0.01)


def test_a_card_says_where_a_model_comes_from() -> None:
    card = card_of(report(), EmSettings(passes=2), "forestalign 0.2.0", ["pairs.tsv"], "2026-01-31")
    assert card["data"] == ["pairs.tsv"]
    assert (card["pairs"], card["batches"]) == (400, 2)
    assert card["objective"] == [[1, -2.12346], [2, -1.5]]
    assert card["two_sided_roots"] == 0.9877
    assert card["settings"]["passes"] == 2  # type: ignore[index]
    assert (card["signature"], card["date"]) == ("forestalign 0.2.0", "2026-01-31")


def test_the_objective_is_plotted_as_a_picture(tmp_path: Path) -> None:
    plot_objective(tmp_path / "objective.png", [(1, -2.0), (2, -1.0)])
    assert (tmp_path / "objective.png").read_bytes().startswith(b"\x89PNG")


# ---- trials ----


PLAN = TuningPlan(
    (Parameter("beam", 10, 100), Parameter("links", choices=("sultan", "union"))), (("phrase", 0.7), ("uas", 0.3))
)


def trial(number: int, values: Sequence[float | int | str | bool], objective: float) -> Trial:
    return Trial(number, tuple(values), objective, (("F1", 0.8125), ("UAS", 0.9)))


def test_the_table_of_trials_has_a_column_for_everything() -> None:
    first = trial(1, (50, "sultan"), 0.83875)
    assert table_head(PLAN, first).split("\t") == ["trial", "beam", "links", "F1", "UAS", "objective"]
    assert table_row(first).split("\t") == ["1", "50", "sultan", "81.25", "90.00", "0.83875"]


def test_the_best_settings_are_ready_to_paste() -> None:
    trials = [trial(1, (50, "sultan"), 0.5), trial(2, (20, "union"), 0.75)]
    lines = settings_block(PLAN, trials).splitlines()
    comment = "tuned: phrase=0.7,uas=0.3 = 0.7500, trial 2 of 2, seed 1"
    assert lines == [
        f"    beam: int = 20  # {comment}",
        f"    links: str = 'union'  # {comment}",
        "# --set beam=20 --set links=union",
    ]
    assert best_trial(trials).number == 2


def test_a_plan_that_goes_on_for_longer_is_the_same_plan() -> None:
    longer = TuningPlan(PLAN.parameters, PLAN.objective, trials=99)
    other = TuningPlan(PLAN.parameters, PLAN.objective, seed=2)
    assert PLAN.key == longer.key
    assert PLAN.key != other.key


@pytest.mark.parametrize(
    ("text", "value", "cleaned", "is_inside"),
    [
        ("beam=10:100", 55.0, 55, True),
        ("beam=10:100", 101, 101, False),
        ("parse_weight=0:0.95", 0.123456, 0.123, True),
        ("links=sultan,union", "union", "union", True),
        ("lifts=true,false", False, False, True),
    ],
)
def test_a_parameter_knows_its_values(text: str, value: object, cleaned: object, is_inside: bool) -> None:
    parameter = parse_parameter(text)
    assert parameter.cleaned(value) == cleaned
    assert parameter.contains(cleaned) is is_inside
