"""Penn brackets: reading, writing, and taking function labels and traces out."""

from __future__ import annotations

import re
from collections import Counter

from forestalign.errors import ForestAlignError, counted
from forestalign.grammar import base_label
from forestalign.trees.tree import Tree, postorder, preorder

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
