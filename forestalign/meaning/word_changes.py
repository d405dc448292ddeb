"""Words of two sentences that stand for each other and do not say the same.

Opposites (*cheap*, *expensive*), values of one scale that are far apart (*must*, *may*) or have other names (*Monday*,
*Tuesday*), other numbers (*two*, *three*; *12 %*, *$12*), and other words or names in one place (*tea*, *coffee*).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from unicodedata import category

from forestalign.grammar import negation_words
from forestalign.lexicon.findings import EQUAL, SIMILAR, Finding
from forestalign.lexicon.numbers import same_number, word_value
from forestalign.lexicon.quantities import find_measures, quantity_findings
from forestalign.lexicon.word_classes import WordClass, meaning_words, word_class
from forestalign.lexicon.wordnet import are_opposites
from forestalign.meaning.claims import Negation, Value, find_negations, find_values, forms_of, is_compared, less_of
from forestalign.meaning.differences import NAME, NUMBER, OPPOSITE, OTHER, Difference, describe
from forestalign.meaning.matcher import Correspondence
from forestalign.meaning.readings import Reading
from forestalign.meaning.role_changes import RoleComparison
from forestalign.tokens import Sentence, Span, Token

Words = tuple[int, ...]
Both = tuple[frozenset[int], frozenset[int]]  # words of either side
APART = 3  # levels between two values of a scale that say different things
SURE, SURE_NAME = 0.72, 0.93  # links of words, and of names, that stand for one thing
_SAME_KIND = ("NN", "VB", "JJ", "RB", "IN", "DT", "CD", "RP")  # beginnings of tags of words that can be opposites
_NEAR_KINDS = ({"IN", "TO"}, {"JJ", "RB"}, {"JJ", "VB"}, {"IN", "RP", "RB"}, {"NN", "DT", "CD", "RB"})
_REPLACED = ("NN", "VB", "JJ")  # beginnings of tags of words that can stand in another's place
_PLAIN = frozenset({"no", "not", "n't"})  # negations inside expressions: has no intention of
_SHARED = 3  # letters at the beginning of two forms of one name: Austria, Austrian


@dataclass(frozen=True)
class WordChanges:
    """Two sentences, their smallest pairs of phrases, and what lines of the grammar say of them."""

    roles: RoleComparison
    phrases: Sequence[tuple[Span, Span]]
    correspondences: Sequence[Correspondence]

    @cached_property
    def sides(self) -> tuple[Reading, Reading]:
        """Source and target."""
        return self.roles.source, self.roles.target

    @cached_property
    def linked(self) -> list[tuple[int, int]]:
        """Pairs of words that links or phrases put together, in their order."""
        words = {(own.begin, other.begin) for own, other in self.phrases if own.size == other.size == 1}
        return sorted({*self.roles.partner.items(), *self.roles.scores, *words})

    @cached_property
    def equivalents(self) -> list[Finding]:
        """What says the same in other words: quantities in other units, and lines of the grammar."""
        values = quantity_findings(self.roles.source.parts, self.roles.target.parts)
        found = [each for each in values if each.relation in (EQUAL, SIMILAR)]
        return found + [
            Finding(each.source.words, each.target.words, EQUAL)
            for each in self.correspondences
            if not each.is_opposite and not each.swapped and (each.source.has_content or each.target.has_content)
        ]

    @cached_property
    def settled_words(self) -> Both:
        """The words of these."""
        return (
            frozenset(word for each in self.equivalents for word in each.source),
            frozenset(word for each in self.equivalents for word in each.target),
        )

    @cached_property
    def negations(self) -> tuple[list[Negation], list[Negation]]:
        """What the two sentences deny."""
        return find_negations(self.roles.source), find_negations(self.roles.target)

    def say(self, kind: str, own: Words, other: Words) -> Difference:
        """A difference of these words, with its reason."""
        return describe(kind, own, other, self.roles.source.sentence, self.roles.target.sentence)

    # ---- opposites ----

    def opposites(self) -> Iterator[Difference]:
        """Linked words that are opposites, words without a partner that are, what lines oppose, degrees."""
        free = [
            [k for k, token in enumerate(side.sentence.tokens) if k not in linked and _is_content(token)]
            for side, linked in zip(self.sides, ({i for i, _ in self.linked}, {j for _, j in self.linked}), strict=True)
        ]
        pairs = sorted([*self.linked, *(pair for pair in product(*free) if self._have_one_head(*pair))])
        found = [((i,), (j,)) for i, j in pairs if self._are_opposites(i, j)]
        lines = [(each.source.words, each.target.words) for each in self.correspondences if self._oppose(each)]
        taken: tuple[set[int], set[int]] = (set(), set())
        for own, other in [*found, *sorted(lines, key=lambda pair: -len(pair[0]) - len(pair[1]))]:
            if taken[0].isdisjoint(own) and taken[1].isdisjoint(other):
                taken[0].update(own)
                taken[1].update(other)
                yield self.say(OPPOSITE, own, other)
        yield from self._degrees()

    def _have_one_head(self, i: int, j: int) -> bool:
        """Whether two words say something of partners, or are the tops of their sentences."""
        head, other = self.roles.source.dependencies.heads[i], self.roles.target.dependencies.heads[j]
        return max(head, other) < 0 or self.roles.partner.get(head, -2) == other

    def _oppose(self, line: Correspondence) -> bool:
        """Whether a line opposes expressions that tell of one thing: adjectives, or those of which something agrees."""
        one, other, partner = line.source, line.target, self.roles.partner
        if not line.is_opposite or line.swapped or not (one.has_content and other.has_content):
            return False
        is_filled = any(partner.get(word) == other.filler(letter) for letter, word in one.fillers)
        is_free = partner.get(one.head) == other.head or not (one.head in partner or other.head in self.roles.back)
        if not is_free and not (is_filled and len(one.words) > 1 < len(other.words)):
            return False
        if any(one.head in each.source and other.head in each.target for each in self.equivalents):
            return False
        source, target = (side.sentence for side in self.sides)
        words = {source.lower_words[k] for k in one.words} | {target.lower_words[k] for k in other.words}
        is_one_word = self.sides[0].lemmas[one.head] == self.sides[1].lemmas[other.head]  # not open, open
        if is_one_word or self.roles.may_be_conversive(one.head, other.head) or words & (negation_words() - _PLAIN):
            return False
        tags = {source.tags[one.head][:2], target.tags[other.head][:2]}
        if tags == {"JJ"} or "MD" in tags:  # modal verbs stand on a scale
            return tags == {"JJ"}
        return is_filled or one.head in partner or self._have_one_head(one.head, other.head)

    def _are_opposites(self, i: int, j: int) -> bool:
        source, target = self.sides
        if source.lemmas[i] == target.lemmas[j] or not _can_oppose(source.sentence.tags[i], target.sentence.tags[j]):
            return False
        pairs = product(forms_of(source.sentence, i), forms_of(target.sentence, j))
        lists, wordnet = meaning_words(), self.roles.wordnet
        if frozenset((source.lemmas[i], target.lemmas[j])) in lists.unopposed:
            return False
        if not any(frozenset(pair) in lists.degrees or are_opposites(*pair, wordnet) for pair in pairs):
            return False
        if self.roles.may_be_conversive(i, j):
            return False
        said: list[Finding | Difference] = [*self.equivalents, *self.on_scales]
        if any(i in each.source and j in each.target for each in said):
            return False
        return not any(_is_cue(side, word) for side, word in zip(self.sides, (i, j), strict=True))

    def _degrees(self) -> Iterator[Difference]:
        """*Safer* and *less safe*; *more safe* and *less safe* are opposites by their words."""
        source, target = self.sides
        if meaning_words().less.isdisjoint(source.lemmas) == meaning_words().less.isdisjoint(target.lemmas):
            return
        for i, j in sorted(self.roles.partner.items()):
            less = less_of(source, i), less_of(target, j)
            more = (target.sentence, j) if less[0] >= 0 else (source.sentence, i)
            is_one_sided = (less[0] < 0) != (less[1] < 0) and is_compared(*more)
            if is_one_sided and forms_of(source.sentence, i) & forms_of(target.sentence, j):
                words = [tuple(k for k in each if k >= 0) for each in ((less[0], i), (less[1], j))]
                yield self.say(OPPOSITE, words[0], words[1])

    # ---- scales ----

    @cached_property
    def on_scales(self) -> tuple[Difference, ...]:
        """Values of one scale that are far apart, and names of one kind that are not the same.

        Two values of one scale are compared if what they are about is partners, or they are themselves; names are
        compared whatever they are about, each side's names that the other does not have. A value that is negated is
        left to negation: *must not* is *may not*.
        """
        own, other = (
            [value for value in find_values(side) if not settled.issuperset(value.words)]
            for side, settled in zip(self.sides, self.settled_words, strict=True)
        )
        found: list[Difference] = []
        for scale in dict.fromkeys(value.said.scale for value in (*own, *other)):
            mine = [value for value in own if value.said.scale == scale]
            theirs = [value for value in other if value.said.scale == scale]
            is_named = any(value.said.name for value in (*mine, *theirs))
            for one, another in _other_names(mine, theirs) if is_named else self._other_levels(mine, theirs):
                words = [
                    " ".join(side.sentence.words[word] for word in value.words)
                    for side, value in zip(self.sides, (one, another), strict=True)
                ]
                found.append(Difference(one.said.kind, one.words, another.words, f"{words[0]} became {words[1]}"))
        return tuple(found)

    def _other_levels(self, own: list[Value], other: list[Value]) -> Iterator[tuple[Value, Value]]:
        """Values about partners, each with the nearest, where the two are far apart."""
        left = list(other)
        for one in own:
            partners = [each for each in left if self._are_partners(one, each)]
            if partners:
                nearest = min(partners, key=lambda each: abs(each.said.level - one.said.level))
                left.remove(nearest)
                is_negated = self._is_negated(0, one) or self._is_negated(1, nearest)
                if not is_negated and abs(one.said.level - nearest.said.level) >= APART:
                    yield one, nearest

    def _are_partners(self, one: Value, other: Value) -> bool:
        partner, heads = self.roles.partner, [side.dependencies.heads for side in self.sides]
        if partner.get(one.about) == other.about or any(partner.get(word) in other.words for word in one.words):
            return True
        return max(heads[0][one.about], heads[1][other.about]) < 0  # both are about the whole

    def _is_negated(self, side: int, value: Value) -> bool:
        """Whether what a value is about is negated, or what governs it."""
        reading = self.sides[side]
        about = value.about, reading.dependencies.heads[value.about]
        own = [word for word in value.words if reading.lemmas[word] in ("not", "n't")]  # must not, not have to
        return any(each.predicate in about and each.cue not in own for each in self.negations[side])

    # ---- numbers ----

    def values(self) -> Iterator[Difference]:
        """Numbers at the same place that are not the same number, or of which the units are of two kinds."""
        own, other = ([tag == "CD" for tag in side.sentence.tags] for side in self.sides)
        if not (any(own) and any(other)):
            return
        taken: tuple[set[int], set[int]] = (set(), set())
        for i, j in sorted({*self.linked, *self._at_one_place(own)}):
            if not (own[i] and other[j]) or i in taken[0] or j in taken[1]:
                continue
            words = self._other_measures(i, j) if self._are_same(i, j) else ((i,), (j,))
            if words is not None and i not in self.settled_words[0] and j not in self.settled_words[1]:
                taken[0].update(words[0])
                taken[1].update(words[1])
                yield self.say(NUMBER, *words)

    def _are_same(self, i: int, j: int) -> bool:
        words = self.roles.source.sentence.words[i], self.roles.target.sentence.words[j]
        is_one_kind = _is_score(words[0]) == _is_score(words[1])  # *4-1* and *four* are not of one kind
        return same_number(*words) or words[0].lower() == words[1].lower() or not is_one_kind

    def _other_measures(self, i: int, j: int) -> tuple[Words, Words] | None:
        """*12 percent* and *12 million dollars*: one number, and nothing on either side that the other measures."""
        own, other = (find_measures(side.parts) for side in self.sides)
        before, beyond = (set().union(*each.values()) for each in (own, other))
        for left, right in product(own, other):
            are_others = own[left].isdisjoint(beyond) and other[right].isdisjoint(before)
            if i in left and j in right and are_others:
                return left, right
        return None

    def _at_one_place(self, numbers: Sequence[bool]) -> Iterator[tuple[int, int]]:
        """Numbers without a partner of which the nouns are partners."""
        source, target = self.sides
        for predicate, other in self.roles.partner.items():
            for i, roles in source.arguments[predicate]:
                if numbers[i] and i not in self.roles.partner:
                    yield from ((i, j) for j in target.fillers(other, roles) if j not in self.roles.back)

    # ---- another word ----

    def substitutions(self, explained: tuple[Collection[int], Collection[int]]) -> Iterator[Difference]:
        """Content words in each other's place that are neither the same nor linked for sure.

        A word stands in another's place if its neighbours are the same on both sides; a name also if the links lead to
        another name. Links of such words are sure if they are as good as synonyms.
        """
        source, target = self.sides
        signs = [signs_of(side.sentence) for side in self.sides]
        for (sign, i), (other, j) in zip(signs[0].items(), signs[1].items(), strict=False):
            if sign not in signs[1] and other not in signs[0]:
                yield self.say(OTHER, (i,), (j,))
        names = [[tag[:3] == "NNP" for tag in side.sentence.tags] for side in self.sides]
        linked = [(i, j) for i, j in self.roles.scores if names[0][i] and names[1][j]]
        for i, j in sorted({*_in_one_place(source, target), *linked}):
            if i in explained[0] or j in explained[1] or names[0][i] != names[1][j]:
                continue
            if self.roles.partner.get(i, j) != j or self.roles.back.get(j, i) != i or self._are_related(i, j):
                continue
            if source.lemmas[i] in target.lemmas or target.lemmas[j] in source.lemmas or not self._have_one_place(i, j):
                continue
            words = source.sentence.words[i], target.sentence.words[j]
            if any(map(str.isdigit, "".join(words))):  # figures by themselves are values: W10 and W20 are names
                kind = NUMBER if all(any(map(str.isdigit, w)) and word_value(w.lower()) is None for w in words) else ""
            else:
                is_sure = self.roles.scores.get((i, j), 0.0) >= (SURE_NAME if names[0][i] else SURE)
                kind = "" if is_sure else NAME if names[0][i] else OTHER
            if kind:
                yield self.say(kind, (i,), (j,))

    def _have_one_place(self, i: int, j: int) -> bool:
        """Whether one word governs both, or they govern their sentences and most of what they govern is the same."""
        source, target = self.sides
        relations = source.dependencies.relations[i], target.dependencies.relations[j]
        if source.sentence.tags[i][:3] == "NNP" and _preposition(relations[0]) == _preposition(relations[1]) != "":
            return True  # names in Chile and in Hawaii
        if relations[0] != relations[1] or relations[0] == "compound":
            return source.sentence.tags[i][:3] == "NNP" and relations[0] != relations[1]
        heads = source.dependencies.heads[i], target.dependencies.heads[j]
        if min(heads) >= 0:
            return self.roles.partner.get(heads[0]) == heads[1] and source.lemmas[heads[0]] == target.lemmas[heads[1]]
        below, held = source.arguments[i], {word for word, _ in target.arguments[j]}
        shared = sum(self.roles.partner.get(word) in held for word, _ in below)
        return max(heads) < 0 and 2 * shared > max(len(below), len(held))

    def _are_related(self, i: int, j: int) -> bool:
        """Whether two words are one, forms or shortenings of one, synonyms, or one is above the other."""
        source, target, wordnet = *self.sides, self.roles.wordnet
        words = source.sentence.lower_words[i], target.sentence.lower_words[j]
        lemmas = source.lemmas[i], target.lemmas[j]
        if lemmas[0] == lemmas[1] or words[0] == words[1]:
            return True
        if any(map(str.isdigit, "".join(words))):
            return False
        if words[0][:_SHARED] == words[1][:_SHARED] or "." in "".join(words):
            return True
        if wordnet.are_synonyms(*lemmas) or wordnet.are_derivations(*lemmas):
            return True
        return wordnet.is_hypernym(*lemmas) or wordnet.is_hypernym(*lemmas[::-1])


def signs_of(sentence: Sentence) -> dict[str, int]:
    """Pictures and other signs by themselves, without what chooses their colour or look, and where each stands."""
    return {word[0]: k for k, word in enumerate(sentence.words) if category(word[0]) == "So"}


def _is_content(token: Token) -> bool:
    return word_class(token) == WordClass.CONTENT


@lru_cache(maxsize=1 << 12)
def _can_oppose(tag: str, other: str) -> bool:
    """Whether words of two tags can be opposites."""
    is_one_kind = any(tag.startswith(kind) and other.startswith(kind) for kind in _SAME_KIND)
    return is_one_kind or any({tag[:2], other[:2]} <= kinds for kinds in _NEAR_KINDS)


def _is_cue(side: Reading, word: int) -> bool:
    """Whether a word negates, which is no opposite: *never*, *nothing*; *without* is one of *with*."""
    return side.sentence.lower_words[word] in negation_words() and side.sentence.tags[word] != "IN"


def _other_names(own: list[Value], other: list[Value]) -> Iterator[tuple[Value, Value]]:
    """Of two sides the names that the other does not have, in their order."""
    names = {value.said.name for value in own}, {value.said.name for value in other}
    mine = [value for value in own if value.said.name not in names[1]]
    yield from zip(mine, [value for value in other if value.said.name not in names[0]], strict=False)


def _preposition(relation: str) -> str:
    """The preposition of an oblique or a modifier."""
    base, _, kind = relation.partition(":")
    return kind if base in ("obl", "nmod") and kind != "poss" else ""


def _is_score(word: str) -> bool:
    """Whether a word is two numbers: *4-1*, *1990-95*."""
    return any(map(str.isdigit, word)) and any(dash in word[1:] for dash in ("-", "–"))


def _in_one_place(source: Reading, target: Reading) -> Iterator[tuple[int, int]]:
    """Different words of one kind between the same neighbours, where each side has this place once."""
    own, other = (_neighbours(side.sentence.lower_words) for side in (source, target))
    counts, places = (Counter(own), Counter(other)), {place: j for j, place in enumerate(other)}
    for i, place in enumerate(own):
        if counts[0][place] == counts[1][place] == 1:
            j = places[place]
            tags = source.sentence.tags[i], target.sentence.tags[j]
            if tags[0][:2] == tags[1][:2] and tags[0].startswith(_REPLACED) and source.lemmas[i] != target.lemmas[j]:
                yield i, j


def _neighbours(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(("", *words[:-1]), (*words[1:], ""), strict=True)) if words else []
