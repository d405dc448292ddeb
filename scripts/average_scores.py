"""The mean of phrase scores that were learned from unlike starts.

    python scripts/average_scores.py anew.json further.json -o scores.json

Learned from the paper's scores, the weights of rare parts are unstable; learned on from earlier scores, they keep what
another gold taught. The mean evens out both. Calibration and confidence are those of the first file: learn that one in
folds, so that they were judged on pairs which its weights had not seen.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model, score_model_text


def average_models(models: Sequence[ScoreModel]) -> ScoreModel:
    """The weights of all, everything else of the first."""
    starts = [model.card.get("start", "") for model in models]
    weights = np.mean([model.weights for model in models], axis=0)
    return replace(models[0], weights=weights, card={**models[0].card, "mean of starts": starts})


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", nargs="+", metavar="SCORES", help="files of `forestalign train --gold`")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help="the scores to write")
    args = parser.parse_args(arguments)
    args.output.write_text(score_model_text(average_models(list(map(load_score_model, args.scores)))), encoding="utf-8")


if __name__ == "__main__":
    main()
