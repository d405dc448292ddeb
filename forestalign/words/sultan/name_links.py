"""Named entities, as the published program links them: full matches, acronyms, partial mentions.

First names are carried over from one sentence to the other: a capitalised word outside all names that is part of a
name there, or its acronym, becomes a name. Then pairs of names are linked: equal ones word by word, an acronym with
every word of its name, and where one name's words are a part of the other's, equal words, and every word of the
shorter with the words of the longer that have no partner. No context is asked for.

Of typed entities only those of people, organisations and places count, as in the program. Partial mentions must have
the same type, so names without one (ours come from tags) have none: joined without a type check, 18 of 100 such
links were right on msr-rte2.dev. One slip of the program is not kept: with the longer name in the source sentence it
tests the wrong word for being free, which makes its result depend on the order of the sentences, or fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forestalign.words.analysis import Analysis, Entity
from forestalign.words.similarity import PUNCTUATION
from forestalign.words.sultan.growing_links import Links

NAME_TYPES = frozenset({"", "PERSON", "ORGANIZATION", "LOCATION", "PER", "ORG", "LOC", "GPE"})
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """Tokens that a shorter name may take in as well: not linked before this stage, in no name of the other side."""

    sources: frozenset[int]
    targets: frozenset[int]


def link_names(source: Analysis, target: Analysis, links: Links) -> None:
    """Carry names over, source first, then link them."""
    source_words, target_words = source.sentence.words, target.sentence.words
    source_names = carry_over(source_words, _names(source), target_words, _names(target))
    target_names = carry_over(target_words, _names(target), source_words, source_names)
    outside = Outside(
        frozenset(set(range(len(source_words))) - links.sources - _shared(source_words, target_words, target_names)),
        frozenset(set(range(len(target_words))) - links.targets - _shared(target_words, source_words, source_names)),
    )
    matched: set[tuple[Entity, Entity]] = set()
    pairs = [(left, right) for left in source_names for right in target_names]
    for left, right in pairs:
        if _are_equal(left, source_words, right, target_words):
            matched.add((left, right))
            for step in range(left.end - left.begin):
                links.add(left.begin + step, right.begin + step, "name")
    for left, right in pairs:
        left_text, right_text = _text(left, source_words), _text(right, target_words)
        if is_acronym(left_text, right_text) or is_acronym(right_text, left_text):
            _link_all(left, right, links)
    full = {left for left, _ in matched}, {right for _, right in matched}
    for left, right in pairs:
        if left not in full[0] and right not in full[1] and _fit(left.type, right.type):
            _link_partial(left, right, source_words, target_words, outside, links)


def _names(analysis: Analysis) -> list[Entity]:
    return [entity for entity in analysis.entities if entity.type in NAME_TYPES]


def carry_over(
    words: Sequence[str], names: list[Entity], other_words: Sequence[str], other_names: list[Entity]
) -> list[Entity]:
    """The names of a sentence, and its capitalised words that the other sentence says are names."""
    result = list(names)
    for index, word in enumerate(words):
        if not word[:1].isupper() or any(name.begin <= index < name.end for name in result):
            continue
        for other in other_names:
            text = _text(other, other_words)
            if word in text or is_acronym((word,), text):
                _extend(result, index, other.type)
                break
    return result


def _extend(names: list[Entity], index: int, type: str) -> None:
    """Every name that ends just before the word grows by it; if there is none, the word becomes a name."""
    grown = [number for number, name in enumerate(names) if name.end == index]
    for number in grown:
        names[number] = Entity(names[number].begin, index + 1, names[number].type)
    if not grown:
        names.append(Entity(index, index + 1, type))


def _text(name: Entity, words: Sequence[str]) -> Words:
    return tuple(words[name.begin : name.end])


def _are_equal(left: Entity, source: Sequence[str], right: Entity, target: Sequence[str]) -> bool:
    """Whether two names are the same words but for hyphens, and stand once in each sentence."""
    left_text, right_text = _text(left, source), _text(right, target)
    if [word.replace("-", "") for word in left_text] != [word.replace("-", "") for word in right_text]:
        return False
    return _count(left_text, source) == 1 and _count(right_text, target) == 1


def _count(text: Words, words: Sequence[str]) -> int:
    return sum(tuple(words[begin : begin + len(text)]) == text for begin in range(len(words) - len(text) + 1))


def is_acronym(short: Words, name: Words) -> bool:
    """One upper-case word whose letters are the initials of the name; full stops do not count."""
    if len(short) != 1:
        return False
    letters = short[0].replace(".", "")
    if not letters.isupper() or letters in {"A", "I"} or len(letters) != len(name):
        return False
    return len(name) > 1 and all(word[:1] == letter for word, letter in zip(name, letters, strict=True))


def _link_all(left: Entity, right: Entity, links: Links) -> None:
    for i in range(left.begin, left.end):
        for j in range(right.begin, right.end):
            links.add(i, j, "acronym")


def _fit(left_type: str, right_type: str) -> bool:
    return bool(left_type) and left_type == right_type


def _shared(words: Sequence[str], other_words: Sequence[str], other_names: list[Entity]) -> set[int]:
    """Tokens whose word stands in a name of the other sentence."""
    in_names = {word for name in other_names for word in _text(name, other_words)}
    return {index for index, word in enumerate(words) if word in in_names}


def _link_partial(
    left: Entity, right: Entity, source: Sequence[str], target: Sequence[str], outside: Outside, links: Links
) -> None:
    """One name's words are a part of the other's, each name once in its sentence."""
    left_text, right_text = _text(left, source), _text(right, target)
    if not (set(left_text) <= set(right_text) or set(right_text) <= set(left_text)):
        return
    if _count(left_text, source) != 1 or _count(right_text, target) != 1:
        return
    everything = [(i, j) for i in range(left.begin, left.end) for j in range(right.begin, right.end)]
    equal = [(i, j) for i, j in everything if source[i] == target[j]]
    for i, j in equal:
        links.add(i, j, "name")
    is_left_longer = len(left_text) > len(right_text)
    for i, j in everything:
        is_open = i in outside.sources if is_left_longer else j in outside.targets
        if is_open and source[i] not in PUNCTUATION and target[j] not in PUNCTUATION:
            links.add(i, j, "partial name")
