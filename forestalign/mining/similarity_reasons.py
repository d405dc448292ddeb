"""Why two aligned sentences are not the same, in words: contradictions first, then what has no partner."""

from __future__ import annotations

from collections.abc import Iterator

from forestalign.errors import counted
from forestalign.lexicon.findings import DIFFERENT, OPPOSITE, OTHER_ROLES
from forestalign.mining.edit_sides import EditSide, word_kind
from forestalign.mining.edits import EditKind, PairEdits
from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.result.contradictions import NEGATION

_KINDS = {"name": "name", "number": "number", "noun": "noun", "verb": "verb", "other content": "other content word"}
_NAMES = (
    (DIFFERENT, "number differs", "numbers differ"),
    (NEGATION, "negation on one side only", "negations on one side only"),
    (OPPOSITE, "opposite", "opposites"),
)


def reasons_of(alignment: Alignment, edits: PairEdits) -> tuple[str, ...]:
    """One phrase for each reason, such as `number differs: nine, ten` and `2 names without partner`."""
    reasons = [*_contradictions(edits), *_without_partner(alignment, edits)]
    if not reasons:
        reasons.append("the same words" if edits.is_same else "all content words have a partner")
    return tuple(reasons)


def _contradictions(edits: PairEdits) -> Iterator[str]:
    """The reasons of a kind together, as `2 numbers differ: 3/4, 5/6`; words that changed places one by one."""
    for kind, one, many in _NAMES:
        found = [each.reason.partition(": ")[2] for each in edits.contradictions if each.kind == kind]
        if found:
            yield f"{one if len(found) == 1 else f'{len(found)} {many}'}: {', '.join(found)}"
    yield from (each.reason for each in edits.contradictions if each.kind == OTHER_ROLES)


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
