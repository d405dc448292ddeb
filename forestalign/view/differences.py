"""What a pair of sentences does not share, in words: what was replaced by what, dropped and added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.result.discontinuous_pairs import scattered_words
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordLink


class Replacement(NamedTuple):
    """Words that stand for each other and differ, and the relation that is known of them."""

    source: str
    target: str
    relation: str


@dataclass(frozen=True, slots=True)
class Differences:
    """All of them, in the order of the sentence."""

    replaced: tuple[Replacement, ...]
    dropped: tuple[str, ...]
    added: tuple[str, ...]


def differences(alignment: Alignment) -> Differences:
    """The smallest pairs whose words differ, and the phrases without a partner; marks of punctuation are no words."""
    found, linked, sides = alignment.phrases, linked_nulls(alignment), (alignment.source, alignment.target)
    replaced = [*_pairs(alignment), *((one.source, one.target, one.relation) for one in found.scattered)]
    replaced += [((link.source,), (link.target,), "") for link in linked]
    return Differences(
        tuple(
            Replacement(scattered_words(sides[0], source), scattered_words(sides[1], target), relation)
            for source, target, relation in sorted(replaced)
            if not _are_same(sides, source, target)
        ),
        _texts(sides[0], found.source_nulls, {i for source, _, _ in replaced for i in source}),
        _texts(sides[1], found.target_nulls, {j for _, target, _ in replaced for j in target}),
    )


def linked_nulls(alignment: Alignment) -> tuple[WordLink, ...]:
    """Links between words that no pair carries, the surest first where a word has several: *borrowed* and *lent*."""
    nulls = alignment.phrases.source_nulls, alignment.phrases.target_nulls
    free = [{word for span in spans for word in range(*span)} for spans in nulls]
    kept = []
    for link in sorted(alignment.left_out, key=lambda link: (-link.score, link.source, link.target)):
        if link.source in free[0] and link.target in free[1]:
            free[0].remove(link.source)
            free[1].remove(link.target)
            kept.append(link)
    return tuple(kept)


def is_mark(word: str) -> bool:
    """Whether a token has neither letter nor digit."""
    return not any(map(str.isalnum, word))


def _pairs(alignment: Alignment) -> Iterable[tuple[tuple[int, ...], tuple[int, ...], str]]:
    """What each pair has beyond its parts, where that is something on both sides; all of it without parts."""
    found = alignment.phrases
    taken = [
        {word for span in spans for word in range(*span)}.union(*scattered)
        for spans, scattered in (
            (found.source_nulls, [one.source for one in found.scattered]),
            (found.target_nulls, [one.target for one in found.scattered]),
        )
    ]
    for pair in found.pairs:
        parts = [found.pairs[support] for support in pair.supports]
        source = _left(alignment.source, pair.source, [part.source for part in parts], taken[0])
        target = _left(alignment.target, pair.target, [part.target for part in parts], taken[1])
        if source and target:
            yield source, target, "" if parts else pair.relation


def _left(sentence: Sentence, span: Span, parts: Iterable[Span], taken: set[int]) -> tuple[int, ...]:
    covered = taken.union(*(range(*part) for part in parts))
    return tuple(word for word in range(*span) if word not in covered and not is_mark(sentence.words[word]))


def _are_same(sides: tuple[Sentence, Sentence], source: Iterable[int], target: Iterable[int]) -> bool:
    """Whether words are the same as they are written or by their lemmas, which depend on tags."""
    left, right = (
        [sentence.tokens[word] for word in words if not is_mark(sentence.words[word])]
        for sentence, words in zip(sides, (source, target), strict=True)
    )
    return len(left) == len(right) and all(
        one.key == other.key or one.text.lower() == other.text.lower() for one, other in zip(left, right, strict=True)
    )


def _texts(sentence: Sentence, spans: Iterable[Span], replaced: set[int]) -> tuple[str, ...]:
    left = ([word for word in range(*span) if word not in replaced] for span in spans)
    return tuple(scattered_words(sentence, words) for each in left if (words := _without_marks(sentence, each)))


def _without_marks(sentence: Sentence, words: Sequence[int]) -> Sequence[int]:
    """Without marks at the beginning and the end."""
    told = [place for place, word in enumerate(words) if not is_mark(sentence.words[word])]
    return words[told[0] : told[-1] + 1] if told else ()
