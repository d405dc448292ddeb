"""The alignment of highest expected F1 over the k best (`decode="risk"`), in place of the best-scored one.

    E[F1](h) = sum over the k best g of p(g) F1(h, g),    p(g) ∝ exp S(g),    F1 over pairs of spans

A best alignment that differs from all its rivals in the same pairs loses to one that shares these pairs with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.forest import Forest
from forestalign.phrases.search.hypotheses import Derivation

LEAST_ALIGNMENTS = 30  # to take the expectation over


def by_expected_f1(derivations: Sequence[Derivation], source: Forest, target: Forest) -> tuple[Derivation, ...]:
    """The derivations in the order of their expected F1; of equal ones the better-scored first."""
    answers = [_spans(derivation, source, target) for derivation in derivations]
    expected = expected_f1([derivation.score for derivation in derivations], answers)
    order = sorted(range(len(derivations)), key=lambda k: (-round(float(expected[k]), 12), k))
    return tuple(derivations[k] for k in order)


def expected_f1(log_scores: Sequence[float], answers: Sequence[frozenset[tuple[object, object]]]) -> FloatArray:
    """E[F1] of each answer; two empty ones agree.

    >>> expected_f1([0.0, 0.0], [frozenset({(1, 1)}), frozenset({(1, 1), (2, 2)})]).round(3).tolist()
    [0.833, 0.833]
    """
    scores = np.array(log_scores)
    shares = np.exp(scores - scores.max())
    agreement = np.array([[_f1(one, other) for other in answers] for one in answers])
    return np.asarray(agreement @ (shares / shares.sum()))


def _f1(one: frozenset[tuple[object, object]], other: frozenset[tuple[object, object]]) -> float:
    return 2.0 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _spans(derivation: Derivation, source: Forest, target: Forest) -> frozenset[tuple[object, object]]:
    nodes = [(source.nodes[pair.source], target.nodes[pair.target]) for pair in derivation.pairs]
    return frozenset(((one.begin, one.end), (other.begin, other.end)) for one, other in nodes)
