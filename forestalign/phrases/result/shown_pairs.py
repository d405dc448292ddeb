"""Which pairs of phrases a reader is shown: the one rule of text, tables, the page and the library.

Binarised trees have phrases that no grammar knows, such as *fat cat* in *the fat cat* (bar phrases). A pair of which
one side is such a phrase is shown where it says something that its parts do not: *knocked out power* with *lost
electricity*, of which only *power* has a partner of its own. It is not shown where its parts cover the same words on
both sides, nor below a pair that is shown and has the same words; marks of punctuation are no words here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol


class SpanPair(Protocol):
    """What is asked of a pair: its spans, whether one is a bar phrase, and the pairs that support it."""

    @property
    def source(self) -> tuple[int, int]:
        """The source's words, half-open."""

    @property
    def target(self) -> tuple[int, int]:
        """The target's words, half-open."""

    @property
    def is_bar(self) -> bool:
        """Whether either side is a bar phrase."""

    @property
    def supports(self) -> tuple[int, ...]:
        """The places of the pairs that support it."""


def shown_pairs(
    pairs: Sequence[SpanPair], source: Sequence[str], target: Sequence[str], bars: bool | None = None
) -> tuple[bool, ...]:
    """Whether each pair is shown; `bars` asks for all bar phrases or for none. `source` and `target` are the words.

    Pairs stand after those that support them, so the ones above come first when we go backwards.
    """
    if bars is not None or not any(pair.is_bar for pair in pairs):
        return tuple(bars is not False or not pair.is_bar for pair in pairs)
    marks = _marks(source), _marks(target)
    shown = [True] * len(pairs)
    above: list[int | None] = [None] * len(pairs)
    for k in range(len(pairs) - 1, -1, -1):
        pair, over = pairs[k], above[k]
        shown[k] = not pair.is_bar or not (
            _covered(pair, [pairs[support] for support in pair.supports], marks)
            or (over is not None and _covered(pairs[over], [pair], marks))
        )
        for support in pair.supports:
            above[support] = k if shown[k] else over
    return tuple(shown)


def each_once(pairs: Sequence[SpanPair], shown: Sequence[bool]) -> tuple[bool, ...]:
    """Of the pairs that are shown, of those with the same words the uppermost: *him* is a phrase and a word."""
    last = {(pair.source, pair.target): k for k, pair in enumerate(pairs) if shown[k]}
    return tuple(last.get((pair.source, pair.target)) == k for k, pair in enumerate(pairs))


def _marks(words: Sequence[str]) -> frozenset[int]:
    return frozenset(k for k, word in enumerate(words) if not any(map(str.isalnum, word)))


def _covered(pair: SpanPair, parts: Iterable[SpanPair], marks: tuple[frozenset[int], frozenset[int]]) -> bool:
    """Whether some parts have all words of a pair on both sides."""
    sources, targets = set(marks[0]), set(marks[1])
    for part in parts:
        sources.update(range(*part.source))
        targets.update(range(*part.target))
    return sources.issuperset(range(*pair.source)) and targets.issuperset(range(*pair.target))
