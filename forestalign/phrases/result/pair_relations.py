"""What each pair of phrases of an alignment rests on, and what the two phrases are to each other.

Where evidence is about exactly these phrases, it says both. Two words are related as the lexicon says. Any other pair
is what its supports make of it: equal parts are equal, one part that is opposite makes the whole opposite, and a word
that only one side has makes that side more specific, or the opposite if it is a negation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forestalign.lexicon import WordNet
from forestalign.lexicon.findings import DIFFERENT, EQUAL, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE, RELATIONS, SIMILAR
from forestalign.lexicon.numbers import same_number
from forestalign.lexicon.word_classes import WordClass, word_class
from forestalign.lexicon.wordnet import are_opposites
from forestalign.phrases.evidence.phrase_evidence import SPAN, PhraseEvidence
from forestalign.phrases.result.alignment import DiscontinuousPair
from forestalign.phrases.result.discontinuous_pairs import AlignedSpans, discontinuous_pairs, with_likely
from forestalign.tokens import Sentence, Span, Token
from forestalign.words.alignment import WordAlignment

LINKS = "links"
# kinds of evidence as results name them
PUBLIC_KINDS = {
    "rule": "lexicon",
    "list": "lexicon",
    "acronym": "acronym",
    "name": "acronym",
    "quantity": "quantity",
    "span": "similarity",
}
EDGES = frozenset({"DT", ",", ".", ":", "``", "''", "-LRB-", "-RRB-"})  # tags that a phrase may have more at its edges
SMALL = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION})

Words = tuple[int, ...]


class Annotated(NamedTuple):
    """What a pair rests on, and what its source is to its target."""

    spans: AlignedSpans
    evidence: tuple[str, ...]
    relation: str


@dataclass(frozen=True, slots=True)
class PairRelations:
    """Evidence, links and lexicon of two sentences, ready to be asked about pairs."""

    source: Sentence
    target: Sentence
    source_classes: list[WordClass]  # by word
    target_classes: list[WordClass]
    rows: dict[tuple[Words, Words], list[PhraseEvidence]]
    links: tuple[tuple[int, int], ...]
    wordnet: WordNet

    @classmethod
    def of(
        cls,
        source: Sentence,
        target: Sentence,
        evidence: Iterable[PhraseEvidence],
        links: WordAlignment,
        wordnet: WordNet,
    ) -> PairRelations:
        """Evidence by the words that it is about."""
        rows: dict[tuple[Words, Words], list[PhraseEvidence]] = {}
        for row in evidence:
            rows.setdefault((row.source, row.target), []).append(row)
        classes = [word_class(token) for token in source.tokens], [word_class(token) for token in target.tokens]
        return cls(source, target, *classes, rows, links.pairs, wordnet)

    def annotated(self, pairs: Sequence[AlignedSpans]) -> tuple[list[Annotated], tuple[DiscontinuousPair, ...]]:
        """The pairs of an alignment with evidence and relation, and the words that belong together beside them."""
        evidence = [row for rows in self.rows.values() for row in rows]
        scattered = discontinuous_pairs(evidence, pairs, PUBLIC_KINDS) if evidence else ()
        held = _holders(pairs, scattered)
        found: list[Annotated] = []
        for k, pair in enumerate(pairs):
            rows, inside = self._rows(pair), held.get(k, [])
            relation = self._relation(pair, rows, [found[support] for support in pair.supports], inside)
            found.append(Annotated(pair, self._evidence(pair, rows, inside), relation))
        return found, with_likely(scattered, evidence, pairs, PUBLIC_KINDS)

    def _rows(self, pair: AlignedSpans) -> list[PhraseEvidence]:
        """What is known about just these words; or about them without articles."""
        one, other = pair.source, pair.target
        for words in ((tuple(range(*one)), tuple(range(*other))), (_bare(self.source, one), _bare(self.target, other))):
            if rows := [row for row in self.rows.get(words, ()) if row.kind != SPAN]:
                return rows
        return []

    def _evidence(
        self, pair: AlignedSpans, rows: Sequence[PhraseEvidence], inside: Sequence[DiscontinuousPair]
    ) -> tuple[str, ...]:
        if not rows and not inside:
            return (LINKS,)
        kinds = sorted({PUBLIC_KINDS[row.kind] for row in rows} | {one.evidence for one in inside})
        has_links = any(_inside(pair.source, i) and _inside(pair.target, j) for i, j in self.links)
        return (LINKS, *kinds) if has_links else tuple(kinds)

    def _relation(
        self,
        pair: AlignedSpans,
        rows: Sequence[PhraseEvidence],
        supports: Sequence[Annotated],
        inside: Sequence[DiscontinuousPair],
    ) -> str:
        if rows:
            strongest = max(row.strength for row in rows)
            relations = {row.relation for row in rows if row.strength == strongest}
            first = min(relations, key=RELATIONS.index)
            return SIMILAR if first == MORE_SPECIFIC and MORE_GENERAL in relations else first
        if supports or inside:
            return self._composed(pair, supports, inside)
        if _is_word(pair.source) and _is_word(pair.target):
            return self._of_words(self.source.tokens[pair.source.begin], self.target.tokens[pair.target.begin])
        return SIMILAR

    def _of_words(self, left: Token, right: Token) -> str:
        one, other, wordnet = left.key, right.key, self.wordnet
        if one == other or left.form.lower() == right.form.lower() or wordnet.are_synonyms(one, other):
            return EQUAL
        if left.tag == "CD" == right.tag:
            return EQUAL if same_number(left.form, right.form) else DIFFERENT
        if are_opposites(one, other, wordnet):
            return OPPOSITE
        over, under = wordnet.is_hypernym(one, other), wordnet.is_hypernym(other, one)
        if over == under:  # *drug* and *medicine* are above each other, in different senses
            return SIMILAR
        return MORE_SPECIFIC if over else MORE_GENERAL

    def _composed(self, pair: AlignedSpans, supports: Sequence[Annotated], inside: Sequence[DiscontinuousPair]) -> str:
        joined = [Span(i, i + 1) for one in inside for i in one.source]
        other_joined = [Span(j, j + 1) for one in inside for j in one.target]
        source = _left_over(self.source_classes, pair.source, joined + [each.spans.source for each in supports])
        target = _left_over(self.target_classes, pair.target, other_joined + [each.spans.target for each in supports])
        counted = [
            each for each in supports if not self._is_function_pair(each.spans) and not _is_within(each.spans, inside)
        ]
        parts = [each.relation for each in counted] + [one.relation for one in inside]
        relations = [relation for relation in parts if relation != EQUAL]
        negations = source.count(WordClass.NEGATION) - target.count(WordClass.NEGATION)
        relations += [OPPOSITE] * abs(negations)
        relations += [MORE_GENERAL] * (len(source) > source.count(WordClass.NEGATION))
        relations += [MORE_SPECIFIC] * (len(target) > target.count(WordClass.NEGATION))
        found = set(relations)
        if not found:
            return EQUAL
        is_one = len(relations) == 1 or found <= {MORE_GENERAL} or found <= {MORE_SPECIFIC}
        return relations[0] if is_one else SIMILAR

    def _is_function_pair(self, pair: AlignedSpans) -> bool:
        """Two function words: *a* and *the* do not make two phrases different."""
        if not (_is_word(pair.source) and _is_word(pair.target)):
            return False
        classes = self.source_classes[pair.source.begin], self.target_classes[pair.target.begin]
        return classes[0] in SMALL and classes[1] in SMALL


def _holders(
    pairs: Sequence[AlignedSpans], scattered: Sequence[DiscontinuousPair]
) -> dict[int, list[DiscontinuousPair]]:
    """The smallest pair around each, by its number: children come before parents."""
    found: dict[int, list[DiscontinuousPair]] = {}
    for one in scattered:
        for k, pair in enumerate(pairs):
            around = all(_inside(pair.source, i) for i in one.source) and all(
                _inside(pair.target, j) for j in one.target
            )
            if around:
                found.setdefault(k, []).append(one)
                break
    return found


def _is_within(pair: AlignedSpans, scattered: Sequence[DiscontinuousPair]) -> bool:
    return any(
        set(one.source).issuperset(range(*pair.source)) and set(one.target).issuperset(range(*pair.target))
        for one in scattered
    )


def _is_word(span: Span) -> bool:
    return span.end - span.begin == 1


def _inside(span: Span, word: int) -> bool:
    return span.begin <= word < span.end


def _bare(sentence: Sentence, span: Span) -> Words:
    """The words of a span without articles and marks at its edges."""
    begin, end = span.begin, span.end
    while begin < end - 1 and sentence.tokens[begin].tag in EDGES:
        begin += 1
    while end > begin + 1 and sentence.tokens[end - 1].tag in EDGES:
        end -= 1
    return tuple(range(begin, end))


def _left_over(classes: Sequence[WordClass], span: Span, covered: Iterable[Span]) -> list[WordClass]:
    """Classes of the words in no support that matter: neither function words nor punctuation."""
    left: list[WordClass] = []
    at = span.begin
    for begin, end in sorted(covered):
        left += classes[at : max(at, begin)]
        at = max(at, end)
    left += classes[at : span.end]
    return [each for each in left if each not in SMALL]
