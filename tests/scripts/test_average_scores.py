"""The mean of learned phrase scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from average_scores import main

from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model, score_model_text


def test_weights_are_the_mean_and_the_rest_is_of_the_first(tmp_path: Path) -> None:
    paths = [tmp_path / "first.json", tmp_path / "other.json"]
    for path, value, start in zip(paths, (1.0, 4.0), ("paper", "shipped"), strict=True):
        model = ScoreModel(np.full(len(NAMES), value), ((0.0, 0.2 / value), (1.0, 0.8)), {"start": start})
        path.write_text(score_model_text(model), encoding="utf-8")
    main([*map(str, paths), "-o", str(tmp_path / "mean.json")])
    mean = load_score_model(str(tmp_path / "mean.json"))
    assert mean.weights.tolist() == [2.5] * len(NAMES)
    assert mean.calibration == ((0.0, 0.2), (1.0, 0.8))
    assert mean.card == {"start": "paper", "mean of starts": ["paper", "shipped"]}
