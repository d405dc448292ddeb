"""Adjuncts and subordinate clauses at the front and at the end of a clause; clauses and predicates in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from forestalign.trees import Tree, preorder
from paraphrase_rules.tree_edits import first_word, new_word, parents, substitute, with_children, words
from paraphrase_rules.usage import Usage, lemma, word_list
from paraphrase_rules.verbs import Clause, clauses, head_noun, verb_chain, verb_of

SHORTEST_CLAUSE = 3
LONGEST_BEFORE = 15  # words of a VP that a phrase may be moved to the end of
FEW = 0.05  # a PP that stands by so few of a verb's uses is not an argument of it
OFTEN = 20  # uses of a verb that such a share can be trusted on
_THIRD_PERSON = frozenset({"he", "she", "it", "they", "him", "her", "them", "his", "its", "their"})
_COMPLEMENTS = frozenset({"NP", "ADJP", "PP", "S", "SBAR", "PRT", "VP", "ADVP", "UCP"})

_ORDERED = frozenset({"then", "so", "therefore", "thus", "later", "finally", "also", "too", "now", "again", "still"})
_SWAPPED_CLAUSES = frozenset({"S", "VP"})

MayMove = Callable[[Tree], bool]


def fronted_adjuncts(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`He left after lunch`, `After lunch, he left`."""
    for clause in clauses(root, embedded=False):
        yield from _fronted(root, clause, partial(_is_frontable, verb_chain(clause.verb_phrase), usage))


def _is_frontable(chain: Sequence[Tree], usage: Usage, child: Tree) -> bool:
    is_span = words(child) == ["now"] and verb_of(chain[-1]).label == "VBN"  # `for two years now`
    return (is_adjunct(child) and not is_span) or _is_place(child, chain[-1], usage)


