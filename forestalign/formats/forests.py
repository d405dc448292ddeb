"""Our own forests as JSON lines: sentence, nodes bottom-up, hyperedges, roots. All of a Forest but its vectors."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

from forestalign.errors import InputError, counted
from forestalign.forest import Forest, HyperEdge, Node, NodeId
from forestalign.formats.fields import Fields, finite
from forestalign.formats.lines import read_text_lines
from forestalign.tokens import Sentence, Token

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
        "tokens": forest.sentence.written_words,
        "offsets": [[token.begin, token.end] for token in tokens],
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
    sentence = _sentence(fields)
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


def _sentence(fields: Fields) -> Sentence:
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
