"""What two aligned sentences say differently, as one list of differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forestalign.meaning import differences as kinds
from forestalign.meaning.differences import Difference
from forestalign.phrases.result.rising import contradictions_of
from forestalign.phrases.scoring.schema import WordClass, word_class
from forestalign.tokens import Sentence, Span

if TYPE_CHECKING:
    from forestalign.phrases.result.alignment import Alignment

_SILENT = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION, WordClass.NEGATION})


def find_differences(alignment: Alignment) -> tuple[Difference, ...]:
    """All differences: what contradicts first, then what is left out and added."""
    sides = alignment.source, alignment.target
    found = contradictions_of(alignment.phrases, *sides, alignment.words, alignment.correspondences)
    whole = Span(0, len(alignment.source)), Span(0, len(alignment.target))
    against = tuple(dict.fromkeys(found.inside(*whole)))
    told = ({k for one in against for k in one.source}, {k for one in against for k in one.target})
    phrases = alignment.phrases
    left = _unsaid(alignment.source, phrases.source_nulls, told[0])
    added = _unsaid(alignment.target, phrases.target_nulls, told[1])
    return (
        *against,
        *(Difference(kinds.LEFT_OUT, words, (), f"left out: {text}") for words, text in left),
        *(Difference(kinds.ADDED, (), words, f"added: {text}") for words, text in added),
    )


def _unsaid(sentence: Sentence, nulls: Sequence[Span], told: set[int]) -> Iterator[tuple[tuple[int, ...], str]]:
    """The phrases without a partner that say something and are not in another difference."""
    for span in nulls:
        words = tuple(word for word in range(*span) if word not in told)
        if any(word_class(sentence.tokens[word]) not in _SILENT for word in words):
            yield words, _text(sentence, words)


def _text(sentence: Sentence, words: Sequence[int]) -> str:
    return " ".join(sentence.words[word] for word in words)
