"""The units of an aligned pair that edits are told of: phrases whose words are all kept, and what replaces what.

The phrase pairs cut both sentences: from the top of each tree of pairs down to what is the same or has nothing below
it. Words that are joined across others are one unit (*turned … down*, *refused*). A phrase is one unit with the small
words that only its looser partner has (*his car*, *by his automobile*). Linked words in no phrase pair are units, too,
as are the words that a pair has on both sides beyond its parts, and one word that is linked with several neighbours is
one unit with them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from forestalign.grammar import grammar_root, read_rows
from forestalign.lexicon.findings import DIFFERENT, EQUAL, OPPOSITE, SIMILAR
from forestalign.lexicon.word_classes import WordClass, word_class
from forestalign.meaning.differences import Difference
from forestalign.phrases.result.alignment import Alignment, DiscontinuousPair, PhrasePair
from forestalign.phrases.result.discontinuous_pairs import runs_of
from forestalign.phrases.result.pair_relations import SMALL
from forestalign.tokens import Sentence, Span
from forestalign.trees import Tree, preorder
from forestalign.words.alignment import WordLink

_BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m"})
_GET = frozenset({"get", "gets", "got", "gotten", "getting"})
_ENDS = frozenset({".", "!", "?"})
_PLURAL = {"NN": False, "NNP": False, "NNS": True, "NNPS": True}


@dataclass(frozen=True, slots=True)
class EditSide:
    """One sentence, and what its tree says about its words."""

    sentence: Sentence
    classes: tuple[WordClass, ...]
    passives: frozenset[int]  # participles with passive meaning
    sentence_count: int

    @classmethod
    def of(cls, sentence: Sentence, tree: Tree) -> EditSide:
        """The side of a result."""
        classes = tuple([word_class(token) for token in sentence.tokens])
        return cls(sentence, classes, passives_of(tree), _sentence_count(sentence.words))

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they stand in the text."""
        return self.sentence.words

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag of each word."""
        return self.sentence.tags

    def text(self, span: Span | None) -> str:
        """The words of a span as they stand in the text, on one line."""
        return "" if span is None else self.sentence.phrase(span)

    def lowered(self, span: Span) -> list[str]:
        """The words of a span in lower case."""
        return [word.lower() for word in self.words[span.begin : span.end]]

    def content_count(self, span: Span | None = None) -> int:
        """Words of a span, or of the sentence, that are not marks of punctuation."""
        classes = self.classes if span is None else self.classes[span.begin : span.end]
        return sum(each != WordClass.PUNCTUATION for each in classes)

    def has_content(self, span: Span) -> bool:
        """Whether a span has more than function words and marks."""
        return any(each not in SMALL for each in self.classes[span.begin : span.end])

    def lemma(self, word: int) -> str:
        """The lemma of a word under its tag."""
        return self.sentence.lemmas[word]

    def has_letter(self, span: Span) -> bool:
        """Whether a span has letters or digits, and not only signs."""
        return any(character.isalnum() for word in self.words[span.begin : span.end] for character in word)

    def is_verb(self, word: int) -> bool:
        """Whether a word is a verb that can have a voice."""
        return self.tags[word].startswith("VB") and self.words[word].lower() not in _BE


def passives_of(tree: Tree) -> frozenset[int]:
    """Participles below *be* or *get* in their verb phrase, and with *by* behind a noun (*the car bought by Ann*)."""
    found: set[int] = set()
    for node in preorder(tree):
        participles = [_participle(child) for child in node.children]
        if node.label == "NP":
            found.update(
                word
                for child, word in zip(node.children, participles, strict=True)
                if word >= 0 and any(each.word == "by" for each in child.leaves())
            )
        elif node.label.startswith(("VP", "S")):  # questions: (SQ (VBD was) (NP it) (VP (VBN sold)))
            auxiliaries = [child.word.lower() for child in node.children if child.word and child.label[:2] == "VB"]
            if any(word in _BE or word in _GET for word in auxiliaries):
                found.update(word for word in participles if word >= 0)
    return frozenset(found)


def _participle(node: Tree) -> int:
    """The participle that heads a verb phrase, or coordinated ones' first; -1 if there is none."""
    if node.label != "VP":
        return -1
    for child in node.children:
        if child.label == "VBN":
            return child.begin
        if child.label[:2] == "VB" or child.label in ("MD", "TO"):
            return -1
        if child.label == "VP":
            return _participle(child)
    return -1


