"""One sentence as the feature functions see it: forms, lemmas, tag numbers, word kinds, the encoder's vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestalign.arrays import BoolArray, Float32Array, IntArray
from forestalign.grammar import stop_words
from forestalign.tokens import Sentence

# Penn tags, then those that newer treebanks add; number 0 stands for "no tag" and for tags not listed here.
# fmt: off
TAGS = (
    "", "CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS", "NNP", "NNPS", "PDT", "POS",
    "PRP", "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP",
    "WP$", "WRB", "#", "$", "''", "``", "-LRB-", "-RRB-", ",", ".", ":", "HYPH", "AFX", "NFP", "ADD", "GW",
)
_FUNCTION_TAGS = frozenset({
    "CC", "CD", "MD", "DT", "PDT", "WDT", "IN", "TO", "RP", "PRP", "PRP$", "WP", "WP$", "WRB", "EX", "POS",
})
# fmt: on
_TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS)}
_NAME_TAGS = frozenset({"NNP", "NNPS"})

CONTENT, FUNCTION, PUNCTUATION = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Words:
    """Parallel tuples and arrays, one entry per word."""

    forms: tuple[str, ...]
    lower: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: IntArray
    kinds: IntArray  # CONTENT, FUNCTION or PUNCTUATION
    names: BoolArray
    context_vectors: Float32Array | None = None  # as in `Sentence`

    def __len__(self) -> int:
        return len(self.forms)


def words_of(sentence: Sentence) -> Words:
    """Without tags, kinds come from the list of stop words, and names from capitals inside the sentence."""
    lower = tuple(word.lower() for word in sentence.words)
    lemmas = tuple(token.key for token in sentence.tokens)
    return Words(
        sentence.words,
        lower,
        lemmas,
        np.array([_TAG_NUMBERS.get(tag, 0) for tag in sentence.tags], np.int64),
        np.array([_kind(form, tag) for form, tag in zip(lower, sentence.tags, strict=True)], np.int64),
        np.array([_is_name(token.form, token.tag, i) for i, token in enumerate(sentence.tokens)], np.bool_),
        sentence.context_vectors,
    )


def _kind(form: str, tag: str) -> int:
    if not any(character.isalnum() for character in form):
        return PUNCTUATION
    if tag in _FUNCTION_TAGS or form in stop_words():
        return FUNCTION
    return CONTENT


def _is_name(form: str, tag: str, position: int) -> bool:
    return tag in _NAME_TAGS if tag else position > 0 and form[:1].isupper()
