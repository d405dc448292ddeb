"""An alignment as two sentences with brackets around what corresponds, numbered alike on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forestalign.phrases.result.alignment import Alignment
from forestalign.terminal import BOLD, CYAN, visible
from forestalign.tokens import Sentence
from forestalign.view.differences import is_mark, linked_nulls
from forestalign.view.text import Paint

Words = tuple[int, ...]


class _Unit(NamedTuple):
    source: Words
    target: Words


def render_short(alignment: Alignment, colour: bool = False) -> str:
    """The id, and both sentences in brackets: phrases of the same words, or the smallest pairs that differ."""
    paint = Paint(colour)
    units = sorted(_units(alignment))
    return "\n".join(
        [
            paint(BOLD, visible(alignment.id or "pair")),
            "  " + _bracketed(alignment.source, [unit.source for unit in units], paint),
            "  " + _bracketed(alignment.target, [unit.target for unit in units], paint),
        ]
    )


def _units(alignment: Alignment) -> Iterator[_Unit]:
    """From the top of the tree down to what is the same, or what its parts do not tell any better."""
    found = alignment.phrases
    taken: tuple[set[int], set[int]] = (set(), set())
    for one in found.scattered:
        taken[0].update(one.source)
        taken[1].update(one.target)
        yield _Unit(one.source, one.target)
    yield from (_Unit((link.source,), (link.target,)) for link in linked_nulls(alignment))
    supported = {support for pair in found.pairs for support in pair.supports}
    waiting = [k for k in range(len(found.pairs)) if k not in supported]
    while waiting:
        pair = found.pairs[waiting.pop()]
        unit = _Unit(tuple(range(*pair.source)), tuple(range(*pair.target)))
        is_same = pair.source.text.lower() == pair.target.text.lower()
        is_free = taken[0].isdisjoint(unit.source) and taken[1].isdisjoint(unit.target)
        if pair.supports and not is_same:
            waiting += pair.supports
        elif is_free and not all(is_mark(alignment.source.words[word]) for word in unit.source):
            yield unit


def _bracketed(sentence: Sentence, units: Sequence[Words], paint: Paint) -> str:
    """The text as it stands; words of one unit that do not follow each other have brackets of their own."""
    owner = {word: number for number, words in enumerate(units, start=1) for word in words}
    text, end = "", 0
    for k, token in enumerate(sentence.tokens):
        number, before, after = (owner.get(each) for each in (k, k - 1, k + 1))
        text += visible(sentence.text[end : token.start])
        if number is not None and number != before:
            text += paint(CYAN, f"[{number}") + " "
        text += visible(token.text)
        if number is not None and number != after:
            text += paint(CYAN, "]")
        end = token.end
    return text
