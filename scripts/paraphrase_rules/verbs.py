"""Clauses, their verbs, and the forms that verbs and pronouns take. Where a form is in doubt, None stands for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from forestalign.trees import Tree, preorder
from paraphrase_rules.tree_edits import first_word, parents, with_word, words
from paraphrase_rules.usage import Usage, lemma, word_list

FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
VERBS = FINITE | {"VB", "VBG", "VBN"}
PUNCTUATION = frozenset({".", ",", ":", "``", "''"})
_BESIDE_CLAUSES = PUNCTUATION | {"S", "CC"}
_GAPPED = frozenset({"than", "as", "like", "so", "for"})
_AUXILIARIES = frozenset({"be", "have", "do"})


class Agreement(StrEnum):
    """What a finite verb agrees with."""

    FIRST = "I"
    SINGULAR = "he"
    PLURAL = "they"


_PRONOUN_AGREEMENT = {
    "i": Agreement.FIRST, "he": Agreement.SINGULAR, "she": Agreement.SINGULAR, "it": Agreement.SINGULAR,
    "we": Agreement.PLURAL, "you": Agreement.PLURAL, "they": Agreement.PLURAL, "me": Agreement.FIRST,
    "him": Agreement.SINGULAR, "her": Agreement.SINGULAR, "us": Agreement.PLURAL, "them": Agreement.PLURAL,
}  # fmt: skip
_OBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "it": "it", "you": "you"}
_SUBJECTS = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "it": "it", "you": "you"}
_BE = {"VB": "be", "VBN": "been", "VBG": "being"}
_BE_FINITE = {
    ("VBP", Agreement.FIRST): "am", ("VBZ", Agreement.SINGULAR): "is", ("VBP", Agreement.PLURAL): "are",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause without a gap: a subject (None: an imperative), then a VP, perhaps with other phrases around them."""

    node: Tree
    subject: Tree | None
    verb_phrase: Tree


def clauses(root: Tree, embedded: bool = True) -> Iterator[Clause]:
    """The clauses of a sentence that surely miss nothing: the main one, coordinated ones, and, if `embedded`, those
    after a subordinator."""
    above = parents(root)
    for node in preorder(root):
        if node.label == "S" and _is_whole(node, above, embedded):
            phrases = [child for child in node.children if child.label in {"NP", "VP", "S", "SBAR", "CC", "VB"}]
            match [child.label for child in phrases if child.label != "SBAR"]:
                case ["NP", "VP"]:
                    subject, predicate = (child for child in phrases if child.label != "SBAR")
                    yield Clause(node, subject, predicate)
                case ["VP"] if node is root:
                    yield Clause(node, None, next(child for child in phrases if child.label == "VP"))


def _is_whole(node: Tree, above: dict[int, Tree], embedded: bool) -> bool:
    while (parent := above.get(id(node))) is not None and parent.label == "S":
        if any(child.label not in _BESIDE_CLAUSES for child in parent.children):
            return False
        node = parent
    if parent is None:
        return True
    is_after_subordinator = parent.label == "SBAR" and parent.children[0].label == "IN"
    return embedded and is_after_subordinator and first_word(parent) not in _GAPPED


def verb_chain(verb_phrase: Tree) -> tuple[Tree, ...]:
    """The VPs from the finite verb down to the main verb, each the last inside the one before; empty if coordinated."""
    chain = [verb_phrase]
    while True:
        node = chain[-1]
        verbs = [child for child in node.children if child.is_leaf and child.label in VERBS]
        inner = [child for child in node.children if child.label == "VP"]
        if len(verbs) != 1 or len(inner) > 1 or any(child.label in {"CC", "TO"} for child in node.children):
            return ()
        if not inner:
            return tuple(chain)
        if verbs[0].label != "MD" and lemma(verbs[0]) not in _AUXILIARIES:
            return ()
        chain.append(inner[0])


def verb_of(verb_phrase: Tree) -> Tree:
    """The verb of a VP of a chain."""
    return next(child for child in verb_phrase.children if child.is_leaf and child.label in VERBS)


