"""Why two aligned sentences are not the same, in words: contradictions first, then what has no partner."""

from __future__ import annotations

from collections.abc import Iterator

from forestalign.errors import counted
from forestalign.mining.edit_sides import EditSide, word_kind
from forestalign.mining.edits import EditKind, PairEdits
from forestalign.phrases.result.alignment import Alignment

_KINDS = {"name": "name", "number": "number", "noun": "noun", "verb": "verb", "other content": "other content word"}


def reasons_of(alignment: Alignment, edits: PairEdits) -> tuple[str, ...]:
    """One phrase for each reason, such as `nine became ten` and `2 names without partner`."""
    reasons = [*(each.reason for each in edits.contradictions), *_without_partner(alignment, edits)]
    if not reasons:
        reasons.append("the same words" if edits.is_same else "all content words have a partner")
    return tuple(reasons)


def _without_partner(alignment: Alignment, edits: PairEdits) -> Iterator[str]:
    """Content words that were deleted or inserted, by class."""
    source = EditSide.of(alignment.source, alignment.source_tree)
    target = EditSide.of(alignment.target, alignment.target_tree)
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
