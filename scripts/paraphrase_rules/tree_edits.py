"""Building and changing trees. A changed tree keeps its old words, whose `begin` still says where they stood, so that
numbering it anew (`finished`) also gives the links between the two sentences; new words stand at `NEW`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from forestalign.trees import Tree, preorder

NEW = -1
NAME_TAGS = frozenset({"NNP", "NNPS"})

Link = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A changed tree, numbered anew, and which of its words were which."""

    tree: Tree
    links: tuple[Link, ...]


def new_word(tag: str, word: str) -> Tree:
    """A word that the old sentence does not have."""
    return Tree(tag, NEW, NEW, (), word)


def phrase(label: str, *children: Tree) -> Tree:
    """A phrase over old and new parts; its span is set at the end."""
    return Tree(label, NEW, NEW, children)


def with_children(tree: Tree, children: Sequence[Tree]) -> Tree:
    """A phrase of this label over other parts."""
    return replace(tree, children=tuple(children))


def with_word(leaf: Tree, tag: str, word: str) -> Tree:
    """A leaf with this word in another form."""
    return replace(leaf, label=tag, word=word)


def substitute(root: Tree, old: Tree, new: Tree) -> Tree:
    """The tree with one node (this very one, not its like) exchanged."""
    if root is old:
        return new
    if not any(node is old for node in preorder(root)):
        return root
    return with_children(root, [substitute(child, old, new) for child in root.children])


def words(tree: Tree) -> list[str]:
    """The words in lower case, in order."""
    return [str(leaf.word).lower() for leaf in tree.leaves()]


def first_word(tree: Tree) -> str:
    """The first word in lower case."""
    return words(tree)[0]


def parents(root: Tree) -> dict[int, Tree]:
    """The parent of each node, by the node's `id`."""
    return {id(child): node for node in preorder(root) for child in node.children}


def nodes_labelled(root: Tree, label: str) -> Iterator[Tree]:
    """All nodes with a label, parents first."""
    return (node for node in preorder(root) if node.label == label)


def finished(root: Tree, lower_case: frozenset[str]) -> Paraphrase:
    """The changed tree with capital letters and spans put right, and the links to the old words."""
    leaves = list(root.leaves())
    links = tuple(sorted((leaf.begin, at) for at, leaf in enumerate(leaves) if leaf.begin != NEW))
    cased = [_cased(leaf, at, lower_case) for at, leaf in enumerate(leaves)]
    return Paraphrase(_numbered(root, iter(range(len(leaves))), cased), links)


def _cased(leaf: Tree, at: int, lower_case: frozenset[str]) -> str:
    word = str(leaf.word)
    if at == 0:
        return word[:1].upper() + word[1:]
    began = leaf.begin == 0 and leaf.label not in NAME_TAGS and word != "I"
    return word.lower() if began and word[1:].islower() | (len(word) == 1) and word.lower() in lower_case else word


def _numbered(tree: Tree, places: Iterator[int], cased: Sequence[str]) -> Tree:
    if tree.is_leaf:
        at = next(places)
        return Tree(tree.label, at, at + 1, (), cased[at])
    children = tuple(_numbered(child, places, cased) for child in tree.children)
    return Tree(tree.label, children[0].begin, children[-1].end, children)