def head_noun(noun_phrase: Tree) -> Tree | None:
    """The head of a plain noun phrase; None for coordinations and whatever else is in doubt."""
    node = noun_phrase
    while not node.is_leaf:
        if any(child.label in {"CC", "CONJP"} for child in node.children):
            return None
        if node.children[0].label == "NP" and node.children[0].children[-1].label != "POS":
            node = node.children[0]
            continue
        last = node.children[-1]
        if last.label not in {"NN", "NNS", "NNP", "NNPS", "PRP", "DT", "CD", "NX", "NML"}:
            return None
        node = last
    return node


def agreement(noun_phrase: Tree) -> Agreement | None:
    """What a verb agrees with when this is its subject; None if in doubt."""
    if _is_sum(noun_phrase):
        return Agreement.PLURAL
    head = head_noun(noun_phrase)
    if head is None or str(head.word).lower() in word_list("quantities"):
        return None
    if head.label == "PRP":
        return _PRONOUN_AGREEMENT.get(str(head.word).lower())
    if any(leaf.label in {"CD", "$"} for leaf in noun_phrase.leaves()) and head.label != "NNS":
        return None
    return {"NN": Agreement.SINGULAR, "NNP": Agreement.SINGULAR, "NNS": Agreement.PLURAL}.get(head.label)


def _is_sum(noun_phrase: Tree) -> bool:
    """Two noun phrases joined by `and`, neither of them a pronoun."""
    labels = [child.label for child in noun_phrase.children]
    return (
        labels == ["NP", "CC", "NP"]
        and noun_phrase.children[1].word == "and"
        and all(leaf.label != "PRP" for leaf in noun_phrase.leaves())
    )


def as_object(noun_phrase: Tree) -> Tree | None:
    """The noun phrase where an object stands (`I` becomes `me`)."""
    return _in_case(noun_phrase, _OBJECTS)


def as_subject(noun_phrase: Tree) -> Tree | None:
    """The noun phrase where a subject stands (`me` becomes `I`)."""
    return _in_case(noun_phrase, _SUBJECTS)


def _in_case(noun_phrase: Tree, table: dict[str, str]) -> Tree | None:
    pronouns = [leaf for leaf in noun_phrase.leaves() if leaf.label == "PRP"]
    if not pronouns:
        return noun_phrase
    word = table.get(str(pronouns[0].word).lower())
    if len(words(noun_phrase)) > 1 or word is None:
        return None
    changed = with_word(pronouns[0], "PRP", word)
    return Tree(noun_phrase.label, noun_phrase.begin, noun_phrase.end, (changed,))


def inflected(verb: str, tag: str, usage: Usage) -> str | None:
    """A form of a verb; of several the one that the treebank has most often."""
    if verb == "be":
        return _BE.get(tag)
    if tag in {"VB", "VBP"}:
        return verb
    import lemminflect  # its tables are large

    found = sorted(set(lemminflect.getInflection(verb, tag)))
    return max(found, key=lambda form: usage.forms.get((form, tag), 0), default=None)


def finite(verb: str, is_past: bool, subject: Agreement, usage: Usage) -> tuple[str, str] | None:
    """Tag and form of a finite verb."""
    if is_past and verb == "be":
        return "VBD", "were" if subject is Agreement.PLURAL else "was"
    tag = "VBD" if is_past else "VBZ" if subject is Agreement.SINGULAR else "VBP"
    form = _BE_FINITE[tag, subject] if verb == "be" else inflected(verb, tag, usage)
    return None if form is None else (tag, form)


def agreeing(leaf: Tree, below: str, subject: Agreement, usage: Usage) -> Tree | None:
    """A finite verb made to agree with a new subject, contractions spelt out; `below` is the tag of the next verb."""
    word = str(leaf.word).lower().replace("’", "'")
    if leaf.label == "MD":
        full = {"'ll": "will", "'d": "would" if below == "VB" else "had"}.get(word, word)
        return with_word(leaf, "MD", full)
    if word in {"'d", "ai"} or (word == "'s" and below == "VBN"):  # had or would; am, is or has; is or has
        return None
    found = finite(lemma(leaf), leaf.label == "VBD", subject, usage)
    return None if found is None else with_word(leaf, *found)
