"""N-ary constituency trees: brackets, heads, unary chains, and head-outward binarisation.

- `tree`: the tree, walks over it, Penn brackets
- `binarise`: binarisation and its inverse
"""

from __future__ import annotations

from forestalign.trees.binarise import (
    Attachment,
    BinaryTree,
    Plan,
    assemble,
    attachment_order,
    binarisation_plan,
    binarise,
    debinarise,
    unfold_chain,
)
from forestalign.trees.tree import (
    CHAIN,
    BracketError,
    Constituent,
    ScoredTree,
    Tree,
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
)

__all__ = [
    "CHAIN",
    "Attachment",
    "BinaryTree",
    "BracketError",
    "Constituent",
    "Plan",
    "ScoredTree",
    "Tree",
    "assemble",
    "attachment_order",
    "binarisation_plan",
    "binarise",
    "collapse_chain",
    "constituents",
    "debinarise",
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
