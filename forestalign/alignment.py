"""Results: word links and trees of phrase pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forestalign.forest import Forest, NodeId
from forestalign.tokens import Sentence, Span
from forestalign.trees import Tree


@dataclass(frozen=True, slots=True, order=True)
class WordLink:
    """Source token i with target token j.

    >>> WordLink(0, 2) == WordLink(0, 2, score=0.5)  # a score is no part of what a link is
    True
    """

    source: int
    target: int
    score: float = field(default=1.0, compare=False)
    stage: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class WordAlignment:
    """Links sorted by (source, target), each once.

    >>> WordAlignment((WordLink(0, 2), WordLink(1, 0))).pairs
    ((0, 2), (1, 0))
    """

    links: tuple[WordLink, ...]

    def __iter__(self) -> Iterator[WordLink]:
        return iter(self.links)

    def __len__(self) -> int:
        return len(self.links)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        return tuple((link.source, link.target) for link in self.links)


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


@dataclass(frozen=True, slots=True)
class SearchStatistics:
    """What the search did, and which bounds it hit."""

    states: int = 0  # hypotheses built
    beam_cuts: int = 0  # hypotheses dropped by the beam
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
    candidates: WordAlignment = WordAlignment(())
