"""Phrase pairs from word links: the `project` baseline, and phrase gold from human links.

`project` is H(L): for 1-to-1 links L, all pairs of nodes that are the lowest common ancestors of
the same links and are touched by no other link. It needs no model, and it is hard to beat.

Gold: a pair of spans is *consistent* with one annotator's links if at least one link lies inside and no link of either
span leaves the pair. Words without a link leave the extent of a phrase undetermined (*Lt. Anna Weber* or *Anna
Weber*), so two pairs are the same when they hold the same gold links, their *content*:

    recall     contents of consistent pairs of constituents that the output has, among all such contents
    precision  consistent pairs among all pairs of the output

Sure and possible links: only sure ones can contradict a pair, and recall is over the contents of sure links. A possible
link is neutral: it need not be found, contradicts nothing, and allows a pair that no sure link touches. (*killed* with
*killed* is right, though somebody also marked *were* with *killed* as possible.) `GoldKind.ALL` counts both alike.

Constituents are the nodes of the binarised trees, words included. With several annotators, each is a reference of its
own and the scores are averaged. A pair of constituents of the n-ary trees is *core* if it is consistent and each is the
smallest constituent that covers the words linked to the other; such pairs are proposed to annotators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from forestalign.errors import AnnotationError
from forestalign.evaluation.phrase_scores import Judgement, evaluate_judgements, one_tree_forest
from forestalign.evaluation.scores import Evaluation, combine
from forestalign.forest import Forest, NodeId
from forestalign.formats.word_links import GoldPair, LinkAnnotation
from forestalign.tokens import Span
from forestalign.trees import Tree, preorder
from forestalign.words.alignment import WordAlignment

Link = tuple[int, int]
SpanPair = tuple[Span, Span]
Content = frozenset[Link]


class GoldKind(StrEnum):
    """Which links make gold: sure ones, possible ones being neutral, or all alike."""

    FAIR = "fair"
    ALL = "all"


def one_to_one(links: WordAlignment) -> WordAlignment:
    """Greedily the best-scored links whose words are both still free; ties go to the earlier words."""
    kept, sources, targets = [], set(), set()
    for link in sorted(links, key=lambda link: (-link.score, link.source, link.target)):
        if link.source not in sources and link.target not in targets:
            kept.append(link)
            sources.add(link.source)
            targets.add(link.target)
    return WordAlignment(tuple(sorted(kept)))


def project(source: Forest, target: Forest, links: WordAlignment) -> tuple[tuple[NodeId, NodeId], ...]:
    """H(L) for two forests of one tree each; `links` are made 1-to-1 first. Children before parents."""
    pairs = one_to_one(links).pairs
    target_ancestors = {members: node for node, members in _lowest_ancestors(target, [(j, i) for i, j in pairs])}
    found = []
    for node, members in _lowest_ancestors(source, pairs):
        partner = target_ancestors.get(frozenset((j, i) for i, j in members))
        if partner is not None:
            found.append((node, partner))
    return tuple(found)


def _lowest_ancestors(forest: Forest, links: Iterable[Link]) -> list[tuple[NodeId, frozenset[Link]]]:
    """Each node that is the lowest common ancestor of the links under it, with these links (own word first).

    That is a linked word, or a node with links under two children: a node and the only child that has links would
    share them.
    """
    own = dict(links)
    under: list[frozenset[Link]] = []
    found = []
    for index, (node, edges) in enumerate(zip(forest.nodes, forest.edges, strict=True)):
        children = edges[0].children
        if node.is_leaf:
            under.append(frozenset({(node.begin, own[node.begin])}) if node.begin in own else frozenset())
        else:
            under.append(frozenset().union(*(under[child] for child in children)))
        linked_children = sum(1 for child in children if under[child])
        if (node.is_leaf and under[-1]) or linked_children > 1:
            found.append((NodeId(index), under[-1]))
    return found


def project_spans(source: Forest, target: Forest, links: WordAlignment) -> frozenset[SpanPair]:
    """The spans of `project`, ready to be scored."""
    return frozenset((_span(source, left), _span(target, right)) for left, right in project(source, target, links))


def _span(forest: Forest, node: NodeId) -> Span:
    return Span(forest.nodes[node].begin, forest.nodes[node].end)


@dataclass(frozen=True, slots=True)
class ProjectedGold:
    """Phrase gold that one annotator's links give for two trees."""

    links: frozenset[Link]
    contents: tuple[
        tuple[Content, SpanPair], ...
    ]  # of consistent pairs of binarised trees, each with its smallest pair
    possible: frozenset[Link] = frozenset()  # links that neither contradict a pair nor have to be found

    def allows(self, pair: SpanPair) -> bool:
        """Whether a pair counts as right."""
        return self.content(pair) is not None

    def content(self, pair: SpanPair) -> Content | None:
        """The links that lie in the pair; None where one leaves it, or where not even a possible one lies in it."""
        held = content(pair, self.links)
        is_neutral = held is None and not links_touching(pair, self.links) and links_inside(pair, self.possible) > 0
        return frozenset() if is_neutral else held


def gold_from_links(source: Tree, target: Tree, links: Iterable[Link], possible: Iterable[Link] = ()) -> ProjectedGold:
    """What consistent pairs of two trees hold, with the links that tell them from others."""
    every = frozenset(links)
    return ProjectedGold(every, link_contents(source, target, every), frozenset(possible) - every)


def gold_of(source: Tree, target: Tree, links: LinkAnnotation, kind: GoldKind = GoldKind.FAIR) -> ProjectedGold:
    """The phrase gold of one annotator's sure and possible links."""
    if kind is GoldKind.ALL:
        return gold_from_links(source, target, (*links.sure, *links.possible))
    return gold_from_links(source, target, links.sure, links.possible)


