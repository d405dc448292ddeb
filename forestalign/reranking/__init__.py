"""Parses of a sentence chosen with the help of another that says the same.

- `projection`: what one sentence says about the other, through the word links
- `tree_features`: what that weighs, as features of edges and as potentials on a chart; their weights, from a file
- `rerank`: charts decoded again, both sides in turn
"""

from forestalign.reranking.rerank import ParsedPair, Reranked, RerankedPair, mutual_forests, rerank
from forestalign.reranking.tree_features import known_children, load_rerank_weights

__all__ = [
    "ParsedPair",
    "Reranked",
    "RerankedPair",
    "known_children",
    "load_rerank_weights",
    "mutual_forests",
    "rerank",
]
