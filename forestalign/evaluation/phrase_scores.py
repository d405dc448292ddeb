"""Phrase metrics of section 6.3.

With H the output and G, G' two annotators:

    recall    = |H ∩ (G ∩ G')| / |G ∩ G'|        precision = |H ∩ (G ∪ G')| / |H|

Numerators and denominators are summed over the corpus (micro), then averaged over the pairs of annotators; F1 is the
harmonic mean of the two averages. One annotator alone is G = G'. The human row takes each annotator as H and the other
two as G, G'. What "the same pair" means is a choice: equal spans (default), equal nodes, or equal texts. Text is how
the authors' later script counts: a pair is its two strings, so repeated strings are one, and a phrase without a partner
is a pair with `---`. Null phrases count in that mode only.

A pair is non-compositional in an alignment when three or more pairs lie directly inside it (on binary trees, a
compositional pair has exactly two supports). Recall of a kind asks for the pairs that both annotators have as that
kind; precision is over the output's pairs of that kind.

A sum over nothing is treated as `forestalign.evaluation.scores` says.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import UsageError
from forestalign.evaluation.scores import Evaluation, combine, count_table, harmonic_mean, ratio, share
from forestalign.forest import Forest, Node, pack
from forestalign.tokens import Sentence, Span
from forestalign.trees import ScoredTree, Tree

NULL_TEXT = "---"


class Match(StrEnum):
    """When two phrase pairs count as the same."""

    SPAN = "span"
    NODE = "node"
    TEXT = "text"


@dataclass(frozen=True, slots=True, order=True)
class PhraseNode:
    """A node of one tree. `name` is what tells it from others of the same span: an id, or label and bar flag."""

    begin: int
    end: int
    name: str


class NodePair(NamedTuple):
    """Source node and target node; None is the null phrase."""

    source: PhraseNode | None
    target: PhraseNode | None


@dataclass(frozen=True, slots=True)
class PhraseAnswer:
    """What one annotator or system aligned in one pair of sentences, null phrases included where they are known.

    `noncompositional` marks pairs as such; None leaves it to their structure.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    pairs: tuple[NodePair, ...]
    noncompositional: frozenset[NodePair] | None = None


@dataclass(frozen=True, slots=True)
class PhraseSet:
    """The pairs of an answer as keys that compare equal when they match; the non-compositional ones once more."""

    pairs: frozenset[Hashable]
    noncompositional: frozenset[Hashable] = frozenset()

    @property
    def compositional(self) -> frozenset[Hashable]:
        """The pairs that are not non-compositional."""
        return self.pairs - self.noncompositional


class RootReached(NamedTuple):
    """Whether an alignment reached a root pair, and whether only by completion (one support lifted to it)."""

    reached: bool
    completed: bool


class Judgement(NamedTuple):
    """Counts of one output against one reference."""

    found: int  # required pairs in the output
    required: int
    allowed: int  # output pairs that the reference allows
    given: int


def one_tree_forest(tree: Tree) -> Forest:
    """The forest of one tree over its own words."""
    return pack([ScoredTree(tree, 0.0)], Sentence.from_words([str(leaf.word) for leaf in tree.leaves()]))


def phrase_node(node: Node) -> PhraseNode:
    """A forest node named by its label, with a mark if it is a bar node."""
    return PhraseNode(node.begin, node.end, f"{node.label}'" if node.is_bar else node.label)


def answer_over_trees(
    source: Forest,
    target: Forest,
    pairs: Iterable[NodePair],
    noncompositional: frozenset[NodePair] | None = None,
) -> PhraseAnswer:
    """The pairs over two forests of one tree each; every node without a partner is a null phrase."""
    listed = list(pairs)
    aligned_sources, aligned_targets = {pair.source for pair in listed}, {pair.target for pair in listed}
    listed += [NodePair(node, None) for node in map(phrase_node, source.nodes) if node not in aligned_sources]
    listed += [NodePair(None, node) for node in map(phrase_node, target.nodes) if node not in aligned_targets]
    return PhraseAnswer(source.sentence.words, target.sentence.words, tuple(listed), noncompositional)


def phrase_set(answer: PhraseAnswer, match: Match = Match.SPAN) -> PhraseSet:
    """The answer under one way of matching."""
    special = answer.noncompositional
    if special is None:
        special = noncompositional_pairs(answer.pairs)
    wanted = [pair for pair in answer.pairs if match is Match.TEXT or None not in pair]
    return PhraseSet(
        frozenset(_key(answer, pair, match) for pair in wanted),
        frozenset(_key(answer, pair, match) for pair in wanted if pair in special),
    )


