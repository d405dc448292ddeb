"""Where lines of the paraphrase grammar are met in two sentences, and which words correspond by them.

An *instance* is an expression met in a sentence: its words, the heads of what fills its slots, and its sign. The
words stand in the order of the expression. Between two of them there may be what fills a slot, or what modifies them
(*make a hard decision*), if the dependencies join the two; a noun may stand before its verb where a passive or a
relative clause puts it there (*the decision that was made*). An expression with `not` takes its negation among its
words; where nothing denies it its sign is turned: *pass* is *not pass* with the other sign. So is that of an expression
without `not` that is denied from inside: *make no decision*.

Two instances of one line, one in each sentence, *correspond* unless a slot contradicts: its two fillers are linked,
or neither is linked to anything, or one is missing. Because both sides must be there, loose lines are safe.
Expressions of function words alone (*by*, *and so*) are everywhere, so they correspond only where fillers are linked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from forestalign.arrays import FloatArray
from forestalign.meaning.claims import path_up
from forestalign.meaning.readings import OBJECT, RECIPIENT, SUBJECT, Reading
from forestalign.meaning.rules import (
    COPULA,
    MORE_SPECIFIC,
    NOT,
    OPPOSITE,
    Expression,
    ExpressionPattern,
    Rule,
    RuleTable,
)

LIKELY = 0.3  # probability of a link that says who the partner of a filler is
_MOST_INSERTED = 3  # words that modify, between two words of an expression
_WIDEST_SLOT = 12  # words between two words of an expression with a slot between them
_MOST_INSTANCES = 8  # of one expression in a sentence
_FRONTED = ("nsubj:pass", "nsubj", "obj")
_PASSIVE = (COPULA, "by")  # what a passive has beside its verb
_CLAUSES = ("acl", "acl:relcl")
# tags and relations of words that stand before what fills a slot, and below it
_BEFORE_FILLERS = frozenset({"IN", "TO", "RP", "WRB", "WDT", "CC", "VBG"})
_BELOW_FILLERS = ("case", "mark", "fixed", "cc", "advmod")
_BELOW_VERBS = ("aux", "aux:pass", "advmod", "cop")
_BELOW_NOUNS = ("amod", "nummod", "det", "det:predet")
_DENIED = {"mark": 3, "case": 3, "aux": 2, "aux:pass": 2, "cop": 2}  # words on the way up that are denied with a word


class Instance(NamedTuple):
    """An expression met in a sentence, by the numbers of tokens."""

    number: int  # of the expression in its table
    line: int
    is_right: bool
    words: tuple[int, ...]
    head: int
    is_negative: bool
    fillers: tuple[tuple[str, int], ...]  # letter of a slot, head word of what fills it
    has_content: bool  # beside function words

    def filler(self, letter: str) -> int:
        """The head of what fills a slot, -1 where nothing does."""
        return next((word for own, word in self.fillers if own == letter), -1)


class Correspondence(NamedTuple):
    """Two instances of one line, whether they say the same or the opposite, and which slots changed places."""

    source: Instance
    target: Instance
    rule: Rule
    is_opposite: bool
    direction: int  # 1: the source says more, -1: the target does, 0: neither
    swapped: tuple[str, ...]  # letters of slots whose fillers stand in each other's slot

    def mirrored(self) -> Correspondence:
        """The correspondence with source and target swapped."""
        return self._replace(source=self.target, target=self.source, direction=-self.direction)


def find_instances(reading: Reading, expression: Expression, number: int) -> list[Instance]:
    """All ways in which a sentence has an expression, those with the fewest words in between first."""
    matches = list(_match(reading, expression.pattern))
    matches.sort(key=lambda words: (max(words) - min(words), words))
    instances: list[Instance] = []
    for words in matches[:_MOST_INSTANCES]:
        instance = _instance(reading, expression, number, words)
        if instance is not None and all(instance.words != other.words for other in instances):
            instances.append(instance)
    return instances


# ---- words ----


def _match(reading: Reading, pattern: ExpressionPattern) -> Iterator[tuple[int, ...]]:
    """Parts of the sentence that are the words of a pattern; words that may be missing are left out where they are."""
    choices: list[Sequence[int]] = []
    for word, is_optional in zip(pattern.words, pattern.is_optional, strict=True):
        at = reading.parts_by_form.get(word, ())
        if not at and not is_optional and word != COPULA:
            return
        choices.append(at)
    yield from _extend(reading, pattern, choices, (), 0, -1)


def _extend(
    reading: Reading,
    pattern: ExpressionPattern,
    choices: Sequence[Sequence[int]],
    chosen: tuple[int, ...],
    place: int,
    before: int,
) -> Iterator[tuple[int, ...]]:
    """Continue a match with word number `place`; `before` is the pattern's last word that was met."""
    if place == len(choices):
        if chosen:
            yield chosen
        return
    has_met = False
    for at in choices[place]:
        if at not in chosen and (not chosen or _follows(reading, pattern, chosen[-1], at, before, place)):
            has_met = True
            yield from _extend(reading, pattern, choices, (*chosen, at), place + 1, place)
    may_miss = pattern.is_optional[place] or (pattern.words[place] == COPULA and pattern.has_content)
    if may_miss and not has_met:
        yield from _extend(reading, pattern, choices, chosen, place + 1, before)


