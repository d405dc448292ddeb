"""Which tags the shape of a word rules out, whatever an encoder says.

Training text has a stop behind every final abbreviation, so that *p.m.* at the end of a sentence is taken for one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from forestalign.grammar import punctuation_tags
from forestalign.parsers.encoder_words import plain_words

IMPOSSIBLE = np.float32(-1e4)  # the score of a tag that a word cannot have
SENTENCE_ENDS = frozenset({".", "?", "!"})
EYES = frozenset(":;=")  # at one end of a face
LONGEST_FACE = 4
FACE_TAG = "NFP"

Floats = npt.NDArray[np.float32]


class TagShapes:
    """A word with letters or digits is no mark, unless it is a face; a mark that ends sentences is nothing else."""

    def __init__(self, tags: Sequence[str]):
        self._is_mark = np.array([tag in punctuation_tags() for tag in tags])
        self._is_face_tag = np.array([tag == FACE_TAG for tag in tags])

    def possible(self, words: Sequence[str], scores: Floats) -> Floats:
        """The scores [words, tags], those of impossible tags lowered; a tag set without marks stays as it is."""
        if not self._is_mark.any():
            return scores
        plain = plain_words(words)
        spelt = np.array([any(map(str.isalnum, word)) for word in plain], dtype=bool)
        ending = np.array([word in SENTENCE_ENDS for word in plain], dtype=bool)
        faces = np.array([looks_like_a_face(word) for word in plain], dtype=bool)
        no_mark = spelt[:, None] & self._is_mark & ~(faces[:, None] & self._is_face_tag)
        fits = ~no_mark & ~(ending[:, None] & ~self._is_mark)
        return np.where(fits, scores, IMPOSSIBLE)


def looks_like_a_face(word: str) -> bool:
    """Whether a word may be meant as a picture: `:D`, `;-P`, `D:`."""
    return 1 < len(word) <= LONGEST_FACE and (word[0] in EYES or word[-1] in EYES)
