"""Random trees for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from forestalign.trees import Tree

PHRASES = ("S", "NP", "VP", "PP", "SBAR", "ADJP", "WHNP", "UCP", "SQ", "FRAG", "QP", "NML", "ADVP")
TAGS = "NN NNP VBD VBN VBZ IN DT JJ CC , . -LRB- TO MD RB CD PRP WP GW".split()  # noqa: SIM905
WORDS = "is cat of as well there to John May 5 what was so many ( n't it é' [-\" \\/& <>{ c)".split()  # noqa: SIM905


@st.composite
def trees(draw: st.DrawFn, most_words: int = 6) -> Tree:
    """A tree over some words, with unary chains and n-ary phrases."""
    count = draw(st.integers(1, most_words))
    leaves = [Tree(draw(st.sampled_from(TAGS)), i, i + 1, (), draw(st.sampled_from(WORDS))) for i in range(count)]
    return grown(draw, leaves)


def grown(draw: st.DrawFn, leaves: list[Tree]) -> Tree:
    """Group neighbours under phrases until one node is left."""
    nodes = leaves
    for _ in range(3 * len(leaves)):
        if len(nodes) == 1 and not draw(st.booleans()):
            break
        begin = draw(st.integers(0, len(nodes) - 1))
        end = draw(st.integers(begin + 1, len(nodes)))
        nodes = [*nodes[:begin], phrase(draw(st.sampled_from(PHRASES)), nodes[begin:end]), *nodes[end:]]
    return nodes[0] if len(nodes) == 1 else phrase("S", nodes)


def phrase(label: str, children: list[Tree]) -> Tree:
    return Tree(label, children[0].begin, children[-1].end, tuple(children))


@st.composite
def tree_lists(draw: st.DrawFn, most_words: int = 4, most_trees: int = 5, least_trees: int = 1) -> list[Tree]:
    """Different trees over the same words; tags may differ too."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=most_words))

    def leaves() -> list[Tree]:
        tags = [draw(st.sampled_from(("NN", "VBD", "IN"))) for _ in words]
        return [Tree(tag, i, i + 1, (), word) for i, (tag, word) in enumerate(zip(tags, words, strict=True))]

    return [grown(draw, leaves()) for _ in range(draw(st.integers(least_trees, most_trees)))]
