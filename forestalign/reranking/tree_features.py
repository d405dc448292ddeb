"""What the evidence of the other sentence weighs: features of the edges of a forest, and potentials on a chart.

A tree gets the sum of its edges. Features of spans belong to phrases of several words, so a chart can have them as
potentials; attachments are known only where phrases have heads, which is in a forest.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from forestalign.arrays import BoolArray, FloatArray, IntArray
from forestalign.chart import Chart
from forestalign.errors import GrammarError
from forestalign.forest import Forest
from forestalign.forest.forest import NO_CHILD
from forestalign.grammar import base_label, grammar_root, read_rows
from forestalign.inputs import number
from forestalign.reranking.projection import TreeEvidence, arcs, category_of

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
_SCATTERED = SPAN_FEATURES.index("scattered")
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
    numbers, is_predicate = _categories(arrays.labels, tuple(evidence.by_category))
    tables, by_category = _tables(evidence)
    values = np.concatenate([tables[:, begin, last], by_category[numbers[label], begin, last][None]]).T
    values[is_predicate[label], _SCATTERED] = 0.0
    exact = evidence.exact[begin, last][:, None]
    found[rows, :_ARCS] = np.concatenate([values * (exact == 0.0), values * exact], axis=1)


def _tables(evidence: TreeEvidence) -> tuple[FloatArray, FloatArray]:
    """The tables of SPAN_FEATURES but the last, and those of the last: of no category, and of each."""
    tables = np.stack((evidence.together, evidence.apart, evidence.crossed, evidence.scattered))
    return tables, np.stack([np.zeros_like(evidence.together), *evidence.by_category.values()])


@lru_cache(maxsize=1024)
def _categories(labels: tuple[str, ...], named: tuple[str, ...]) -> tuple[IntArray, BoolArray]:
    """The place in `named` of the category of each label, from 1 on, 0 if it has none; and which are predicates."""
    place = {name: number for number, name in enumerate(named, start=1)}
    categories = [category_of(label) for label in labels]
    return np.array([place.get(name, 0) for name in categories]), np.array([name in _PREDICATES for name in categories])


def _add_arcs(found: FloatArray, forest: Forest, evidence: TreeEvidence) -> None:
    edges, word, governor = arcs(forest)
    columns = []
    for governs in (evidence.governs * (evidence.same == 0.0), evidence.governs * evidence.same):
        same, turned = governs[word, governor], governs[governor, word]
        columns += [same, turned, np.maximum(governs.sum(1)[word] - same - turned, 0.0)]
    found[edges, _ARCS:-1] = np.stack(columns, axis=1)


def with_evidence(chart: Chart, evidence: TreeEvidence, weights: Weights) -> Chart:
    """The chart with the features of spans added to the potentials of all phrases of several words.

    Labels get one of few tables: one for each category that the other sentence has, with and without `scattered`.
    """
    several = np.triu(np.ones((len(chart), len(chart))), 1)
    numbers, is_predicate = _categories(chart.labels, tuple(evidence.by_category))
    tables, by_category = _tables(evidence)
    loose, exact = weights[:_ARCS].reshape(len(KINDS), _SPANS, 1, 1)
    own = several * np.where(evidence.exact == 0.0, loose, evidence.exact * exact)
    sums = (own[:-1] * tables).sum(0) + own[-1] * by_category
    by_span = np.concatenate([sums, sums - own[_SCATTERED] * evidence.scattered]).reshape(-1, several.size).T
    added = by_span.astype(np.float32)[:, numbers + is_predicate * len(by_category)]
    added[:, 0] = 0.0  # the first label is none
    return replace(chart, potentials=chart.potentials + added.reshape(chart.potentials.shape))


# ---- what stands below a phrase in treebanks ----


@cache
def known_children() -> dict[str, frozenset[str]]:
    """The labels and tags of children by the label of the parent, as treebanks have them.

    A chart scores each phrase by itself, so that a tree may lack a phrase that every treebank would have there: a verb
    directly below S. That is rare while the parser alone decides; trees that another sentence pulls at need a guard.
    """
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
    odd = _unknown(arrays.labels)
    left, right = arrays.children.T
    parent, has_two = arrays.label[arrays.edge_node], (left != NO_CHILD) & (right != NO_CHILD)
    counts = [odd[parent, arrays.label[child]] * ~arrays.is_bar[child] for child in (left, right)]
    return np.where(has_two, counts[0] + counts[1], 0.0)


@lru_cache(maxsize=64)  # forests of one parser share their labels
def _unknown(labels: tuple[str, ...]) -> FloatArray:
    """Whether treebanks lack the highest phrase of a label below the lowest of another, [parents, children]."""
    known = [known_children().get(base_label(label.rpartition("+")[2])) for label in labels]
    top = [base_label(label.partition("+")[0]) for label in labels]
    return np.array([[row is not None and child not in row for child in top] for row in known], dtype=np.float64)


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
        try:
            found[name] = number("weight", float(text))
        except ValueError as error:
            raise GrammarError(path, line, f"weight {text!r}: expected a finite number") from error
    missing = [name for name in FEATURES if name not in found]
    if missing:
        raise GrammarError(path, None, f"no weight of {', '.join(missing)}; expected one of each feature")
    return np.array([found[name] for name in FEATURES])


def rerank_weights_text(weights: Weights, comment: str) -> str:
    """The content of a file of weights."""
    rows = [f"{name}\t{value:.3f}" for name, value in zip(FEATURES, weights.tolist(), strict=True)]
    return "\n".join([f"# {comment}", *rows]) + "\n"