def _follows(reading: Reading, pattern: ExpressionPattern, one: int, other: int, before: int, place: int) -> bool:
    """Whether the part `other` may stand for a word of the pattern when the one before it is at `one`."""
    if other == one + 1:
        return True
    tokens = reading.parts.tokens
    head, dependent = tokens[one], tokens[other]
    relations, heads = reading.dependencies.relations, reading.dependencies.heads
    if other < one:
        is_fronted = heads[dependent] == head and relations[dependent] in _FRONTED
        return is_fronted or (heads[head] == dependent and relations[head].startswith(_CLAUSES))
    has_slot = any(pattern.slots[k] for k in range(before + 1, place + 1))
    if has_slot:
        return other - one <= _WIDEST_SLOT and reading.is_joined(head, dependent)
    if relations[dependent] == "compound:prt" and heads[dependent] == head:
        return other - one <= _WIDEST_SLOT
    if other - one - 1 > _MOST_INSERTED or not reading.is_joined(head, dependent):
        return False
    return all(head <= heads[token] <= dependent for token in tokens[one + 1 : other])


def _instance(reading: Reading, expression: Expression, number: int, parts: tuple[int, ...]) -> Instance | None:
    pattern, tokens = expression.pattern, reading.parts.tokens
    words = sorted({tokens[part] for part in parts})
    if sum(tokens.count(word) for word in words) != len(parts):  # a part of a hyphenated word only
        return None
    heads = reading.dependencies.heads
    head = next((word for word in words if heads[word] not in words), words[0])
    if COPULA in pattern.words and _is_active(reading, head):
        return None
    if pattern.words == (NOT,):
        head, is_negative = heads[words[0]], False
    else:
        negators = _negators_inside(reading, words, head)
        if pattern.is_negated:
            others = [token for token in _negators(reading, words) if words[0] < token < words[-1]]
            negators = _negators(reading, (head,)) or others or negators
        is_negative = pattern.is_negated != bool(len(set(negators) - set(words)) % 2)
        words = sorted({*words, *negators})
    fillers = tuple(_fillers(reading, pattern, parts, frozenset(words), head))
    owners = [word for slot, word in fillers if slot.endswith("'s") and reading.sentence.tags[word] == "PRP$"]
    words = sorted({*words, *owners})
    fillers = tuple((slot[0], word) for slot, word in fillers if word not in owners)
    return Instance(
        number, expression.line, expression.is_right, tuple(words), head, is_negative, fillers, pattern.has_content
    )


def _is_active(reading: Reading, head: int) -> bool:
    """Whether a past form is no passive, so that no *be* can be missing: *defeated them*, *has defeated them*."""
    relations, below = reading.dependencies.relations, reading.children[head]
    if any(relations[child] in ("cop", "aux:pass") for child in below):
        return False
    is_past = reading.sentence.tags[head] == "VBD" and reading.lemmas[head] != COPULA
    return is_past or (reading.sentence.tags[head] == "VBN" and any(relations[child] == "nsubj" for child in below))


