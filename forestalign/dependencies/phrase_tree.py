"""The tree as the conversion sees it: phrases that know their parent, their head child and their coordination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestalign.grammar import base_label
from forestalign.trees import Tree

NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})
VERB_TAGS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})
NOMINAL = frozenset({"NP", "NML", "NX", "NAC", "WHNP"})
NO_TOKEN = -1
CLAUSAL = frozenset({"S", "SQ", "SINV", "SBARQ", "SBAR"})


@dataclass(slots=True, eq=False)
class Phrase:
    """A node while it is converted; `head_child`, `head` and `coordination` are filled children first."""

    label: str
    begin: int
    end: int
    word: str  # lower case; empty for a phrase
    lemma: str
    parent: Phrase | None
    index: int  # among the children of the parent
    children: list[Phrase]
    head: int = -1
    head_child: Phrase | None = None
    coordination: Coordination | None = None
    copula: int = NO_TOKEN  # a bare copula that gave the head of this phrase to a question word
    labels: tuple[str, ...] = ()  # of the children, in order

    def child(self, *labels: str) -> Phrase | None:
        """The first child with one of these labels."""
        for number, label in enumerate(self.labels):
            if label in labels:
                return self.children[number]
        return None

    def leaf(self) -> Phrase:
        """The word that is the head of the head, and so on down."""
        phrase = self
        while phrase.head_child is not None:
            phrase = phrase.head_child
        return phrase

    def before(self) -> list[Phrase]:
        """Sisters to the left."""
        return self.parent.children[: self.index] if self.parent else []

    def after(self) -> list[Phrase]:
        """Sisters to the right."""
        return self.parent.children[self.index + 1 :] if self.parent else []

    def projection(self) -> Iterator[Phrase]:
        """This phrase and its head children down to the word."""
        phrase: Phrase | None = self
        while phrase is not None:
            yield phrase
            phrase = phrase.head_child


@dataclass(frozen=True, slots=True, eq=False)
class Coordination:
    """Conjuncts among the children of a phrase, in order; each with the children that belong to it.

    `is_local`: the conjuncts are modifiers side by side ("black and white cats"), not heads of the phrase.
    """

    conjuncts: tuple[int, ...]
    owner: tuple[int, ...]  # for each child: which conjunct (index into conjuncts) governs it
    is_local: bool


def build_phrases(tree: Tree, lemmas: Sequence[str]) -> list[Phrase]:
    """All phrases and words, parents before children."""
    order: list[Phrase] = []
    stack: list[tuple[Tree, Phrase | None, int]] = [(tree, None, 0)]
    while stack:
        node, parent, index = stack.pop()
        word, lemma = ("", "") if node.word is None else (node.word.lower(), lemmas[node.begin])
        labels = tuple([base_label(child.label) for child in node.children])
        label = base_label(node.label) if parent is None else parent.labels[index]
        phrase = Phrase(label, node.begin, node.end, word, lemma, parent, index, [], labels=labels)
        order.append(phrase)
        if parent is not None:
            parent.children.append(phrase)
        stack += [(node.children[place], phrase, place) for place in range(len(labels) - 1, -1, -1)]
    return order
