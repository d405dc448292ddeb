"""The weights of `rerank`, from `grammar/rerank_weights.tsv`."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.reranking.tree_features import FEATURES, Weights


@cache
def load_rerank_weights() -> Weights:
    """The shipped weights."""
    return read_rerank_weights(grammar_root() / "rerank_weights.tsv")


def read_rerank_weights(path: Path) -> Weights:
    """The weights of a file, in the order of FEATURES: a row each, a name and a finite number."""
    found: dict[str, float] = {}
    for line, (name, text) in read_rows(path, 2):
        if name not in FEATURES or name in found:
            why = "twice" if name in found else "unknown"
            raise GrammarError(path, line, f"feature {name!r} is {why}; expected each of {', '.join(FEATURES)}")
        found[name] = _finite(path, line, text)
    missing = [name for name in FEATURES if name not in found]
    if missing:
        raise GrammarError(path, None, f"no weight of {', '.join(missing)}; expected one of each feature")
    return np.array([found[name] for name in FEATURES])


def _finite(path: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise GrammarError(path, line, f"weight {text!r}: expected a finite number")
    return value


def rerank_weights_text(weights: Weights, comment: str) -> str:
    """The content of a file of weights."""
    rows = [f"{name}\t{value:.3f}" for name, value in zip(FEATURES, weights.tolist(), strict=True)]
    return "\n".join([f"# {comment}", *rows]) + "\n"
