"""What a pair of aligned sentences says differently: numbers, negations, opposites, roles, names, more or less.

This is the one place that reads meaning off an alignment for whole texts. What has no reason here was reworded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forestalign.lexicon.findings import DIFFERENT, EQUAL, OPPOSITE
from forestalign.meaning import differences as kinds
from forestalign.mining.edits import EditKind, PairEdits
from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.scoring.schema import WordClass, word_class
from forestalign.tokens import Sentence, Span

NAME = kinds.NAME
ADDED, LEFT_OUT = "added", "left out"
CONTENT = frozenset({ADDED, LEFT_OUT})  # more or less is said; nothing is contradicted
_SILENT = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION, WordClass.NEGATION})
_NAMES = ("NNP", "NNPS")


class Reason(NamedTuple):
    """A kind of change, and the words on both sides that show it, of which a side may have none, or a sentence."""

    kind: str
    old: str = ""
    new: str = ""
    detail: str = ""

    def __str__(self) -> str:
        if self.kind in CONTENT:
            return f"{self.kind}: {self.old or self.new}"
        if self.detail:
            return f"{self.kind} ({self.detail})"
        return f"{self.kind} ({' → '.join(part or 'nothing' for part in (self.old, self.new))})"


def meaning_changes(alignment: Alignment, edits: PairEdits) -> tuple[Reason, ...]:
    """Why the target does not say the same as the source, what contradicts before what is more or less.

    Nothing where it was only reworded.
    """
    found = dict.fromkeys(
        [*_contradictions(alignment, edits), *_other_names(alignment, edits), *_more_or_less(alignment, edits)]
    )
    return tuple(found)


def _contradictions(alignment: Alignment, edits: PairEdits) -> Iterator[Reason]:
    for found in edits.contradictions:
        if found.kind == kinds.ROLES:
            yield Reason(kinds.ROLES, detail=found.reason)
        else:
            sides = _words(alignment.source, found.source), _words(alignment.target, found.target)
            yield Reason(found.kind, *sides)


def _words(sentence: Sentence, words: Sequence[int]) -> str:
    return " ".join(sentence.words[word] for word in words)


def _other_names(alignment: Alignment, edits: PairEdits) -> Iterator[Reason]:
    """Names that were replaced by other names, none of whose words are the same."""
    for edit in edits.edits:
        if edit.kind is not EditKind.REPLACED or edit.relation in (EQUAL, OPPOSITE, DIFFERENT):
            continue
        if not (_is_name(alignment.source, edit.source) and _is_name(alignment.target, edit.target)):
            continue
        words = set(edit.source_text.lower().split()) & set(edit.target_text.lower().split())
        if not words:
            yield Reason(NAME, edit.source_text, edit.target_text)


def _is_name(sentence: Sentence, span: Span | None) -> bool:
    tags = [token.tag for token in sentence.tokens[slice(*span)]] if span else []
    return bool(tags) and all(tag in _NAMES or tag in ("DT", "POS") for tag in tags) and any(t in _NAMES for t in tags)


def _more_or_less(alignment: Alignment, edits: PairEdits) -> Iterator[Reason]:
    """Deleted and inserted words of content; words that belong together without being phrases are neither.

    Nor are the words of another value, of which there is a reason already.
    """
    values = [each for each in edits.contradictions if each.kind == kinds.NUMBER]
    scattered = alignment.phrases.scattered
    together = (
        {word for sides in (*(pair.source for pair in scattered), *(each.source for each in values)) for word in sides},
        {word for sides in (*(pair.target for pair in scattered), *(each.target for each in values)) for word in sides},
    )
    for edit in edits.edits:
        if edit.kind is EditKind.DELETED and _says_something(alignment.source, edit.source, together[0]):
            yield Reason(LEFT_OUT, old=edit.source_text)
        elif edit.kind is EditKind.INSERTED and _says_something(alignment.target, edit.target, together[1]):
            yield Reason(ADDED, new=edit.target_text)


def _says_something(sentence: Sentence, span: Span | None, together: set[int]) -> bool:
    words = [word for word in range(*(span or (0, 0))) if word not in together]
    return any(word_class(sentence.tokens[word]) not in _SILENT for word in words)
