"""What a pair of sentences does not share, in words: what was replaced by what, removed and added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from forestalign.lexicon.findings import EQUAL
from forestalign.lexicon.word_classes import WordClass, is_mark, word_class
from forestalign.mining.edit_units import EditUnit, edit_units, words_of
from forestalign.phrases.result.alignment import Alignment, DiscontinuousPair, PhrasePair
from forestalign.phrases.result.discontinuous_pairs import runs_of, scattered_words
from forestalign.tokens import Sentence, Span

_SILENT = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION})


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
    """What the edits replace by other words, and the words without a partner, those that follow each other together.

    Marks of punctuation are no words, and function words that stand alone are left out, as are pairs below `least`.
    """
    sides = alignment.source, alignment.target
    units = edit_units(alignment, least)
    covered = words_of(units)
    return Differences(
        tuple(
            Replacement(scattered_words(sides[0], source), scattered_words(sides[1], target), unit.relation)
            for unit in units
            for source, target in [unit.words]
            if not unit.is_kept and not _are_same(sides, source, target) and not _is_equal_value(alignment, unit)
        ),
        *(_runs(side, {*range(len(side))} - words) for side, words in zip(sides, covered, strict=True)),
    )


def is_confident(pair: PhrasePair | DiscontinuousPair, least: float) -> bool:
    """Whether a pair is as likely as asked; one without a number is."""
    return pair.confidence is None or pair.confidence >= least


def _is_equal_value(alignment: Alignment, unit: EditUnit) -> bool:
    pairs = alignment.phrases.pairs
    return any(
        pair.relation == EQUAL and "quantity" in pair.evidence and unit.spans == (pair.source, pair.target)
        for pair in pairs
    )


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
