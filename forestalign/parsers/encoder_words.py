"""Words as an encoder sees them, where it knows most about them, and what their form rules out whatever it says.

An encoder that ignores case is told about it by one small number per word, the shape. Lower case is 0, and its vector
is nothing: text without capitals, and a model that knows no shapes, are the same. The first word of a sentence has a
capital whatever it is, so its capital is a shape of its own.

Form rules out tags, too. Training text has a stop behind every final abbreviation, so that *p.m.* at the end of a
sentence is taken for one; and it has transcripts, whose mark-up has tags of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from forestalign.arrays import Float32Array, IntArray
from forestalign.grammar import punctuation_tags, transcript_tags
from forestalign.tokens import KEPT_WORDS, standard_form
from forestalign.trees import unescaped

# Penn escapes and typographic marks are scored as the characters that running text, and the training, have for them.
_QUOTES = {"``": '"', "''": '"'}
_MARKS = str.maketrans("‘’“”", "''\"\"")

LOWER, CAPITALISED, FIRST, UPPER, MIXED, DIGITS, CODE, STOP, COMMA, QUOTE, BRACKET, DASH, SYMBOL = range(13)
SHAPE_NAMES = (
    "lower", "capitalised", "first", "upper", "mixed", "digits", "code", "stop", "comma", "quote", "bracket", "dash",
    "symbol",
)  # fmt: skip
_LETTERED = frozenset({LOWER, CAPITALISED, UPPER, MIXED, CODE})
_SHAPE_OF_MARK = {
    **dict.fromkeys((".", "?", "!", "...", "…"), STOP),
    **dict.fromkeys(",;:", COMMA),
    **dict.fromkeys("\"'`«»", QUOTE),
    **dict.fromkeys("()[]{}<>", BRACKET),
    **dict.fromkeys(("-", "--", "---", "–", "—"), DASH),
}
SEEN = 32  # characters of a word whose shape is looked at

IMPOSSIBLE = np.float32(-1e4)  # the score of a tag that a word cannot have
SENTENCE_ENDS = frozenset({".", "?", "!"})
STOPS = frozenset(".?!…")
STOP_TAG = "."
EYES = frozenset(":;=")  # at one end of a face
LONGEST_FACE = 4
FACE_TAG = "NFP"


class EncoderWord(NamedTuple):
    """A word in the form that an encoder was trained to see, its shape, and what it says about tags."""

    text: str
    shape: int
    is_spelt: bool  # has letters or digits
    is_face: bool  # may be meant as a picture: `:D`, `;-P`, `D:`
    ends_sentence: bool
    has_no_stop: bool  # several characters, none of them a stop


@lru_cache(maxsize=KEPT_WORDS)
def encoder_word(word: str) -> EncoderWord:
    """One word in its standard form, without Penn escapes and typographic marks."""
    text = unescaped(word) if "B-" in word else word
    text = standard_form(_QUOTES.get(text, text).translate(_MARKS))
    return EncoderWord(
        text,
        _shape(text[:SEEN]),
        any(map(str.isalnum, text)),
        1 < len(text) <= LONGEST_FACE and (text[0] in EYES or text[-1] in EYES),
        text in SENTENCE_ENDS,
        len(text) > 1 and STOPS.isdisjoint(text),
    )


def _shape(word: str) -> int:
    lowered, raised = word.lower(), word.upper()
    is_spelt, has_digit = lowered != raised, any(map(str.isdigit, word))
    if not is_spelt and not word.isalpha():
        return DIGITS if has_digit else _SHAPE_OF_MARK.get(word, SYMBOL)
    if has_digit:
        return CODE
    if word == lowered:
        return LOWER
    if word == raised and len(word) > 1:
        return UPPER
    return CAPITALISED if word == word.capitalize() and word[0].lower() != word[0] else MIXED


def plain_words(words: Sequence[str]) -> list[str]:
    """The words as the encoder was trained to see them."""
    return [encoder_word(word).text for word in words]


def ends_in_abbreviation(words: Sequence[str]) -> bool:
    """Whether the last word carries the full stop of the sentence (`in the U.S.`, `at 5 p.m.`)."""
    return bool(words) and len(words[-1]) > 1 and words[-1][-1] == "." and words[-1][-2].isalnum()


def middle_layers(layer_count: int) -> tuple[int, ...]:
    """The layers whose mean is `Sentence.context_vectors`, counted from 1: a third and a half of the way up.

    The last layer is shaped by the parser's task. Word links by mutual argmax of centred cosines above 0.4, 140 pairs
    each of msr-rte2.dev / edinburgh.train / mtref.dev, a parser of six layers, F1: layer 2 84.5 / 85.1 / 80.0, layer 3
    82.6 / 85.6 / 81.0, their mean 83.3 / 85.8 / 81.2, layer 6 72.7 / 83.4 / 78.5.
    """
    return tuple(sorted({max(1, layer_count // 3), max(1, layer_count // 2)}))


# ---- shapes ----


def word_shapes(words: Sequence[str]) -> IntArray:
    """The shape of each word of a sentence.

    >>> [SHAPE_NAMES[shape] for shape in word_shapes(["Did", "the", "WHO", "call", "Ann", "?"])]
    ['first', 'lower', 'upper', 'lower', 'capitalised', 'stop']
    """
    shapes = [encoder_word(word).shape for word in words]
    opening = next((place for place, shape in enumerate(shapes) if shape in _LETTERED), None)
    if opening is not None and shapes[opening] == CAPITALISED:
        shapes[opening] = FIRST
    return np.array(shapes, dtype=np.int64)


def piece_shapes(shapes: IntArray, ends: Sequence[int] | IntArray) -> IntArray:
    """The shapes of words for their pieces; the start and the stop mark, and what lies between words, have none.

    ends: the last piece of each word, with the marks counted as words, as the encoder's tables have it
    """
    marked = np.concatenate([[LOWER], shapes, [LOWER]])
    return np.repeat(marked, np.diff(np.asarray(ends), prepend=-1))


# ---- tags ----


class TagShapes:
    """A word with letters or digits is not a mark, unless it is a face; a mark that ends sentences is nothing else.

    What is longer than one mark ends a sentence only if a stop is in it. No word has a tag of transcripts.
    """

    def __init__(self, tags: Sequence[str]):
        is_mark = np.array([tag in punctuation_tags() for tag in tags])
        is_face_tag, is_stop_tag = (np.array([tag == special for tag in tags]) for special in (FACE_TAG, STOP_TAG))
        never = np.array([tag in transcript_tags() for tag in tags])
        self._has_marks = bool(is_mark.any())
        self._impossible = {
            says: never
            | (says[0] and is_mark & ~(says[1] and is_face_tag))
            | (says[2] and ~is_mark)
            | (says[3] and is_stop_tag)
            for says in product((False, True), repeat=4)
        }

    def possible(self, words: Sequence[str], scores: Float32Array) -> Float32Array:
        """The scores [words, tags], those of impossible tags lowered; a tag set without marks stays as it is."""
        if not self._has_marks:
            return scores
        return np.where([self._impossible[encoder_word(word)[2:]] for word in words], IMPOSSIBLE, scores)