def choose_annotators(path: str | Path, pair: GoldPair, annotators: Sequence[str]) -> tuple[LinkAnnotation, ...]:
    """The links of these annotators, or the gold; AnnotationError where there are none or they have other tokens."""
    try:
        chosen = tuple(pair.by(name) for name in annotators) or (pair.gold,)
    except ValueError as error:
        raise AnnotationError(path, None, str(error)) from error
    if len({(each.source, each.target) for each in chosen}) != 1:
        raise AnnotationError(path, None, f"pair {pair.id!r}: the annotators have different tokens; expected the same")
    return chosen


def projected_gold(
    links: Sequence[Sequence[LinkAnnotation]], trees: Sequence[tuple[Tree, Tree]], kind: GoldKind = GoldKind.FAIR
) -> tuple[tuple[ProjectedGold, ...], ...]:
    """The phrase gold of each annotator, pair by pair."""
    count = len(links[0]) if links else 1
    return tuple(
        tuple(gold_of(source, target, each[index], kind) for each, (source, target) in zip(links, trees, strict=True))
        for index in range(count)
    )


def link_contents(source: Tree, target: Tree, links: frozenset[Link]) -> tuple[tuple[Content, SpanPair], ...]:
    """The link contents of all consistent pairs of nodes of the two binarised trees, each with its smallest pair."""
    smallest = {
        frozenset(link for link in links if left.begin <= link[0] < left.end): (left, right)
        for left, right in _core_of_spans(_binary_spans(source), _binary_spans(target), links)
    }
    return tuple(sorted(smallest.items(), key=lambda item: item[1]))


def _binary_spans(tree: Tree) -> list[Span]:
    return _by_size({Span(node.begin, node.end) for node in one_tree_forest(tree).nodes})


def content(pair: SpanPair, links: Iterable[Link]) -> Content | None:
    """The links that lie in the pair; None when there are none, or when a link leaves it."""
    source, target = pair
    inside = set()
    for i, j in links:
        in_source = source.begin <= i < source.end
        if in_source != (target.begin <= j < target.end):
            return None
        if in_source:
            inside.add((i, j))
    return frozenset(inside) or None


def is_consistent(pair: SpanPair, links: Iterable[Link]) -> bool:
    """At least one link inside the pair, and none that has one end inside and the other outside."""
    return content(pair, links) is not None


def core_pairs(source: Tree, target: Tree, links: frozenset[Link]) -> frozenset[SpanPair]:
    """Consistent pairs of constituents of the n-ary trees, each the smallest over the words linked to the other."""
    source_spans, target_spans = _by_size(constituent_spans(source)), _by_size(constituent_spans(target))
    return frozenset(_core_of_spans(source_spans, target_spans, links))


def _core_of_spans(source_spans: Sequence[Span], target_spans: Sequence[Span], links: frozenset[Link]) -> set[SpanPair]:
    found = set()
    for left in source_spans:
        right = _smallest_cover(target_spans, [j for i, j in links if left.begin <= i < left.end])
        if right is None or not is_consistent((left, right), links):
            continue
        if _smallest_cover(source_spans, [i for i, j in links if right.begin <= j < right.end]) == left:
            found.add((left, right))
    return found


def constituent_spans(tree: Tree) -> frozenset[Span]:
    """The spans of all constituents and words."""
    return frozenset(Span(node.begin, node.end) for node in preorder(tree))


def _by_size(spans: Iterable[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: (span.size, span))


def _smallest_cover(spans: Sequence[Span], words: Sequence[int]) -> Span | None:
    """The smallest span over all the words, which is the only one of its size as spans of one tree nest."""
    if not words:
        return None
    first, last = min(words), max(words)
    return next((span for span in spans if span.begin <= first and last < span.end), None)


def score_projected(
    outputs: Sequence[Sequence[frozenset[SpanPair]]], gold: Sequence[Sequence[ProjectedGold]]
) -> Evaluation:
    """All pairs, and those of several links. `outputs[r]` is for annotator r's gold.

    A system gives the same output for every annotator; another annotator gives own pairs (see `score_annotators`).
    """
    parts = []
    for prefix, least in (("", 0), ("several links ", 2)):
        judged = [
            [judge_contents(output, reference, least) for output, reference in zip(*round_, strict=True)]
            for round_ in zip(outputs, gold, strict=True)
        ]
        parts.append(evaluate_judgements(list(zip(*judged, strict=True)), prefix, len(gold)))
    return combine(parts)


def judge_contents(output: frozenset[SpanPair], gold: ProjectedGold, least: int = 0) -> Judgement:
    """Counts of one output against one annotator, matched by the links that pairs hold, at least so many."""
    judged = [pair for pair in output if not least or links_inside(pair, gold.links) >= least]
    found = [held for held in map(gold.content, judged) if held is not None]
    required = {held for held, _ in gold.contents if len(held) >= least}
    return Judgement(len(required.intersection(found)), len(required), len(found), len(judged))


def links_inside(pair: SpanPair, links: Iterable[Link]) -> int:
    """How many links have both ends in the pair, whether or not others leave it."""
    source, target = pair
    return sum(source.begin <= i < source.end and target.begin <= j < target.end for i, j in links)


def links_touching(pair: SpanPair, links: Iterable[Link]) -> int:
    """How many links have at least one end in the pair."""
    source, target = pair
    return sum(source.begin <= i < source.end or target.begin <= j < target.end for i, j in links)


def score_annotators(gold: Sequence[Sequence[ProjectedGold]]) -> Evaluation:
    """The human row for two annotators: each one's pairs against the other alone."""
    first, second = ([frozenset(pair for _, pair in each.contents) for each in row] for row in gold)
    return score_projected([second, first], gold)
