"""Words as an encoder should see them, and where it knows most about them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forestalign.tokens import standard_form

# Penn escapes and typographic marks are scored as the characters that running text, and the training, have for them.
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPE = re.compile("|".join(_BRACKETS))  # anywhere: a treebank has `:-RRB-` where text has `:)`
_QUOTES = {"``": '"', "''": '"'}
_MARKS = str.maketrans("‘’“”", "''\"\"")


def plain_words(words: Sequence[str]) -> list[str]:
    """The words as the encoder was trained to see them."""
    return [plain_word(word) for word in words]


def plain_word(word: str) -> str:
    """One word in its standard form, without Penn escapes and typographic marks."""
    text = _ESCAPE.sub(lambda found: _BRACKETS[found[0]], word) if "B-" in word else word
    return standard_form(_QUOTES.get(text, text).translate(_MARKS))


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
