"""Trees and forests as Graphviz text, for `dot -Tsvg`."""

from __future__ import annotations

from collections.abc import Iterator

from forestalign.forest import Forest
from forestalign.trees import Tree, preorder

_HEADER = ("  node [shape=plaintext];", "  ordering=out;")


def format_tree_graph(tree: Tree) -> str:
    """One tree; words in italics at the bottom row."""
    lines: list[str] = []
    numbers = {id(node): number for number, node in enumerate(preorder(tree))}
    for node in preorder(tree):
        number = numbers[id(node)]
        lines.append(f"  n{number} [label={_quoted(node.label)}];")
        lines += [f"  n{number} -> n{numbers[id(child)]} [dir=none];" for child in node.children]
        if node.word is not None:
            lines.append(f"  w{node.begin} [label={_quoted(node.word)}, fontname=italic];")
            lines.append(f"  n{number} -> w{node.begin} [dir=none, style=dotted];")
    lines.append(_bottom_row(tree.end))
    return _digraph(lines)


def format_forest_graph(forest: Forest) -> str:
    """A packed forest: nodes with span and marginal, hyperedges as dots; bar nodes are dashed, roots bold."""
    return _digraph([*_node_lines(forest), *_edge_lines(forest), _bottom_row(len(forest.sentence))])


def _node_lines(forest: Forest) -> Iterator[str]:
    for number, node in enumerate(forest.nodes):
        label = f"{node.label} {node.begin}-{node.end}"
        if forest.marginals:
            label += f"\n{forest.marginals[number]:.3f}"
        style = "dashed" if node.is_bar else "bold" if number in forest.roots else "solid"
        yield f"  n{number} [shape=box, style={style}, label={_quoted(label)}];"
        if node.is_leaf:
            word = forest.sentence.tokens[node.begin].text
            yield f"  w{node.begin} [label={_quoted(word)}, fontname=italic];"
            yield f"  n{number} -> w{node.begin} [dir=none, style=dotted];"


def _edge_lines(forest: Forest) -> Iterator[str]:
    for number, edges in enumerate(forest.edges):
        for index, edge in enumerate(edges):
            if edge.children:
                dot = f"e{number}_{index}"
                yield f"  {dot} [shape=point];"
                yield f"  n{number} -> {dot} [dir=none, label={_quoted(f'{edge.log_prob:.2f}')}];"
                yield from (f"  {dot} -> n{child} [dir=none];" for child in edge.children)


def _bottom_row(word_count: int) -> str:
    return "  { rank=same; " + " ".join(f"w{index};" for index in range(word_count)) + " }"


def _digraph(lines: list[str]) -> str:
    return "\n".join(("digraph {", *_HEADER, *lines, "}"))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
