"""Words as an encoder should see them."""

from __future__ import annotations

from collections.abc import Sequence

# Penn escapes and typographic marks are scored as the characters that running text, and the training, have for them.
_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}
_MARKS = str.maketrans("‘’“”", "''\"\"")


def plain_words(words: Sequence[str]) -> list[str]:
    return [_ESCAPES.get(word, word).translate(_MARKS) for word in words]
