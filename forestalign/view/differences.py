"""What a pair of sentences does not share, in words: what was replaced by what, removed and added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import eq
from typing import NamedTuple
from unicodedata import category

from forestalign.lexicon.findings import EQUAL
from forestalign.lexicon.word_classes import WordClass, word_class
from forestalign.phrases.result.alignment import Alignment, DiscontinuousPair, PhrasePair
from forestalign.phrases.result.discontinuous_pairs import runs_of, scattered_words
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordLink

_SILENT = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION})
Words = tuple[int, ...]


class Replacement(NamedTuple):
    """Words that stand for each other and differ, and the relation that is known of them."""

    source: str
    target: str
    relation: str


@dataclass(frozen=True, slots=True)
class Differences:
    """All of them, in the order of the sentence."""

    replaced: tuple[Replacement, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]


def find_differences(alignment: Alignment, least: float = 0.0) -> Differences:
    """The smallest pairs whose words differ, and the words without a partner, those that follow each other together.

    Marks of punctuation are no words, and function words that stand alone are left out. The words of pairs below the
    confidence `least` belong to the next pair above them, and have no partner where that is the pair of the sentences.
    """
    linked, sides = linked_nulls(alignment), (alignment.source, alignment.target)
    equal = {
        (tuple(range(*pair.source)), tuple(range(*pair.target)))
        for pair in alignment.phrases.pairs
        if pair.relation == EQUAL and "quantity" in pair.evidence
    }
    scattered = [one for one in alignment.phrases.joined if is_confident(one, least)]
    replaced, alone = _pairs(alignment, least)
    replaced += [(one.source, one.target, one.relation) for one in scattered]
    replaced += [((link.source,), (link.target,), "") for link in linked]
    hidden = [one for one in alignment.phrases.joined if one not in scattered]
    return Differences(
        tuple(
            Replacement(scattered_words(sides[0], source), scattered_words(sides[1], target), relation)
            for source, target, relation in sorted(replaced)
            if not _are_same(sides, source, target) and (source, target) not in equal
        ),
        _runs(
            sides[0],
            alone[0].union(_words_of(alignment.phrases.source_nulls), *(one.source for one in hidden))
            - {i for source, _, _ in replaced for i in source},
        ),
        _runs(
            sides[1],
            alone[1].union(_words_of(alignment.phrases.target_nulls), *(one.target for one in hidden))
            - {j for _, target, _ in replaced for j in target},
        ),
    )


def is_confident(pair: PhrasePair | DiscontinuousPair, least: float) -> bool:
    """Whether a pair is as likely as asked; one without a number is."""
    return pair.confidence is None or pair.confidence >= least


def linked_nulls(alignment: Alignment) -> tuple[WordLink, ...]:
    """Links between words that no pair carries, the surest first where a word has several: *borrowed* and *lent*."""
    free = [_words_of(spans) for spans in (alignment.phrases.source_nulls, alignment.phrases.target_nulls)]
    kept = []
    for link in sorted(alignment.left_out, key=lambda link: (-link.score, link.source, link.target)):
        if link.source in free[0] and link.target in free[1]:
            free[0].remove(link.source)
            free[1].remove(link.target)
            kept.append(link)
    return tuple(kept)


def is_mark(word: str) -> bool:
    """Whether a token has neither letter nor digit and is no emoji."""
    return not any(char.isalnum() or (char > "\u2600" and category(char) == "So") for char in word)


def _words_of(spans: Iterable[Span]) -> set[int]:
    return {word for span in spans for word in range(*span)}


def _pairs(alignment: Alignment, least: float) -> tuple[list[tuple[Words, Words, str]], tuple[set[int], set[int]]]:
    """What each pair has beyond its parts, where both sides have something, and the words that are left over."""
    pairs, alone = alignment.phrases.pairs, (set[int](), set[int]())
    above = {support: k for k, pair in enumerate(pairs) for support in pair.supports}
    unsure: list[tuple[set[int], set[int]]] = [(set(), set()) for _ in pairs]  # words of unsure parts
    replaced = []
    for k, (pair, own) in enumerate(zip(pairs, _own_words(alignment), strict=True)):  # parts stand before their wholes
        words = own[0] | unsure[k][0], own[1] | unsure[k][1]
        is_sure = is_confident(pair, least)
        if is_sure and all(words):
            whole = _free_words(alignment, pair)
            is_whole = any(map(eq, words, whole)) and not _are_same((alignment.source, alignment.target), *words)
            source, target = (tuple(sorted(side)) for side in (whole if is_whole else words))
            replaced.append((source, target, "" if pair.supports else pair.relation))
            continue
        holder = above.get(k)
        has_holder = not is_sure and holder is not None and not _is_whole(alignment, pairs[holder])
        for side, left in enumerate(unsure[k] if is_sure else words):
            (unsure[holder] if has_holder and holder is not None else alone)[side].update(left)
    return replaced, alone


def _is_whole(alignment: Alignment, pair: PhrasePair) -> bool:
    """Whether a pair is that of the sentences, marks at their ends apart."""
    words = alignment.source.words
    return all(is_mark(word) for word in (*words[: pair.source.begin], *words[pair.source.end :]))


def _free_words(alignment: Alignment, pair: PhrasePair) -> tuple[set[int], set[int]]:
    """The words of a pair, without marks and scattered words: all of them are replaced if those of one side are."""
    scattered = alignment.phrases.joined
    source = _words_of([pair.source]).difference(*(one.source for one in scattered))
    target = _words_of([pair.target]).difference(*(one.target for one in scattered))
    return _without_marks(alignment.source, source), _without_marks(alignment.target, target)


def _own_words(alignment: Alignment) -> list[tuple[set[int], set[int]]]:
    """The words of each pair that none of its parts has, without marks, null phrases and scattered words."""
    found = alignment.phrases
    nulls = _words_of(found.source_nulls), _words_of(found.target_nulls)
    own = []
    for pair in found.pairs:
        parts, (source, target) = [found.pairs[support] for support in pair.supports], _free_words(alignment, pair)
        source = source - _words_of(part.source for part in parts) - nulls[0]
        own.append((source, target - _words_of(part.target for part in parts) - nulls[1]))
    return own


def _without_marks(sentence: Sentence, words: Iterable[int]) -> set[int]:
    return {word for word in words if not is_mark(sentence.words[word])}


def _are_same(sides: tuple[Sentence, Sentence], source: Iterable[int], target: Iterable[int]) -> bool:
    """Whether words are the same as they are written or by their lemmas, which depend on tags."""
    left, right = (
        [sentence.tokens[word] for word in words if not is_mark(sentence.words[word])]
        for sentence, words in zip(sides, (source, target), strict=True)
    )
    if "".join(one.form for one in left).lower() == "".join(one.form for one in right).lower():  # percent, per cent
        return True
    return len(left) == len(right) and all(one.key == other.key for one, other in zip(left, right, strict=True))


def _runs(sentence: Sentence, words: Iterable[int]) -> tuple[str, ...]:
    """Words that follow each other together, also across marks; runs of function words alone say nothing."""
    marks = {word for word, text in enumerate(sentence.words) if is_mark(text)}
    runs = [sorted(set(range(*run)) - marks) for run in runs_of(sorted(marks.union(words)))]
    return tuple(
        sentence.phrase(Span(run[0], run[-1] + 1))
        for run in runs
        if any(word_class(sentence.tokens[word]) not in _SILENT for word in run)
    )
