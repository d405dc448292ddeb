"""The n-ary tree, and walks over it.

All walks are loops with a stack of their own: a long sentence may have a tree deeper than Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from forestalign.grammar import HeadTable, base_label
from forestalign.tokens import Span

CHAIN = "+"
_BEGIN, _END = attrgetter("begin"), attrgetter("end")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A constituent, or a word with its tag as label (then `word` is set and there are no children).

    Words are as in the text, so brackets are brackets; `-LRB-` exists in bracketed files only.
    """

    label: str
    begin: int
    end: int
    children: tuple[Tree, ...] = ()
    word: str | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether it is a word with its tag."""
        return self.word is not None

    def leaves(self) -> list[Tree]:
        """The words, left to right."""
        return [node for node in preorder(self) if node.word is not None]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        nodes, others = [self], [other]
        for one, two in zip(nodes, others, strict=True):  # both grow on the way
            if one is not two:
                if (one.label, one.begin, one.end, one.word) != (two.label, two.begin, two.end, two.word):
                    return False
                if len(one.children) != len(two.children):
                    return False
                nodes += one.children
                others += two.children
        return True

    def __hash__(self) -> int:
        nodes = [self]
        for node in nodes:
            nodes += node.children
        return hash(tuple([(node.label, node.begin, node.end, node.word) for node in nodes]))

    def __str__(self) -> str:
        """Brackets on several lines, one for each phrase that holds others."""
        from forestalign.trees.brackets import indented_brackets  # which needs trees

        return indented_brackets(self)

    def __repr__(self) -> str:
        fields = [(node.label, node.begin, node.end, len(node.children), node.word) for node in preorder(self)]
        return f"Tree({fields})"


@dataclass(frozen=True, slots=True)
class ScoredTree:
    """One of the n best: a tree with its log probability."""

    tree: Tree
    log_prob: float


class Constituent(NamedTuple):
    """A phrase with the chain of unary phrases above it: the label joins the chain, `tree` is its lowest member."""

    begin: int
    end: int
    label: str
    tree: Tree


def preorder(tree: Tree) -> list[Tree]:
    """Every node, parents before children, left to right."""
    order = [tree]
    for node in order:  # grows on the way, so that of nodes over the same words parents come first
        order += node.children
    order.sort(key=_END, reverse=True)
    order.sort(key=_BEGIN)
    return order


def postorder(tree: Tree) -> list[Tree]:
    """Every node, children before parents, left to right."""
    order, stack = [], [tree]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += node.children
    order.reverse()
    return order


def collapse_chain(tree: Tree) -> Constituent:
    """The chain of unary phrases that begins at this phrase, as one constituent: S over VP over two words is S+VP."""
    lowest, labels = tree, [tree.label]
    while len(lowest.children) == 1 and lowest.children[0].word is None:
        lowest = lowest.children[0]
        labels.append(lowest.label)
    return Constituent(tree.begin, tree.end, CHAIN.join(labels), lowest)


def constituents(tree: Tree) -> Iterator[Constituent]:
    """Every phrase, a unary chain as one, parents before children, left to right."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.word is None:
            constituent = collapse_chain(node)
            yield constituent
            stack.extend(reversed(constituent.tree.children))


def spans(tree: Tree) -> list[Span]:
    """The span of every phrase, each once, parents before children."""
    return [Span(constituent.begin, constituent.end) for constituent in constituents(tree)]


def plain_labels(tree: Tree) -> tuple[str, ...]:
    """The labels of the children, without function labels: what head rules look at."""
    return tuple(base_label(child.label) for child in tree.children)


def head_tokens(tree: Tree, table: HeadTable) -> list[int]:
    """The head token of every node, in the order of `postorder`."""
    heads: list[int] = []
    pending: list[int] = []  # heads of the finished nodes whose parent is still to come
    for node in postorder(tree):
        if node.word is not None:
            head = node.begin
        else:
            child_heads = pending[-len(node.children) :]
            del pending[-len(node.children) :]
            head = child_heads[table.child(base_label(node.label), plain_labels(node))]
        pending.append(head)
        heads.append(head)
    return heads
