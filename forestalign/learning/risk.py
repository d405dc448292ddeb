"""Supervised training of phrase scores: expected risk over the search's own k-best lists.

With f the parts of a derivation h and r(h) its risk (pairs that are missed plus pairs that are wrong, by the pair's
gold), the objective over all pairs of sentences is

    1/N Σ Σ_h p(h) r(h) + λ |(w - w0) σ|²,    p(h) ∝ exp w · f(h) over the k best,    σ the spread of each part

Its gradient is 1/N Σ Σ_h p(h) (r(h) - E[r]) f(h) + 2 λ σ² (w - w0). `softmax_margin` is the alternative that was
compared: -log of the mass of the least risky derivations, the others' scores raised by their risk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from forestalign.arrays import BoolArray, FloatArray

SMALLEST_SPREAD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class KBestList:
    """Derivations of one pair of sentences: their parts [K, parts] and their risks [K]."""

    parts: FloatArray
    risks: FloatArray

    def only(self, is_used: BoolArray) -> KBestList:
        """The list as if the other parts did not exist, so that nothing draws their weights away from 0."""
        return self if is_used.all() else KBestList(self.parts * is_used, self.risks)

    def joined(self, other: KBestList) -> KBestList:
        """Both lists; derivations with the same parts are one."""
        parts = np.concatenate([self.parts, other.parts])
        _, first = np.unique(parts.round(6), axis=0, return_index=True)
        kept = np.sort(first)
        return KBestList(parts[kept], np.concatenate([self.risks, other.risks])[kept])


Objective = Callable[[FloatArray, Sequence[KBestList]], tuple[float, FloatArray]]


def expected_risk(weights: FloatArray, lists: Sequence[KBestList]) -> tuple[float, FloatArray]:
    """Mean expected risk and its gradient."""
    total, gradient = 0.0, np.zeros_like(weights)
    for each in lists:
        shares = _shares(each.parts @ weights)
        risk = float(shares @ each.risks)
        total += risk
        gradient += each.parts.T @ (shares * (each.risks - risk))
    return total / len(lists), gradient / len(lists)


def softmax_margin(weights: FloatArray, lists: Sequence[KBestList]) -> tuple[float, FloatArray]:
    """Mean cost-augmented log loss of the least risky derivations, and its gradient."""
    total, gradient = 0.0, np.zeros_like(weights)
    for each in lists:
        scores = each.parts @ weights
        best = each.risks <= each.risks.min()
        raised = scores + each.risks
        wanted, all_ = _shares(scores[best]), _shares(raised)
        total += _log_sum(raised) - _log_sum(scores[best])
        gradient += each.parts.T @ all_ - each.parts[best].T @ wanted
    return total / len(lists), gradient / len(lists)


def _shares(scores: FloatArray) -> FloatArray:
    masses = np.exp(scores - scores.max())
    return np.asarray(masses / masses.sum())


def _log_sum(scores: FloatArray) -> float:
    top = float(scores.max())
    return top + float(np.log(np.exp(scores - top).sum()))


def minimised(
    objective: Objective, lists: Sequence[KBestList], start: FloatArray, anchor: FloatArray, ridge: float
) -> tuple[FloatArray, float]:
    """The weights of least objective, drawn towards `anchor`, and the value there; parts are scaled by their spread."""
    useful = [each for each in lists if len(each.risks) > 1]
    if not useful:
        return start, 0.0
    centred = np.concatenate([each.parts - each.parts.mean(axis=0) for each in useful])
    spread = centred.std(axis=0) + SMALLEST_SPREAD
    scaled = [KBestList(each.parts / spread, each.risks) for each in useful]

    def with_ridge(weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = objective(weights, scaled)
        away = weights - anchor * spread
        return value + ridge * float(away @ away), gradient + 2.0 * ridge * away

    found = minimize(with_ridge, start * spread, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(found.x / spread), float(found.fun)
