"""Random trees for round trips."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from forestalign.trees import Tree

WORDS = st.text(alphabet="abcé'()[-\"\\/&<>{", min_size=1, max_size=4)
LABELS = st.sampled_from(["S", "NP", "VP", "PP", "SBAR"])
TAGS = st.sampled_from(["NN", "VBD", "DT", "IN", "JJ"])


@st.composite
def tree_over(draw: st.DrawFn, words: list[str], begin: int = 0) -> Tree:
    """A tree over these words; chains of one child are at most two phrases long."""
    if len(words) == 1:
        leaf = Tree(draw(TAGS), begin, begin + 1, (), words[0])
        return Tree(draw(LABELS), begin, begin + 1, (leaf,)) if draw(st.booleans()) else leaf
    cuts = draw(st.sets(st.integers(1, len(words) - 1), min_size=1, max_size=3))
    bounds = [0, *sorted(cuts), len(words)]
    children = tuple(draw(tree_over(words[left:right], begin + left)) for left, right in pairwise(bounds))
    node = Tree(draw(LABELS), begin, begin + len(words), children)
    return Tree(draw(LABELS), begin, begin + len(words), (node,)) if draw(st.booleans()) else node


@st.composite
def trees(draw: st.DrawFn, count: int = 1) -> list[Tree]:
    """Trees over the same words; a root is never a bare word."""
    words = draw(st.lists(WORDS, min_size=1, max_size=5))
    found = []
    for _ in range(count):
        tree = draw(tree_over(words))
        found.append(tree if not tree.is_leaf else Tree("NP", 0, 1, (tree,)))
    return found