def _sentence_count(words: tuple[str, ...]) -> int:
    """Marks that end a sentence with words before them; what follows the last is one more."""
    count, is_open = 0, False
    for word in words:
        if word in _ENDS:
            count += is_open
            is_open = False
        elif any(character.isalnum() for character in word):
            is_open = True
    return max(count + is_open, 1)


def is_other_number(source: tuple[str, str], target: tuple[str, str]) -> bool:
    """Whether two words with their tags are one noun in singular and plural."""
    (word, tag), (other, other_tag) = source, target
    if tag not in _PLURAL or other_tag not in _PLURAL or _PLURAL[tag] == _PLURAL[other_tag]:
        return False
    singular, plural = (other.lower(), word.lower()) if _PLURAL[tag] else (word.lower(), other.lower())
    if plural in (f"{singular}s", f"{singular}es") or (singular[-1:] == "y" and plural == f"{singular[:-1]}ies"):
        return True
    return any(
        singular.endswith(ending) and plural == singular.removesuffix(ending) + plural_ending
        for ending, plural_ending in _irregular_plurals()
    )


@cache
def _irregular_plurals() -> tuple[tuple[str, str], ...]:
    path = grammar_root() / "irregular_plurals.tsv"
    return tuple((singular, plural) for _, (singular, plural) in read_rows(path, 2))


# ---- units ----


Words = tuple[int, ...]
_PARTICLES = frozenset({"IN", "RP", "TO"})


@dataclass(frozen=True, slots=True)
class EditUnit:
    """Two spans, whether their words are the same, and what the source is to the target if not.

    Words that do not stand together are the first stretch of them and the `rest`, on either side.
    """

    source: Span
    target: Span
    is_kept: bool
    relation: str
    rest: tuple[tuple[Span, ...], tuple[Span, ...]] = ((), ())

    @property
    def spans(self) -> tuple[Span, Span]:
        """Where the unit stands in source and target."""
        return self.source, self.target

    @property
    def words(self) -> tuple[Words, Words]:
        """All words of the unit, of the source and of the target."""
        own, other = ([word for span in spans for word in range(*span)] for spans in self.stretches)
        return tuple(own), tuple(other)

    @property
    def stretches(self) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        """All that belongs to the unit, of the source and of the target."""
        return (self.source, *self.rest[0]), (self.target, *self.rest[1])


def units_of(
    alignment: Alignment,
    source: EditSide,
    target: EditSide,
    contradictions: Sequence[Difference] = (),
    least: float = 0.0,
) -> list[EditUnit]:
    """All units, in the order of the source; neighbours that were kept are one.

    A replacement below the confidence `least` counts only inside a surer phrase.
    """
    opposites = {(each.source, each.target) for each in contradictions if each.kind == OPPOSITE}
    return _Units(alignment, source, target, opposites, least).all()


def edit_units(alignment: Alignment, least: float = 0.0) -> list[EditUnit]:
    """The units of a result, where nothing else is asked of its sides."""
    source = EditSide.of(alignment.source, alignment.source_tree)
    return units_of(alignment, source, EditSide.of(alignment.target, alignment.target_tree), least=least)


