"""Relations of Universal Dependencies from the place of a phrase in the tree."""

from __future__ import annotations

from forestalign.dependencies.heads import is_auxiliary, is_existential, is_temporal
from forestalign.dependencies.phrase_tree import (
    CLAUSAL,
    NAME_TAGS,
    NO_TOKEN,
    NOMINAL,
    NOUN_TAGS,
    VERB_TAGS,
    Phrase,
    word_lists,
)
from forestalign.grammar import punctuation_tags

# ---- inside noun and prepositional phrases ----


_FLOATING = frozenset({"all", "both", "each"})
_ADJECTIVES = frozenset({"JJ", "JJR", "JJS", "ADJP", "WHADJP", "VBN", "VBG", "VBD", "VB"})


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
    if governor.label in NAME_TAGS and word in word_lists().title:
        return "nmod:desc"
    if dependent.label in NAME_TAGS and word in word_lists().name_adjective:
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


# ---- beside a predicate ----


def clause_relation(parent: Phrase, dependent: Phrase, governor: Phrase) -> str | None:
    """The relation of a part of a clause or verb phrase to its predicate."""
    label = dependent.label
    if label in ("MD", "TO") or label in VERB_TAGS:
        return _verb(dependent, governor)
    if label in ("PP", "WHPP"):
        if parent.label == "FRAG" and governor.label in NOMINAL:
            return "nmod"
        return oblique_relation(dependent, governor)
    if label in NOMINAL or label in ("QP", "PRP", "CD") or label in NOUN_TAGS or _is_free_relative(dependent):
        return _argument(parent, dependent, governor)
    if label in ("S", "SBAR", "SQ", "SINV", "SBARQ", "VP"):
        return _clause(parent, dependent, governor)
    if label in ("ADJP", "JJ", "WHADJP"):
        return "xcomp" if parent.label == "VP" and dependent.begin > governor.begin else "advcl"
    if label == "DT" and dependent.word in word_lists().preconj:
        return "cc:preconj"
    return {"IN": "mark", "FRAG": "parataxis", "PRN": "parataxis", "X": "parataxis", "UCP": "parataxis"}.get(label)


def _is_free_relative(phrase: Phrase) -> bool:
    head = phrase.head_child
    return phrase.label == "SBAR" and head is not None and head.label == "WHNP" and phrase.copula == NO_TOKEN


# ---- verbs and obliques ----


def _verb(verb: Phrase, governor: Phrase) -> str:
    """An auxiliary, a copula or an infinitive marker of its governor."""
    if verb.label == "TO":
        return "mark"
    if verb.label == "MD":
        return "aux"
    if governor.label == "VP" and is_auxiliary(verb):
        first = _leading_verb(governor)
        is_participle = first is not None and first.label in ("VBN", "VBD")
        passive = verb.word in word_lists().be or verb.word in word_lists().get
        return "aux:pass" if is_participle and passive else "aux"
    return "cop" if verb.word in word_lists().be else "aux"


def _leading_verb(phrase: Phrase) -> Phrase | None:
    """The first verb of a VP, that of the first conjunct in a coordination."""
    node: Phrase | None = phrase
    while node is not None:
        verb = node.child(*VERB_TAGS, "MD", "TO")
        if verb is not None:
            return verb
        node = node.child("VP")
    return None


def oblique_relation(dependent: Phrase, governor: Phrase) -> str:
    """A prepositional phrase beside a predicate, an adjective or an adverb."""
    head = dependent.head_child
    if head is not None and (head.label in ("S", "SQ", "VP") or (head.label == "SBAR" and not _is_free_relative(head))):
        return "advcl"
    if dependent.children[0].word == "by" and _is_passive(governor):
        return "obl:agent"
    return "obl"


def _is_passive(governor: Phrase) -> bool:
    """Is the governing verb a past participle that is not under "have"?"""
    verb = governor.leaf()
    if verb.label != "VBN":
        return False
    phrase = verb.parent
    while phrase is not None and phrase.label == "VP":
        auxiliary = phrase.child(*VERB_TAGS)
        if auxiliary is not None and auxiliary is not verb:
            return auxiliary.word not in word_lists().have
        phrase = phrase.parent
    return True


# ---- arguments ----


def _argument(parent: Phrase, dependent: Phrase, governor: Phrase) -> str:
    """A noun phrase beside a predicate."""
    if dependent.children and dependent.children[0].label == "EX":
        return "expl"
    if parent.label == "VP":
        return _object(dependent, governor)
    if parent.label in ("SQ", "SINV"):
        return _inverted(parent, dependent, governor)
    if parent.label == "SBARQ" or (parent.label == "SBAR" and dependent.label == "WHNP"):
        return _extracted(parent)
    if dependent.begin > governor.begin:
        if is_temporal(dependent):
            return "obl:unmarked"
        if parent.label == "S":
            return "vocative"
        return "appos" if any(sister.label == ":" for sister in dependent.before()) else "list"
    if parent.label in ("S", "RRC"):
        return _subject(dependent, governor)
    return "obl:unmarked" if is_temporal(dependent) else "parataxis"


