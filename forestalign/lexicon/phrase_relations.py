"""Phrases of two sentences that the phrase lexicon relates to each other, or to a single word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from forestalign.grammar import stop_words
from forestalign.lexicon.findings import EQUAL, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE, SIMILAR, Finding
from forestalign.lexicon.phrase_text import Parts, parts_of_speech
from forestalign.lexicon.phrases import Lemma, PhraseLexicon, PhraseMatch, Relation

# a relation tells what the target is to the source, a finding what the source is to the target
INSTANCE = 0  # grade: a city and New Orleans, which texts mostly mention side by side
MEANINGS = {"=": EQUAL, "!": OPPOSITE, "~": SIMILAR, ">": MORE_SPECIFIC, "<": MORE_GENERAL}


def related_phrases(source: Parts, target: Parts, phrases: PhraseLexicon) -> Iterator[Finding]:
    """Phrase with phrase, phrase with word, word with phrase."""
    source_matches, target_matches = phrases.matches(source), phrases.matches(target)
    yield from _phrase_pairs(source, target, phrases, source_matches, target_matches)
    yield from _phrases_and_words(source_matches, source, target)
    yield from (finding.turned() for finding in _phrases_and_words(target_matches, target, source))


def _phrase_pairs(
    source: Parts,
    target: Parts,
    phrases: PhraseLexicon,
    source_matches: Sequence[PhraseMatch],
    target_matches: Sequence[PhraseMatch],
) -> Iterator[Finding]:
    for left in source_matches:
        for right in target_matches:
            if left.entry is right.entry:
                if len(left.tokens) != len(right.tokens):  # spelt apart on one side
                    yield Finding(left.tokens, right.tokens, EQUAL)
            elif (relation := phrases.relation(left.entry, right.entry)) is not None:
                yield from _finding(left.tokens, right.tokens, relation, source, target)


def _phrases_and_words(matches: Sequence[PhraseMatch], own: Parts, other: Parts) -> Iterator[Finding]:
    if not matches:
        return
    places: dict[Lemma, list[int]] = defaultdict(list)
    for index, tag in enumerate(other.tags):
        for part in parts_of_speech(tag):
            for word in other.readings(index):
                places[Lemma(part, word)].append(index)
    for match in matches:
        for lemma, relation in match.entry.relations.items():
            if relation.sign in "<>" and lemma.words in stop_words():
                continue  # everything is a way of being or doing
            for index in places.get(lemma, ()):
                tokens = other.whole_tokens((index,))
                is_acronym = lemma.words == "".join(word[0] for word in match.entry.words)
                if tokens and len(match.tokens) > 1 and (not is_acronym or index in other.capitals):
                    yield from _finding(match.tokens, tokens, relation, own, other)


def _finding(
    left: tuple[int, ...], right: tuple[int, ...], relation: Relation, own: Parts, other: Parts
) -> Iterator[Finding]:
    """A general term with the same noun in it (*bank account*, *account*) is what word links carry already."""
    if len(left) == len(right) == 1:
        return
    words, others = _lemmas(left, own), _lemmas(right, other)
    if words < others or others < words:  # `more` and `more than`
        return
    if relation.sign in "<>~" and not words.isdisjoint(others - stop_words()):
        return
    is_instance = relation.sign in "<>" and _is_name(left, own) != _is_name(right, other)
    yield Finding(left, right, MEANINGS[relation.sign], INSTANCE if is_instance else relation.grade)


def _is_name(tokens: tuple[int, ...], parts: Parts) -> bool:
    tags = [tag for tag, token in zip(parts.tags, parts.tokens, strict=True) if token in tokens]
    return tags[-1][:3] == "NNP"


def _lemmas(tokens: tuple[int, ...], parts: Parts) -> set[str]:
    return {parts.lemmas[index] for index, token in enumerate(parts.tokens) if token in tokens}
