"""Sentences written as words with their tags."""

from __future__ import annotations

from forestalign.tokens import Sentence, analyse


def sentence(text: str) -> Sentence:
    """Words with their tags: `She/PRP left/VBD`."""
    pairs = [item.rsplit("/", 1) for item in text.split()]
    return analyse(Sentence.from_words([word for word, _ in pairs]), [tag for _, tag in pairs])
