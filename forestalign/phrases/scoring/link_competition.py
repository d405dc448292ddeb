"""How likely word links are beside their rivals: the one place that says it, for all parts of the learned scores.

A link is rarely alone. *received* is a candidate for *enjoyed* in *received an award and enjoyed a share*, but where
*received* itself stands on the other side, that candidate is nobody's loss. So a link counts in full for what lies
*inside* a pair (a word may have several partners there: *gave up*, *quit*), and for what *leaves* a pair or stays null
only as far as nothing explains it away:

- by a stronger link of either of its words: q(i, j) = p(i, j) (1 - strongest rival that is stronger)
- by a partner inside the pair: a word i of τs is linked out of ⟨τs, τt⟩ with

      out(i, τt) = min(1, Σ q(i, j) over j outside τt) · (1 - min(1, Σ p(i, j) over j in τt))

Everything is symmetric in source and target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.phrases.scoring.schema import LIKELY_LINK, NodeArrays


@dataclass(frozen=True, slots=True, eq=False)
class CompetingLinks:
    """p of all links, and q, what is left of it beside stronger rivals; [source words, target words]."""

    links: FloatArray
    beside_rivals: FloatArray
    has_rivals: bool = True  # False: nothing explains a link away

    @classmethod
    def of(cls, links: FloatArray, has_rivals: bool = True) -> CompetingLinks:
        """The links of two sentences."""
        return cls(links, beside_rivals(links) if has_rivals else links, has_rivals)

    def likely(self) -> CompetingLinks:
        """The likely links alone, all alike; one that has a stronger rival leaves nothing."""
        likely = (self.links > LIKELY_LINK).astype(np.float64)
        if not self.has_rivals:
            return CompetingLinks(likely, likely, False)
        return CompetingLinks(likely, likely * (strongest_rivals(self.links) <= self.links))

    def mirrored(self) -> CompetingLinks:
        """Seen from the other sentence."""
        return CompetingLinks(self.links.T, self.beside_rivals.T, self.has_rivals)

    def shares(self, other: NodeArrays) -> PhraseLinks:
        """What the links of each word do for each phrase of the other side."""
        inside = _sums_in(self.links, other)
        elsewhere = self.beside_rivals.sum(axis=1)[:, None] - _sums_in(self.beside_rivals, other)
        held = np.minimum(inside, 1.0)
        explained = held if self.has_rivals else 0.0
        return PhraseLinks(inside, held, np.clip(elsewhere, 0.0, 1.0) * (1.0 - explained))

    def leaving(self, one: NodeArrays, other: NodeArrays) -> FloatArray:
        """How many words of each pair, on both sides, are linked out of it."""
        return self.shares(other).out_of(one) + self.mirrored().shares(one).out_of(other).T


class PhraseLinks(NamedTuple):
    """The links of each word (row) and each phrase of the other side (column)."""

    inside: FloatArray  # their sum
    held: FloatArray  # how likely the word is linked into the phrase
    out: FloatArray  # out(i, τt)

    def of_pairs(self, one: NodeArrays) -> FloatArray:
        """Sum of the links inside each pair."""
        return _sums_in(self.inside.T, one).T

    def out_of(self, one: NodeArrays) -> FloatArray:
        """How many words of each phrase of this side are linked out of its pair with each of the other side."""
        return _sums_in(self.out.T, one).T


def beside_rivals(links: FloatArray) -> FloatArray:
    """q: every link times one minus the strongest rival that is stronger.

    >>> beside_rivals(np.array([[0.9, 0.5], [0.2, 0.0]])).round(2).tolist()
    [[0.9, 0.05], [0.02, 0.0]]
    """
    rivals = strongest_rivals(links)
    return np.asarray(links * (1.0 - np.where(rivals > links, rivals, 0.0)))


def strongest_rivals(links: FloatArray) -> FloatArray:
    """The strongest other link of either word, for each pair of words."""
    return np.maximum(_strongest_others(links), _strongest_others(links.T).T)


def _strongest_others(links: FloatArray) -> FloatArray:
    """The strongest link of each row without the cell itself."""
    if links.shape[1] < 2:
        return np.zeros_like(links)
    second, first = np.partition(links, -2, axis=1)[:, -2:].T
    return np.asarray(np.where(links == first[:, None], second[:, None], first[:, None]))


def _sums_in(rows: FloatArray, side: NodeArrays) -> FloatArray:
    """The sum of each row over the words of each phrase, by prefix sums."""
    sums = np.zeros((rows.shape[0], rows.shape[1] + 1))
    sums[:, 1:] = rows.cumsum(axis=1)
    return np.asarray(sums[:, side.end] - sums[:, side.begin])
