"""Head children for Universal Dependencies: content words govern auxiliaries, copulas, prepositions and markers."""

from __future__ import annotations

from functools import cache

from forestalign.dependencies.phrase_tree import (
    NAME_TAGS,
    NOMINAL,
    NOUN_TAGS,
    VERB_TAGS,
    Phrase,
    find_coordination,
    word_lists,
)
from forestalign.grammar import HeadTable, grammar_root, read_head_rules

# ---- names, dates and times ----


_NAME_PARTS = NAME_TAGS | {"HYPH"}


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
    if NAME_TAGS.isdisjoint(phrase.labels):
        return None
    last = next((child for child in reversed(phrase.children) if child.label in NOUN_TAGS), None)
    if last is None or last.label not in NAME_TAGS:
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


# ---- all other phrases ----


_PREDICATES = ("ADJP", "NP", "PP", "UCP", "QP", "WHNP", "WHADJP", "WHPP", "NML", "NX", "CD", "JJ", "FRAG")
_ADVERBS = ("ADVP", "RB", "IN")
_NEGATIONS = frozenset({"not", "n't", "n’t", "nt"})
_PREPOSITIONS = ("IN", "TO")
_CLAUSES = ("S", "SBAR", "SBARQ", "SQ")
_VERBS = VERB_TAGS | {"MD", "TO"}


@cache
def ud_head_rules() -> HeadTable:
    """Rows for what is not decided here."""
    return read_head_rules(grammar_root() / "ud_head_rules.tsv")


def set_heads(phrases: list[Phrase]) -> None:
    """Fill in heads, children first."""
    table = ud_head_rules()
    for phrase in reversed(phrases):
        children = phrase.children
        if not children:
            phrase.head = phrase.begin
            continue
        if len(children) == 1:  # nothing to choose from
            phrase.head_child = children[0]
        else:
            phrase.coordination = find_coordination(phrase, table)
            head = _head_child(phrase)
            phrase.head_child = _first_part(head) if "GW" in phrase.labels else head
        phrase.head = phrase.head_child.head


def _head_child(phrase: Phrase) -> Phrase:
    coordination = phrase.coordination
    if coordination is not None and not coordination.is_local:
        return phrase.children[coordination.conjuncts[0]]
    special: Phrase | None = None
    if phrase.label in ("VP", "SQ"):
        special = _verbal_head(phrase)
    elif phrase.label in ("SBAR", "SBARQ"):
        special = _question_head(phrase)
    elif phrase.label in ("S", "SINV"):
        special = _presented_head(phrase) or (_verbal_head(phrase) if phrase.label == "SINV" else None)
    elif phrase.label in NOMINAL:
        special = nominal_head(phrase)
    elif phrase.label == "PP":
        special = _complement_of_preposition(phrase)
    return special or phrase.children[ud_head_rules().child(phrase.label, phrase.labels)]


def _first_part(head: Phrase) -> Phrase:
    """The first piece of a word that was written in pieces (tag GW)."""
    while head.index > 0 and head.parent is not None and head.parent.labels[head.index - 1] == "GW":
        head = head.parent.children[head.index - 1]
    return head


def _complement_of_preposition(phrase: Phrase) -> Phrase | None:
    """The head of what follows the last preposition."""
    labels = phrase.labels
    last = max((index for index, label in enumerate(labels) if label in _PREPOSITIONS), default=-1)
    if last < 0 or last == len(labels) - 1:
        return None
    return phrase.children[last + 1 + ud_head_rules().child(phrase.label, labels[last + 1 :])]


# ---- verbs ----


def is_auxiliary(verb: Phrase) -> bool:
    """May this verb be an auxiliary of a VP beside it?"""
    return verb.label in ("MD", "TO") or verb.word in word_lists().auxiliary


def _verbal_head(phrase: Phrase) -> Phrase | None:
    """The VP below an auxiliary, or the predicate of a copula."""
    verb = phrase.child(*_VERBS)
    if verb is None:
        return None
    below = next((child for child in reversed(verb.after()) if child.label == "VP"), None)
    if below is not None:
        return below if is_auxiliary(verb) else verb
    if verb.word in word_lists().be:
        return copula_predicate(phrase, verb) or verb
    return None


