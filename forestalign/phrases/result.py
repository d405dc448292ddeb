"""The result types: trees of phrase pairs, and everything about one aligned pair of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forestalign.forest import Forest, NodeId, tree_of
from forestalign.phrases.extended import ExtendedPhrase, extended_phrases
from forestalign.tokens import Sentence, Span
from forestalign.trees import Tree
from forestalign.words.alignment import NO_LINKS, WordAlignment


@dataclass(frozen=True, slots=True)
class PhrasePair:
    """One aligned pair of phrases. `supports` are indices into the alignment's list, children before parents."""

    source_node: NodeId
    target_node: NodeId
    source: Span
    target: Span
    source_label: str
    target_label: str
    is_bar: bool  # either side is a bar node of the binarisation
    compositional: bool
    inverted: bool
    log_prob: float  # log Pr of the pair
    supports: tuple[int, ...]
    posterior: float | None = None  # share of the beam's mass at the root, when asked for
    step: str = ""  # how it came about: "seed" and "phrase seed" rest on nothing below them
    evidence: tuple[str, ...] = ("links",)  # what it rests on: links, lexicon, acronym, quantity, similarity
    relation: str = ""  # what the source is to the target; empty where nobody asked
    source_text: str = ""  # the words as they stand in the text, on one line
    target_text: str = ""

    def told(self, evidence: tuple[str, ...], relation: str) -> PhrasePair:
        """The same pair with what it rests on and what its phrases are to each other."""
        return PhrasePair(
            self.source_node,
            self.target_node,
            self.source,
            self.target,
            self.source_label,
            self.target_label,
            self.is_bar,
            self.compositional,
            self.inverted,
            self.log_prob,
            self.supports,
            self.posterior,
            self.step,
            evidence,
            relation,
            self.source_text,
            self.target_text,
        )

    @property
    def is_multiword(self) -> bool:
        """Whether both phrases have several words."""
        return self.source.end - self.source.begin > 1 and self.target.end - self.target.begin > 1


class ScatteredPair(NamedTuple):
    """Words that belong together by evidence and are no phrase of the tree: *turned* and *down* with *rejected*."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    evidence: str
    relation: str


@dataclass(frozen=True, slots=True)
class SearchStatistics:
    """What the search did, and which bounds it hit."""

    states: int = 0  # combinations and lifts looked at
    beam_cuts: int = 0  # hypotheses dropped by the beam, or left out because they could not have entered it
    trace_bounds: int = 0  # TRACE calls cut at the bound


@dataclass(frozen=True, slots=True)
class PhraseAlignment:
    """A legitimate set of phrase pairs with its support relations, over one tree of each forest."""

    pairs: tuple[PhrasePair, ...]
    source_nulls: tuple[Span, ...]  # maximal null phrases
    target_nulls: tuple[Span, ...]
    source_null_nodes: tuple[NodeId, ...]
    target_null_nodes: tuple[NodeId, ...]
    source_edges: tuple[tuple[NodeId, int], ...]  # node and the index of the edge that builds it in the chosen tree
    target_edges: tuple[tuple[NodeId, int], ...]
    log_score: float
    reached_root: bool
    completed: bool = False  # the root was reached by lifting one support to it
    scattered: tuple[ScatteredPair, ...] = ()  # beside the pairs; their words are not null to a reader
    statistics: SearchStatistics = SearchStatistics()


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """Everything about one pair of sentences; `alternatives` are the further k-best alignments, best first.

    `words` are the word links; `candidates` are less likely ones, which the search could choose from as well.
    """

    id: str
    source: Sentence
    target: Sentence
    source_tree: Tree
    target_tree: Tree
    words: WordAlignment
    phrases: PhraseAlignment
    source_forest: Forest = field(repr=False, compare=False)
    target_forest: Forest = field(repr=False, compare=False)
    alternatives: tuple[PhraseAlignment, ...] = ()
    signature: str = ""
    candidates: WordAlignment = NO_LINKS

    @property
    def extended(self) -> tuple[ExtendedPhrase, ...]:
        """Phrases in no pair that add only small words to an aligned one, as *by him* does to *him*."""
        found, trees = self.phrases, (self.source_tree, self.target_tree)
        return extended_phrases(trees, found.pairs, (found.source_nulls, found.target_nulls), found.scattered)


def chosen_tree(forest: Forest, edges: Sequence[tuple[NodeId, int]]) -> Tree:
    """The n-ary tree that an alignment chose: the reranked parse."""
    choice = [0] * len(forest)
    for node, index in edges:
        choice[node] = index
    root = max(node for node, _ in edges)  # parents come after children
    return tree_of(forest, root, choice)