def fronted_clauses(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`He left because it rained`, `Because it rained, he left`."""
    for clause in clauses(root, embedded=False):
        chain = verb_chain(clause.verb_phrase)
        if chain and lemma(verb_of(chain[-1])) not in word_list("question_verbs"):
            yield from _fronted(root, clause, is_adjunct_clause)


def moved_back_adjuncts(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`After lunch, he left`, `He left after lunch`."""
    return _moved_back(root, lambda child: is_adjunct(child) and first_word(child) not in word_list("sentence_adverbs"))


def moved_back_clauses(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`Because it rained, he left`, `He left because it rained`."""
    return _moved_back(root, is_adjunct_clause)


def swapped_clauses(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`She sings and he plays`, `He plays and she sings`; predicates of one subject likewise."""
    for node in preorder(root):
        places = _conjoined(node)
        if places is not None and _may_follow(node.children[places[1]]):
            children = list(node.children)
            first, second = places
            children[first], children[second] = children[second], children[first]
            yield substitute(root, node, with_children(node, children))


def _conjoined(node: Tree) -> tuple[int, int] | None:
    """Where the two clauses or predicates of a coordination stand; None if it is none, or has more than two."""
    labels = [child.label for child in node.children]
    while labels and labels[-1] in {".", "''"}:
        labels.pop()
    labels = [label for label in labels if label != ","] if labels[1:3] == [",", "CC"] else labels
    is_pair = len(labels) == 3 and labels[1] == "CC" and labels[0] == labels[2] and labels[0] in _SWAPPED_CLAUSES
    coordinator = next((child for child in node.children if child.label == "CC"), None)
    if not is_pair or coordinator is None or str(coordinator.word).lower() not in {"and", "or"}:
        return None
    second = max(place for place, child in enumerate(node.children) if child.label == labels[2])
    return 0, second


def _may_follow(conjunct: Tree) -> bool:
    """Whether it may stand first: it refers back to nothing, and claims no place in time."""
    return len(words(conjunct)) >= SHORTEST_CLAUSE and not {*words(conjunct)} & (_THIRD_PERSON | _ORDERED)


def is_adjunct_clause(child: Tree) -> bool:
    """A clause after one subordinator that opens no complement."""
    if child.label != "SBAR" or [each.label for each in child.children] not in (["IN", "S"], ["WHADVP", "S"]):
        return False
    is_finite = child.children[1].children[0].label in {"NP", "ADVP"} and child.children[1].children[-1].label == "VP"
    return is_finite and len(words(child)) > SHORTEST_CLAUSE and first_word(child) in word_list("subordinators")


def is_adjunct(child: Tree) -> bool:
    """A PP, noun phrase or adverb that says when, or under what circumstances."""
    if child.label == "ADVP":
        return len(words(child)) == 1 and first_word(child) in word_list("adverbs")
    if child.label == "NP":
        return _is_time(child)
    if child.label != "PP" or not child.children[0].is_leaf or child.children[-1].label not in {"NP", "PP"}:
        return False
    if any(leaf.label in {"WP", "WDT", "WRB"} for leaf in child.leaves()):
        return False
    word = first_word(child)
    if word in word_list("adjunct_prepositions"):
        return True
    return word in word_list("time_prepositions") and len(child.children) == 2 and _names_time(child.children[1])


def _names_time(noun_phrase: Tree) -> bool:
    head = head_noun(noun_phrase)
    if head is None or noun_phrase.label != "NP":
        return False
    word = str(head.word).lower()
    is_year = head.label == "CD" and len(word) == 4 and word.isdigit()
    return is_year or lemma(head) in word_list("time_nouns") - {"date", "may", "second"}


def _is_time(noun_phrase: Tree) -> bool:
    """`last week`, `every other day`, `Monday`, but not `a day`."""
    head = head_noun(noun_phrase)
    if head is None or any(not child.is_leaf for child in noun_phrase.children):
        return False
    if len(words(noun_phrase)) == 1:
        return str(head.word).lower() in word_list("time_names")
    return words(noun_phrase)[0] in word_list("time_determiners") and head.label != "NNS" and _names_time(noun_phrase)


def _is_place(child: Tree, verb_phrase: Tree, usage: Usage) -> bool:
    """A PP after an object whose preposition this verb hardly ever takes, so that it is not an argument."""
    if child.label != "PP" or [each.label for each in child.children] != ["IN", "NP"]:
        return False
    word, verb = first_word(child), lemma(verb_of(verb_phrase))
    if word not in word_list("place_prepositions") or verb in {"be", "have"}:
        return False
    has_object = [each.label for each in verb_phrase.children[-2:]] == ["NP", "PP"]
    uses, with_it = usage.verb_prepositions.get((verb, ""), 0), usage.verb_prepositions.get((verb, word), 0)
    is_rare = uses >= OFTEN and with_it <= FEW * uses
    head = head_noun(child.children[1])
    return has_object and is_rare and head is not None and head.label not in {"PRP", "DT", "CD"}


def _fronted(root: Tree, clause: Clause, may_move: MayMove) -> Iterator[Tree]:
    first, chain = clause.node.children[0], verb_chain(clause.verb_phrase)
    if not chain or first is not (clause.subject or clause.verb_phrase) or words(clause.node)[-1] == "?":
        return
    if clause.subject is None and verb_of(chain[0]).label != "VB":
        return  # not an imperative but a sentence whose subject was left out
    if _runs_on(root, clause.node):
        return
    for verb_phrase in chain:
        last = verb_phrase.children[-1]
        if not may_move(last) or not _stands_alone(verb_phrase, last) or _is_denied(clause, last):
            continue
        kept = list(verb_phrase.children[:-1])
        if kept[-1].label == ",":
            kept.pop()
        shorter = substitute(clause.node, verb_phrase, with_children(verb_phrase, kept))
        children = [last, new_word(",", ","), *shorter.children]
        yield substitute(root, clause.node, with_children(shorter, children))


def _runs_on(root: Tree, node: Tree) -> bool:
    """The clause follows another one with nothing between them, so that a phrase at its front could belong to that."""
    parent = parents(root).get(id(node))
    return parent is not None and any(left.label == "S" and right is node for left, right in pairwise(parent.children))


def _is_denied(clause: Clause, last: Tree) -> bool:
    """A negation or `only` may be about the phrase (`not because`), and would not reach it at the front."""
    own, first = set(words(clause.node)), first_word(last)
    is_negative = bool(own & {"not", "n't", "never", "no"}) and first in {
        "because",
        "due",
        "since",
        "thanks",
        "in",
        "for",
    }
    is_goal = clause.subject is None and first == "until"
    return is_negative or is_goal or bool(own & {"only", "even"})


def _stands_alone(verb_phrase: Tree, last: Tree) -> bool:
    """What stays is complete without the phrase that goes."""
    kept = verb_phrase.children[:-1]
    if any(child.label in {"CC", "''", "``", ":"} for child in kept):
        return False
    rest = [child for child in kept if child.label in _COMPLEMENTS - ({"ADVP"} if last.label != "SBAR" else set())]
    if last.label != "SBAR" and kept and kept[-1].label in {"S", "SBAR", "VP"}:
        return False  # it could belong to that clause
    verb = lemma(verb_of(verb_phrase))
    return bool(rest) or (verb not in word_list("needs_complement") and verb_phrase.children[-1] is last)


def _moved_back(root: Tree, may_move: MayMove) -> Iterator[Tree]:
    for clause in clauses(root, embedded=False):
        first = clause.node.children[0]
        chain = verb_chain(clause.verb_phrase)
        if clause.subject is None or not chain or first is clause.subject or not may_move(first):
            continue
        if words(first) == ["now"] and lemma(verb_of(chain[-1])) == "be":
            continue  # it need not speak of time
        if clause.node.end < root.end - 1:
            continue  # it would reach into the clause that follows
        rest = list(clause.node.children[1:])
        if rest[0].label == ",":
            rest.pop(0)
        if rest[0] is not clause.subject or not _has_room(chain[-1]) or _would_confuse(first, rest):
            continue
        longer = with_children(chain[-1], [*chain[-1].children, first])
        changed = substitute(with_children(clause.node, rest), chain[-1], longer)
        yield substitute(root, clause.node, changed)


def _has_room(verb_phrase: Tree) -> bool:
    """Nothing in the VP could take the phrase for itself, but for noun phrases."""
    labels = {child.label for child in verb_phrase.children}
    is_simple = not labels & {"S", "SBAR", "VP", "CC", ":", "SQ", "SINV", "``", "''"} and len(verb_phrase.children) > 1
    own = words(verb_phrase)
    return is_simple and len(own) <= LONGEST_BEFORE and not {",", "...", "-", "--"} & set(own)


def _would_confuse(first: Tree, rest: list[Tree]) -> bool:
    """A pronoun that meant a noun before it would come before the noun."""
    has_noun = any(leaf.label.startswith("NN") for leaf in first.leaves())
    pronouns = {word for child in rest for word in words(child)} & _THIRD_PERSON
    return has_noun and bool(pronouns) and not _is_time(first)
