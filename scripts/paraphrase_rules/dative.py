"""The dative alternation: `gave him the book`, `gave the book to him`."""

from __future__ import annotations

from collections.abc import Iterator

from forestalign.trees import Tree
from paraphrase_rules.tree_edits import first_word, new_word, nodes_labelled, phrase, substitute, with_children, words
from paraphrase_rules.usage import Usage, lemma, word_list
from paraphrase_rules.verbs import head_noun

LONGEST_GIFT = 6
_LIGHT_PRONOUNS = frozenset({"me", "him", "her", "us", "them", "you"})


def prepositional_datives(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`gave him the book` becomes `gave the book to him`."""
    for node in nodes_labelled(root, "VP"):
        match [child.label for child in node.children]:
            case [verb, "NP", "NP", *_] if verb.startswith("VB"):
                preposition = _preposition(node.children[0])
                receiver, gift = node.children[1:3]
                if preposition and _is_receiver(receiver) and _is_gift(gift):
                    moved = phrase("PP", new_word("IN", preposition), receiver)
                    children = [node.children[0], gift, moved, *node.children[3:]]
                    yield substitute(root, node, with_children(node, children))


def double_objects(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`gave the book to him` becomes `gave him the book`."""
    for node in nodes_labelled(root, "VP"):
        match [child.label for child in node.children]:
            case [verb, "NP", "PP", *_] if verb.startswith("VB"):
                gift, moved = node.children[1:3]
                if _is_dative(moved, _preposition(node.children[0])) and _is_gift(gift):
                    children = [node.children[0], moved.children[1], gift, *node.children[3:]]
                    yield substitute(root, node, with_children(node, children))


def _preposition(verb: Tree) -> str:
    name = lemma(verb)
    return "to" if name in word_list("dative_to") else "for" if name in word_list("dative_for") else ""


def _is_dative(moved: Tree, preposition: str) -> bool:
    """The PP names someone by a pronoun or a name; anything else may be a place."""
    if [child.label for child in moved.children] != ["IN", "NP"] or not preposition:
        return False
    return (
        first_word(moved) == preposition and words(moved.children[1])[0] in _LIGHT_PRONOUNS and len(words(moved)) == 2
    )


def _is_receiver(receiver: Tree) -> bool:
    head = head_noun(receiver)
    if head is None or head.label not in {"PRP", "NN", "NNS", "NNP"} or len(words(receiver)) > 3:
        return False
    word = str(head.word).lower()
    is_definite = head.label in {"PRP", "NNP"} or next(receiver.leaves()).label in {"DT", "PRP$"}
    return is_definite and word not in word_list("time_nouns") | {"it"} and not word.endswith(("self", "selves"))


def _is_gift(gift: Tree) -> bool:
    """Something that changes hands: no pronoun, no time, no idiom, and not too long to stand before a PP."""
    head = head_noun(gift)
    if head is None or head.label not in {"NN", "NNS", "NNP"} or len(words(gift)) > LONGEST_GIFT:
        return False
    if any(leaf.label in {"WDT", "WP", "WRB", ",", "MD"} or leaf.label.startswith("VB") for leaf in gift.leaves()):
        return False
    return lemma(head) not in word_list("time_nouns") | word_list("gift_idioms")
