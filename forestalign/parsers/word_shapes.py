"""What an encoder that ignores case is told about the case of words: one small number per word.

Lower case is 0, and its vector is nothing: text without capitals, and a model that knows no shapes, are the same.
The first word of a sentence has a capital whatever it is, so its capital is a shape of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from forestalign.arrays import BoolArray, IntArray
from forestalign.parsers.encoder_words import plain_words

LOWER, CAPITALISED, FIRST, UPPER, MIXED, DIGITS, CODE, STOP, COMMA, QUOTE, BRACKET, DASH, SYMBOL = range(13)
SHAPE_NAMES = (
    "lower", "capitalised", "first", "upper", "mixed", "digits", "code", "stop", "comma", "quote", "bracket", "dash",
    "symbol",
)  # fmt: skip
SEEN = 32  # characters of a word that are looked at
_MARKS = {
    STOP: (".", "?", "!", "...", "…"),
    COMMA: (",", ";", ":"),
    QUOTE: ('"', "'", "`", "«", "»"),
    BRACKET: ("(", ")", "[", "]", "{", "}", "<", ">"),
    DASH: ("-", "--", "---", "–", "—"),
}


def word_shapes(words: Sequence[str]) -> IntArray:
    """The shape of each word of a sentence.

    >>> [SHAPE_NAMES[shape] for shape in word_shapes(["Did", "the", "WHO", "call", "Ann", "?"])]
    ['first', 'lower', 'upper', 'lower', 'capitalised', 'stop']
    """
    if not words:
        return np.zeros(0, dtype=np.int64)
    seen = np.array([word[:SEEN] for word in plain_words(words)])
    lowered, raised = np.char.lower(seen), np.char.upper(seen)
    is_spelt = lowered != raised
    size = np.char.str_len(seen)
    shapes = np.full(len(seen), SYMBOL, dtype=np.int64)
    for shape, marks in _MARKS.items():
        shapes[np.isin(seen, marks)] = shape
    has_digit = _has_digit(seen)
    shapes[has_digit] = DIGITS
    shapes[is_spelt | np.char.isalpha(seen)] = MIXED
    first = seen.astype("U1")
    is_capital = (np.char.capitalize(seen) == seen) & (np.char.lower(first) != first)
    shapes[is_spelt & (seen == raised) & (size > 1)] = UPPER
    shapes[is_spelt & is_capital & ((seen != raised) | (size == 1))] = CAPITALISED
    shapes[is_spelt & has_digit] = CODE
    shapes[(seen == lowered) & (is_spelt | np.char.isalpha(seen)) & ~has_digit] = LOWER
    opening = np.flatnonzero(is_spelt | np.char.isalpha(seen))[:1]
    shapes[opening[shapes[opening] == CAPITALISED]] = FIRST
    return shapes


def _has_digit(words: npt.NDArray[np.str_]) -> BoolArray:
    letters = words.view("U1").reshape(len(words), -1)
    return np.asarray(np.char.isdigit(letters).any(axis=1))


def piece_shapes(shapes: IntArray, ends: Sequence[int]) -> IntArray:
    """The shapes of words for their pieces; the start and the stop mark, and what lies between words, have none.

    ends: the last piece of each word, with the marks counted as words, as the encoder's tables have it
    """
    marked = np.concatenate([[LOWER], shapes, [LOWER]])
    return np.repeat(marked, np.diff(np.asarray(ends), prepend=-1))
