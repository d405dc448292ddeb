"""The n-ary tree, walks over it, how it is binarised, and Penn brackets.

All walks are loops with a stack of their own: a long sentence may have a tree deeper than Python's recursion limit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from forestalign.errors import ForestAlignError, counted
from forestalign.grammar import (
    HeadTable,
    base_label,
    binarisation_order,
    head_rules,
    punctuation_tags,
    semantic_head_rules,
)
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


def unfold_chain(label: str, children: Sequence[Tree]) -> Tree:
    """Nested phrases for a chain label: S+VP over some children is S over VP over them."""
    begin, end, below = children[0].begin, children[-1].end, tuple(children)
    if CHAIN not in label:
        return Tree(label, begin, end, below)
    for name in reversed(label.split(CHAIN)):
        below = (Tree(name, begin, end, below),)
    return below[0]


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


# ---- head-outward binarisation ----


class Plan(NamedTuple):
    """How a phrase over more than two children becomes a spine of bar nodes around its head child.

    A step is a sister that joins what has been built so far, and the child that gives the semantic head of what is
    covered then. The last node that is built is the phrase itself; a bar node carries the lowest label of the phrase
    and its head. The inverse splices every bar node into the node above it, so it needs no further marks.
    """

    head_child: int
    steps: tuple[tuple[int, int], ...]


def binarisation_plan(label: str, labels: tuple[str, ...]) -> Plan:
    """The plan for a phrase and the labels of its children."""
    head = head_rules().child(label, labels)
    steps, begin, end = list[tuple[int, int]](), head, head + 1
    for sister in attachment_order(label, labels, head):
        begin, end = min(begin, sister), max(end, sister + 1)
        steps.append((sister, begin + semantic_head_rules().child(label, labels[begin:end])))
    return Plan(head, tuple(steps))


def attachment_order(label: str, labels: tuple[str, ...], head: int) -> list[int]:
    """The sisters of the head in the order in which they are attached.

    Near ones come before far ones, one side of the head after the other (right first, unless
    `grammar/binarisation.tsv` says otherwise for the label), punctuation at either edge last.
    """
    inner_begin, inner_end = 0, len(labels)
    while inner_begin < head and labels[inner_begin] in punctuation_tags():
        inner_begin += 1
    while inner_end > head + 1 and labels[inner_end - 1] in punctuation_tags():
        inner_end -= 1
    order: list[int] = []
    for side in binarisation_order(label):
        order += range(head + 1, inner_end) if side == "right" else range(head - 1, inner_begin - 1, -1)
    return [*order, *range(inner_end, len(labels)), *range(inner_begin - 1, -1, -1)]


# ---- Penn brackets ----


_TOKEN = re.compile(r"\(\s*(?P<label>[^\s()]*)|\)|(?P<word>[^\s()]+)", re.ASCII)
_OUTER_LABELS = frozenset({"", "TOP", "ROOT", "S1"})
_TO_TEXT = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPED = re.compile("|".join(_TO_TEXT))
_BLANK = re.compile(r"\s", re.ASCII)


class BracketError(ForestAlignError, ValueError):
    """A bracketed tree is malformed; the message has the column. Readers add file and line."""


def parse_brackets(text: str) -> Tree:
    """Read one tree; the outer TOP, ROOT or empty label is taken off.

    >>> tree = parse_brackets("(TOP (S (NP (PRP She)) (VP (VBD left))))")
    >>> tree.label, [leaf.word for leaf in tree.leaves()]
    ('S', ['She', 'left'])
    """
    root: Tree | None = None
    stack: list[tuple[str, list[Tree], list[str], int]] = []  # label, children, words, column
    position = 0
    for match in _TOKEN.finditer(text):
        column = match.start() + 1
        if root is not None:
            raise BracketError(f"column {column}: {match.group()[:20]!r} after the end of the tree")
        if match.group() == ")":
            if not stack:
                raise BracketError(f"column {column}: closing bracket without an opening one")
            node = _finish(*stack.pop(), position)
            position = node.end
            if stack:
                stack[-1][1].append(node)
            else:
                root = node
        elif (word := match.group("word")) is not None:
            if not stack:
                raise BracketError(f"column {column}: {word[:20]!r} where an opening bracket was expected")
            stack[-1][2].append(word)
        else:
            stack.append((match.group("label"), [], [], column))
    if root is None:
        missing = f"{counted(len(stack), 'closing bracket')} missing at the end" if stack else "no tree, expected '('"
        raise BracketError(missing)
    return _without_outer_label(root)


def _finish(label: str, children: list[Tree], words: list[str], column: int, position: int) -> Tree:
    if words:
        if children or len(words) > 1 or not label:
            raise BracketError(f"column {column}: ({label} holds {words[0]!r} and more; expected (TAG word)")
        return Tree(label, position, position + 1, (), unescaped(words[0]))
    if not children:
        raise BracketError(f"column {column}: ({label}) is empty, expected a word or phrases")
    return Tree(label, children[0].begin, position, tuple(children))


def unescaped(word: str) -> str:
    """A word of a bracketed file as the text has it; escapes may stand inside of it.

    >>> unescaped("x-LRB-y")
    'x(y'
    """
    return _ESCAPED.sub(lambda escaped: _TO_TEXT[escaped.group()], word)


def _without_outer_label(root: Tree) -> Tree:
    if root.word is None and root.label in _OUTER_LABELS:
        if len(root.children) == 1:
            return root.children[0]
        return Tree(root.label or "TOP", root.begin, root.end, root.children)
    return root


def format_brackets(tree: Tree, top: str = "TOP") -> str:
    """One line of brackets, inside `(top ...)` unless top is empty."""
    nodes = preorder(tree)
    closing = Counter([node.end for node in nodes])  # brackets behind each word
    parts = [
        f"({node.label} " if node.word is None else f"({node.label} {_escaped(node.word)}{')' * closing[node.end]} "
        for node in nodes
    ]
    text = "".join(parts)[:-1]
    return f"({top} {text})" if top else text


def indented_brackets(tree: Tree) -> str:
    """Brackets for reading: a phrase of words alone stands on one line, any other one above its parts.

    >>> print(indented_brackets(parse_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")))
    (S
      (NP (DT The) (NN cat))
      (VP (VBD sat)))
    """
    lines: list[str] = []
    stack: list[tuple[Tree | None, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if node is None:
            lines[-1] += ")"
        elif all(child.is_leaf for child in node.children):
            lines.append("  " * depth + format_brackets(node, top=""))
        else:
            lines.append(f"{'  ' * depth}({node.label}")
            stack.append((None, depth))
            stack += [(child, depth + 1) for child in reversed(node.children)]
    return "\n".join(lines)


def _escaped(word: str) -> str:
    """Round brackets and blanks are what the format itself is made of; other brackets may stay."""
    if word.isalnum():
        return word
    return _BLANK.sub("\u00a0", word.replace("(", "-LRB-").replace(")", "-RRB-"))


def strip_annotation(tree: Tree) -> Tree:
    """The tree without function labels, indices, traces, and the phrases that held only traces."""
    pending: list[Tree | None] = []
    position = 0
    for node in postorder(tree):
        if node.word is not None:
            is_trace = node.label == "-NONE-"
            pending.append(None if is_trace else Tree(base_label(node.label), position, position + 1, (), node.word))
            position += not is_trace
            continue
        children = tuple(child for child in pending[-len(node.children) :] if child is not None)
        del pending[-len(node.children) :]
        label = base_label(node.label)
        pending.append(Tree(label, children[0].begin, children[-1].end, children) if children else None)
    stripped = pending[0]
    if stripped is None:
        raise BracketError("the tree holds traces only, expected a word")
    return stripped
