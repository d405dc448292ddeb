"""Random forests and scores, small enough to enumerate everything about them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from forestalign.config import AlignConfig
from forestalign.forest import Forest, HyperEdge, Node, NodeId
from forestalign.lexicon import WordNet
from forestalign.phrases.result.alignment import PhraseAlignment
from forestalign.phrases.result.pair_relations import PairRelations
from forestalign.phrases.result.result_builder import ResultBuilder
from forestalign.phrases.scoring.model import PairScores
from forestalign.phrases.scoring.seeds import Seeds
from forestalign.phrases.search.directed_search import paper_search
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment, WordLink


def random_forest(rng: random.Random, word_count: int, tree_count: int) -> Forest:
    """Some random binary trees over the same words, packed; every edge knows its trees."""
    edges: dict[Node, dict[tuple[Node, ...], tuple[float, int]]] = {}

    def add(node: Node, children: tuple[Node, ...], tree: int) -> Node:
        ways = edges.setdefault(node, {})
        log_prob, trees = ways.get(children, (-rng.random() * 3, 0))
        ways[children] = (log_prob, trees | 1 << tree)
        return node

    def build(begin: int, end: int, tree: int) -> Node:
        if end - begin == 1:
            leaf = add(Node(begin, end, "W", begin, begin, False, True), (), tree)
            if rng.random() < 0.3:
                return add(Node(begin, end, "N", begin, begin), (leaf,), tree)
            return leaf
        split = rng.randrange(begin + 1, end)
        left, right = build(begin, split, tree), build(split, end, tree)
        head = rng.choice((left, right))
        node = Node(begin, end, rng.choice("AB") if end - begin < word_count else "S", head.head, head.semantic_head)
        return add(node, (left, right), tree)

    roots = {build(0, word_count, tree) for tree in range(tree_count)}
    order = sorted(edges, key=lambda node: (node.end - node.begin, not node.is_leaf, node))
    ids = {node: NodeId(v) for v, node in enumerate(order)}
    return Forest(
        Sentence.from_words([f"w{i}" for i in range(word_count)]),
        tuple(order),
        tuple(
            tuple(
                HyperEdge(tuple(ids[child] for child in children), 0.0 if node.is_leaf else log_prob, trees)
                for children, (log_prob, trees) in sorted(edges[node].items())
            )
            for node in order
        ),
        tuple(sorted(ids[root] for root in roots)),
        tuple(rng.uniform(0.1, 1.0) for _ in order),
    )


def random_scores(rng: random.Random, source: Forest, target: Forest) -> PairScores:
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    return PairScores(
        -numbers.random((len(source), len(target))) * 6,
        -numbers.random(len(source)) * 6,
        -numbers.random(len(target)) * 6,
    )


def random_links(rng: random.Random, source: Forest, target: Forest, density: float) -> WordAlignment:
    links = [
        WordLink(i, j)
        for i in range(len(source.sentence))
        for j in range(len(target.sentence))
        if rng.random() < density
    ]
    return WordAlignment(tuple(links))


def align_phrases(
    source: Forest,
    target: Forest,
    links: WordAlignment,
    scores: PairScores,
    config: AlignConfig,
    seeds: Seeds | None = None,
) -> tuple[PhraseAlignment, ...]:
    """The k best alignments by the paper's scores, with no evidence and no lexicon; `seeds` stand beside the links."""
    task = paper_search(source, target, links, scores, config)
    found = (task if seeds is None else replace(task, seeds=task.seeds + seeds)).best()
    relations = PairRelations.of(source.sentence, target.sentence, (), links, WordNet())
    return ResultBuilder(source, target, scores.pair, relations).alignments(found)
