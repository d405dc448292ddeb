"""What two aligned sentences say differently, as one list of differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forestalign.lexicon.findings import DIFFERENT, OPPOSITE, OTHER_ROLES
from forestalign.meaning import differences as kinds
from forestalign.meaning.differences import Difference
from forestalign.phrases.result.contradictions import NEGATION, Contradiction
from forestalign.phrases.scoring.schema import WordClass, word_class
from forestalign.tokens import Sentence, Span

if TYPE_CHECKING:
    from forestalign.phrases.result.alignment import Alignment

_KINDS = {
    NEGATION: kinds.NEGATION,
    OPPOSITE: kinds.OPPOSITE,
    DIFFERENT: kinds.NUMBER,
    OTHER_ROLES: kinds.ROLES,
}
_SILENT = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION, WordClass.NEGATION})


def find_differences(alignment: Alignment) -> tuple[Difference, ...]:
    """All differences: what contradicts first, then what is left out and added."""
    against = [_difference(each, alignment) for each in alignment.contradictions]
    told = ({k for one in against for k in one.source}, {k for one in against for k in one.target})
    phrases = alignment.phrases
    left = _unsaid(alignment.source, phrases.source_nulls, told[0])
    added = _unsaid(alignment.target, phrases.target_nulls, told[1])
    return (
        *against,
        *(Difference(kinds.LEFT_OUT, words, (), f"left out: {text}") for words, text in left),
        *(Difference(kinds.ADDED, (), words, f"added: {text}") for words, text in added),
    )


def _difference(found: Contradiction, alignment: Alignment) -> Difference:
    own, other = _text(alignment.source, found.source), _text(alignment.target, found.target)
    if found.kind == NEGATION:
        reason = f"negated in the {'source' if found.source else 'target'} only: {own or other}"
    elif found.kind == OTHER_ROLES:
        reason = found.reason
    else:
        reason = f"{own} became {other}"
    return Difference(_KINDS[found.kind], found.source, found.target, reason)


def _unsaid(sentence: Sentence, nulls: Sequence[Span], told: set[int]) -> Iterator[tuple[tuple[int, ...], str]]:
    """The phrases without a partner that say something and are not in another difference."""
    for span in nulls:
        words = tuple(word for word in range(*span) if word not in told)
        if any(word_class(sentence.tokens[word]) not in _SILENT for word in words):
            yield words, _text(sentence, words)


def _text(sentence: Sentence, words: Sequence[int]) -> str:
    return " ".join(sentence.words[word] for word in words)