def _subject(dependent: Phrase, governor: Phrase) -> str:
    """The last noun phrase before the predicate is its subject."""
    if any(sister.label in NOMINAL and sister.begin < governor.begin for sister in dependent.after()):
        return "obl:unmarked" if is_temporal(dependent) else "dislocated"
    if is_expletive(dependent):
        return "expl"
    if governor.label in CLAUSAL:
        return "vocative"
    return "nsubj:outer" if _has_clausal_predicate(governor) else "nsubj"


def is_expletive(phrase: Phrase) -> bool:
    """ "It" in place of a clause that comes later: the treebank brackets it twice."""
    inner = phrase.children[0] if len(phrase.children) == 1 else None
    return inner is not None and inner.label == "NP" and inner.leaf().word == "it"


def _has_clausal_predicate(governor: Phrase) -> bool:
    """Is the predicate a clause under a copula ("the point is that ...")?"""
    for phrase in governor.projection():
        if phrase.label in CLAUSAL:
            return phrase is not governor and not _is_free_relative(phrase)
        if phrase.label != "VP":
            return False
    return False


def _object(dependent: Phrase, governor: Phrase) -> str:
    if governor.label not in VERB_TAGS or dependent.begin < governor.begin:
        return "obl:unmarked"
    if governor.parent is not None and is_existential(governor.parent):
        return "nsubj"
    lists = word_lists()
    after = [sister for sister in dependent.after() if sister.label in NOMINAL or _is_free_relative(sister)]
    before = [sister for sister in dependent.before() if sister.label in NOMINAL and sister.begin > governor.begin]
    if is_temporal(dependent):
        return "obj" if governor.lemma in lists.temporal_object and not before else "obl:unmarked"
    if before and _is_adverbial(dependent):
        return "obl:unmarked"
    if any(not is_temporal(sister) and not _is_adverbial(sister) for sister in after):
        return "iobj"
    has_clause = any(sister.label in ("S", "SBAR", "SQ", "SBARQ") for sister in dependent.after())
    return "iobj" if has_clause and governor.lemma in lists.ditransitive_clause else "obj"


def _is_adverbial(phrase: Phrase) -> bool:
    """A measure or a reflexive after the object: "helped me a lot", "wrote it myself"."""
    word = phrase.leaf().word
    return word in word_lists().measure or word.endswith(("self", "selves"))


def _inverted(parent: Phrase, dependent: Phrase, governor: Phrase) -> str:
    """The first noun phrase of an inverted clause is its subject."""
    if is_expletive(dependent):
        return "expl"
    if is_existential(parent) or not any(sister.label in NOMINAL for sister in dependent.before()):
        return "nsubj"
    return "obl:unmarked" if is_temporal(dependent) else "obj"


def _extracted(parent: Phrase) -> str:
    """The role of a fronted question or relative pronoun: subject if the clause has none, else object or oblique."""
    clause = parent.child("S", "SQ", "SINV", "VP")
    if clause is None or not _has_subject(clause):
        return "nsubj"
    return "obl" if _has_stranded_preposition(clause) else "obj"


def _has_subject(clause: Phrase) -> bool:
    first = clause
    while first.coordination is not None and first.head_child is not None and first.head_child.label in CLAUSAL:
        first = first.head_child
    if first.label == "VP":
        return False
    predicate = first.child("VP")
    return any(
        child is not predicate and (child.label in NOMINAL or child.label in CLAUSAL) for child in first.children
    )


def stranded_object(phrase: Phrase) -> Phrase | None:
    """The fronted question word or relative pronoun that a stranded preposition belongs to."""
    if phrase.label != "PP" or len(phrase.children) != 1 or phrase.children[0].label not in ("IN", "TO"):
        return None
    above = phrase.parent
    while above is not None and above.label in ("VP", "S", "SQ", "ADJP", "PP"):
        above = above.parent
    if above is None or above.label not in ("SBAR", "SBARQ"):
        return None
    question = above.child("WHNP")
    return question if question is not None and _extracted(above) == "obl" else None


def _has_stranded_preposition(clause: Phrase) -> bool:
    stack = [clause]
    while stack:
        phrase = stack.pop()
        if phrase.label == "PP" and len(phrase.children) == 1 and phrase.children[0].label in ("IN", "TO"):
            return True
        stack.extend(child for child in phrase.children if child.label not in ("SBAR", "NP"))
    return False


