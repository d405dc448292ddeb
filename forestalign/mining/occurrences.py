"""The phrase pairs of one line of results, for counting, and patterns: pairs in which smaller pairs below them are
slots, as in *[NP,1] was bought by [NP,2]*.

A table is made of millions of pairs, so a line is only looked at as far as counting needs it: trees are not read. Where
something is amiss, the careful reader of `formats.codec` says what.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from forestalign.errors import AnnotationError
from forestalign.formats.codec import VERSION, from_json
from forestalign.formats.fields import Fields
from forestalign.lexicon.findings import PHRASE_RELATIONS

UNITS = 100_000  # a posterior of 1: results have five digits, and whole numbers add up the same in any order


class Phrases(NamedTuple):
    """One phrase pair: spans, labels, and what is known about it; `supports` are positions in the same list."""

    source: tuple[int, int]
    target: tuple[int, int]
    source_label: str
    target_label: str
    is_bar: bool
    supports: tuple[int, ...]
    posterior: int | None  # in UNITS
    relation: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AlignedLine:
    """What counting needs of one line of results."""

    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    phrases: tuple[Phrases, ...]
    signature: str


def read_line(text: str, path: str | Path, number: int) -> AlignedLine:
    """One line of results; AnnotationError names what is wrong with it."""
    try:
        if "\\u" in text:  # an escape may be half of a surrogate pair
            Fields.parse(text)
        return _line(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        result = from_json(text, path, number)  # raises, with place and reason
        odd = next(
            (each.relation for each in result.phrases.pairs if each.relation not in ("", *PHRASE_RELATIONS)), None
        )
        if odd is not None:
            message = f"relation is {odd!r}; expected one of {', '.join(PHRASE_RELATIONS)}, or nothing"
            raise AnnotationError(path, number, message) from None
        raise AnnotationError(path, number, f"cannot be counted: {error}") from None


def _line(fields: dict[str, Any]) -> AlignedLine:
    if fields["version"] != VERSION:
        raise ValueError(fields["version"])
    source, target = _tokens(fields["source"]), _tokens(fields["target"])
    counts = len(source), len(target)
    phrases = tuple([_phrases(entry, index, counts) for index, entry in enumerate(fields["phrases"])])
    id, signature = fields["id"], fields["signature"]
    if not isinstance(id, str) or not isinstance(signature, str):
        raise TypeError(id, signature)
    return AlignedLine(id, source, target, phrases, signature)


def _tokens(side: dict[str, Any]) -> tuple[str, ...]:
    tokens = side["tokens"]
    "".join(tokens)  # TypeError, unless all are strings
    return tuple(tokens)


def _phrases(entry: dict[str, Any], index: int, counts: tuple[int, int]) -> Phrases:
    (begin, end), (target_begin, target_end) = entry["source"], entry["target"]
    if not (0 <= begin < end <= counts[0] and 0 <= target_begin < target_end <= counts[1]):
        raise ValueError(entry["source"], entry["target"])
    supports = entry["supports"]
    if supports and (min(supports) < 0 or max(supports) >= index):
        raise ValueError(supports)
    posterior, relation = entry.get("posterior"), entry.get("relation", "")
    if relation and relation not in PHRASE_RELATIONS:
        raise ValueError(relation)
    if posterior is not None and not 0.0 <= posterior <= 1.0:
        raise ValueError(posterior)
    return Phrases(
        (begin, end),
        (target_begin, target_end),
        " ".join(entry["source_label"].split()),
        " ".join(entry["target_label"].split()),
        entry["bar"],
        tuple(supports),
        None if posterior is None else round(posterior * UNITS),
        relation,
        tuple(entry.get("evidence", ("links",))),
    )


# ---- patterns ----


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
