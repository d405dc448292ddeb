"""Head-outward binarisation and its inverse.

A phrase over more than two children becomes a spine of bar nodes around its head child. Sisters are attached in this
order: near ones before far ones, one side of the head after the other (right first, unless `grammar/binarisation.tsv`
says otherwise for the label), punctuation at either edge last. The last node attached is the phrase itself. A bar node
carries the lowest label of the phrase, its head, and the semantic head among the children it covers. The inverse
splices every bar node into the node above it, so it needs no further marks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

from forestalign.grammar import (
    base_label,
    binarisation_order,
    head_rules,
    punctuation_tags,
    semantic_head_rules,
)
from forestalign.tokens import Span
from forestalign.trees.tree import CHAIN, Constituent, Tree, constituents, plain_labels

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class BinaryTree:
    """A phrase of a binarised tree: two children, one (a phrase over its word), or none (a word)."""

    label: str
    begin: int
    end: int
    head: int
    semantic_head: int
    is_bar: bool = False
    children: tuple[BinaryTree, ...] = ()
    word: str | None = None


class Attachment(NamedTuple):
    """One step outward: a sister joins what has been built so far, on its left or on its right."""

    sister: int
    is_left: bool
    semantic_child: int  # child that gives the semantic head of what is covered now
    is_bar: bool


class Plan(NamedTuple):
    """How one production is binarised: from the head child outward."""

    head_child: int
    semantic_child: int
    attachments: tuple[Attachment, ...]


@lru_cache(maxsize=1 << 13)
def binarisation_plan(label: str, labels: tuple[str, ...]) -> Plan:
    """The plan for a phrase and the labels of its children; a treebank has only some thousand of them."""
    head = head_rules().child(label, labels)
    return _plan(label, labels, head, attachment_order(label, labels, head))


def _plan(label: str, labels: tuple[str, ...], head: int, order: Sequence[int]) -> Plan:
    attachments, begin, end = [], head, head + 1
    for step, sister in enumerate(order, start=1):
        begin, end = min(begin, sister), max(end, sister + 1)
        semantic_child = begin + semantic_head_rules().child(label, labels[begin:end])
        attachments.append(Attachment(sister, sister < head, semantic_child, step < len(order)))
    return Plan(head, semantic_head_rules().child(label, labels), tuple(attachments))


def attachment_order(label: str, labels: tuple[str, ...], head: int) -> list[int]:
    """The sisters of the head in the order in which they are attached."""
    inner_begin, inner_end = 0, len(labels)
    while inner_begin < head and labels[inner_begin] in punctuation_tags():
        inner_begin += 1
    while inner_end > head + 1 and labels[inner_end - 1] in punctuation_tags():
        inner_end -= 1
    order: list[int] = []
    for side in binarisation_order(label):
        order += range(head + 1, inner_end) if side == "right" else range(head - 1, inner_begin - 1, -1)
    return [*order, *range(inner_end, len(labels)), *range(inner_begin - 1, -1, -1)]


def assemble(plan: Plan, children: Sequence[Item], join: Callable[[Item, Item, Attachment], Item]) -> Item:
    """Carry a plan out: `join(left, right, attachment)` makes the node of each step."""
    built = children[plan.head_child]
    for attachment in plan.attachments:
        sister = children[attachment.sister]
        built = join(sister, built, attachment) if attachment.is_left else join(built, sister, attachment)
    return built


def binarise(tree: Tree, bars: Collection[Span] = ()) -> BinaryTree:
    """The binary tree of an n-ary one: unary chains collapsed, phrases opened head-outward.

    Where `bars` has spans that a head-outward spine can have, sisters are attached in an order that gives them: a tree
    chosen from a forest may have been built in another order than this one.
    """
    built: list[BinaryTree] = []
    for constituent in reversed(list(_with_leaves(tree))):
        count = len(constituent.tree.children)
        children = built[: -count - 1 : -1] if count else []
        del built[len(built) - count :]
        built.append(_binarise_one(constituent, children, bars))
    return built[0]


def _with_leaves(tree: Tree) -> list[Constituent]:
    """Constituents and words, parents before children, left to right."""
    items = [*constituents(tree), *(Constituent(leaf.begin, leaf.end, leaf.label, leaf) for leaf in tree.leaves())]
    return sorted(items, key=lambda item: (item.begin, -item.end, item.tree.word is not None))


def _binarise_one(constituent: Constituent, children: list[BinaryTree], bars: Collection[Span]) -> BinaryTree:
    begin, end, label, tree = constituent
    if tree.word is not None:
        return BinaryTree(label, begin, end, begin, begin, word=tree.word)
    if len(children) == 1:
        return BinaryTree(label, begin, end, children[0].head, children[0].semantic_head, False, tuple(children))
    plan = binarisation_plan(base_label(tree.label), plain_labels(tree))
    if bars and plan.attachments[1:]:
        goals = _goals(children, bars)
        start, order = plan.head_child, [step.sister for step in plan.attachments]
        if goals and not goals[0].begin <= start < goals[0].end:  # its forest took another child for the head
            start, order = goals[0].begin, [each for each in range(len(children)) if each != goals[0].begin]
        plan = _plan(base_label(tree.label), plain_labels(tree), start, _order_through(order, start, goals))
    head = children[plan.head_child].head

    def join(left: BinaryTree, right: BinaryTree, step: Attachment) -> BinaryTree:
        semantic_head = children[step.semantic_child].semantic_head
        name = tree.label if step.is_bar else label
        return BinaryTree(name, left.begin, right.end, head, semantic_head, step.is_bar, (left, right))

    return assemble(plan, children, join)


def _goals(children: Sequence[BinaryTree], bars: Collection[Span]) -> list[Span]:
    """Runs of several children, but not all, whose words are one of the spans; small ones first."""
    count = len(children)
    runs = [Span(begin, end) for begin in range(count) for end in range(begin + 2, count + 1) if end - begin < count]
    found = [run for run in runs if Span(children[run.begin].begin, children[run.end - 1].end) in bars]
    return sorted(found, key=lambda run: run.end - run.begin)


def _order_through(order: Sequence[int], head: int, goals: Sequence[Span]) -> list[int]:
    """The order nearest to `order` in which what has been attached is each of the goals at some time."""
    begin, end, found, left = head, head + 1, list[int](), list(order)
    while left:
        inside = [goal for goal in goals if goal.begin <= begin and end <= goal.end and goal != (begin, end)]
        goal = inside[0] if inside else Span(0, len(order) + 1)
        sister = next(each for each in left if each in (begin - 1, end) and goal.begin <= each < goal.end)
        left.remove(sister)
        found.append(sister)
        begin, end = min(begin, sister), max(end, sister + 1)
    return found


def debinarise(tree: BinaryTree) -> Tree:
    """The n-ary tree: bar nodes spliced into their parents, chains of labels unfolded."""
    order, stack = [], [tree]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children)
    pending: list[list[Tree]] = []  # what each finished node gives to its parent
    for node in reversed(order):
        if node.word is not None:
            pending.append([Tree(node.label, node.begin, node.end, (), node.word)])
            continue
        parts = [part for parts in pending[-len(node.children) :] for part in parts]
        del pending[-len(node.children) :]
        pending.append(parts if node.is_bar else [unfold_chain(node.label, parts)])
    return pending[0][0]


def unfold_chain(label: str, children: Sequence[Tree]) -> Tree:
    """Nested phrases for a chain label: S+VP over some children is S over VP over them."""
    begin, end, below = children[0].begin, children[-1].end, tuple(children)
    if CHAIN not in label:
        return Tree(label, begin, end, below)
    for name in reversed(label.split(CHAIN)):
        below = (Tree(name, begin, end, below),)
    return below[0]