def copula_predicate(phrase: Phrase, verb: Phrase) -> Phrase | None:
    """What the copula predicates: the first phrase after it (and after an inverted subject), clauses after others."""
    if is_existential(phrase):
        return None
    rest = verb.after()
    if phrase.label in ("SQ", "SINV"):
        subject = next((child for child in rest if child.label in NOMINAL), None)
        rest = subject.after() if subject is not None else rest
        if subject is not None and _asks_for_predicate(phrase):
            rest = [child for child in rest if child.label not in ("PP", "ADVP")]
    if rest and rest[0].label == "ADVP" and rest[0].leaf().word in word_lists().locative:
        return rest[0]
    times = [child for child in rest if child.label == "NP" and child.leaf().word in word_lists().temporal]
    asides = [child for child in rest if child.index > 0 and child.before()[-1].label == ","]
    others = [child for child in rest if child not in times and child not in asides]
    pools = ((others, _PREDICATES), (asides, ("NP", "ADJP")), (times, _PREDICATES), (rest, _CLAUSES), (rest, _ADVERBS))
    for pool, labels in pools:
        found = next((child for child in pool if child.label in labels and child.word not in _NEGATIONS), None)
        if found is not None:
            return found
    return None


def _asks_for_predicate(phrase: Phrase) -> bool:
    """ "What was the goal": the question word is the predicate already."""
    return any(sister.label == "WHNP" for sister in phrase.before())


def is_existential(phrase: Phrase) -> bool:
    """Is there an expletive "there" as subject of this VP, or inside this inverted clause?"""
    node: Phrase | None = phrase
    while node is not None and node.label in ("VP", "SQ", "SINV", "S"):
        for sister in [*node.before(), *(node.children if node is phrase else ())]:
            if sister.label == "EX" or (sister.label == "NP" and sister.children[0].label == "EX"):
                return True
        if node.label == "S":
            return False
        node = node.parent
    return False


def _question_head(phrase: Phrase) -> Phrase | None:
    """The question word, if it is the predicate of a bare copula ("what it is") or heads a free relative."""
    question = phrase.child("WHNP", "WHADJP", "WHADVP", "WHPP")
    clause = phrase.child("S", "SQ", "SINV")
    if question is None or clause is None or question.begin > clause.begin:
        return None
    copula = _bare_copula(clause)
    if copula is not None:
        phrase.copula = copula.begin
        return question
    return question if phrase.label == "SBAR" and is_free_relative(phrase, question) else None


def is_free_relative(phrase: Phrase, question: Phrase) -> bool:
    """Does the clause stand where a noun phrase stands ("I ate what I found")?"""
    parent = phrase.parent
    if parent is None or question.label not in ("WHNP", "WHADVP"):
        return False
    if parent.label == "PP":
        return question.label == "WHNP" or phrase.index > 0
    if parent.label == "VP":
        verb = parent.child(*VERB_TAGS)
        if verb is None or verb.begin > phrase.begin:
            return False
        if verb.word in word_lists().be:
            return True
        return question.label == "WHNP" and verb.lemma not in word_lists().interrogative and verb.lemma in ("do", "get")
    if parent.label in ("S", "SINV", "SQ"):
        return question.label == "WHNP" and phrase.index == 0
    return parent.label == "NP" and len(parent.children) == 1


def _bare_copula(clause: Phrase) -> Phrase | None:
    """The copula of a clause that has no other head, if so."""
    *phrases, verb = clause.projection()
    if verb.word not in word_lists().be or verb.label not in VERB_TAGS or is_existential(phrases[-1]):
        return None
    has_subject = any(child.label in NOMINAL for phrase in phrases for child in phrase.children)
    return verb if has_subject and not any(phrase.coordination for phrase in phrases) else None


def _presented_head(phrase: Phrase) -> Phrase | None:
    """ "Here is the key", "there they are": the adverb is the predicate of a bare copula."""
    adverb, verb = phrase.child("ADVP"), phrase.child("VP", *VERB_TAGS)
    if adverb is None or verb is None or adverb.begin > verb.begin or adverb.leaf().word not in ("here", "there"):
        return None
    if verb.leaf().word not in word_lists().be or (verb.label == "VP" and len(verb.children) > 1):
        return None
    phrase.copula = verb.head
    return adverb