# ---- clauses beside clauses ----


def _clause(parent: Phrase, dependent: Phrase, governor: Phrase) -> str:
    if parent.label == "VP" or (parent.label in ("SQ", "SINV") and governor.label not in CLAUSAL):
        return _complement(parent, dependent, governor)
    if parent.label in ("S", "SQ", "SINV"):
        return _beside_clause(dependent, governor)
    return "advcl" if dependent.label == "SBAR" else "parataxis"


def _beside_clause(dependent: Phrase, governor: Phrase) -> str:
    if governor.label == "VP" and dependent.begin < governor.begin:
        has_subject = any(sister.label in NOMINAL and sister.begin < governor.begin for sister in dependent.after())
        if not has_subject and not _has_subordinator(dependent):
            return "csubj"
        is_quoted = dependent.label in ("S", "SINV", "SQ", "SBARQ") and is_finite(dependent)
        return "ccomp" if is_quoted else "advcl"
    if dependent.label == "SBAR" or (dependent.label in ("S", "VP") and not is_finite(dependent)):
        return "advcl"
    return "parataxis"


def _has_subordinator(clause: Phrase) -> bool:
    first = clause.child("IN", "WHADVP")
    return first is not None and first.leaf().word not in ("that", "whether", "how", "why")


def _complement(parent: Phrase, dependent: Phrase, governor: Phrase) -> str:
    label = dependent.label
    if label in ("S", "SBAR") and governor.label not in VERB_TAGS and _has_expletive_subject(parent):
        return "csubj"
    if label == "SBAR":
        return "ccomp" if is_complement_clause(dependent, governor) else "advcl"
    if label in ("SQ", "SINV", "SBARQ"):
        return "ccomp"
    if label == "VP":
        return "conj" if governor.label == "VP" and dependent.begin > governor.begin else "advcl"
    if dependent.begin < governor.begin:
        return "advcl"
    if is_small_clause(dependent):
        return "xcomp"
    if is_finite(dependent):
        return "ccomp"
    return _infinite_complement(dependent, governor)


def _has_expletive_subject(phrase: Phrase) -> bool:
    node: Phrase | None = phrase
    while node is not None and node.label in ("VP", "SQ"):
        sisters = node.children if node.label == "SQ" else node.before()
        if any(is_expletive(sister) for sister in sisters):
            return True
        node = node.parent
    return False


def is_complement_clause(clause: Phrase, governor: Phrase) -> bool:
    """Is a subordinate clause an argument of the word that governs it?"""
    first, asks = clause.children[0], governor.lemma in word_lists().interrogative
    if first.label == "IN":
        return first.word in word_lists().complementiser and (first.word != "if" or asks)
    if first.label == "WHADVP":
        return asks or first.leaf().word in ("how", "why", "where")
    return first.label in ("S", "WHNP", "WHADJP", "WHPP")


def is_small_clause(clause: Phrase) -> bool:
    """A clause with a subject and without a finite verb: the subject is the object of the verb above."""
    return clause.label == "S" and small_clause_subject(clause) is not None


def small_clause_subject(clause: Phrase) -> Phrase | None:
    """The noun phrase that is the subject of a small clause, if there is one."""
    head = clause.head_child
    if clause.coordination is not None or head is None or _has_finite_verb(clause):
        return None
    return next((child for child in clause.children if child.label == "NP" and child.begin < head.begin), None)


def _has_finite_verb(clause: Phrase) -> bool:
    """A bare infinitive after a subject is not finite ("make it work")."""
    for phrase in clause.projection():
        if phrase.child("VBZ", "VBD", "VBP", "MD") is not None:
            return True
        if phrase.child("TO", "VB", "VBG", "VBN") is not None:
            return False
    return False


def _infinite_complement(clause: Phrase, governor: Phrase) -> str:
    """An infinitive or a participle without subject: a complement or an adjunct, by the verb above."""
    lists, lemma = word_lists(), governor.lemma
    verb = _leading_verb(clause) if clause.child("VP") is not None else None
    if verb is None:
        return "xcomp"
    if any(sister.label == "," for sister in clause.before()):
        return "advcl"
    has_object = any(sister.label in ("NP", "PP") and sister.begin > governor.begin for sister in clause.before())
    if governor.label not in VERB_TAGS:
        return "xcomp" if governor.leaf().word in lists.subject_control_adjective else "advcl"
    if verb.label == "TO":
        if has_object:
            return "xcomp" if lemma in lists.object_control else "advcl"
        return "advcl" if lemma in lists.adverbial_infinitive else "xcomp"
    return "advcl" if has_object or lemma in lists.adverbial_gerund else "xcomp"


# ---- all ----


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
