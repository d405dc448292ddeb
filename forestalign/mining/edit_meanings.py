"""Values where the phrase pairs say nothing: *twice* became *three times*, though neither is a number to the tagger.

The finders are those that the alignment uses.
"""

from __future__ import annotations

from forestalign.lexicon.findings import DIFFERENT, EQUAL, SIMILAR
from forestalign.lexicon.phrase_text import Parts, take_apart
from forestalign.lexicon.quantities import may_begin, quantity_findings
from forestalign.mining.edit_sides import EditSide
from forestalign.tokens import Sentence, Span


def values_differ(source: EditSide, target: EditSide, own: Span, other: Span) -> bool:
    """Whether two phrases have values of one kind, none of them the same: *first* and *second*, *2* and *3 times*."""
    if not any(may_begin(word) for side, span in ((source, own), (target, other)) for word in side.lowered(span)):
        return False
    relations = {finding.relation for finding in quantity_findings(_parts(source, own), _parts(target, other))}
    return DIFFERENT in relations and not relations & {EQUAL, SIMILAR}


def _parts(side: EditSide, span: Span | None = None) -> Parts:
    whole = side.sentence
    return take_apart(whole if span is None else Sentence(whole.text, whole.tokens[slice(*span)]))
