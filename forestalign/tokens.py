"""Tokens and sentences: surface, lemma, Penn tag and character offsets into the raw text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Span(NamedTuple):
    """Half-open, in tokens: begin <= i < end."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Token:
    """One word as it stands in the text; lemma and tag are empty until the sentence is analysed."""

    surface: str
    begin: int
    end: int
    lemma: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and its tokens. `vectors` holds one contextual vector a token when the parser gave them."""

    text: str
    tokens: tuple[Token, ...]
    vectors: npt.NDArray[np.float32] | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(token.surface for token in self.tokens)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(token.tag for token in self.tokens)

    @property
    def lemmas(self) -> tuple[str, ...]:
        return tuple(token.lemma for token in self.tokens)

    @classmethod
    def from_words(cls, words: Sequence[str]) -> Sentence:
        """The user's own tokens, joined by single spaces."""
        tokens, begin = [], 0
        for word in words:
            tokens.append(Token(word, begin, begin + len(word)))
            begin += len(word) + 1
        return cls(" ".join(words), tuple(tokens))

    def with_analysis(self, tags: Sequence[str], lemmas: Sequence[str]) -> Sentence:
        tokens = tuple(
            replace(token, tag=tag, lemma=lemma) for token, tag, lemma in zip(self.tokens, tags, lemmas, strict=True)
        )
        return replace(self, tokens=tokens)
