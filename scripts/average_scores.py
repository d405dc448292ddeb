#!/usr/bin/env python
"""The mean of phrase scores that were learned from unlike starts.

    python scripts/average_scores.py anew.json further.json -o scores.json

Learned from the paper's scores, the weights of rare parts are unstable; learned on from earlier scores, they keep what
another gold taught. The mean evens out both. Calibration and confidence are those of the first file: learn that one in
folds, so that they were judged on pairs which its weights had not seen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from forestalign.errors import ForestAlignError
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model, score_model_text


def mean_of(models: Sequence[ScoreModel]) -> ScoreModel:
    """The weights of all, everything else of the first."""
    starts = [model.card.get("start", "") for model in models]
    weights = np.mean([model.weights for model in models], axis=0)
    return replace(models[0], weights=weights, card={**models[0].card, "mean of starts": starts})


def main() -> int:
    args = _arguments()
    try:
        text = score_model_text(mean_of([load_score_model(str(path)) for path in args.scores]))
    except ForestAlignError as error:
        print(error, file=sys.stderr)
        return 2
    args.output.write_text(text, encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", nargs="+", type=Path, metavar="SCORES", help="files of `forestalign train --gold`")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help="the scores to write")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
