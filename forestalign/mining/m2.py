"""Edits in the M2 form of grammatical error correction, as ERRANT writes it.

    S He go to school .
    A 1 2|||R:VERB|||goes|||REQUIRED|||-NONE-|||0

The edits of this form are of words, do not overlap, and turn the source into the target if they are applied one by
one. So what moved is deleted at one place and inserted at another, or, where both are in one piece, is word order
(`R:WO`).
The types are ERRANT's: an operation (M missing, U unnecessary, R replaced) with the part of speech of the words; of
several words, that of the content words among them. Forms of one verb are `VERB:TENSE`, `VERB:SVA` or `VERB:FORM`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forestalign.mining.edit_units import EditSide, EditUnit, is_other_number, units_of
from forestalign.mining.edits import heaviest_common_order
from forestalign.phrases.result.alignment import Alignment
from forestalign.tokens import Span

_PARTS = {"NN": "NOUN", "VB": "VERB", "MD": "VERB", "JJ": "ADJ", "RB": "ADV", "DT": "DET", "IN": "PREP", "PR": "PRON"}
_PARTS |= {"TO": "PART", "RP": "PART", "CC": "CONJ", "CD": "NUM", "WP": "PRON", "WD": "DET", "WR": "ADV", "PO": "NOUN"}
_LIGHT = frozenset({"DET", "PREP", "PART", "PRON", "CONJ", "PUNCT"})
_HEADS = (("NOUN", {"NOUN", "ADJ", "NUM"}), ("VERB", {"VERB", "ADV"}), ("ADJ", {"ADJ", "ADV"}), ("PREP", _LIGHT))
_FORMS = (  # of one verb: pairs of tags and the type
    ({"VBZ", "VBP"}, "VERB:SVA"),
    ({"VBD", "VBZ", "VBP", "VBN", "MD"}, "VERB:TENSE"),
)
_NOTHING = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0"


class M2Edit(NamedTuple):
    """Words of the source, and of the target that take their place."""

    source: Span
    target: Span

    @property
    def is_one_sided(self) -> bool:
        """Whether it only deletes or inserts."""
        return 0 in (self.source.size, self.target.size)


def m2_of(alignment: Alignment) -> str:
    """The block of one pair, without the empty line behind it."""
    source = EditSide.of(alignment.source, alignment.source_tree)
    target = EditSide.of(alignment.target, alignment.target_tree)
    edits = m2_edits(source, target, units_of(alignment, source, target))
    rows = [
        f"A {edit.source.begin} {edit.source.end}|||{_kind(source, target, edit)}|||"
        f"{' '.join(alignment.target.written_words[slice(*edit.target)])}|||REQUIRED|||-NONE-|||0"
        for edit in edits
    ]
    return "\n".join([f"S {' '.join(alignment.source.written_words)}", *(rows or [_NOTHING])])


def m2_edits(source: EditSide, target: EditSide, units: Sequence[EditUnit]) -> list[M2Edit]:
    """All edits, in order: replaced units that stay in their order, and what lies between the units that stay."""
    weights = [source.content_count(unit.source) + target.content_count(unit.target) + 1 for unit in units]
    staying = heaviest_common_order([unit.target for unit in units], weights)
    edits: list[M2Edit] = []
    at = 0, 0
    for number in sorted(staying):
        unit = units[number]
        edits += _between(at, (unit.source.begin, unit.target.begin))
        edits += _changed_case(source, target, unit) if unit.is_kept else [M2Edit(unit.source, unit.target)]
        at = unit.source.end, unit.target.end
    edits += _between(at, (len(source.words), len(target.words)))
    return [
        edit for edit in (_trim(source, target, edit) for edit in _merge(edits)) if edit.source.size + edit.target.size
    ]


def _between(begin: tuple[int, int], end: tuple[int, int]) -> list[M2Edit]:
    return [M2Edit(Span(begin[0], end[0]), Span(begin[1], end[1]))] if begin != end else []


def _changed_case(source: EditSide, target: EditSide, unit: EditUnit) -> Iterator[M2Edit]:
    for i, j in zip(range(*unit.source), range(*unit.target), strict=True):
        if source.sentence.tokens[i].text != target.sentence.tokens[j].text:
            yield M2Edit(Span(i, i + 1), Span(j, j + 1))


def _merge(edits: Sequence[M2Edit]) -> list[M2Edit]:
    """An insertion beside another or beside a deletion is one edit with it, as ERRANT has it."""
    merged: list[M2Edit] = []
    for edit in edits:
        last = merged[-1] if merged else None
        follows = last is not None and (last.source.end, last.target.end) == (edit.source.begin, edit.target.begin)
        if last and follows and last.is_one_sided and edit.is_one_sided:
            source, target = Span(last.source.begin, edit.source.end), Span(last.target.begin, edit.target.end)
            merged[-1] = M2Edit(source, target)
        else:
            merged.append(edit)
    return merged


def _trim(source: EditSide, target: EditSide, edit: M2Edit) -> M2Edit:
    """The edit without the words that both sides begin or end with: *school* to *the school* is *the* inserted."""
    own, other = source.sentence.written_words, target.sentence.written_words
    (begin, end), (first, last) = edit
    while begin < end and first < last and own[begin] == other[first]:
        begin, first = begin + 1, first + 1
    while begin < end and first < last and own[end - 1] == other[last - 1]:
        end, last = end - 1, last - 1
    return M2Edit(Span(begin, end), Span(first, last))


def _kind(source: EditSide, target: EditSide, edit: M2Edit) -> str:
    own, other = ([word.lower() for word in side.words[slice(*span)]] for side, span in _sides(source, target, edit))
    tags = source.tags[slice(*edit.source)], target.tags[slice(*edit.target)]
    if not own or not other:
        return f"{'U' if own else 'M'}:{_part(tags[0] or tags[1])}"
    if "".join(own) == "".join(other):
        return "R:ORTH"
    if sorted(own) == sorted(other):
        return "R:WO"
    parts = _part(tags[0]), _part(tags[1])
    if source.lemma(edit.source.end - 1) == target.lemma(edit.target.end - 1):
        if parts == ("VERB", "VERB"):
            return f"R:{_verb_form(*tags)}"
        if len(own) == len(other) == 1:
            is_number = is_other_number((own[0], tags[0][0]), (other[0], tags[1][0]))
            return "R:NOUN:NUM" if is_number else f"R:{parts[0]}:FORM" if parts == ("ADJ", "ADJ") else "R:MORPH"
    if parts[0] == parts[1]:
        return f"R:{parts[0]}"
    heavy = [part for part in parts if part not in _LIGHT]
    return f"R:{heavy[0]}" if len(heavy) == 1 else "R:OTHER"


def _sides(source: EditSide, target: EditSide, edit: M2Edit) -> tuple[tuple[EditSide, Span], tuple[EditSide, Span]]:
    return (source, edit.source), (target, edit.target)


def _verb_form(own: Sequence[str], other: Sequence[str]) -> str:
    """What differs between two forms of one verb, by the first tag of each group."""
    if len(own) > 1 or len(other) > 1:
        return "VERB:TENSE"
    return next((name for tags, name in _FORMS if {own[0], other[0]} <= tags), "VERB:FORM")


def _part(tags: Sequence[str]) -> str:
    """The part of speech of some words: of those with content, or of small words that are of one kind."""
    parts = {_PARTS.get(tag[:2], "OTHER" if tag[:1].isalpha() else "PUNCT") for tag in tags}
    content = parts - _LIGHT or parts - {"PUNCT"} or parts
    if len(content) == 1:
        return content.pop()
    return next((name for name, among in _HEADS if content <= among), "OTHER")
