"""Relations of Universal Dependencies from the place of a phrase in the tree."""

from __future__ import annotations

from forestalign.dependencies.clauses import clause_relation, is_complement_clause, oblique_relation
from forestalign.dependencies.nominals import is_temporal, noun_relation, prepositional_relation
from forestalign.dependencies.phrase_tree import CLAUSAL, NOMINAL, NOUN_TAGS, Phrase
from forestalign.dependencies.word_lists import word_lists
from forestalign.grammar import punctuation_tags

_VERBAL_PARENTS = frozenset({"VP", "S", "SQ", "SINV", "SBARQ", "SBAR", "FRAG", "UCP", "RRC", "X", "PRN", "INTJ"})
_MODIFIERS = frozenset({"ADJP", "ADVP", "QP", "WHADJP", "WHADVP"})
_BY_LABEL = {
    "DT": "det",
    "PDT": "det:predet",
    "WDT": "det",
    "PRP$": "nmod:poss",
    "WP$": "nmod:poss",
    "EX": "expl",
    "UH": "discourse",
    "INTJ": "discourse",
    "LS": "discourse",
    "LST": "discourse",
    "CC": "cc",
    "CONJP": "cc",
    "POS": "case",
    "RP": "compound:prt",
    "PRT": "compound:prt",
    "RB": "advmod",
    "RBR": "advmod",
    "RBS": "advmod",
    "WRB": "advmod",
    "ADVP": "advmod",
    "WHADVP": "advmod",
    "GW": "goeswith",
    "AFX": "compound",
    "EDITED": "reparandum",
}


def relation(parent: Phrase, dependent: Phrase, governor: Phrase) -> str:
    """The relation of one child of a phrase to another, which governs it."""
    if dependent.label in punctuation_tags():
        return "discourse" if dependent.label == "NFP" and _is_emoticon(dependent.word) else "punct"
    if dependent.word == "at":
        return "case"
    if dependent.label == "ADVP" and dependent.children[0].word == "at":
        return "obl"
    if dependent.label == "CC" and dependent.word in word_lists().preconj and dependent.index == 0:
        return "cc:preconj"
    found: str | None = None
    if parent.label == "SBAR" and governor.label.startswith("WH") and dependent.label in CLAUSAL:
        return "acl:relcl" if governor.label == "WHNP" else "advcl:relcl"
    if parent.label in _VERBAL_PARENTS:
        found = clause_relation(parent, dependent, governor)
    elif parent.label in NOMINAL:
        found = noun_relation(parent, dependent, governor)
    elif parent.label in ("PP", "WHPP"):
        found = prepositional_relation(dependent, governor)
    elif parent.label in _MODIFIERS:
        found = _modifier_relation(parent, dependent, governor)
    return found or _BY_LABEL.get(dependent.label) or _default(dependent)


def _is_emoticon(word: str) -> bool:
    return len(word) > 1 and word[0] in ":;=x" and len(set(word)) > 1


def _default(dependent: Phrase) -> str:
    label = dependent.label
    if label in ("PP", "WHPP", "IN"):
        return "obl"
    if label in CLAUSAL or label == "VP":
        return "parataxis"
    if label in NOMINAL or label in NOUN_TAGS:
        return "obl:unmarked" if is_temporal(dependent) else "parataxis"
    return "dep"


_IN_QUANTIFIER = {"CD": "compound", "$": "compound", "NN": "compound", "IN": "advmod", "JJR": "advmod", "TO": "case"}


def _modifier_relation(parent: Phrase, dependent: Phrase, governor: Phrase) -> str | None:
    """The relation of a part of an adjective, adverb or number phrase to its head."""
    label = dependent.label
    if parent.label == "QP":
        return "nummod" if governor.label == "$" and label == "CD" else _IN_QUANTIFIER.get(label)
    if label in ("NP", "NN", "NNS", "NML", "QP", "CD"):
        return "obl:unmarked" if label == "NP" else "compound"
    if label in ("JJ", "ADJP", "JJR", "VBN", "VBG"):
        return "amod" if governor.label in NOUN_TAGS else "advmod"
    if label == "SBAR":
        is_result = any(sister.leaf().word == "so" or _has_degree(sister) for sister in dependent.before())
        return (
            "ccomp"
            if parent.label == "ADJP" and not is_result and is_complement_clause(dependent, governor)
            else "advcl"
        )
    if label in ("PP", "WHPP"):
        return oblique_relation(dependent, governor)
    if label == "S":
        return "xcomp" if governor.leaf().word in word_lists().subject_control_adjective else "advcl"
    return {"IN": "case"}.get(label)


def _has_degree(phrase: Phrase) -> bool:
    return any(child.word in ("so", "such", "too") for child in phrase.children)
