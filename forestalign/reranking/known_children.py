"""What stands directly below a phrase in treebanks.

A chart scores each phrase by itself, so that a tree may lack a phrase that every treebank would have there: a verb
directly below S. That is rare while the parser alone decides; trees that another sentence pulls at need a guard.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import GrammarError
from forestalign.forest import Forest
from forestalign.forest.forest import NO_CHILD
from forestalign.grammar import base_label, grammar_root, read_rows


@cache
def known_children() -> dict[str, frozenset[str]]:
    """The labels and tags of children by the label of the parent."""
    path, found = grammar_root() / "known_children.tsv", dict[str, frozenset[str]]()
    for line, (label, children) in read_rows(path, 2):
        if label in found:
            raise GrammarError(path, line, f"label {label!r} has a row already; expected one a label")
        found[label] = frozenset(children.split())
    return found


def unknown_children(forest: Forest) -> FloatArray:
    """How many children of each edge treebanks do not have below such a phrase; bar nodes are the phrase itself.

    A phrase over one word is left to the parser, which chose its tag by itself.
    """
    arrays = forest.arrays
    lowest = [base_label(label.rpartition("+")[2]) for label in arrays.labels]
    top = [base_label(label.partition("+")[0]) for label in arrays.labels]
    odd = _unknown(tuple(lowest), tuple(top))
    parent = arrays.label[arrays.edge_node]
    found = np.zeros(len(parent))
    has_two = (arrays.children != NO_CHILD).all(1)
    for child in arrays.children.T:
        counts = has_two & ~arrays.is_bar[child]
        found += np.where(counts, odd[parent, arrays.label[child]], 0.0)
    return found


@lru_cache(maxsize=64)  # forests of one parser share their labels
def _unknown(parents: tuple[str, ...], children: tuple[str, ...]) -> FloatArray:
    """Whether treebanks lack the child below the parent, [parents, children]."""
    known = [known_children().get(parent) for parent in parents]
    return np.array([[row is not None and child not in row for child in children] for row in known], dtype=np.float64)
