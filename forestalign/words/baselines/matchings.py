"""Links from a matrix of similarities, as SimAlign makes them (Jalili Sabet et al. 2020, section 3.2).

`similarity_links` takes the centred cosines of the encoder's vectors, and nothing else.

- argmax: i and j each have their highest similarity at the other
- itermax: argmax again and again over what is left; a word that has a partner already may get a second one, at a
  discount
- match: the one-to-one links with the highest sum
"""

from __future__ import annotations

import numpy as np

from forestalign.arrays import AnyFloatArray
from forestalign.errors import UsageError
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.centred_vectors import centred_cosines

Links = tuple[tuple[int, int], ...]
ROUNDS = 2  # of itermax, as SimAlign has them
DISCOUNT = 0.9  # for a second partner
THRESHOLD = 0.6  # cosines below are not links; of 0.3 to 0.7 the best on parts of msr-rte2.dev and edinburgh.train


def argmax_links(similarity: AnyFloatArray) -> Links:
    """The links on which both directions agree; of equal similarities the first counts."""
    if not similarity.size:
        return ()
    forward, back = similarity.argmax(1), similarity.argmax(0)
    return tuple((i, int(j)) for i, j in enumerate(forward) if back[j] == i and similarity[i, j] > 0.0)


def itermax_links(similarity: AnyFloatArray, rounds: int = ROUNDS, discount: float = DISCOUNT) -> Links:
    """Argmax, and again over what is left: weight 1 where both words are free, `discount` where one is, else 0."""
    found = set(argmax_links(similarity))
    for _ in range(rounds - 1):
        sources, targets = sorted({i for i, _ in found}), sorted({j for _, j in found})
        weights = np.ones_like(similarity)
        weights[sources, :] = weights[:, targets] = discount
        weights[np.ix_(sources, targets)] = 0.0
        more = set(argmax_links(similarity * weights)) - found
        if not more:
            break
        found |= more
    return tuple(sorted(found))


def best_matching(similarity: AnyFloatArray) -> Links:
    """The one-to-one links of the highest sum; a pair that adds nothing is left out."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    gains = np.maximum(similarity, 0.0)
    rows, columns = linear_sum_assignment(gains, maximize=True)
    return tuple((int(i), int(j)) for i, j in zip(rows, columns, strict=True) if gains[i, j] > 0.0)


MATCHINGS = {"argmax": argmax_links, "itermax": itermax_links, "match": best_matching}


def similarity_links(
    source: Sentence, target: Sentence, matching: str = "argmax", threshold: float = THRESHOLD
) -> WordAlignment:
    """The links of a matching over the cosines that reach the threshold."""
    cosines = centred_cosines(source, target)
    if cosines is None:
        raise UsageError("the method similarity needs word vectors, which only parsers with an encoder give")
    likely = np.where(cosines >= threshold, cosines, 0.0)
    links = MATCHINGS[matching](likely)
    return WordAlignment(tuple(WordLink(i, j, float(cosines[i, j]), matching) for i, j in sorted(links)))
