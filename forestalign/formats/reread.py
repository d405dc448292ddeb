"""Results again from their records: trees binarised as they were, forests of the trees that the record names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestalign.forest import Forest, HyperEdge, Node, NodeId
from forestalign.formats.phrase_records import PhrasePairEntry, PhraseRecord, ScatteredEntry, SideRecord, WordEntry
from forestalign.formats.tree_files import fit_tree
from forestalign.phrases.result import AlignedPair, PhraseAlignment, PhrasePair, ScatteredPair, chosen_tree
from forestalign.tokens import Sentence, Span, analyse
from forestalign.trees import BinaryTree, binarise, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink

Edges = tuple[tuple[NodeId, int], ...]


def aligned_of(record: PhraseRecord) -> AlignedPair:
    """The result that a record was made of; ValueError where a phrase is no node of its tree.

    The forests hold the trees of the record alone: the chosen ones and those of the alternatives.
    """
    variants = _variants(record)
    source = _side(record.source, [(each.source_tree, each.source_spans) for each in variants])
    target = _side(record.target, [(each.target_tree, each.target_spans) for each in variants])
    best, *others = (each.alignment(source, target, index) for index, each in enumerate(variants))
    return AlignedPair(
        id=record.id,
        source=source.forest.sentence,
        target=target.forest.sentence,
        source_tree=chosen_tree(source.forest, best.source_edges),
        target_tree=chosen_tree(target.forest, best.target_edges),
        words=_links(record.words),
        phrases=best,
        source_forest=source.forest,
        target_forest=target.forest,
        alternatives=tuple(others),
        signature=record.signature,
        candidates=_links(record.candidates),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """The forest of one sentence, and of each of its trees the edges and the nodes by their spans."""

    forest: Forest
    edges: tuple[Edges, ...]
    nodes: tuple[dict[Span, list[NodeId]], ...]  # a word before the phrase over it

    def node(self, tree: int, span: Span, label: str = "") -> NodeId:
        """The node over a span: the one of this label, if there is a choice."""
        found = self.nodes[tree].get(span, [])
        if not found:
            raise ValueError(f"no node of the tree covers {span.begin}-{span.end}")
        return next((node for node in found if self.forest.nodes[node].label == label), found[-1])


@dataclass(frozen=True, slots=True)
class _Variant:
    """One of the k best alignments, as the record tells it."""

    phrases: tuple[PhrasePairEntry, ...]
    source_nulls: tuple[Span, ...]
    target_nulls: tuple[Span, ...]
    log_score: float
    reached_root: bool
    completed: bool
    source_tree: str
    target_tree: str
    scattered: tuple[ScatteredEntry, ...]

    @property
    def source_spans(self) -> list[Span]:
        """What has to be a node of the source's tree: phrases, and null phrases."""
        return [*(entry.source for entry in self.phrases), *self.source_nulls]

    @property
    def target_spans(self) -> list[Span]:
        """What has to be a node of the target's tree."""
        return [*(entry.target for entry in self.phrases), *self.target_nulls]

    def alignment(self, source: _Side, target: _Side, tree: int) -> PhraseAlignment:
        """The alignment over the tree of this number."""
        return PhraseAlignment(
            pairs=tuple(_pair(entry, source, target, tree) for entry in self.phrases),
            source_nulls=self.source_nulls,
            target_nulls=self.target_nulls,
            source_null_nodes=tuple(source.node(tree, span) for span in self.source_nulls),
            target_null_nodes=tuple(target.node(tree, span) for span in self.target_nulls),
            source_edges=source.edges[tree],
            target_edges=target.edges[tree],
            log_score=self.log_score,
            reached_root=self.reached_root,
            completed=self.completed,
            scattered=tuple(ScatteredPair(*each) for each in self.scattered),
        )


def _variants(record: PhraseRecord) -> list[_Variant]:
    trees = (record.source.tree, record.target.tree)
    best = (record.phrases, record.nulls.source, record.nulls.target, record.log_score, record.reached_root)
    found = [_Variant(*best, record.completed, *trees, record.scattered)]
    for other in record.alternatives:
        rest = (other.nulls.source, other.nulls.target, other.log_score, other.reached_root, other.completed)
        found.append(_Variant(other.phrases, *rest, other.source_tree, other.target_tree, other.scattered))
    return found


def _pair(entry: PhrasePairEntry, source: _Side, target: _Side, tree: int) -> PhrasePair:
    return PhrasePair(
        source_node=source.node(tree, entry.source, entry.source_label),
        target_node=target.node(tree, entry.target, entry.target_label),
        source=entry.source,
        target=entry.target,
        source_label=entry.source_label,
        target_label=entry.target_label,
        is_bar=entry.bar,
        compositional=entry.compositional,
        inverted=entry.inverted,
        log_prob=entry.score,
        supports=entry.supports,
        posterior=entry.posterior,
        evidence=entry.evidence,
        relation=entry.relation,
        source_text=source.forest.sentence.phrase(entry.source),
        target_text=target.forest.sentence.phrase(entry.target),
    )


def _side(side: SideRecord, trees: Sequence[tuple[str, Sequence[Span]]]) -> _Side:
    plain = side.sentence()
    fitted = [(fit_tree(parse_brackets(tree), plain), set(spans)) for tree, spans in trees]
    sentence = analyse(plain, [leaf.label for leaf in fitted[0][0].leaves()])
    return _packed(sentence, [list(_walk(binarise(tree, spans))) for tree, spans in fitted])


def _walk(tree: BinaryTree) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Every node with its children, the root first."""
    stack = [tree]
    while stack:
        each = stack.pop()
        stack.extend(each.children)
        yield _node(each), tuple(map(_node, each.children))


def _node(tree: BinaryTree) -> Node:
    is_leaf = tree.word is not None
    return Node(tree.begin, tree.end, tree.label, tree.head, tree.semantic_head, tree.is_bar, is_leaf)


def _packed(sentence: Sentence, trees: Sequence[Sequence[tuple[Node, tuple[Node, ...]]]]) -> _Side:
    ways: dict[Node, list[tuple[Node, ...]]] = {}
    for tree in trees:
        for node, children in tree:
            known = ways.setdefault(node, [])
            if children not in known:
                known.append(children)
    order = sorted(ways, key=lambda node: (node.end - node.begin, not node.is_leaf, node))
    number = {node: NodeId(index) for index, node in enumerate(order)}
    edges = [[HyperEdge(tuple(number[child] for child in way), 0.0) for way in ways[node]] for node in order]
    roots = sorted({number[tree[0][0]] for tree in trees})
    chosen = [tuple(sorted((number[node], ways[node].index(way)) for node, way in tree)) for tree in trees]
    by_span = tuple(_by_span(order, tree) for tree in chosen)
    return _Side(Forest(sentence, order, edges, roots), tuple(chosen), by_span)


def _by_span(nodes: Sequence[Node], edges: Edges) -> dict[Span, list[NodeId]]:
    found: dict[Span, list[NodeId]] = {}
    for number, _ in edges:  # in the order of the forest: words first
        found.setdefault(Span(nodes[number].begin, nodes[number].end), []).append(number)
    return found


def _links(words: Sequence[WordEntry]) -> WordAlignment:
    return WordAlignment(tuple(WordLink(word.source, word.target, word.score) for word in words))
