"""N-ary constituency trees: brackets, heads, unary chains, and head-outward binarisation.

- `tree`: the tree, walks over it, its binarisation, Penn brackets
"""

from __future__ import annotations

from forestalign.trees.tree import (
    CHAIN,
    BracketError,
    Constituent,
    Plan,
    ScoredTree,
    Tree,
    attachment_order,
    binarisation_plan,
    collapse_chain,
    constituents,
    format_brackets,
    head_tokens,
    parse_brackets,
    plain_labels,
    postorder,
    preorder,
    spans,
    strip_annotation,
    unescaped,
    unfold_chain,
)

__all__ = [
    "CHAIN",
    "BracketError",
    "Constituent",
    "Plan",
    "ScoredTree",
    "Tree",
    "attachment_order",
    "binarisation_plan",
    "collapse_chain",
    "constituents",
    "format_brackets",
    "head_tokens",
    "parse_brackets",
    "plain_labels",
    "postorder",
    "preorder",
    "spans",
    "strip_annotation",
    "unescaped",
    "unfold_chain",
]