def _negators(reading: Reading, words: Sequence[int]) -> list[int]:
    """The negations of the first of these words that has any, or of what is denied with it.

    A conjunction or preposition has those of its clause, or else of what governs that; the modal of *must not smoke*
    has those of its verb.
    """
    heads, relations = reading.dependencies.heads, reading.dependencies.relations
    places = (place for word in words for place in path_up(heads, word)[: _DENIED.get(relations[word], 1)])
    return next((negators for place in places if (negators := reading.negators.get(place))), [])


def _negators_inside(reading: Reading, words: Sequence[int], head: int) -> list[int]:
    """Negations between the words of an expression that deny one of them, not the whole: *make no decision*."""
    heads, relations = reading.dependencies.heads, reading.dependencies.relations
    return [
        token
        for word in words
        for token in reading.negators.get(word, ())
        if words[0] < token < words[-1] and heads[token] == word and (word != head or relations[token] == "det")
    ]


# ---- slots ----


def _fillers(
    reading: Reading, pattern: ExpressionPattern, parts: tuple[int, ...], words: frozenset[int], head: int
) -> Iterator[tuple[str, int]]:
    """The head words of what fills the slots; a slot whose filler is not found is left out."""
    tokens = reading.parts.tokens
    met = _places_of_words(reading, pattern, parts)
    is_passive = any(reading.dependencies.relations[child] == "nsubj:pass" for child in reading.children[head])
    subject = OBJECT if is_passive and COPULA in pattern.words else SUBJECT  # of `X be sold`, what is sold
    for place, slots in enumerate(pattern.slots):
        before = next((tokens[met[k]] for k in range(place - 1, -1, -1) if k in met), -1)
        after = next((tokens[met[k]] for k in range(place, len(pattern.words)) if k in met), -1)
        for order, slot in enumerate(slots):
            role = RECIPIENT if len(slots) > 1 and order == 0 else frozenset({OBJECT})
            filler = _filler(reading, slot, role if before >= 0 else frozenset({subject}), before, after, head)
            if filler >= 0 and filler not in words:
                yield slot, filler


def _places_of_words(reading: Reading, pattern: ExpressionPattern, parts: tuple[int, ...]) -> dict[int, int]:
    """The part at which each word of the pattern was met."""
    met: dict[int, int] = {}
    left = list(parts)
    for place, word in enumerate(pattern.words):
        if left and left[0] in reading.parts_by_form.get(word, ()):
            met[place] = left.pop(0)
    return met


def _filler(reading: Reading, slot: str, roles: frozenset[str], before: int, after: int, head: int) -> int:
    heads, relations = reading.dependencies.heads, reading.dependencies.relations
    if slot.endswith("'s"):
        owned = after if after >= 0 else head
        return _first([k for k in reading.children[owned] if relations[k] == "nmod:poss"])
    if before < 0:
        return _first(reading.fillers(head, roles))
    above = heads[before]
    below = _BELOW_VERBS if slot in "VS" else _BELOW_NOUNS if slot in "XYZ" else ()
    if above > before and relations[before] in below:
        return above  # *must V*, *probably S*; *several X*
    if (tag := reading.sentence.tags[before]) in _BEFORE_FILLERS and relations[before] in _BELOW_FILLERS:
        is_clause = slot in "XYZ" and tag == "WRB"  # *when X arrive*
        return next(iter(reading.fillers(above, frozenset({SUBJECT})) if is_clause else ()), above)
    if slot in "VS":
        return _first([k for k in reading.children[before] if relations[k][:5] in ("xcomp", "ccomp")])
    for predicate in (before, head):
        if (filler := _first(reading.fillers(predicate, roles))) >= 0:
            return filler
    others = ("obl:", "punct")
    return _first([k for k in reading.children[before] if k > before and not relations[k].startswith(others)])


