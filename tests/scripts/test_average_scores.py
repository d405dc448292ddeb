"""The mean of learned phrase scores."""

from __future__ import annotations

import numpy as np
import pytest
from average_scores import main, mean_of

from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model, score_model_text


def model(value: float, start: str, calibration: tuple[tuple[float, float], ...]) -> ScoreModel:
    return ScoreModel(np.full(len(NAMES), value), calibration, {"start": start})


def test_weights_are_the_mean_and_the_rest_is_of_the_first() -> None:
    first, other = model(1.0, "paper", ((0.0, 0.2), (1.0, 0.8))), model(4.0, "shipped", ((0.0, 0.0), (1.0, 1.0)))
    mean = mean_of([first, other])
    assert mean.weights.tolist() == [2.5] * len(NAMES)
    assert mean.calibration == first.calibration
    assert mean.card == {"start": "paper", "mean of starts": ["paper", "shipped"]}


def test_files_are_read_and_written(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / "one.json", tmp_path / "other.json"]
    for path, value in zip(paths, (1.0, 2.0), strict=True):
        path.write_text(score_model_text(model(value, "paper", ((0.0, 0.0), (1.0, 1.0)))), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["average_scores.py", *map(str, paths), "-o", str(tmp_path / "mean.json")])
    assert main() == 0
    assert set(load_score_model(str(tmp_path / "mean.json")).weights.tolist()) == {1.5}


def test_a_file_of_something_else_is_named(tmp_path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["average_scores.py", str(path), "-o", str(tmp_path / "mean.json")])
    assert main() == 2
    assert "other.json" in capsys.readouterr().err
    assert not (tmp_path / "mean.json").exists()
