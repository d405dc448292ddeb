"""A sentence as all that compares meanings reads it: its parts, who is negated, and who does what to whom.

Each thing is found when first asked for, by the dependencies of a tree, and a reading is made once for a tree.

What grammar says in several ways has one name. The subject of *bitten by the dog* is the dog; who is given a book has
the role of *to*; the possessor of a noun is its *of*, and its subject, too, where the noun may be an action. A role is
therefore a set of names, and two roles can be the same if they share one. What is coordinated shares its place, a
relative pronoun stands for its noun, and a verb without a subject has that of the verb above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from forestalign.dependencies import Dependencies, to_dependencies
from forestalign.grammar import negation_words
from forestalign.lexicon.findings import Parts, take_apart
from forestalign.lexicon.word_classes import meaning_words
from forestalign.tokens import Sentence, standard_form
from forestalign.trees import Tree

SUBJECT, OBJECT, OF, THAN = "subject", "object", "of", "than"
RECIPIENT = frozenset({"to", "for"})
_MODIFIERS = frozenset({"amod", "nummod", "compound"})
_WH = frozenset({"WDT", "WP", "WRB", "WP$"})
_PROPOSITIONS = ("ccomp", "xcomp", "csubj", "parataxis")
_TELLING = frozenset({"amod", "nummod", "compound", "det", "nmod:poss", "nmod:of"})
_NO_ROLES = frozenset[str]()
# relations of words that have roles, and of verbs that may have arguments unsaid
_WITH_ROLES = _MODIFIERS | {"nsubj", "csubj", "vocative", "obj", "iobj", "obl", "nmod", "advcl", "ccomp", "xcomp"}
_WITH_ARGUMENTS = frozenset({"acl", "conj", "xcomp", "advcl"})


class Place(NamedTuple):
    """Where a word stands: below which predicate, and in which role."""

    predicate: int
    roles: frozenset[str]


@dataclass(frozen=True, eq=False)
class Reading:
    """One sentence under a tree, and what follows from it."""

    sentence: Sentence
    tree: Tree

    @cached_property
    def dependencies(self) -> Dependencies:
        """The dependencies of the tree."""
        return to_dependencies(self.tree, self.sentence)

    @cached_property
    def lemmas(self) -> tuple[str, ...]:
        """The lemma of each word, in lower case."""
        return self.sentence.keys

    @cached_property
    def standard_words(self) -> tuple[str, ...]:
        """Each word in lower case, informal spellings as they are spelt elsewhere."""
        return tuple([standard_form(word).lower() for word in self.sentence.words])

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The dependents of each word, from left to right."""
        children: list[list[int]] = [[] for _ in self.sentence.tokens]
        for word, head in enumerate(self.dependencies.heads):
            if head >= 0:
                children[head].append(word)
        return tuple(map(tuple, children))

    @cached_property
    def parts(self) -> Parts:
        """The sentence taken apart at hyphens."""
        return take_apart(self.sentence)

    @cached_property
    def parts_by_form(self) -> dict[str, list[int]]:
        """The parts at which a form or lemma stands, from left to right; in capitals as it is written."""
        parts, words = self.parts, self.sentence.words
        found: dict[str, list[int]] = {}
        for at, (form, lemma, token) in enumerate(zip(parts.forms, parts.lemmas, parts.tokens, strict=True)):
            found.setdefault(form, []).append(at)
            if lemma != form:
                found.setdefault(lemma, []).append(at)
            surface = words[token]
            if len(surface) > 1 and surface[:2].isupper():
                found.setdefault(surface, []).append(at)
                if surface.endswith("s") and surface[:-1].isupper():
                    found.setdefault(surface[:-1], []).append(at)
        return found

    @cached_property
    def negators(self) -> dict[int, list[int]]:
        """The negations of each predicate."""
        negators: dict[int, list[int]] = {}
        for token, word in enumerate(self.standard_words):
            if is_negation(word) and self.sentence.tags[token] != "IN":
                for head in {self.predicate_over(token), self.dependencies.heads[token]}:
                    negators.setdefault(head, []).append(token)
        return negators

    @cached_property
    def places(self) -> tuple[tuple[Place, ...], ...]:
        """The places of each word; a word may have several, most have one or none."""
        return tuple(_PlaceReader(self).places())

    @cached_property
    def arguments(self) -> tuple[tuple[tuple[int, frozenset[str]], ...], ...]:
        """The words below each predicate, with their roles."""
        arguments: list[list[tuple[int, frozenset[str]]]] = [[] for _ in self.sentence.tokens]
        for word, each in enumerate(self.places):
            for place in each:
                arguments[place.predicate].append((word, place.roles))
        return tuple([tuple(each) for each in arguments])

    def is_joined(self, one: int, other: int) -> bool:
        """Whether two tokens are head and dependent, have one head, or have one word between them in the tree."""
        heads = self.dependencies.heads
        above, other_above = heads[one], heads[other]
        if above == other or other_above == one or (above == other_above and above >= 0):
            return True
        return (above >= 0 and heads[above] == other) or (other_above >= 0 and heads[other_above] == one)

    def fillers(self, predicate: int, roles: frozenset[str]) -> list[int]:
        """The words that have one of these roles below a predicate."""
        return [word for word, own in self.arguments[predicate] if own & roles]

    def is_name(self, word: int) -> bool:
        """Whether a word is a name, a pronoun, or the *one* of *one of them*."""
        tag = self.sentence.tags[word]
        return tag[:3] == "NNP" or tag == "PRP" or self.sentence.words[word].lower() == "one"

    def is_definite(self, word: int) -> bool:
        """Whether a noun names one thing: a name, or something with *the* or a possessor."""
        tags, words, relations = self.sentence.tags, self.sentence.lower_words, self.dependencies.relations
        definite = meaning_words().definite
        return self.is_name(word) or any(
            words[k] in definite or tags[k] in ("PRP$", "JJS", "RBS") or relations[k] == "nmod:poss"
            for k in self.children[word]
        )

    def modifiers(self, word: int) -> frozenset[str]:
        """Lemmas of what tells this thing from another one of its name: *this* and *last* of a year."""
        below = [k for k in self.children[word] if self.dependencies.relations[k] in _TELLING]
        return frozenset(self.lemmas[k] for k in below if self.lemmas[k] not in meaning_words().article)

    def are_coordinated(self, one: int, other: int) -> bool:
        """Whether two words are conjuncts, or modify conjuncts of one name: *black music and British music*."""
        tops = first_conjunct(self.dependencies, one), first_conjunct(self.dependencies, other)
        if tops[0] == tops[1]:
            return True
        heads = [self.dependencies.heads[top] for top in tops]
        is_one_name = min(heads) >= 0 and heads[0] != heads[1] and self.lemmas[heads[0]] == self.lemmas[heads[1]]
        is_one_name &= not any(self.sentence.tags[head].startswith("VB") for head in heads)  # paired by arguments
        firsts = {first_conjunct(self.dependencies, head) for head in heads}
        return is_one_name and len(firsts) == 1

    def predicate_over(self, word: int) -> int:
        """The verb, adjective or noun that a negation denies: *came* for the *no* of *no guest came*."""
        heads, relations, tags = self.dependencies.heads, self.dependencies.relations, self.sentence.tags
        seen = 0
        while heads[word] >= 0 and seen < len(tags):
            is_own = tags[word][:2] in ("VB", "MD") and relations[word] not in ("aux", "aux:pass", "cop")
            is_clause = is_own or relations[word].split(":")[0] in (*_PROPOSITIONS, "advcl", "acl", "root")
            is_clause |= relations[word] == "conj" and tags[word][:2] == "JJ"
            if is_clause and self.sentence.lower_words[word] not in negation_words():
                break
            word = heads[word]
            seen += 1
        return word

    def distance(self, one: int, other: int) -> int:
        """0 for the same word, 1 for head and dependent that are not coordinated, 2 for anything else."""
        if one == other:
            return 0
        heads, relations = self.dependencies.heads, self.dependencies.relations
        for below, above in ((one, other), (other, one)):
            if heads[below] == above and relations[below].split(":")[0] not in ("conj", "parataxis"):
                return 1
        return 2


