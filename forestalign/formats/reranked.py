"""Parses chosen by aligning, next to the parser's own: what `forestalign rerank` writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from forestalign.forest import Forest, NodeId, log_partition, tree_of, viterbi
from forestalign.phrases.result import AlignedPair
from forestalign.trees import Tree, format_brackets


@dataclass(frozen=True, slots=True)
class Reranked:
    """One sentence: the parser's tree and the chosen one, with their log probabilities in the forest."""

    best_log_prob: float
    best: str
    chosen_log_prob: float
    chosen: str


def reranked(aligned: AlignedPair) -> tuple[Reranked, Reranked]:
    """Source and target of an aligned pair."""
    phrases = aligned.phrases
    return (
        _reranked(aligned.source_forest, aligned.source_tree, phrases.source_edges),
        _reranked(aligned.target_forest, aligned.target_tree, phrases.target_edges),
    )


def _reranked(forest: Forest, chosen: Tree, edges: Sequence[tuple[NodeId, int]]) -> Reranked:
    total = log_partition(forest)
    best = viterbi(forest)
    weight = sum(forest.edges[node][index].log_prob for node, index in edges)
    return Reranked(
        round(best.log_prob - total, 4),
        format_brackets(tree_of(forest, best.root, best.choice)),
        round(weight - total, 4),
        format_brackets(chosen),
    )


def format_reranked(aligned: AlignedPair, as_json: bool = False) -> str:
    """Two tab-separated lines per pair, or one JSON object."""
    sides = dict(zip(("source", "target"), reranked(aligned), strict=True))
    if as_json:
        rows = {
            side: {"best": [one.best_log_prob, one.best], "chosen": [one.chosen_log_prob, one.chosen]}
            for side, one in sides.items()
        }
        return json.dumps({"id": aligned.id, **rows, "log_score": aligned.phrases.log_score}, ensure_ascii=False)
    return "\n".join(
        f"{aligned.id}\t{side}\t{one.best_log_prob}\t{one.best}\t{one.chosen_log_prob}\t{one.chosen}"
        for side, one in sides.items()
    )
