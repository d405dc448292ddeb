"""What two aligned sentences say differently, found once: relations that rise from it, and the list of differences.

What contradicts inside a pair of phrases makes the pair itself contradict, up to the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from forestalign.lexicon.findings import AGAINST, SIMILAR
from forestalign.lexicon.word_classes import WordClass, word_class
from forestalign.meaning import differences as kinds
from forestalign.meaning.contradictions import ORDER, AlignedPhrases, Contradictions, find_contradictions
from forestalign.meaning.differences import Difference
from forestalign.meaning.matcher import Correspondence
from forestalign.meaning.readings import Reading
from forestalign.phrases.evidence.phrase_evidence import match_rules
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordAlignment

if TYPE_CHECKING:
    from forestalign.phrases.result.alignment import PhraseAlignment, PhrasePair

_SILENT = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION, WordClass.NEGATION})


class PairMeaning(NamedTuple):
    """Two sentences as they are read under the trees that an alignment chose, and what contradicts in them."""

    source: Reading
    target: Reading
    contradictions: Contradictions
    correspondences: Sequence[Correspondence]


def compare_meaning(
    source: Reading,
    target: Reading,
    links: WordAlignment,
    phrases: PhraseAlignment,
    correspondences: Sequence[Correspondence] | None = None,
) -> PairMeaning:
    """What contradicts in an alignment; without `correspondences` (of a line that was read) its trees are matched."""
    matched = match_rules(source, target, links) if correspondences is None else correspondences
    pairs = [
        AlignedPhrases(pair.source, pair.target, pair.relation, pair.evidence, bool(pair.supports))
        for pair in phrases.pairs
    ]
    return PairMeaning(source, target, find_contradictions(source, target, links, pairs, matched), matched)


def with_relations(phrases: PhraseAlignment, meaning: PairMeaning) -> PhraseAlignment:
    """The alignment with the relations and reasons that contradictions inside its pairs give them."""
    found = meaning.contradictions
    pairs = tuple(
        [_with_relation(pair, found) if found.marks or pair.relation in AGAINST else pair for pair in phrases.pairs]
    )
    return replace(phrases, pairs=pairs, meaning=meaning)


def _with_relation(pair: PhrasePair, found: Contradictions) -> PhrasePair:
    inside = found.inside(pair.source, pair.target)
    if inside:
        relations = {each.relation for each in inside}
        reason = "; ".join(dict.fromkeys(each.reason for each in inside))
        return replace(pair, relation=next(each for each in ORDER if each in relations), reason=reason)
    is_taken_back = pair.relation in AGAINST and bool(pair.supports)
    return replace(pair, relation=SIMILAR) if is_taken_back else pair


def list_differences(meaning: PairMeaning, phrases: PhraseAlignment) -> tuple[Difference, ...]:
    """All differences: what contradicts first, then what is left out and added."""
    source, target = meaning.source.sentence, meaning.target.sentence
    whole = Span(0, len(source)), Span(0, len(target))
    against = tuple(dict.fromkeys(meaning.contradictions.inside(*whole)))
    left = _unsaid(source, phrases.source_nulls, {k for one in against for k in one.source})
    added = _unsaid(target, phrases.target_nulls, {k for one in against for k in one.target})
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
            yield words, " ".join(sentence.words[word] for word in words)
