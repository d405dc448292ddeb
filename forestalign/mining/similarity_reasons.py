"""Why two aligned sentences are not the same, in words: contradictions first, then what has no partner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forestalign.errors import counted
from forestalign.formats.phrase_records import PhraseRecord
from forestalign.lexicon.findings import OPPOSITE
from forestalign.mining.edit_sides import EditSide, word_kind
from forestalign.mining.edits import Edit, EditKind, PairEdits

_KINDS = {"name": "name", "number": "number", "noun": "noun", "verb": "verb", "other content": "other content word"}


def reasons_of(record: PhraseRecord, edits: PairEdits) -> tuple[str, ...]:
    """One phrase for each reason, such as `number differs: nine, ten` and `2 names without partner`."""
    reasons = [*_contradictions(edits), *_without_partner(record, edits)]
    if not reasons:
        reasons.append("the same words" if edits.is_same else "all content words have a partner")
    return tuple(reasons)


def _contradictions(edits: PairEdits) -> Iterator[str]:
    values = [edit for edit in edits.of_kind(EditKind.NUMBER) if edit.detail == "value"]
    negations = edits.of_kind(EditKind.NEGATION)
    opposites = [edit for edit in edits.of_kind(EditKind.REPLACED) if edit.relation == OPPOSITE]
    if values:
        yield f"{_counted(values, 'number differs', 'numbers differ')}: {_words(values)}"
    if negations:
        yield f"{_counted(negations, 'negation on one side only', 'negations on one side only')}: {_words(negations)}"
    if opposites:
        yield f"{_counted(opposites, 'opposite', 'opposites')}: {_words(opposites)}"


def _counted(edits: Sequence[Edit], one: str, many: str) -> str:
    return one if len(edits) == 1 else f"{len(edits)} {many}"


def _words(edits: Sequence[Edit]) -> str:
    """The words of both sides, source and target separated by a slash."""
    return ", ".join("/".join(text for text in (edit.source_text, edit.target_text) if text) for edit in edits)


def _without_partner(record: PhraseRecord, edits: PairEdits) -> Iterator[str]:
    """Content words that were deleted or inserted, by class."""
    source, target = EditSide.of(record.source), EditSide.of(record.target)
    found: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for edit in edits.edits:
        for kinds, side, span in (
            (EditKind.DELETED, source, edit.source),
            (EditKind.INSERTED, target, edit.target),
        ):
            for word in range(*span) if edit.kind is kinds and span else ():
                if (kind := word_kind(side, word)) in found:
                    found[kind].append(side.words[word])
    for kind, words in found.items():
        if words:
            yield f"{counted(len(words), _KINDS[kind])} without partner: {', '.join(words)}"
