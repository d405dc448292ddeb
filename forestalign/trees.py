"""N-ary constituency trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
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
        return self.word is not None

    def leaves(self) -> Iterator[Tree]:
        """The words, left to right."""
        if self.is_leaf:
            yield self
        for child in self.children:
            yield from child.leaves()


@dataclass(frozen=True, slots=True)
class ScoredTree:
    """One of the n best: a tree with its log probability."""

    tree: Tree
    log_prob: float
