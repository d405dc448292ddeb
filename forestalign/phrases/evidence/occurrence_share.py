"""Which of several occurrences evidence is about: a phrase that stands word for word on the other side is not free.

Sources of evidence see two phrases and not the sentences around them. *U.S.* is *United States*, but not where both
sentences have *U.S.* as often; and one *US* beside two *U.S.* is either of them, which the word links may know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from forestalign.tokens import Sentence

OPENING, CLOSING = frozenset({"(", "[", "-lrb-", "-LRB-"}), frozenset({")", "]", "-rrb-", "-RRB-"})
Words = tuple[int, ...]
Text = tuple[str, ...]


class OccurrenceShare:
    """How often phrases of two sentences stand on either side; counts are kept, as most are asked for twice."""

    def __init__(self, source: Sentence, target: Sentence):
        self._sides = _folded(source), _folded(target)
        self._counts: tuple[dict[int, Counter[Text]], dict[int, Counter[Text]]] = ({}, {})

    def share(self, source: Words, target: Words) -> float:
        """The chance that of all occurrences these two belong together: 0 where one has a partner of its own words."""
        one, other = self._text(0, source), self._text(1, target)
        counts = self._free(0, one, other), self._free(1, other, one)
        if min(counts) <= 0:
            return 0.0
        return 1.0 / max(self._count(0, one), self._count(1, other), 1)

    def _text(self, side: int, words: Words) -> Text:
        return tuple(self._sides[side][word] for word in words)

    def _free(self, side: int, text: Text, partner: Text) -> int:
        """Occurrences here, less those on the other side that are not inside the partner (*to*, *in order to*)."""
        inside = _occurrences(partner, len(text))[text] * self._count(1 - side, partner)
        return max(self._count(side, text), 1) - (self._count(1 - side, text) - inside)

    def _count(self, side: int, text: Text) -> int:
        """Occurrences of adjacent words; a phrase with a gap has none."""
        known = self._counts[side]
        if len(text) not in known:
            known[len(text)] = _occurrences(self._sides[side], len(text))
        return known[len(text)][text]


def _occurrences(words: Sequence[str], length: int) -> Counter[Text]:
    return Counter(tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def _folded(sentence: Sentence) -> Text:
    """Lower case, but for words in capitals: US is not us. A word in brackets only explains what stands before it."""
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in sentence.words]
    for at in range(1, len(words) - 1):
        if words[at - 1] in OPENING and words[at + 1] in CLOSING:
            words[at] = f"({words[at]})"
    return tuple(words)
