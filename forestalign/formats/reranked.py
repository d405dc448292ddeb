"""Parses chosen with the help of the other sentence, next to the parser's own: what `forestalign rerank` writes."""

from __future__ import annotations

import json

from forestalign.reranking import RerankedPair
from forestalign.trees import ScoredTree, format_brackets

DIGITS = 4  # of log probabilities, as in n-best lists


def format_reranked(pair: RerankedPair, as_json: bool = False) -> str:
    """Two tab-separated lines per pair, or one JSON object."""
    sides = {"source": pair.source, "target": pair.target}
    if as_json:
        rows = {side: {"best": _cells(one.best), "chosen": _cells(one.chosen)} for side, one in sides.items()}
        return json.dumps({"id": pair.id, **rows}, ensure_ascii=False)
    return "\n".join(
        "\t".join(map(str, (pair.id, side, *_cells(one.best), *_cells(one.chosen)))) for side, one in sides.items()
    )


def _cells(scored: ScoredTree) -> list[object]:
    return [round(float(scored.log_prob), DIGITS), format_brackets(scored.tree)]