def _key(answer: PhraseAnswer, pair: NodePair, match: Match) -> Hashable:
    if match is Match.TEXT:
        return _text(answer.source, pair.source), _text(answer.target, pair.target)
    if match is Match.NODE:
        return pair
    assert pair.source is not None
    assert pair.target is not None
    return Span(pair.source.begin, pair.source.end), Span(pair.target.begin, pair.target.end)


def _text(words: Sequence[str], node: PhraseNode | None) -> str:
    return NULL_TEXT if node is None else " ".join(words[node.begin : node.end])


def noncompositional_pairs(pairs: Iterable[NodePair]) -> frozenset[NodePair]:
    """The pairs with three or more pairs directly inside them; pairs of the same two spans are one."""
    groups: dict[tuple[Span, Span], list[NodePair]] = {}
    for pair in pairs:
        if pair.source is not None and pair.target is not None:
            spans = Span(pair.source.begin, pair.source.end), Span(pair.target.begin, pair.target.end)
            groups.setdefault(spans, []).append(pair)
    found = []
    for outer, members in groups.items():
        inside = [inner for inner in groups if inner != outer and _is_inside(inner, outer)]
        maximal = [
            inner for inner in inside if not any(other != inner and _is_inside(inner, other) for other in inside)
        ]
        if len(maximal) > 2:
            found.extend(members)
    return frozenset(found)


def _is_inside(inner: tuple[Span, Span], outer: tuple[Span, Span]) -> bool:
    return all(large.covers(small) for small, large in zip(inner, outer, strict=True))


def score_phrases(outputs: Sequence[PhraseSet], annotators: Sequence[Sequence[PhraseSet]]) -> Evaluation:
    """A system against all pairs of annotators; `annotators[k]` is annotator k's answers, in the order of outputs."""
    references = list(combinations(annotators, 2)) or [(annotators[0], annotators[0])]
    return _score([(outputs, left, right) for left, right in references])


def score_humans(annotators: Sequence[Sequence[PhraseSet]]) -> Evaluation:
    """The human row: each annotator against the other two."""
    if len(annotators) != 3:
        raise UsageError(
            f"the human row needs three annotators, each against the other two; there are {len(annotators)}"
        )
    first, second, third = annotators
    return _score([(first, second, third), (second, third, first), (third, first, second)])


def score_reachability(roots: Sequence[RootReached]) -> Evaluation:
    """The share of pairs with a two-sided root pair, and of those completed to one."""
    rows = [(1, root.reached and not root.completed, root.completed) for root in roots]

    def aggregate(sums: FloatArray) -> FloatArray:
        return ratio(sums[..., 1:], sums[..., :1])

    return Evaluation(("root reached", "root completed"), count_table(rows, 3), aggregate)


Round = tuple[Sequence[PhraseSet], Sequence[PhraseSet], Sequence[PhraseSet]]  # output, G, G'


def _score(rounds: Sequence[Round]) -> Evaluation:
    lengths = {len(answers) for round_ in rounds for answers in round_}
    if len(lengths) != 1:
        raise UsageError(f"output and annotators have different numbers of pairs: {sorted(lengths)}")
    parts = []
    for prefix, kind in (("", "pairs"), ("compositional ", "compositional"), ("non-comp. ", "noncompositional")):
        judged = [
            [
                judge(getattr(output, kind), getattr(left, kind) & getattr(right, kind), left.pairs | right.pairs)
                for output, left, right in zip(*round_, strict=True)
            ]
            for round_ in rounds
        ]
        parts.append(evaluate_judgements(list(zip(*judged, strict=True)), prefix, len(rounds)))
    return combine(parts)


def judge(output: frozenset[Hashable], required: frozenset[Hashable], allowed: frozenset[Hashable]) -> Judgement:
    """Count what is right among the answer's pairs."""
    return Judgement(len(output & required), len(required), len(output & allowed), len(output))


def evaluate_judgements(rows: Sequence[Sequence[Judgement]], prefix: str = "", references: int = 1) -> Evaluation:
    """Recall, precision and F1, averaged over references; a row holds one pair's judgement for each reference."""

    def aggregate(sums: FloatArray) -> FloatArray:
        found, required, allowed, given = (sums[..., column::4] for column in range(4))
        recall = share(found, required, given).mean(axis=-1)
        precision = share(allowed, given, required).mean(axis=-1)
        return np.stack([recall, precision, harmonic_mean(recall, precision)], axis=-1)

    counts = count_table([[count for judgement in row for count in judgement] for row in rows], 4 * references)
    return Evaluation((f"{prefix}recall", f"{prefix}precision", f"{prefix}F1"), counts, aggregate)
