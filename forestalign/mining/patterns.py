"""Patterns: phrase pairs in which smaller pairs below them are slots, as in *[NP,1] was bought by [NP,2]*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from forestalign.mining.occurrences import AlignedLine, Phrases

MOST_SLOTS = 2
_NOUNS = ("NN", "NNS", "NNP", "NNPS", "PRP")  # a noun phrase of one word has the tag of its word
SLOT_KINDS = {label: label for label in ("NP", "VP", "PP", "ADJP", "ADVP", "QP", "S", "SBAR")} | dict.fromkeys(
    _NOUNS, "NP"
)


class Pattern(NamedTuple):
    """The words of both sides with slots among them, of the pair at `position`."""

    position: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    slots: int


def patterns(line: AlignedLine, most_slots: int, max_words: int) -> Iterator[Pattern]:
    """All patterns of a line with up to `most_slots` slots and `max_words` words and slots on a side."""
    below: list[frozenset[int]] = []
    for position, pair in enumerate(line.phrases):
        below.append(frozenset(pair.supports).union(*(below[support] for support in pair.supports)))
        if pair.is_bar:
            continue
        inner = _slots_inside(line.phrases, below[position], pair)
        for count in range(1, most_slots + 1):
            for chosen in combinations(inner, count):
                found = _pattern(line, position, [line.phrases[number] for number in chosen])
                if found is not None and max(len(found.source), len(found.target)) <= max_words:
                    yield found


def _slots_inside(phrases: Sequence[Phrases], below: frozenset[int], pair: Phrases) -> list[int]:
    """Pairs that can be slots, each pair of spans once: *John* as NNP and as NP above it is one slot."""
    found = {
        (phrases[number].source, phrases[number].target): number
        for number in sorted(below, reverse=True)
        if _can_be_slot(phrases[number], pair)
    }
    return sorted(found.values())


def _can_be_slot(inner: Phrases, outer: Phrases) -> bool:
    """A constituent of one kind on both sides, and a part of its pair on both sides."""
    kind = SLOT_KINDS.get(inner.source_label)
    if inner.is_bar or kind is None or kind != SLOT_KINDS.get(inner.target_label):
        return False
    return inner.source != outer.source and inner.target != outer.target


def _pattern(line: AlignedLine, position: int, slots: Sequence[Phrases]) -> Pattern | None:
    """The pair with slots, counted in the order of the source; None if they overlap or leave no word on a side."""
    ordered = sorted(slots, key=lambda slot: slot.source)
    names = [f"[{SLOT_KINDS[slot.source_label]},{number}]" for number, slot in enumerate(ordered, start=1)]
    pair = line.phrases[position]
    source = _with_slots(line.source, pair.source, [slot.source for slot in ordered], names)
    target = _with_slots(line.target, pair.target, [slot.target for slot in ordered], names)
    return Pattern(position, source, target, len(slots)) if source and target else None


def _with_slots(
    words: Sequence[str], span: tuple[int, int], slots: Sequence[tuple[int, int]], names: Sequence[str]
) -> tuple[str, ...]:
    """The words of a span with names for its slots; nothing if these overlap or nothing else is left."""
    found: list[str] = []
    position, has_word = span[0], False
    for (begin, end), name in sorted(zip(slots, names, strict=True)):
        if begin < position:
            return ()
        has_word = has_word or _has_letter(words[position:begin])
        found += [*words[position:begin], name]
        position = end
    has_word = has_word or _has_letter(words[position : span[1]])
    return (*found, *words[position : span[1]]) if has_word else ()


def _has_letter(words: Sequence[str]) -> bool:
    return any(character.isalnum() for word in words for character in word)