class _PlaceReader:
    """From dependencies to places."""

    def __init__(self, reading: Reading):
        self.tags, self.words, self.children = reading.sentence.tags, reading.sentence.lower_words, reading.children
        self.dependencies = reading.dependencies
        self.heads, self.relations = self.dependencies.heads, self.dependencies.relations

    def places(self) -> list[tuple[Place, ...]]:
        """The places of all words: their own, those of their antecedents, and those that coordination shares."""
        found: list[list[Place]] = [[] for _ in self.heads]
        bases = [relation.partition(":")[0] for relation in self.relations]
        for word, base in enumerate(bases):
            if base in _WITH_ROLES and (place := self._own(word)) is not None:
                antecedent = self._antecedent(word) if self.tags[word] in _WH else word
                if place.predicate != antecedent:
                    found[antecedent].append(place)
        for verb, base in enumerate(bases):
            if base in _WITH_ARGUMENTS and self.tags[verb][:2] == "VB" and self.heads[verb] >= 0:
                for word, roles in self._implied(verb, base, found):
                    found[word].append(Place(verb, roles))
        for word, base in enumerate(bases):
            first = first_conjunct(self.dependencies, word) if base in ("conj", "appos") else word
            if first != word:
                found[word] += [place for place in found[first] if place.predicate != word]
        return [tuple(dict.fromkeys(each)) for each in found]

    def _own(self, word: int) -> Place | None:
        head, relation = self._governor(word), self.relations[word]
        if head < 0:
            return None
        roles = self._roles(word, head, relation)
        return Place(head, roles) if roles else None

    def _governor(self, word: int) -> int:
        """The head; both ends of *from London to Paris* belong to what goes there, whatever the tree says of them."""
        head = self.heads[word]
        kinds = self.relations[word].partition(":"), self.relations[head].partition(":")
        is_below = head >= 0 and kinds[1][0] in ("obl", "nmod") and self.heads[head] >= 0
        is_before = word < head and kinds[0][0] == "obl" and self.tags[head][:2] in ("NN", "CD")
        is_range = (kinds[1][2], kinds[0][2]) == ("from", "to") and self.tags[head][:3] in ("NNP", "CD")
        return self.heads[head] if is_below and (is_before or is_range) else head

    def _roles(self, word: int, head: int, relation: str) -> frozenset[str]:
        base, _, kind = relation.partition(":")
        if base in ("nsubj", "csubj"):
            if kind != "pass":
                return frozenset({SUBJECT})
            return RECIPIENT if self._has(head, "obj") else frozenset({OBJECT})
        is_late_call = base == "vocative" and word > head and not self._has(head, "obj")  # mostly a misread object
        if base == "obj" or is_late_call:
            return frozenset({OBJECT})
        if base == "iobj":
            return RECIPIENT
        if base in ("obl", "nmod"):
            return self._oblique(head, kind)
        if relation in _MODIFIERS:
            return frozenset({relation, OF, OBJECT} if relation == "compound" else {relation})
        if base in ("advcl", "ccomp", "xcomp"):
            return frozenset({f"{base}:{kind or self._mark(word)}"})
        return _NO_ROLES

    def _oblique(self, head: int, kind: str) -> frozenset[str]:
        is_noun = self.tags[head][:2] == "NN"
        if kind == "agent" or (kind == "by" and (is_noun or self._is_passive(head))):
            return frozenset({SUBJECT, "by"})
        if kind == "poss":
            return frozenset({SUBJECT} if self._has(head, "nmod:of") else {SUBJECT, OBJECT, OF})
        if kind == OF and is_noun:
            return frozenset({OBJECT, OF} if self._has(head, "nmod:poss") else {SUBJECT, OBJECT, OF})
        if kind in ("", "unmarked", "tmod", "desc"):
            return frozenset({"unmarked"})
        return frozenset({kind})

    def _has(self, head: int, relation: str) -> bool:
        return any(self.relations[child] == relation for child in self.children[head])

    def _mark(self, word: int) -> str:
        marks = [self.words[child] for child in self.children[word] if self.relations[child] == "mark"]
        return marks[0] if marks else ""

    def _is_passive(self, head: int) -> bool:
        return self.tags[head] == "VBN" and not any(
            self.words[child] in ("have", "has", "had", "having") for child in self.children[head]
        )

    def _antecedent(self, word: int) -> int:
        """The noun that a question word stands for; itself if there is none."""
        clause = self.heads[word]
        if clause >= 0 and self.relations[clause].startswith("acl") and self.heads[clause] >= 0:
            return self.heads[clause]
        return clause if clause >= 0 and self.tags[clause][:2] in ("NN", "PR") else word  # it was Ann who came

    def _implied(self, verb: int, base: str, found: Sequence[Sequence[Place]]) -> list[tuple[int, frozenset[str]]]:
        """Arguments that grammar leaves unsaid: the noun of a participle, the subject of a second verb."""
        head = self.heads[verb]
        held = {role for each in found for place in each if place.predicate == verb for role in place.roles}
        subject = frozenset({OBJECT if self._is_bare_passive(verb) else SUBJECT})
        if base == "acl":
            has_subject = SUBJECT in held and not self._is_bare_passive(verb)
            role = frozenset({OBJECT}) if has_subject and OBJECT not in held else subject
            return [] if role & held else [(self._antecedent(head) if self.tags[head] in _WH else head, role)]
        if subject & held or self._has_subject(verb):
            return []
        if base == "xcomp":
            objects = [child for child in self.children[head] if self.relations[child] == "obj"]
            if objects:
                return [(objects[0], subject)]
        above = frozenset({OBJECT}) if self._is_bare_passive(head) else frozenset({SUBJECT})
        return [
            (word, subject)
            for word, places in enumerate(found)
            if any(place.predicate == head and place.roles == above for place in places)
        ]

    def _has_subject(self, verb: int) -> bool:
        return any(self.relations[child].startswith(("nsubj", "csubj")) for child in self.children[verb])

    def _is_bare_passive(self, verb: int) -> bool:
        if self._has(verb, "aux:pass") or self._has(verb, "nsubj:pass"):
            return True
        return self.tags[verb] == "VBN" and not any(self.relations[child] == "aux" for child in self.children[verb])


def first_conjunct(dependencies: Dependencies, word: int) -> int:
    """The word whose place a conjunct or an apposition shares."""
    seen = 0
    while dependencies.relations[word].split(":")[0] in ("conj", "appos") and dependencies.heads[word] >= 0:
        word, seen = dependencies.heads[word], seen + 1
        if seen > len(dependencies.heads):
            break
    return word


def is_negation(form: str) -> bool:
    """Whether a word negates; *can not* and *do not* are one word where the apostrophe was left out."""
    return form in negation_words() or form.endswith(" not")
