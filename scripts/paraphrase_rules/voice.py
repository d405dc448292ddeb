"""Active and passive. A passive needs a verb that the treebank has in the passive, an active an agent after `by`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from forestalign.trees import Tree
from paraphrase_rules.tree_edits import first_word, new_word, phrase, substitute, with_children, with_word, words
from paraphrase_rules.usage import Usage, lemma, word_list
from paraphrase_rules.verbs import (
    FINITE,
    Agreement,
    Clause,
    agreeing,
    agreement,
    as_object,
    as_subject,
    clauses,
    finite,
    head_noun,
    inflected,
    verb_chain,
    verb_of,
)

LONGEST_MOVED = 8  # words of a phrase that becomes the subject
LONGEST_BEFORE_REST = 4  # words of an agent that other phrases may follow
_REST = frozenset({"PP", "ADVP", "SBAR"})
_POSSESSIVES = {"i": "my", "we": "our", "you": "your", "he": "his", "she": "her", "it": "its", "they": "their"}
_THIRD = frozenset({"his", "her", "its", "it's", "their"})


def passives(root: Tree, usage: Usage) -> Iterator[Tree]:
    """The sentence with one transitive clause in the passive: `The dog bit him`, `He was bitten by the dog`."""
    for clause in clauses(root):
        subject = clause.subject
        chain = verb_chain(clause.verb_phrase)
        if subject is None or not chain or not _is_beside(clause) or not _is_passivisable(chain, usage):
            continue
        at = next((k for k, child in enumerate(chain[-1].children) if child.label == "NP"), None)
        if at is None or not _are_exchangeable(subject, chain[-1], at):
            continue
        patient, agent = as_subject(chain[-1].children[at]), as_object(subject)
        if patient is not None and agent is not None:
            changed = _passive_chain(chain, at, agent, agreement(patient), usage)
            if changed is not None:
                yield _clause_with(root, clause, patient, changed)


def _is_beside(clause: Clause) -> bool:
    """Nothing stands between subject and VP."""
    children = clause.node.children
    return any(left is clause.subject and right is clause.verb_phrase for left, right in pairwise(children))


def _is_passivisable(chain: Sequence[Tree], usage: Usage) -> bool:
    verb = verb_of(chain[-1])
    if len(chain) > 1 and lemma(verb_of(chain[-2])) == "be" and verb.label != "VBG":
        return False
    if len(chain) > 1 and any(child.label == "ADVP" for child in chain[-2].children):
        return False  # its place would be between `be` and the participle
    if len(chain) > 2 and verb.label == "VBG":
        return False  # `will be being done`
    name = lemma(verb)
    return name in usage.passive_verbs and name not in word_list("not_passive")


def _are_exchangeable(subject: Tree, verb_phrase: Tree, at: int) -> bool:
    """The object stands by the verb, both can change places, and nothing else depends on who is the subject."""
    thing, before, after = verb_phrase.children[at], verb_phrase.children[:at], verb_phrase.children[at + 1 :]
    if not _is_plain_rest(after) or any(child.label not in {"ADVP", "PRT", "RB"} for child in before[1:]):
        return False
    head, agent = head_noun(thing), head_noun(subject)
    if head is None or head.label in {"DT", "CD"} or agreement(thing) is None or len(words(thing)) > LONGEST_MOVED:
        return False
    if agent is None or agent.label in {"DT", "CD"} or words(subject) in (["it"], ["there"], ["one"]):
        return False
    if after and len(words(subject)) > LONGEST_BEFORE_REST:
        return False
    return _is_real_object(thing, head) and not _is_bound(thing, subject)


def _is_plain_rest(after: Sequence[Tree]) -> bool:
    complete = all(len(child.children) > 1 or child.label == "ADVP" for child in after)
    return complete and all(
        child.label in _REST and not (child.label == "SBAR" and not _is_adjunct_clause(child)) for child in after
    )


def _is_adjunct_clause(child: Tree) -> bool:
    return first_word(child) in word_list("subordinators") - {"if", "when"}


def _is_real_object(thing: Tree, head: Tree) -> bool:
    """Neither a time, nor reflexive, nor a bare noun as in `make sense`."""
    word = str(head.word).lower()
    if word in word_list("time_nouns") | word_list("light_objects") or word.endswith(("self", "selves")):
        return False
    if words(thing)[0] in {"each", "one", "no", "any"} or any(leaf.label in {"WP", "WDT"} for leaf in thing.leaves()):
        return False
    determined = any(leaf.label in {"DT", "PRP$", "POS"} for leaf in thing.leaves())
    if "," in words(thing):
        return False
    return head.label in {"NNS", "NNP", "PRP"} or determined


def _is_bound(thing: Tree, subject: Tree) -> bool:
    """A possessive in the object may mean the subject."""
    own = {str(leaf.word).lower() for leaf in thing.leaves() if leaf.label == "PRP$"}
    if words(subject)[0] in _POSSESSIVES and len(words(subject)) == 1:
        return _POSSESSIVES[words(subject)[0]] in own
    return bool(own & _THIRD)


def _passive_chain(
    chain: Sequence[Tree], at: int, agent: Tree, subject: Agreement | None, usage: Usage
) -> list[Tree] | None:
    """The VPs of the passive, outermost first, each still holding the old ones inside."""
    inner, verb = chain[-1], verb_of(chain[-1])
    participle = inflected(lemma(verb), "VBN", usage)
    if subject is None or participle is None:
        return None
    by_agent = phrase("PP", new_word("IN", "by"), agent)
    rest = inner.children[at + 1 :]
    adverbs = tuple(takewhile(lambda child: child.label == "ADVP", rest))  # `was brought home by him`
    children = [*inner.children[:at], *adverbs, by_agent, *rest[len(adverbs) :]]
    children[children.index(verb)] = with_word(verb, "VBN", participle)
    passive = with_children(inner, children)
    if len(chain) == 1:
        be = finite("be", verb.label == "VBD", subject, usage)
        return None if be is None else [phrase("VP", new_word(*be), passive)]
    above = verb_of(chain[-2])
    if lemma(above) == "do":
        be = finite("be", above.label == "VBD", subject, usage)
        if be is None:
            return None
        return [*chain[:-2], _exchanged(chain[-2], (above, new_word(*be)), (inner, passive))]
    form = inflected("be", verb.label, usage)
    if form is None:
        return None
    return _agreeing_chain([*chain[:-1], phrase("VP", new_word(verb.label, form), passive)], subject, usage)


def _exchanged(node: Tree, *changes: tuple[Tree, Tree]) -> Tree:
    for old, new in changes:
        node = with_children(node, [new if child is old else child for child in node.children])
    return node


def _agreeing_chain(new: list[Tree], subject: Agreement, usage: Usage) -> list[Tree] | None:
    """The chain put together again, its finite verb agreeing with the subject."""
    finite_verb = verb_of(new[0])
    agreed = agreeing(finite_verb, verb_of(new[1]).label if len(new) > 1 else "", subject, usage)
    if agreed is None:
        return None
    return [_exchanged(new[0], (finite_verb, agreed)), *new[1:]]


def _assembled(chain: Sequence[Tree]) -> Tree:
    """One VP of a chain of VPs, the VP inside each exchanged for the next."""
    node = chain[-1]
    for outer in reversed(chain[:-1]):
        node = with_children(outer, [node if child.label == "VP" else child for child in outer.children])
    return node


def _clause_with(root: Tree, clause: Clause, subject: Tree, chain: Sequence[Tree]) -> Tree:
    assert clause.subject is not None
    changed = _exchanged(clause.node, (clause.subject, subject), (clause.verb_phrase, _assembled(chain)))
    return substitute(root, clause.node, changed)


def actives(root: Tree, usage: Usage) -> Iterator[Tree]:
    """The sentence with one passive clause in the active: `He was bitten by the dog`, `The dog bit him`."""
    for clause in clauses(root):
        chain = verb_chain(clause.verb_phrase)
        if clause.subject is None or len(chain) < 2 or not _is_beside(clause) or not _is_passive(chain):
            continue
        by_agent = next((child for child in chain[-1].children if _is_agent(child)), None)
        patient = as_object(clause.subject)
        if by_agent is None or patient is None or not _is_nominal(clause.subject):
            continue
        agent = as_subject(by_agent.children[1])
        if agent is not None:
            changed = _active_chain(chain, by_agent, patient, agreement(agent), usage)
            if changed is not None:
                yield _clause_with(root, clause, agent, changed)


def _is_passive(chain: Sequence[Tree]) -> bool:
    return lemma(verb_of(chain[-2])) == "be" and verb_of(chain[-1]).label == "VBN"


def _is_nominal(noun_phrase: Tree) -> bool:
    head = head_noun(noun_phrase)
    is_sum = agreement(noun_phrase) is Agreement.PLURAL
    return words(noun_phrase)[0] != "there" and (is_sum or (head is not None and head.label not in {"DT", "CD"}))


def _is_agent(child: Tree) -> bool:
    """A PP of `by` with someone or something that can do something."""
    if child.label != "PP" or [each.label for each in child.children] != ["IN", "NP"] or first_word(child) != "by":
        return False
    head = head_noun(child.children[1])
    if len(words(child)) > LONGEST_MOVED + 1 or "," in words(child):
        return False
    if head is None or head.label in {"DT", "CD"} or agreement(child.children[1]) is None:
        return False
    word = str(head.word).lower()
    if word in word_list("time_nouns") | word_list("not_agents"):
        return False
    determined = any(leaf.label in {"DT", "PRP$", "POS"} for leaf in child.leaves())
    return head.label in {"NNS", "NNP", "PRP"} or determined


def _active_chain(
    chain: Sequence[Tree], by_agent: Tree, patient: Tree, subject: Agreement | None, usage: Usage
) -> list[Tree] | None:
    """The VPs of the active, outermost first."""
    inner, verb, be = chain[-1], verb_of(chain[-1]), verb_of(chain[-2])
    at = inner.children.index(verb)
    before, after = inner.children[:at], [child for child in inner.children[at + 1 :] if child is not by_agent]
    beside = [child for child in chain[-2].children if child is not be and child is not inner]
    if subject is None or not _may_stay(before, after) or any(child.label not in {"ADVP", "RB"} for child in beside):
        return None
    is_finite = be.label in FINITE
    is_past = be.label == "VBD"
    if is_finite and any(child.label == "RB" for child in beside):
        do = finite("do", is_past, subject, usage)
        if do is None:
            return None
        active = with_children(inner, [*before, with_word(verb, "VB", lemma(verb)), *_with_object(after, patient)])
        return [_exchanged(chain[-2], (be, new_word(*do)), (inner, active))]
    found = finite(lemma(verb), is_past, subject, usage) if is_finite else _form(lemma(verb), be.label, usage)
    if found is None:
        return None
    active = with_children(inner, [*beside, *before, with_word(verb, *found), *_with_object(after, patient)])
    return [active] if is_finite else _agreeing_chain([*chain[:-2], active], subject, usage)


def _may_stay(before: Sequence[Tree], after: Sequence[Tree]) -> bool:
    """What stands around the verb can stand there in the active too."""
    has_other_agent = any("by" in words(child) for child in after)
    are_adverbs = all(child.label == "ADVP" for child in before)
    return are_adverbs and not has_other_agent and _is_plain_rest(_without_particle(after))


def _form(verb: str, tag: str, usage: Usage) -> tuple[str, str] | None:
    form = inflected(verb, tag, usage)
    return None if form is None else (tag, form)


def _without_particle(after: Sequence[Tree]) -> Sequence[Tree]:
    return after[1:] if after and after[0].label == "PRT" else after


def _with_object(after: Sequence[Tree], patient: Tree) -> list[Tree]:
    """The object by the verb; a particle follows a pronoun (`set it up`)."""
    if after and after[0].label == "PRT" and patient.children[0].label != "PRP":
        return [after[0], patient, *after[1:]]
    return [patient, *after]