class _Units:
    def __init__(
        self,
        alignment: Alignment,
        source: EditSide,
        target: EditSide,
        opposites: set[tuple[Words, Words]],
        least: float,
    ):
        self.alignment, self.source, self.target, self.opposites = alignment, source, target, opposites
        self.pairs, self.links, self.least = alignment.phrases.pairs, alignment.words, least
        self.unsure: tuple[set[int], set[int]] = (set(), set())  # words whose pair is not believed

    def all(self) -> list[EditUnit]:
        """From phrase pairs, then from links, then what is left on both sides of a pair."""
        units = self._with_loose(self._with_joined(self._of_phrases()))
        units += self._linked_words(units)
        units += self._left_over(units)
        units = self._with_small_words(self._with_particles(self._with_neighbours(units)))
        return _join_units(sorted(units, key=lambda unit: (unit.source, unit.target)))

    def _of_phrases(self) -> list[EditUnit]:
        supporting = {support for pair in self.pairs for support in pair.supports}
        waiting = [(index, False) for index in range(len(self.pairs)) if index not in supporting]
        units = []
        while waiting:
            index, is_held = waiting.pop()
            pair = self.pairs[index]
            is_kept, is_sure = self._are_same(pair.source, pair.target), self._is_sure(pair)
            if not (is_kept or not pair.supports or self._is_one_value(pair) or self._is_surer_whole(pair)):
                is_held = is_held or (is_sure and pair.source.size < len(self.source.words) - 1)
                waiting += [(support, is_held) for support in pair.supports]
            elif is_kept or is_sure or is_held:
                units.append(EditUnit(pair.source, pair.target, is_kept, "" if is_kept else pair.relation))
            else:
                self.unsure[0].update(range(*pair.source))
                self.unsure[1].update(range(*pair.target))
        return units

    def _is_sure(self, pair: PhrasePair | DiscontinuousPair) -> bool:
        return pair.confidence is None or pair.confidence >= self.least

    def _left_over(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """What a pair has on both sides beyond its parts, null phrases and the units: it stands for each other."""
        taken, found = words_of(units), self.alignment.phrases
        nulls = found.source_nulls, found.target_nulls
        for words, spans, side, unsure in zip(taken, nulls, (self.source, self.target), self.unsure, strict=True):
            marks = {word for word, each in enumerate(side.classes) if each is WordClass.PUNCTUATION}
            words |= _words(spans) | unsure | marks
        more = []
        for pair in filter(self._is_sure, self.pairs):  # parts stand before their wholes
            own = sorted({*range(*pair.source)} - taken[0]), sorted({*range(*pair.target)} - taken[1])
            if all(own):
                more.append(_unit(*own, ""))
            taken[0].update(own[0])
            taken[1].update(own[1])
        return more

    def _with_joined(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """Words that are joined across others, or across phrases, stand for all replaced units that they hold."""
        found = list(units)
        for joined in filter(self._is_sure, self.alignment.phrases.joined):
            held = [unit for unit in found if not unit.is_kept and _holds_all(joined, unit)]
            others = [unit for unit in found if unit not in held]
            taken = words_of(others)
            if taken[0].isdisjoint(joined.source) and taken[1].isdisjoint(joined.target):
                found = [*others, _unit(joined.source, joined.target, joined.relation)]
        return found

    def _is_one_value(self, pair: PhrasePair) -> bool:
        """Whether a phrase says the same with another number: *three days*, *72 hours*."""
        return pair.relation == EQUAL and any(self.pairs[below].relation == DIFFERENT for below in pair.supports)

    def _is_surer_whole(self, pair: PhrasePair) -> bool:
        """Whether a phrase is all that its only part is on one side, and surer: *7-2*, *seven votes (to two)*."""
        part = self.pairs[pair.supports[0]]
        is_replaced = len(pair.supports) == 1 and not part.supports and not self._are_same(part.source, part.target)
        is_whole = (part.source == pair.source) != (part.target == pair.target)
        return is_replaced and is_whole and (part.confidence or 0) < (pair.confidence or 0)

    def _are_same(self, source: Span, target: Span) -> bool:
        return self.source.lowered(source) == self.target.lowered(target)

    def _with_loose(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """A replaced phrase whose looser partner adds small words beside it is replaced with these, on either side."""
        found = list(units)
        for side, span, _, index, _ in self.alignment.extended:
            pair = self.pairs[index]
            for k, unit in enumerate(units):
                is_widened = getattr(found[k], side) != getattr(unit, side)
                if unit.is_kept or is_widened or unit.spans != (pair.source, pair.target):
                    continue
                if not any(_meets(getattr(other, side), span) for other in (*found[:k], *found[k + 1 :])):
                    found[k] = replace(found[k], source=span) if side == "source" else replace(found[k], target=span)
        return found

    def _linked_words(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """Words that are linked but in no phrase pair, the surest links first: *not like* and *liked* share a verb."""
        taken = words_of(units)
        found = []
        for link in sorted(self.links, key=lambda link: (-link.score, self._order_link(link))):
            is_unsure = link.source in self.unsure[0] and link.target in self.unsure[1]
            if link.source not in taken[0] and link.target not in taken[1] and not is_unsure:
                taken[0].add(link.source)
                taken[1].add(link.target)
                spans = Span(link.source, link.source + 1), Span(link.target, link.target + 1)
                is_kept = self._are_same(*spans)
                is_equal = not is_kept and self.source.lemma(link.source) == self.target.lemma(link.target)
                is_opposite = ((link.source,), (link.target,)) in self.opposites
                found.append(EditUnit(*spans, is_kept, EQUAL if is_equal else OPPOSITE if is_opposite else ""))
        return found

    def _order_link(self, link: WordLink) -> tuple[int, int]:
        """In the order of the sentences by their words: ties fall the same way when they are swapped."""
        is_turned = self.target.words < self.source.words
        return (link.target, link.source) if is_turned else (link.source, link.target)

    def _with_neighbours(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """One word for several: a word without a partner joins the replaced neighbour that its link leads to."""
        found = list(units)
        taken = words_of(found)
        for link in sorted(self.links, key=self._order_link):
            for k, unit in enumerate(found):
                if unit.is_kept:
                    continue
                if link.source not in taken[0] and link.target in range(*unit.target):
                    wider = _widened(unit.source, link.source)
                elif link.target not in taken[1] and link.source in range(*unit.source):
                    wider = _widened(unit.target, link.target)
                else:
                    continue
                if wider is None:
                    continue
                told = replace(unit, relation=unit.relation or SIMILAR)
                is_source = link.source not in taken[0]
                found[k] = replace(told, source=wider) if is_source else replace(told, target=wider)
                taken[0].add(link.source)
                taken[1].add(link.target)
                break
        return found

    def _with_particles(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """A replaced verb and the replaced particle behind it are one: *looked after*, *cared for*."""
        found: list[EditUnit] = []
        for unit in sorted(units, key=lambda unit: (unit.source, unit.target)):
            last = found[-1] if found else None
            follows = last and (last.source.end, last.target.end) == (unit.source.begin, unit.target.begin)
            if last and follows and self._is_verb_and_particle(last, unit):
                spans = Span(last.source.begin, unit.source.end), Span(last.target.begin, unit.target.end)
                found[-1] = EditUnit(*spans, False, last.relation or SIMILAR)
            else:
                found.append(unit)
        return found

    def _is_verb_and_particle(self, first: EditUnit, second: EditUnit) -> bool:
        if first.is_kept or second.is_kept or OPPOSITE in (first.relation, second.relation):
            return False
        return all(
            side.tags[verb.end - 1].startswith("VB") and particle.size == 1 and side.tags[particle.begin] in _PARTICLES
            for side, verb, particle in (
                (self.source, first.source, second.source),
                (self.target, first.target, second.target),
            )
        )

    def _with_small_words(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """Small words that only one side has go with what they belong to: *approved* and *was approved*, *a dog* and
        *two dogs*, *failed to* and *did not*."""
        found = list(units)
        taken = words_of(found)
        free = set(range(len(self.source.words))) - taken[0], set(range(len(self.target.words))) - taken[1]
        for k, unit in enumerate(found):
            spans = self._with_auxiliaries(unit, free) or self._with_count(unit, free) or self._with_to(unit, free)
            if spans:
                is_equal = unit.is_kept or self.source.lemma(unit.source.end - 1) == self.target.lemma(
                    unit.target.end - 1
                )
                found[k] = EditUnit(*spans, False, EQUAL if is_equal else unit.relation)
                free[0].difference_update(range(*spans[0]))
                free[1].difference_update(range(*spans[1]))
        return found

    def _with_auxiliaries(self, unit: EditUnit, free: tuple[set[int], set[int]]) -> tuple[Span, Span] | None:
        """A verb that is passive on one side only, with its *was*."""
        if not unit.source.size == unit.target.size == 1:
            return None
        passive = unit.source.begin in self.source.passives, unit.target.begin in self.target.passives
        is_verb = self.source.is_verb(unit.source.begin) and self.target.is_verb(unit.target.begin)
        if not is_verb or passive[0] == passive[1]:
            return None
        side, span, its = (self.source, unit.source, free[0]) if passive[0] else (self.target, unit.target, free[1])
        begin = span.begin
        while begin - 1 in its and side.tags[begin - 1].startswith("VB"):
            begin -= 1
        wider = Span(begin, span.end)
        return None if wider == span else (wider, unit.target) if passive[0] else (unit.source, wider)

    def _with_count(self, unit: EditUnit, free: tuple[set[int], set[int]]) -> tuple[Span, Span] | None:
        """A noun of another number, with the words that count it on both sides."""
        if unit.is_kept or not unit.source.size == unit.target.size == 1:
            return None
        before = unit.source.begin - 1, unit.target.begin - 1
        tags = self.source.tags[unit.source.begin], self.target.tags[unit.target.begin]
        is_counted = before[0] in free[0] and before[1] in free[1] and {*tags} == {"NN", "NNS"}
        counts = self.source.tags[before[0]], self.target.tags[before[1]]
        if not is_counted or not all(tag in ("DT", "CD", "PRP$") for tag in counts):
            return None
        return Span(before[0], unit.source.end), Span(before[1], unit.target.end)

    def _with_to(self, unit: EditUnit, free: tuple[set[int], set[int]]) -> tuple[Span, Span] | None:
        """A replaced verb with the *to* behind it."""
        sides = (self.source, unit.source, free[0]), (self.target, unit.target, free[1])
        source, target = [
            Span(span.begin, span.end + (span.end in its and _is_verb_with_to(side, span.end)))
            for side, span, its in sides
        ]
        return None if unit.is_kept or (source, target) == unit.spans else (source, target)


def _unit(source: Sequence[int], target: Sequence[int], relation: str) -> EditUnit:
    """Words that stand for each other, wherever they stand."""
    own, other = runs_of(source), runs_of(target)
    return EditUnit(own[0], other[0], False, relation, (tuple(own[1:]), tuple(other[1:])))


def _is_verb_with_to(side: EditSide, word: int) -> bool:
    return side.tags[word] == "TO" and side.tags[word - 1].startswith("VB")


def _widened(span: Span, word: int) -> Span | None:
    """The span with a word just before or behind it."""
    if word == span.end:
        return Span(span.begin, word + 1)
    return Span(word, span.end) if word == span.begin - 1 else None


def words_of(units: Iterable[EditUnit]) -> tuple[set[int], set[int]]:
    """The words of all units, of the source and of the target."""
    words = [unit.words for unit in units]
    return {word for own, _ in words for word in own}, {word for _, other in words for word in other}


def _words(spans: Iterable[Span]) -> set[int]:
    return {word for span in spans for word in range(*span)}


def _holds_all(joined: DiscontinuousPair, unit: EditUnit) -> bool:
    return {*joined.source}.issuperset(range(*unit.source)) and {*joined.target}.issuperset(range(*unit.target))


def _meets(one: Span, other: Span) -> bool:
    return one.begin < other.end and other.begin < one.end


def _holds(outer: Span, inner: Span) -> bool:
    return outer.begin <= inner.begin and inner.end <= outer.end


def _join_units(units: Sequence[EditUnit]) -> list[EditUnit]:
    """Kept units that follow each other on both sides are one."""
    joined: list[EditUnit] = []
    for unit in units:
        last = joined[-1] if joined else None
        follows = last and (last.source.end, last.target.end) == (unit.source.begin, unit.target.begin)
        if last and follows and last.is_kept and unit.is_kept:
            spans = Span(last.source.begin, unit.source.end), Span(last.target.begin, unit.target.end)
            joined[-1] = EditUnit(*spans, True, "")
        else:
            joined.append(unit)
    return joined
