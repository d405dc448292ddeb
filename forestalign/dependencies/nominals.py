"""Noun phrases: names, dates and times, and the relations inside noun and prepositional phrases."""

from __future__ import annotations

from forestalign.dependencies.phrase_tree import CLAUSAL, NOMINAL, NOUN_TAGS, Phrase
from forestalign.dependencies.word_lists import word_lists

_NAME_TAGS = frozenset({"NNP", "NNPS"})
_NAME_PARTS = _NAME_TAGS | {"HYPH"}
_FLOATING = frozenset({"all", "both", "each"})
_ADJECTIVES = frozenset({"JJ", "JJR", "JJS", "ADJP", "WHADJP", "VBN", "VBG", "VBD", "VB"})


def nominal_head(phrase: Phrase) -> Phrase | None:
    """The heads of names, dates and times, which are not their last noun."""
    return _date_head(phrase) or _person_head(phrase)


def _date_head(phrase: Phrase) -> Phrase | None:
    """The day of a date ("May 5"), the hour of a time ("2:30 pm")."""
    number = phrase.child("CD")
    if number is None:
        return None
    nouns = [child for child in phrase.children if child.label in NOUN_TAGS]
    if any(noun.word in word_lists().month for noun in nouns):
        is_day = number.word.rstrip("stndrh").isdigit() and int(number.word.rstrip("stndrh")) <= 31
        return number if is_day and all(noun.word in word_lists().month for noun in nouns) else None
    if nouns and all(noun.word in word_lists().day_half for noun in nouns):
        return number
    return None


def _person_head(phrase: Phrase) -> Phrase | None:
    """The first name of a person; what follows it is flat."""
    if _NAME_TAGS.isdisjoint(phrase.labels):
        return None
    last = next((child for child in reversed(phrase.children) if child.label in NOUN_TAGS), None)
    if last is None or last.label not in _NAME_TAGS:
        return None
    begin = last.index
    while begin > 0 and phrase.children[begin - 1].label in _NAME_PARTS:
        begin -= 1
    while begin < last.index and phrase.children[begin].word in word_lists().title:
        begin += 1
    name = phrase.children[begin : last.index + 1]
    if len(name) < 2:
        return None
    titled = begin > 0 and phrase.children[begin - 1].word in word_lists().title
    return name[0] if titled or _is_person(name) else None


def _is_person(name: list[Phrase]) -> bool:
    words, lists = [part.word for part in name], word_lists()
    if any(word in lists.organisation for word in words[1:]) and words[0] not in lists.first_name:
        return False
    initial = any(len(word) == 2 and word.endswith(".") for word in words[:-1])
    return initial or words[0] in lists.first_name or words[0] in lists.name_prefix


def is_temporal(phrase: Phrase) -> bool:
    """Is the head word of the phrase a time, or the day of a date?"""
    leaf = phrase.leaf()
    if leaf.word in word_lists().temporal:
        return True
    return leaf.label == "CD" and leaf.parent is not None and _date_head(leaf.parent) is leaf


# ---- relations ----


def noun_relation(parent: Phrase, dependent: Phrase, governor: Phrase) -> str | None:
    """The relation of a part of a noun phrase to its head."""
    label, is_before = dependent.label, dependent.begin < governor.begin
    if label in _ADJECTIVES:
        return "amod"
    if label in ("CD", "QP"):
        return _number(dependent, governor, is_before)
    if label in NOUN_TAGS or label in ("NML", "NX", "FW", "ADD", "SYM", "$", "NAC"):
        return _noun(dependent, governor, is_before)
    if label == "NP":
        return _inner_noun_phrase(dependent, is_before)
    if label in ("PP", "WHPP"):
        return "acl" if dependent.head_child is not None and dependent.head_child.label in CLAUSAL else "nmod"
    if label == "SBAR":
        return _inner_clause(dependent)
    if label in ("VP", "S", "RRC"):
        return "amod" if is_before else ("parataxis" if label == "S" and is_finite(dependent) else "acl")
    if label in ("PRN", "FRAG", "SQ", "SINV"):
        return _parenthesis(dependent)
    return {"PRP": "nmod:unmarked", "IN": "case"}.get(label)


def _number(dependent: Phrase, governor: Phrase, is_before: bool) -> str:
    if governor.label == "CD" or (not is_before and is_temporal(governor)):
        return "nmod:unmarked"
    return "flat" if not is_before and governor.label in ("NN", "NNP") else "nummod"


def _noun(dependent: Phrase, governor: Phrase, is_before: bool) -> str:
    word = dependent.word
    if governor.label == "CD" and (word in word_lists().month or word in word_lists().day_half):
        return "nmod:unmarked"
    if not is_before:
        return "flat"
    if governor.label in _NAME_TAGS and word in word_lists().title:
        return "nmod:desc"
    if dependent.label in _NAME_TAGS and word in word_lists().name_adjective:
        return "amod"
    return "compound"


def _inner_noun_phrase(dependent: Phrase, is_before: bool) -> str:
    if dependent.children and dependent.children[-1].label == "POS":
        return "nmod:poss"
    leaf = dependent.leaf()
    if is_temporal(dependent) or leaf.word in _FLOATING or leaf.word.endswith(("self", "selves")):
        return "nmod:unmarked"
    if not is_before and leaf.label == "CD" and dependent.before() and is_temporal(dependent.before()[-1]):
        return "nmod:unmarked"
    return "compound" if is_before else "appos"


def _inner_clause(clause: Phrase) -> str:
    if clause.child("WHNP", "WHPP", "WHADVP", "WHADJP") is not None:
        return "acl:relcl"
    first = clause.children[0]
    if first.label == "IN":
        return "acl" if first.word in ("that", "whether") else "advcl"
    inner = clause.child("S")
    return "acl:relcl" if inner is not None and is_finite(inner) else "acl"


def _parenthesis(dependent: Phrase) -> str:
    inner = dependent.head_child
    return "appos" if inner is not None and inner.label in NOMINAL else "parataxis"


def prepositional_relation(dependent: Phrase, governor: Phrase) -> str | None:
    """The relation of a part of a prepositional phrase to its head."""
    if dependent.label in ("IN", "TO", "RP", "VBG", "VBN", "JJ", "FW", "SYM"):
        return "mark" if governor.label in ("S", "SQ", "VP") else "case"
    return {"NP": "obl:unmarked", "PP": "obl"}.get(dependent.label)


def is_finite(clause: Phrase) -> bool:
    """Has the clause a finite verb, or an imperative?"""
    for phrase in clause.projection():
        if phrase.child("TO") is not None:
            return False
        if phrase.child("VBZ", "VBD", "VBP", "MD", "VB") is not None:
            return True
    return False
