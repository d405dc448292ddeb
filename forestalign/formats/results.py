"""Results of the aligner as records of the formats: JSON lines, and SPADE's XML."""

from __future__ import annotations

from forestalign.forest import Forest, NodeId, tree_of
from forestalign.formats.enju import NULL, Attributes, EnjuElement
from forestalign.formats.forest_nodes import ForestNode, ForestNodes
from forestalign.formats.phrase_records import (
    AlternativeRecord,
    NullSpans,
    PhrasePairEntry,
    PhraseRecord,
    ScatteredEntry,
    SideRecord,
    WordEntry,
)
from forestalign.phrases.result import AlignedPair, PhraseAlignment, PhrasePair
from forestalign.trees import format_brackets
from forestalign.words.alignment import WordAlignment

Edges = tuple[tuple[NodeId, int], ...]
DIGITS = 5  # after the point: what processors of different kinds agree on, but for the luck of rounding


def record_of(aligned: AlignedPair, forests: bool = False) -> PhraseRecord:
    """The record of a result; with `forests` also the nodes that the chosen trees do not have, for the viewer."""
    best = aligned.phrases
    return PhraseRecord(
        aligned.id,
        SideRecord(aligned.source.text, aligned.source.words, format_brackets(aligned.source_tree)),
        SideRecord(aligned.target.text, aligned.target.words, format_brackets(aligned.target_tree)),
        _word_entries(aligned.words),
        tuple(_entry(pair) for pair in best.pairs),
        _null_spans(best),
        best.reached_root,
        best.completed,
        round(float(best.log_score), DIGITS),
        aligned.signature,
        alternatives=tuple(_alternative(aligned, other) for other in aligned.alternatives),
        forests=_forest_nodes(aligned) if forests else None,
        candidates=_word_entries(aligned.candidates),
        scattered=_scattered(best),
    )


def _null_spans(alignment: PhraseAlignment) -> NullSpans:
    """Null phrases; words that belong together with others, though they are no phrase, are none."""
    own = {word for one in alignment.scattered for word in one.source}
    other = {word for one in alignment.scattered for word in one.target}
    return NullSpans(
        tuple(span for span in alignment.source_nulls if not own.issuperset(range(*span))),
        tuple(span for span in alignment.target_nulls if not other.issuperset(range(*span))),
    )


def _scattered(alignment: PhraseAlignment) -> tuple[ScatteredEntry, ...]:
    return tuple(ScatteredEntry(*one) for one in alignment.scattered)


def _word_entries(links: WordAlignment) -> tuple[WordEntry, ...]:
    return tuple(WordEntry(link.source, link.target, round(float(link.score), DIGITS)) for link in links)


def _entry(pair: PhrasePair) -> PhrasePairEntry:
    return PhrasePairEntry(
        pair.source,
        pair.target,
        pair.source_label,
        pair.target_label,
        pair.compositional,
        round(float(pair.log_prob), DIGITS),
        pair.supports,
        pair.is_bar,
        pair.inverted,
        pair.posterior if pair.posterior is None else round(float(pair.posterior), DIGITS),
        pair.evidence,
        pair.relation,
    )


def _alternative(aligned: AlignedPair, other: PhraseAlignment) -> AlternativeRecord:
    return AlternativeRecord(
        tuple(_entry(pair) for pair in other.pairs),
        _null_spans(other),
        round(float(other.log_score), DIGITS),
        other.reached_root,
        other.completed,
        _chosen_tree(aligned.source_forest, other.source_edges),
        _chosen_tree(aligned.target_forest, other.target_edges),
        _scattered(other),
    )


def _chosen_tree(forest: Forest, edges: Edges) -> str:
    """The brackets of a choice of edges; its root is its last node, since children come before parents."""
    choice = dict(edges)
    numbers = [choice.get(NodeId(node), -1) for node in range(len(forest))]
    return format_brackets(tree_of(forest, max(choice), numbers))


