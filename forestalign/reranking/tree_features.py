"""What the evidence of the other sentence weighs: features of the edges of a forest, and potentials on a chart.

A tree gets the sum of its edges. Features of spans belong to phrases of several words, so a chart can have them as
potentials; attachments are known only where phrases have heads, which is in a forest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.chart import Chart
from forestalign.errors import GrammarError
from forestalign.forest import Forest
from forestalign.grammar import grammar_root, read_rows
from forestalign.reranking.forest_shares import arcs
from forestalign.reranking.known_children import unknown_children
from forestalign.reranking.projection import TreeEvidence, category_of

SPAN_FEATURES = ("together", "apart", "crossed", "scattered", "same category")
ARC_FEATURES = ("same governor", "turned governor", "other governor")
KINDS = ("loose", "exact")
UNKNOWN_CHILD = "unknown child"
FEATURES = (
    *(f"{kind} {name}" for kind in KINDS for name in SPAN_FEATURES),
    *(f"{kind} {name}" for kind in KINDS for name in ARC_FEATURES),
    UNKNOWN_CHILD,
)
_SPANS = len(SPAN_FEATURES)
_PREDICATES = frozenset({"VP", "SQ", "SINV"})  # never scattered: what is moved to the front leaves them in two parts
_ARCS = len(KINDS) * _SPANS  # the first column of attachments

Weights = FloatArray  # in the order of FEATURES


def edge_features(forest: Forest, evidence: TreeEvidence) -> FloatArray:
    """The features [edges, FEATURES] of a forest."""
    found = np.zeros((len(forest.arrays.log_prob), len(FEATURES)))
    _add_spans(found, forest, evidence)
    _add_arcs(found, forest, evidence)
    found[:, -1] = unknown_children(forest)
    return found


def _add_spans(found: FloatArray, forest: Forest, evidence: TreeEvidence) -> None:
    arrays, node = forest.arrays, forest.arrays.edge_node
    several = ~arrays.is_bar & (arrays.end - arrays.begin > 1)
    rows = np.flatnonzero(several[node])
    begin, last, label = arrays.begin[node[rows]], arrays.end[node[rows]] - 1, arrays.label[node[rows]]
    values = np.zeros((len(rows), _SPANS))
    for number in np.unique(label).tolist():
        own = label == number
        tables = _span_tables(evidence, category_of(arrays.labels[number]))
        values[own] = np.stack([table[begin[own], last[own]] for table in tables], axis=1)
    exact = evidence.exact[begin, last][:, None]
    found[rows, :_ARCS] = np.concatenate([values * (1.0 - exact), values * exact], axis=1)


def _span_tables(evidence: TreeEvidence, category: str) -> tuple[FloatArray, ...]:
    """What the evidence says of phrases of a category, a table [n, n] for each of SPAN_FEATURES."""
    nothing = np.zeros_like(evidence.together)
    return (
        evidence.together,
        evidence.apart,
        evidence.crossed,
        nothing if category in _PREDICATES else evidence.scattered,
        evidence.by_category.get(category, nothing),
    )


def _add_arcs(found: FloatArray, forest: Forest, evidence: TreeEvidence) -> None:
    edges, word, governor = arcs(forest)
    exact = evidence.governs * np.outer(evidence.same, evidence.same)
    columns = []
    for governs in (evidence.governs - exact, exact):
        same, turned = governs[word, governor], governs[governor, word]
        columns += [same, turned, np.maximum(governs.sum(1)[word] - same - turned, 0.0)]
    found[edges, _ARCS:-1] = np.stack(columns, axis=1)


def with_features(forest: Forest, features: FloatArray, weights: Weights) -> Forest:
    """The forest whose edges weigh what the parser says and what the evidence adds."""
    arrays = forest.arrays
    return Forest.of_arrays(forest.sentence, replace(arrays, log_prob=arrays.log_prob + features @ weights))


def with_evidence(chart: Chart, evidence: TreeEvidence, weights: Weights) -> Chart:
    """The chart with the features of spans added to the potentials of all phrases of several words."""
    several = np.triu(np.ones((len(chart), len(chart))), 1)
    exact = evidence.exact * several
    added = np.zeros(chart.potentials.shape, dtype=np.float32)
    for category, labels in _alike(chart.labels, evidence).items():
        tables = np.stack(_span_tables(evidence, category))
        loose, strict = (np.tensordot(own, tables, 1) for own in (weights[:_SPANS], weights[_SPANS:_ARCS]))
        added[:, :, labels] = ((several - exact) * loose + exact * strict)[:, :, None]
    return replace(chart, potentials=chart.potentials + added)


def _alike(labels: Sequence[str], evidence: TreeEvidence) -> dict[str, list[int]]:
    """The labels of a chart but for the first, which is none, by a category for which the evidence says the same."""
    found: dict[str, list[int]] = {}
    for number, label in enumerate(labels[1:], start=1):
        category = category_of(label)
        is_special = category in _PREDICATES or category in evidence.by_category
        found.setdefault(category if is_special else "", []).append(number)
    return found


# ---- weights ----


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
