"""What everything in an alignment is worth (section 5.3 and 5.4 of the paper): one table for each kind of thing.

All scores of the reading are sums, so they are folded into a few tables once, and the search knows nothing else:

    S(h) = pairs + maximal null phrases + opened edges + covered nodes, the last three on both sides

A pair is worth `pair`, what its step adds on each side, and the value of its seed, if it has one. A covered node is the
node of a seed: the parser's best derivation stands below it, as below a null phrase.

The tables hold (1 - µp) of the alignment's part and µp of the parser's: the edges' log probabilities, and for null and
covered phrases their Viterbi inside scores. Each null word is charged once (5.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.config import AlignConfig
from forestalign.forest import Forest, best_inside, log_partition
from forestalign.phrases.scoring.model import PairScores


class Step(IntEnum):
    """How a pair came about. From PHRASE_SEED on a pair is opaque: a non-compositional step cannot open it.

    Opening a lift would leave exactly what the lifted hypothesis gives anyway; there is nothing inside a phrase seed.
    """

    SEED = 0
    STRAIGHT = 1
    INVERTED = 2
    NON_COMPOSITIONAL = 3
    PHRASE_SEED = 4
    LIFT = 5
    COMPLETION = 6

    @property
    def is_opaque(self) -> bool:
        """Whether the pair of this step must stay whole when a larger pair takes it apart."""
        return self >= Step.PHRASE_SEED

    @property
    def label(self) -> str:
        """The name that users see."""
        return _LABELS[self]


_LABELS = ("seed", "straight", "inverted", "non-compositional", "phrase seed", "lift", "completion")


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The additive values of everything a hypothesis consists of. S, T: the numbers of source and target nodes.

    Edges are numbered through, node by node, each node's in their order.
    """

    pair: FloatArray  # [S, T]
    source_step: FloatArray  # [len(Step), S], added to a pair by the step that makes it
    target_step: FloatArray  # [len(Step), T]
    source_null: FloatArray  # [S], a maximal null phrase
    target_null: FloatArray  # [T]
    source_inside: FloatArray  # [S], a node covered by a seed
    target_inside: FloatArray  # [T]
    source_edge: FloatArray  # by edge
    target_edge: FloatArray
    constant: float = 0.0  # added to the score of an alignment in the end; the search does not need it

    def transposed(self) -> Weights:
        """These values with source and target swapped."""
        return replace(
            self,
            pair=np.ascontiguousarray(self.pair.T),
            source_step=self.target_step,
            target_step=self.source_step,
            source_null=self.target_null,
            target_null=self.source_null,
            source_inside=self.target_inside,
            target_inside=self.source_inside,
            source_edge=self.target_edge,
            target_edge=self.source_edge,
        )


def weigh(source: Forest, target: Forest, scores: PairScores, config: AlignConfig) -> Weights:
    """The paper's scores: log Pr, penalties and parse scores."""
    source_inside, target_inside = _covered_values(source, config), _covered_values(target, config)
    return Weights(
        pair=np.ascontiguousarray(alignment_share(config) * scores.pair),
        source_step=_step_values(len(source), config),
        target_step=np.zeros((len(Step), len(target))),
        source_null=_null_values(source, scores.source_null, source_inside, config),
        target_null=_null_values(target, scores.target_null, target_inside, config),
        source_inside=source_inside,
        target_inside=target_inside,
        source_edge=config.parse_weight * edge_log_probs(source),
        target_edge=config.parse_weight * edge_log_probs(target),
        constant=_parse_constant(source, target, config),
    )


def alignment_share(config: AlignConfig) -> float:
    """1 - µp, where the parser's share is added edge by edge."""
    return 1.0 - config.parse_weight


def _step_values(node_count: int, config: AlignConfig) -> FloatArray:
    """The price µn µc of a non-compositional pair."""
    values = np.zeros((len(Step), node_count))
    values[Step.NON_COMPOSITIONAL] = -alignment_share(config) * config.null_penalty * config.noncompositional_penalty
    return values


def _null_values(forest: Forest, log_null: FloatArray, inside: FloatArray, config: AlignConfig) -> FloatArray:
    lengths = forest.arrays.end - forest.arrays.begin
    return np.asarray(alignment_share(config) * (log_null - config.null_penalty * lengths) + inside)


def _covered_values(forest: Forest, config: AlignConfig) -> FloatArray:
    share = config.parse_weight
    return share * best_inside(forest) if share else np.zeros(len(forest))


def edge_log_probs(forest: Forest) -> FloatArray:
    """Log probabilities of all edges, numbered through."""
    return forest.arrays.log_prob


def _parse_constant(source: Forest, target: Forest, config: AlignConfig) -> float:
    """What turns the edges' weights into log probabilities of the two trees."""
    share = config.parse_weight
    return -share * (log_partition(source) + log_partition(target)) if share else 0.0
