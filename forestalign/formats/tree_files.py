"""Penn brackets in files: plain lists of trees, and n-best lists with log probabilities.

An n-best list has lines `index<TAB>log probability<TAB>tree`; lines of one sentence stand together and share its index.

Our own forests as JSON lines: sentence, nodes bottom-up, hyperedges, roots. All of a Forest but its vectors.

The user's own parses for the backend `trees`, from a file of any of our tree formats.

Trees and forests as Graphviz text, for `dot -Tsvg`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import InputError, counted
from forestalign.forest import Forest, HyperEdge, Node, NodeId, pack
from forestalign.formats.fields import Fields, finite, shorten
from forestalign.formats.lines import read_text_lines
from forestalign.parsers.parse_result import Given
from forestalign.tokens import Sentence, Token, analyse, plain_form
from forestalign.trees import (
    BracketError,
    ScoredTree,
    Tree,
    format_brackets,
    parse_brackets,
    postorder,
    preorder,
    unescaped,
)

# Penn files write quotes and brackets in ways that the raw text does not; a word may differ from its token in these.
_SAME_CHARACTERS = str.maketrans({"`": "'"})
_SAME_WORDS = {"''": '"'}


class NumberedTree(NamedTuple):
    """A tree and the line it starts on."""

    line: int
    tree: Tree


@dataclass(frozen=True, slots=True)
class NBest:
    """The n-best trees of one sentence, in the order of the file; `line` is that of the first."""

    line: int
    index: int
    trees: tuple[ScoredTree, ...]


def read_trees(path: str | Path) -> Iterator[NumberedTree]:
    """The trees of a file, each on one line, or over several of which the further ones are indented."""
    pending: list[str] = []
    depth = start = 0
    for number, text in read_text_lines(path):
        if pending and text.startswith("("):
            missing = counted(depth, "closing bracket")
            raise InputError(path, start, f"{missing} missing before the next tree, on line {number}")
        if not text.strip():
            continue
        start = start if pending else number
        pending.append(text)
        depth += text.count("(") - text.count(")")
        if depth <= 0:
            yield NumberedTree(start, _parse(path, start, "\n".join(pending)))
            pending, depth = [], 0
    if pending:
        yield NumberedTree(start, _parse(path, start, "\n".join(pending)))


def read_nbest(path: str | Path) -> Iterator[NBest]:
    """The sentences of an n-best list; the words of their trees must agree."""
    rows = (_nbest_row(path, number, text) for number, text in read_text_lines(path) if text.strip())
    for index, group in groupby(rows, key=lambda row: row.index):
        listed = list(group)
        words = [leaf.word for leaf in listed[0].scored.tree.leaves()]
        for row in listed:
            _check(path, row.line, row.scored.tree, [word for word in words if word is not None])
        yield NBest(listed[0].line, index, tuple(row.scored for row in listed))


def format_nbest(index: int, trees: Iterable[ScoredTree]) -> Iterator[str]:
    """The lines of one sentence."""
    for scored in trees:
        yield f"{index}\t{float(scored.log_prob)!r}\t{format_brackets(scored.tree)}"


def fit_tree(tree: Tree, sentence: Sentence) -> Tree:
    """The tree with the words as they stand in the sentence; ValueError names the first word that differs."""
    leaves = list(tree.leaves())
    if tuple([leaf.word for leaf in leaves]) == sentence.words:
        return tree
    for index, (leaf, word) in enumerate(zip(leaves, sentence.words, strict=False)):
        if _plain(str(leaf.word)) != _plain(word):
            raise ValueError(f"word {index} of the tree is {leaf.word!r}; expected {word!r} as in the sentence")
    if len(leaves) != len(sentence):
        raise ValueError(f"the tree has {counted(len(leaves), 'word')}; expected {len(sentence)} as in the sentence")
    return _with_words(tree, sentence.words)


def sentence_of(tree: Tree) -> Sentence:
    """The words of a tree as a sentence of their own, with its tags and the lemmas that follow."""
    leaves = list(tree.leaves())
    return analyse(Sentence.from_words([str(leaf.word) for leaf in leaves]), [leaf.label for leaf in leaves])


def forest_of(trees: Sequence[ScoredTree], sentence: Sentence | None = None) -> Forest:
    """Pack an n-best list, over a sentence if there is one, else over the words and tags of its first tree."""
    over = sentence if sentence is not None else sentence_of(trees[0].tree)
    return pack([ScoredTree(fit_tree(scored.tree, over), scored.log_prob) for scored in trees], over)


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    index: int
    scored: ScoredTree


def _nbest_row(path: str | Path, number: int, text: str) -> _Row:
    columns = text.split("\t")
    if len(columns) != 3:
        expectation = "expected 3: index, log probability, tree"
        raise InputError(path, number, f"{counted(len(columns), 'column')} in {shorten(text)}; {expectation}")
    try:
        index, log_prob = int(columns[0]), float(columns[1])
    except ValueError:
        found = shorten("\t".join(columns[:2]))
        raise InputError(path, number, f"found {found}; expected a whole number and a log probability") from None
    return _Row(number, index, ScoredTree(_parse(path, number, columns[2]), log_prob))


def _parse(path: str | Path, line: int, text: str) -> Tree:
    try:
        return parse_brackets(text)
    except BracketError as error:
        raise InputError(path, line, f"{error}, in {shorten(text)}") from error


def _check(path: str | Path, line: int, tree: Tree, words: Sequence[str]) -> None:
    try:
        fit_tree(tree, Sentence.from_words(words))
    except ValueError as error:
        raise InputError(path, line, str(error)) from error


def _plain(word: str) -> str:
    plain = plain_form(unescaped(word)).translate(_SAME_CHARACTERS)
    return _SAME_WORDS.get(plain, plain)


def _with_words(tree: Tree, words: Sequence[str]) -> Tree:
    rebuilt: list[Tree] = []
    for node in postorder(tree):
        if node.word is not None:
            rebuilt.append(replace(node, word=words[node.begin]))
        else:
            children = tuple(rebuilt[-len(node.children) :])
            del rebuilt[-len(node.children) :]
            rebuilt.append(replace(node, children=children))
    return rebuilt[0]


FOREST_VERSION = 1
MOST_TREES = 1 << 16  # n-best trees of a forest
LARGEST_SCORE = 1e12  # sums of scores have to stay finite
ROUNDING = 1e-6  # sums of probabilities may pass 1 by so much


def format_forest(forest: Forest, identity: str = "") -> str:
    """One line of JSON."""
    tokens = forest.sentence.tokens
    fields = {
        "version": FOREST_VERSION,
        "id": identity,
        "text": forest.sentence.text,
        "tokens": [token.text for token in tokens],
        "offsets": [[token.start, token.end] for token in tokens],
        "tags": [token.tag for token in tokens],
        "lemmas": [token.lemma for token in tokens],
        "nodes": [_node_fields(forest, number) for number in range(len(forest))],
        "edges": [
            _edge_fields(number, edge) for number, edges in enumerate(forest.edges) for edge in edges if edge.children
        ],
        "roots": list(forest.roots),
    }
    return json.dumps(fields, ensure_ascii=False, allow_nan=False)


def parse_forest(text: str) -> tuple[str, Forest]:
    """The id and the forest of one line; ValueError names the field, its value and what was expected."""
    fields = Fields.parse(text)
    version = fields.whole("version")
    if version != FOREST_VERSION:
        raise ValueError(f"version is {version}; expected {FOREST_VERSION}")
    sentence = _forest_sentence(fields)
    rows = fields.children("nodes")
    nodes = tuple(_node(row, number, len(sentence)) for number, row in enumerate(rows))
    forest = Forest(
        sentence, nodes, _edges(fields, nodes), _roots(fields, nodes, len(sentence)), _marginals(fields, rows)
    )
    return fields.text("id"), forest


def read_forests(path: str | Path) -> Iterator[tuple[str, Forest]]:
    """The forests of a file with their ids, one per line."""
    for number, text in read_text_lines(path):
        try:
            yield parse_forest(text)
        except ValueError as error:
            raise InputError(path, number, str(error)) from error


def check_edge(nodes: tuple[Node, ...], number: int, children: tuple[int, ...]) -> None:
    """One or two children, both before their parent, side by side and filling it; ValueError otherwise."""
    node = nodes[number]
    if not 1 <= len(children) <= 2 or not all(0 <= child < number for child in children):
        raise ValueError(f"node {number} has children {list(children)}; expected one or two nodes before it")
    first, last = nodes[children[0]], nodes[children[-1]]
    adjacent = len(children) == 1 or first.end == last.begin
    if (first.begin, last.end) != (node.begin, node.end) or not adjacent:
        raise ValueError(f"children {list(children)} do not fill node {number}, {node.begin}-{node.end}")


def _node_fields(forest: Forest, number: int) -> dict[str, object]:
    node = forest.nodes[number]
    fields: dict[str, object] = {
        "id": number,
        "label": node.label,
        "span": [node.begin, node.end],
        "head": node.head,
        "semantic_head": node.semantic_head,
        "bar": node.is_bar,
        "leaf": node.is_leaf,
    }
    if node.is_leaf:
        fields["log_prob"] = finite(forest.edges[number][0].log_prob)
        fields |= _trees_field(forest.edges[number][0].trees)
    if forest.marginals:
        fields["marginal"] = forest.marginals[number]
    return fields


def _edge_fields(number: int, edge: HyperEdge) -> dict[str, object]:
    fields: dict[str, object] = {"head": number, "tails": list(edge.children), "log_prob": finite(edge.log_prob)}
    return fields | _trees_field(edge.trees)


def _trees_field(trees: int) -> dict[str, object]:
    """The numbers of the n-best trees; no field where they are not known."""
    return {} if trees < 0 else {"trees": [index for index in range(trees.bit_length()) if trees >> index & 1]}


def _forest_sentence(fields: Fields) -> Sentence:
    text, words, offsets = fields.text("text"), fields.words("tokens"), fields.pairs("offsets")
    tags, lemmas = fields.words("tags"), fields.words("lemmas")
    for name, values in (("offsets", offsets), ("tags", tags), ("lemmas", lemmas)):
        if len(values) != len(words):
            fields.complain(name, f"{counted(len(values), 'value')}; expected {len(words)}, one per token")
    for word, (begin, end) in zip(words, offsets, strict=True):
        if not 0 <= begin <= end or text[begin:end] != word:
            fields.complain("offsets", f"[{begin}, {end}] gives {text[begin:end]!r}; expected the token {word!r}")
    tokens = zip(words, offsets, lemmas, tags, strict=True)
    return Sentence(text, tuple(Token(word, *offset, lemma, tag) for word, offset, lemma, tag in tokens))


def _node(fields: Fields, number: int, word_count: int) -> Node:
    if fields.whole("id") != number:
        fields.complain("id", f"found {fields.whole('id')}; expected {number}: nodes are numbered in order")
    span = fields.span("span", word_count)
    heads = fields.whole("head"), fields.whole("semantic_head")
    for name, head in zip(("head", "semantic_head"), heads, strict=True):
        if not span.begin <= head < span.end:
            fields.complain(name, f"token {head} lies outside the node; expected {span.begin} to {span.end - 1}")
    return Node(*span, fields.text("label"), *heads, fields.flag("bar"), fields.flag("leaf"))


def _edges(fields: Fields, nodes: tuple[Node, ...]) -> tuple[tuple[HyperEdge, ...], ...]:
    edges: list[list[HyperEdge]] = [[] for _ in nodes]
    for number, row in enumerate(fields.children("nodes")):
        if nodes[number].is_leaf:
            edges[number].append(HyperEdge((), _log_prob(row), _trees(row)))
    for row in fields.children("edges"):
        head, tails = row.whole("head"), row.wholes("tails")
        if not 0 <= head < len(nodes) or nodes[head].is_leaf:
            row.complain("head", f"found {head}; expected the number of a node that is not a leaf")
        check_edge(nodes, head, tails)
        edges[head].append(HyperEdge(tuple(NodeId(tail) for tail in tails), _log_prob(row), _trees(row)))
    for number, ways in enumerate(edges):
        if not ways:
            raise ValueError(f"nodes[{number}] has no edge; expected at least one")
    return tuple(tuple(ways) for ways in edges)


def _log_prob(fields: Fields) -> float:
    value = fields.number("log_prob")
    if abs(value) > LARGEST_SCORE and value > -math.inf:
        fields.complain("log_prob", f"found {value:g}; expected a number of at most {LARGEST_SCORE:g}")
    return value


def _trees(fields: Fields) -> int:
    """A bit for each of the n-best trees; -1 where they are not known."""
    if not fields.has("trees"):
        return -1
    numbers = set(fields.wholes("trees"))
    if numbers and not 0 <= min(numbers) <= max(numbers) < MOST_TREES:
        fields.complain("trees", f"found numbers outside 0 to {MOST_TREES - 1}")
    return sum(1 << index for index in numbers)


def _roots(fields: Fields, nodes: tuple[Node, ...], word_count: int) -> tuple[NodeId, ...]:
    roots = fields.wholes("roots")
    for root in roots:
        if not 0 <= root < len(nodes) or (nodes[root].begin, nodes[root].end) != (0, word_count):
            fields.complain("roots", f"found {root}; expected a node over all {counted(word_count, 'word')}")
    return tuple(NodeId(root) for root in roots)


def _marginals(fields: Fields, rows: tuple[Fields, ...]) -> tuple[float, ...]:
    given = [row.number("marginal") for row in rows if row.has("marginal")]
    if given and len(given) != len(rows):
        fields.complain("nodes", f"{len(given)} of {len(rows)} have a marginal; expected all or none")
    if any(not 0.0 <= value <= 1.0 + ROUNDING for value in given):
        fields.complain("nodes", "a marginal lies outside 0 to 1; expected probabilities")
    return tuple(given)


def read_given(path: str | Path) -> Iterator[Given]:
    """Forests as JSON lines, n-best lists or plain trees; the first line with text tells which."""
    first = next((text for _, text in read_text_lines(path) if text.strip()), "")
    if not first:
        raise InputError(path, None, "no tree in the file; expected Penn brackets, n-best lists or forests")
    if first.startswith("{"):
        yield from (forest for _, forest in read_forests(path))
    elif first.startswith("("):
        yield from ((ScoredTree(numbered.tree, 0.0),) for numbered in read_trees(path))
    else:
        yield from (nbest.trees for nbest in read_nbest(path))


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
