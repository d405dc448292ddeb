"""The forest text format of Huang's rerankers.

    tag<TAB>sentence
    node count[<TAB>edge count]
    id<TAB>LABEL [begin-end]<TAB>edge count ||| name=value ...
    <TAB>tail tail ||| 0=log probability ...

A word's node has no edges; the last node is the root unless others are marked. What the format has no place for
(heads, bar nodes, marginals, tree sets) is written as features, so our forests come back whole. A forest of other
origin has no heads and may be n-ary; its best trees are taken and packed.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from forestalign.errors import InputError, counted
from forestalign.forest import Forest, HyperEdge, Node, NodeId
from forestalign.formats.fields import shorten
from forestalign.formats.forests import check_edge
from forestalign.formats.lines import read_text_lines
from forestalign.formats.tree_files import forest_of
from forestalign.tokens import Sentence, analyse
from forestalign.trees import ScoredTree, Tree

_NODE = re.compile(
    r"(?P<id>\S+)\t(?P<label>\S+) \[(?P<begin>\d{1,9})-(?P<end>\d{1,9})\]"
    r"\t(?P<edges>\d{1,9})\s*(\|\|\|(?P<features>.*))?",
    re.ASCII,
)
_EDGE = re.compile(r"\t\*?(?P<tails>[^|\t]*?)\s*(\|\|\|(?P<features>.*))?")
_COUNT = re.compile(r"\s*(\d{1,9})(\s+\d{1,9})?\s*", re.ASCII)
_LOG_PROB = "0"

Features = dict[str, str]


@dataclass(frozen=True, slots=True)
class _RawEdge:
    tails: tuple[int, ...]
    features: Features

    @property
    def log_prob(self) -> float:
        return float(self.features.get(_LOG_PROB, "0"))


@dataclass(frozen=True, slots=True)
class _RawNode:
    label: str
    begin: int
    end: int
    features: Features
    edges: tuple[_RawEdge, ...]


def format_huang(forest: Forest, tag: str) -> str:
    """One forest, as many lines, without the empty line that parts it from the next."""
    edge_count = sum(len(edges) for node, edges in zip(forest.nodes, forest.edges, strict=True) if not node.is_leaf)
    lines = [f"{tag}\t{' '.join(forest.sentence.words)}", f"{len(forest)}\t{edge_count}"]
    for number, node in enumerate(forest.nodes):
        edges = () if node.is_leaf else forest.edges[number]
        features = " ".join(f"{name}={value}" for name, value in _node_features(forest, number))
        lines.append(f"{number}\t{node.label} [{node.begin}-{node.end}]\t{len(edges)} ||| {features}")
        lines += [f"\t{' '.join(map(str, edge.children))} ||| {_edge_features(edge)}" for edge in edges]
    return "\n".join(lines)


def read_huang(path: str | Path, best: int = 50) -> Iterator[tuple[str, Forest]]:
    """Forests with their tags; of a forest without heads the `best` trees."""
    reader = _Reader(path)
    while not reader.is_at_end:
        number = reader.number
        tag, words, nodes = reader.forest()
        try:
            yield tag, _ours(nodes, words) if "head" in nodes[0].features else _packed(nodes, words, best)
        except ValueError as error:
            raise InputError(path, number, str(error)) from error


def _node_features(forest: Forest, number: int) -> Iterator[tuple[str, object]]:
    node = forest.nodes[number]
    yield "head", node.head
    yield "semantic_head", node.semantic_head
    if node.is_bar:
        yield "bar", 1
    if number in forest.roots:
        yield "root", 1
    if node.is_leaf:
        edge = forest.edges[number][0]
        yield _LOG_PROB, repr(float(edge.log_prob))
        yield "trees", f"{edge.trees:x}"
    if forest.marginals:
        yield "marginal", repr(float(forest.marginals[number]))


def _edge_features(edge: HyperEdge) -> str:
    return f"{_LOG_PROB}={float(edge.log_prob)!r} trees={edge.trees:x}"


class _Reader:
    """The lines of one file and the one we stand on; empty lines part forests and mean nothing."""

    def __init__(self, path: str | Path):
        self._path = path
        self._lines = ((number, text) for number, text in read_text_lines(path) if text.strip())
        self.number, self._text = 0, ""
        self._advance()

    @property
    def is_at_end(self) -> bool:
        return not self._text

    def _advance(self) -> None:
        self.number, self._text = next(self._lines, (self.number, ""))

    def forest(self) -> tuple[str, list[str], tuple[_RawNode, ...]]:
        """Tag, words and nodes of the forest that starts on this line."""
        tag, _, text = self._text.partition("\t")
        words = text.split()
        if not words:
            self._refuse("tag<TAB>sentence")
        self._advance()
        nodes: list[_RawNode] = []
        known: dict[str, int] = {}
        for _ in range(self._node_count()):
            self._node(nodes, known, len(words))
        return tag, words, tuple(nodes)

    def _node_count(self) -> int:
        """The number of nodes; in forests of translations, references and their number stand before it and are left."""
        count = self._count("the number of nodes, and of edges")
        if count and _NODE.fullmatch(self._text):
            return count
        for _ in range(count):
            if self.is_at_end:
                self._refuse(counted(count, "reference"))
            self._advance()
        count = self._count("a node, or references and then the number of nodes")
        return count or self._refuse("at least one node")

    def _count(self, expectation: str) -> int:
        match = self._match(_COUNT, expectation)
        self._advance()
        return int(match[1])

    def _node(self, nodes: list[_RawNode], known: dict[str, int], word_count: int) -> None:
        match = self._match(_NODE, "id<TAB>LABEL [begin-end]<TAB>edge count")
        begin, end, features = int(match["begin"]), int(match["end"]), self._features(match["features"])
        if not begin < end <= word_count:
            self._refuse(f"a span inside the sentence of {counted(word_count, 'word')}")
        self._advance()
        edges = tuple(self._edge(known) for _ in range(int(match["edges"])))
        known[match["id"]] = len(nodes)
        nodes.append(_RawNode(match["label"], begin, end, features, edges))

    def _edge(self, known: dict[str, int]) -> _RawEdge:
        match = self._match(_EDGE, "<TAB>tail tail ||| 0=log probability")
        tails = match["tails"].split()
        if not tails or not all(tail in known for tail in tails):
            self._refuse("tails that are nodes and stand before")
        features = self._features(match["features"])
        self._advance()
        return _RawEdge(tuple(known[tail] for tail in tails), features)

    def _match(self, pattern: re.Pattern[str], expectation: str) -> re.Match[str]:
        return pattern.fullmatch(self._text) or self._refuse(expectation)

    def _features(self, text: str | None) -> Features:
        features = dict(part.partition("=")[::2] for part in (text or "").split())
        try:
            is_known = float(features.get(_LOG_PROB, "0")) < math.inf  # not for NaN
        except ValueError:
            is_known = False
        return features if is_known else self._refuse("a log probability as feature 0")

    def _refuse(self, expectation: str) -> NoReturn:
        found = shorten(self._text) if self._text else "the end of the file"
        raise InputError(self._path, self.number, f"found {found}; expected {expectation}")


# ---- forests that we wrote ----


def _ours(raw: Sequence[_RawNode], words: Sequence[str]) -> Forest:
    nodes = tuple(
        Node(
            node.begin,
            node.end,
            node.label,
            _word_of(node, "head"),
            _word_of(node, "semantic_head"),
            "bar" in node.features,
            not node.edges,
        )
        for node in raw
    )
    for number, node in enumerate(raw):
        for edge in node.edges:
            check_edge(nodes, number, edge.tails)
    edges = tuple(_our_edges(node) for node in raw)
    roots = tuple(NodeId(number) for number, node in enumerate(raw) if "root" in node.features)
    if not roots:
        raise ValueError("no node has the feature root; expected at least one")
    marginals = tuple(float(node.features["marginal"]) for node in raw if "marginal" in node.features)
    if marginals and (len(marginals) < len(raw) or not all(0 <= marginal <= 1 for marginal in marginals)):
        raise ValueError("marginals are missing or no probabilities; expected one for each node, or none")
    return Forest(_sentence(raw, words), nodes, edges, roots, marginals)


def _word_of(node: _RawNode, name: str) -> int:
    """A feature that is a word of the node."""
    found = node.features.get(name, "")
    if not found.isdecimal() or len(found) > 9 or not node.begin <= int(found) < node.end:
        expectation = f"a word from {node.begin} to {node.end - 1}"
        raise ValueError(
            f"{name} of {node.label} [{node.begin}-{node.end}] is {shorten(found)}; expected {expectation}"
        )
    return int(found)


def _our_edges(node: _RawNode) -> tuple[HyperEdge, ...]:
    ways = node.edges or (_RawEdge((), node.features),)
    return tuple(
        HyperEdge(tuple(NodeId(tail) for tail in way.tails), way.log_prob, int(way.features.get("trees", "-1"), 16))
        for way in ways
    )


def _sentence(raw: Sequence[_RawNode], words: Sequence[str]) -> Sentence:
    """The words, with the tag of the first leaf over each."""
    tags = [""] * len(words)
    for node in reversed(raw):
        if not node.edges:
            tags[node.begin] = node.label
    return analyse(Sentence.from_words(words), tags)


# ---- forests of other origin ----


def _packed(raw: Sequence[_RawNode], words: Sequence[str], best: int) -> Forest:
    """Pack the best trees, which are found bottom-up: each node keeps its `best` ones."""
    table: list[list[ScoredTree]] = []
    for node in raw:
        table.append(heapq.nlargest(best, _trees(node, table, words, best), key=lambda scored: scored.log_prob))
    return forest_of(table[-1], _sentence(raw, words))


def _trees(
    node: _RawNode, table: Sequence[Sequence[ScoredTree]], words: Sequence[str], best: int
) -> Iterator[ScoredTree]:
    if not node.edges:
        if node.end - node.begin != 1:
            raise ValueError(f"{node.label} [{node.begin}-{node.end}] has no edges; expected one word below it")
        yield ScoredTree(Tree(node.label, node.begin, node.end, (), words[node.begin]), 0.0)
    for edge in node.edges:
        for children, log_prob in _sequences([table[tail] for tail in edge.tails], best):
            bounds = [node.begin, *(child.end for child in children)]
            if [child.begin for child in children] != bounds[:-1] or bounds[-1] != node.end:
                raise ValueError(f"tails {list(edge.tails)} do not fill {node.label} [{node.begin}-{node.end}]")
            yield ScoredTree(Tree(node.label, node.begin, node.end, children), edge.log_prob + log_prob)


def _sequences(choices: Sequence[Sequence[ScoredTree]], best: int) -> list[tuple[tuple[Tree, ...], float]]:
    """The best ways to take one tree of each list, joined from left to right so that the work stays quadratic."""
    joined: list[tuple[tuple[Tree, ...], float]] = [((), 0.0)]
    for listed in choices:
        longer = (((*trees, tree.tree), log_prob + tree.log_prob) for trees, log_prob in joined for tree in listed)
        joined = heapq.nlargest(best, longer, key=lambda sequence: sequence[1])
    return joined
