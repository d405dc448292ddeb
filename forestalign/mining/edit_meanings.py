"""What words mean to each other where the phrase pairs do not say: negations that an opposite makes up for, and values.

*did not like* and *disliked* are no phrases that a tree could pair, but nothing was negated; *twice* became *three
times* although neither is a number to the tagger. Both are asked of the same finders that the alignment uses.
"""

from __future__ import annotations

from forestalign.lexicon.findings import DIFFERENT, EQUAL, SIMILAR
from forestalign.lexicon.opposites import negation_findings
from forestalign.lexicon.phrase_text import Parts, take_apart
from forestalign.lexicon.quantities import may_begin, quantity_findings
from forestalign.lexicon.wordnet import load_wordnet
from forestalign.mining.edit_sides import EditSide
from forestalign.tokens import Sentence, Span, analyse


def made_up_for(source: EditSide, target: EditSide) -> tuple[frozenset[int], frozenset[int]]:
    """Words of both sides that take part in a negation which the other side says by an opposite, or by *fail to*."""
    findings = [
        finding
        for finding in negation_findings(_parts(source), _parts(target), load_wordnet())
        if finding.relation in (EQUAL, SIMILAR)
    ]
    return (
        frozenset(word for finding in findings for word in finding.source),
        frozenset(word for finding in findings for word in finding.target),
    )


def values_differ(source: EditSide, target: EditSide, own: Span, other: Span) -> bool:
    """Whether two phrases have values of one kind, none of them the same: *first* and *second*, *2* and *3 times*."""
    if not any(may_begin(word) for side, span in ((source, own), (target, other)) for word in side.lowered(span)):
        return False
    relations = {finding.relation for finding in quantity_findings(_parts(source, own), _parts(target, other))}
    return DIFFERENT in relations and not relations & {EQUAL, SIMILAR}


def _parts(side: EditSide, span: Span | None = None) -> Parts:
    begin, end = span or (0, len(side.words))
    return take_apart(analyse(Sentence.from_words(side.words[begin:end]), side.tags[begin:end]))
