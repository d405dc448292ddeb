"""What training is made of: steps of EM, passes over items, cards, calibration, judges, tables of trials."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.batch.workers import Worker
from forestalign.errors import UsageError
from forestalign.evaluation.development import AnnotatedJudge, risk
from forestalign.evaluation.phrase_scores import PhraseSet
from forestalign.learning.em import (
    CHUNK,
    EmSettings,
    WeightedTask,
    plot_objective,
    run_pass,
)
from forestalign.learning.train_scores import GoldExample, calibration_error, isotonic, reliability, split
from forestalign.tokens import Span

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


# ---- cards ----


def test_the_objective_is_plotted_as_a_picture(tmp_path: Path) -> None:
    plot_objective(tmp_path / "objective.png", [(1, -2.0), (2, -1.0)])
    assert (tmp_path / "objective.png").read_bytes().startswith(b"\x89PNG")


# ---- trials ----