def _forest_nodes(aligned: AlignedPair) -> ForestNodes:
    best = aligned.phrases
    return ForestNodes(
        _other_nodes(aligned.source_forest, best.source_edges), _other_nodes(aligned.target_forest, best.target_edges)
    )


def _other_nodes(forest: Forest, edges: Edges) -> tuple[ForestNode, ...]:
    """Constituents outside the chosen tree, without bar nodes and words; nodes that differ in heads alone are one."""
    names = [(node.begin, node.end, node.label) for node in forest.nodes]
    chosen = {names[node] for node, _ in edges}
    marginals = forest.marginals or (0.0,) * len(forest)
    summed: dict[tuple[int, int, str], float] = {}
    for node, name, marginal in zip(forest.nodes, names, marginals, strict=True):
        if not node.is_bar and not node.is_leaf and name not in chosen:
            summed[name] = summed.get(name, 0.0) + float(marginal)
    return tuple(ForestNode(*name, marginal) for name, marginal in sorted(summed.items()))


# ---- SPADE's XML ----


def enju_of(aligned: AlignedPair) -> tuple[EnjuElement, EnjuElement]:
    """Both chosen binary trees as XML, with the phrase pairs as pa1; the id of a phrase is `c` and its node.

    A bar node has xcat="bar". A word is a phrase of its own, as in the forest, with xcat="leaf".
    """
    source_partners: dict[NodeId, list[NodeId]] = {}
    target_partners: dict[NodeId, list[NodeId]] = {}
    for pair in aligned.phrases.pairs:
        source_partners.setdefault(pair.source_node, []).append(pair.target_node)
        target_partners.setdefault(pair.target_node, []).append(pair.source_node)
    return (
        _enju_sentence(f"s{aligned.id}", aligned.source_forest, aligned.phrases.source_edges, source_partners),
        _enju_sentence(f"t{aligned.id}", aligned.target_forest, aligned.phrases.target_edges, target_partners),
    )


def _enju_sentence(identity: str, forest: Forest, edges: Edges, partners: dict[NodeId, list[NodeId]]) -> EnjuElement:
    choice = dict(edges)
    elements: dict[NodeId, EnjuElement] = {}
    for node in sorted(choice):
        children = forest.edges[node][choice[node]].children
        below = tuple(elements[child] for child in children) or (_enju_word(forest, node),)
        elements[node] = EnjuElement("cons", _enju_attributes(forest, node, children, partners), below)
    root = elements[max(choice)]
    return EnjuElement("sentence", (("id", identity), ("parse_status", "success")), (root,))


def _enju_word(forest: Forest, node: NodeId) -> EnjuElement:
    """A word and the text between it and the next."""
    begin, tag, tokens = forest.nodes[node].begin, forest.nodes[node].label, forest.sentence.tokens
    token = tokens[begin]
    following = tokens[begin + 1].begin if begin + 1 < len(tokens) else len(forest.sentence.text)
    attributes = (("id", f"t{begin}"), ("cat", tag), ("pos", tag), ("base", token.lemma))
    return EnjuElement("tok", attributes, (), token.surface, forest.sentence.text[token.end : following])


def _enju_attributes(
    forest: Forest, node: NodeId, children: tuple[NodeId, ...], partners: dict[NodeId, list[NodeId]]
) -> Attributes:
    phrase = forest.nodes[node]
    kind = "bar" if phrase.is_bar else "leaf" if phrase.is_leaf else ""
    return (
        ("id", f"c{node}"),
        ("cat", phrase.label),
        ("xcat", kind),
        ("head", _child_over(forest, children, phrase.head)),
        ("sem_head", _child_over(forest, children, phrase.semantic_head)),
        ("pa1", " ".join(f"c{partner}" for partner in partners.get(node, ())) or NULL),
    )


def _child_over(forest: Forest, children: tuple[NodeId, ...], token: int) -> str:
    """The child that holds a token; a word itself where there is none."""
    holding = (f"c{child}" for child in children if forest.nodes[child].begin <= token < forest.nodes[child].end)
    return next(holding, f"t{token}")
