"""Which tags the shape of a word rules out, whatever an encoder says.

Training text has a stop behind every final abbreviation, so that *p.m.* at the end of a sentence is taken for one; and
it has transcripts, whose mark-up has tags of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from forestalign.arrays import BoolArray, Float32Array
from forestalign.grammar import punctuation_tags, transcript_tags
from forestalign.parsers.encoder_words import plain_words

IMPOSSIBLE = np.float32(-1e4)  # the score of a tag that a word cannot have
SENTENCE_ENDS = frozenset({".", "?", "!"})
STOPS = frozenset(".?!…")
STOP_TAG = "."
EYES = frozenset(":;=")  # at one end of a face
LONGEST_FACE = 4
FACE_TAG = "NFP"


class TagShapes:
    """A word with letters or digits is not a mark, unless it is a face; a mark that ends sentences is nothing else.

    What is longer than one mark ends a sentence only if a stop is in it. No word has a tag of transcripts.
    """

    def __init__(self, tags: Sequence[str]):
        self._is_mark = np.array([tag in punctuation_tags() for tag in tags])
        self._is_face_tag = np.array([tag == FACE_TAG for tag in tags])
        self._is_stop_tag = np.array([tag == STOP_TAG for tag in tags])
        self._is_no_tag = np.array([tag in transcript_tags() for tag in tags])

    def possible(self, words: Sequence[str], scores: Float32Array) -> Float32Array:
        """The scores [words, tags], those of impossible tags lowered; a tag set without marks stays as it is."""
        if not self._is_mark.any():
            return scores
        plain = plain_words(words)
        spelt, ending = _each(plain, _is_spelt), _each(plain, SENTENCE_ENDS.__contains__)
        no_mark = spelt & self._is_mark & ~(_each(plain, looks_like_a_face) & self._is_face_tag)
        no_stop = _each(plain, _has_no_stop) & self._is_stop_tag
        return np.where(no_mark | no_stop | ending & ~self._is_mark | self._is_no_tag, IMPOSSIBLE, scores)


def _each(words: Sequence[str], says: Callable[[str], bool]) -> BoolArray:
    """What a test says of each word, as a column."""
    return np.array([says(word) for word in words], dtype=bool)[:, None]


def _is_spelt(word: str) -> bool:
    return any(map(str.isalnum, word))


def _has_no_stop(word: str) -> bool:
    return len(word) > 1 and STOPS.isdisjoint(word)


def looks_like_a_face(word: str) -> bool:
    """Whether a word may be meant as a picture: `:D`, `;-P`, `D:`."""
    return 1 < len(word) <= LONGEST_FACE and (word[0] in EYES or word[-1] in EYES)
