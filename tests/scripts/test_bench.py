"""What bench.py computes beside its measurements, and a run of its counts."""

from __future__ import annotations

from pathlib import Path

import bench
import pytest
import size


@pytest.mark.parametrize("length", bench.LENGTHS)
def test_longer_pairs_are_joined_and_shorter_ones_cut(length: int) -> None:
    made = bench.join_pairs(bench.read_pairs(None), length)
    assert {len(text.split()) for pair in made for text in pair} == {length + 1}


def test_the_exponent_is_the_slope_of_the_logarithms() -> None:
    assert bench.exponent((1, 2, 4, 8), [3.0, 12.0, 48.0, 192.0]) == pytest.approx(2.0)


def test_counts_above_the_budget_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size, "BUDGET", tmp_path / "budget.json")
    size.BUDGET.write_text('{"python_calls_per_pair": 100, "searches_per_pair": null}')
    figures = {"python_calls_per_pair": 100.5, "nodes_per_forest": 80.0, "searches_per_pair": 0.0}
    assert bench.check_counts(figures, lower=False) == 1
    assert bench.check_counts(figures | {"python_calls_per_pair": 99.5}, lower=False) == 0


@pytest.mark.heavy
def test_the_same_work_is_counted_twice(tmp_path: Path) -> None:
    file = bench.write_pairs(tmp_path / "pairs.tsv", bench.read_pairs(None)[:4])
    tree = bench.SourceTree("this tree", bench.ROOT)
    first, second = (tree.inside("work", file) for _ in range(2))
    assert [first[name] for name in bench.COUNTS] == [second[name] for name in bench.COUNTS]
    assert all(first[name] > 0 for name in bench.COUNTS)
