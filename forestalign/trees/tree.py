"""The n-ary tree, and walks over it.

All walks are loops with a stack of their own: a long sentence may have a tree deeper than Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from forestalign.grammar import HeadTable, base_label
from forestalign.tokens import Span

CHAIN = "+"


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

    def leaves(self) -> Iterator[Tree]:
        """The words, left to right."""
        return (node for node in preorder(self) if node.word is not None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        if self is other:
            return True
        return [_own_fields(node) for node in preorder(self)] == [_own_fields(node) for node in preorder(other)]

    def __hash__(self) -> int:
        return hash(tuple(_own_fields(node) for node in preorder(self)))

    def __str__(self) -> str:
        """Brackets on several lines, one for each phrase that holds others."""
        from forestalign.trees.brackets import indented_brackets  # which needs trees

        return indented_brackets(self)

    def __repr__(self) -> str:
        return f"Tree({[_own_fields(node) for node in preorder(self)]})"


def _own_fields(node: Tree) -> tuple[str, int, int, int, str | None]:
    return node.label, node.begin, node.end, len(node.children), node.word


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


def preorder(tree: Tree) -> Iterator[Tree]:
    """Every node, parents before children, left to right."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def postorder(tree: Tree) -> list[Tree]:
    """Every node, children before parents, left to right."""
    order, stack = [], [tree]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children)
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
