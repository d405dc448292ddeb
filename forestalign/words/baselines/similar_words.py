"""Links by the vectors of the encoder alone: SimAlign's matchings over centred cosines."""

from __future__ import annotations

import numpy as np

from forestalign.errors import UsageError
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.baselines.matchings import MATCHINGS
from forestalign.words.centred_vectors import centred_cosines

THRESHOLD = 0.6  # cosines below are no links; of 0.3 to 0.7 the best on parts of msr-rte2.dev and edinburgh.train


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