def _first(words: Sequence[int]) -> int:
    return words[0] if words else -1


# ---- two sentences ----


def find_correspondences(
    source: Reading, target: Reading, links: FloatArray, tables: Sequence[RuleTable]
) -> tuple[Correspondence, ...]:
    """What lines say about two sentences, in the order of their words.

    This is done once for a pair: `Alignment.correspondences` has them for whoever asks later.
    """
    correspondences = [
        each
        for table in tables
        for each in _in_table(source, target, links, table)
        if _says_something(each, source, target)
    ]
    return tuple(sorted(correspondences, key=lambda each: (each.source.words, each.target.words, each.is_opposite)))


def _in_table(source: Reading, target: Reading, links: FloatArray, table: RuleTable) -> Iterator[Correspondence]:
    words, others = source.parts_by_form.keys(), target.parts_by_form.keys()
    left = table.candidates(words, table.lines_of(others))
    right = table.candidates(others, left)
    for line in sorted(right):
        ours, theirs = left[line], right[line]
        if len(ours) == 1 and ours == theirs:  # two expressions are needed
            continue
        instances = _instances(source, table, ours)
        for one, other in product(instances, _instances(target, table, theirs) if instances else ()):
            if one.number != other.number:
                yield from _correspond(one, other, table.rules[line], links)


def _instances(reading: Reading, table: RuleTable, numbers: Sequence[int]) -> list[Instance]:
    return [each for number in numbers for each in find_instances(reading, table.expression(number), number)]


def _correspond(one: Instance, other: Instance, rule: Rule, links: FloatArray) -> Iterator[Correspondence]:
    if _is_doubtful(one) or _is_doubtful(other):
        return
    shared = [(letter, word, other.filler(letter)) for letter, word in one.fillers if other.filler(letter) >= 0]
    swapped = tuple(
        letter
        for letter, word, partner in shared
        if any(_is_linked(links, word, third) and third != partner for mark, _, third in shared if mark != letter)
        and not _is_linked(links, word, partner)
    )
    if not swapped and (any(_contradicts(links, *each[1:]) for each in shared) or _crosses(one, other, links)):
        return
    if not (one.has_content and other.has_content) and not any(_is_linked(links, *each[1:]) for each in shared):
        return
    is_opposite = (one.is_negative != other.is_negative) != (rule.sign == OPPOSITE and one.is_right != other.is_right)
    is_directed = rule.sign == MORE_SPECIFIC and one.is_right != other.is_right
    direction = 0 if not is_directed else -1 if one.is_right else 1
    yield Correspondence(one, other, rule, is_opposite, direction, swapped)


def _is_linked(links: FloatArray, one: int, other: int) -> bool:
    return other >= 0 and bool(links[one, other] >= LIKELY)


def _contradicts(links: FloatArray, one: int, other: int) -> bool:
    """Whether two fillers are not linked, and one of them is linked elsewhere."""
    if _is_linked(links, one, other):
        return False
    return bool(links[one].max() >= LIKELY or links[:, other].max() >= LIKELY)


def _is_doubtful(instance: Instance) -> bool:
    """Whether one noun phrase fills two slots."""
    nouns = [word for letter, word in instance.fillers if letter in "XYZ"]
    return len(set(nouns)) < len(nouns)


def _crosses(one: Instance, other: Instance, links: FloatArray) -> bool:
    """Whether what fills a slot of one fills another slot of the other, and nothing linked fills its own there."""
    return any(
        letter != mark and _is_linked(links, word, partner) and not _is_linked(links, word, other.filler(letter))
        for letter, word in one.fillers
        for mark, partner in other.fillers
    )


def _says_something(each: Correspondence, source: Reading, target: Reading) -> bool:
    """Whether the words are not the same ones, of which one side may be passive: they need no line."""
    ours, theirs = (
        [key for key in (side.lemmas[k] for k in words) if key not in _PASSIVE]
        for side, words in ((source, each.source.words), (target, each.target.words))
    )
    return ours != theirs or each.is_opposite
