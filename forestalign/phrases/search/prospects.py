"""What hypotheses may still become: the second ranking of beams and pools, beside their gain.

Where the target phrase of a pair has a gap, a later non-compositional step can fill it (4.3), and the pair gives way.
As it stands such a pair is worth little, since links leave it, so that a beam by gain alone cuts it, and with it the
whole alignment: head-outward binarisation makes even `A and B` / `B and A` such a case. Its prospect is

    prospect(h) = gain(h) + hope(h),   hope(h) = ω Σ rest(τs, j) - value(h)

over the target words j that lie in τt, are not covered, and have a link to a word outside τs: what h is worth without
its own pair, and a share ω of what these links would bring. rest(τs, j) is the value of the best such link beyond
leaving both its words null. A hypothesis is open if it has such words and hope; all others have no prospect beyond
their gain.

The estimate is neither an upper nor a lower bound: filling a gap brings pairs of phrases as well, and a link may be
wanted elsewhere. With ω = 1, and in place of the gain, open hypotheses crowd out the closed ones. So both rankings
share the places: `shared_places`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from forestalign.arrays import FloatArray, Int32Array
from forestalign.forest import Forest, NodeId
from forestalign.phrases.scoring.score import Step, Weights
from forestalign.phrases.scoring.seeds import Seeds

Ranked = TypeVar("Ranked")
OPENED = (Step.STRAIGHT, Step.INVERTED, Step.NON_COMPOSITIONAL)  # pairs that can give way and have supports


class Prospects:
    """What the links of two sentences are worth to hypotheses that leave their target words open."""

    def __init__(self, source: Forest, target: Forest, seeds: Seeds, weights: Weights, share: float):
        self.target = target
        self.rest = share * rest_values(source, target, seeds, weights)

    def hope(self, source: NodeId, target: NodeId, step: Step, target_words: int, value: float) -> float:
        """What a hypothesis has to hope for; 0 where it is closed."""
        if step not in OPENED:
            return 0.0
        node, total = self.target.nodes[target], 0.0
        for word in range(node.begin, node.end):
            if not target_words >> word & 1:
                total += float(self.rest[source, word])
        return max(total - value, 0.0) if total > 0.0 else 0.0


def rest_values(source: Forest, target: Forest, seeds: Seeds, weights: Weights) -> FloatArray:
    """rest(τs, j) of all source nodes and target words, never below 0."""
    words = seeds.kind == Step.SEED
    one, other = seeds.source[words], seeds.target[words]
    links = np.zeros((len(source.sentence), len(target.sentence)))
    places = source.arrays.begin[one], target.arrays.begin[other]
    np.maximum.at(links, places, seeds.value[words] + _beyond_null(one, other, weights))
    before = np.zeros((len(links) + 1, links.shape[1]))
    before[1:] = np.maximum.accumulate(links, axis=0)
    after = np.zeros_like(before)
    after[:-1] = np.maximum.accumulate(links[::-1], axis=0)[::-1]
    return np.maximum(before[source.arrays.begin], after[source.arrays.end])


def _beyond_null(source: Int32Array, target: Int32Array, weights: Weights) -> FloatArray:
    """What pairs of words are worth, their seeds apart, beyond leaving both null."""
    steps = weights.source_step[Step.SEED, source] + weights.target_step[Step.SEED, target]
    own = weights.source_inside[source] - weights.source_null[source]
    others = weights.target_inside[target] - weights.target_null[target]
    return np.asarray(weights.pair[source, target] + steps + own + others)


def shared_places(by_gain: Sequence[Ranked], by_prospect: Sequence[Ranked], room: int, share: float) -> list[Ranked]:
    """What `room` places hold: the first by gain, then `share` of the places by prospect; free ones by gain again."""
    kept = list(by_gain[: room - int(room * share)])
    seen = {id(each) for each in kept}
    for each in (*by_prospect, *by_gain):
        if len(kept) >= room:
            break
        if id(each) not in seen:
            seen.add(id(each))
            kept.append(each)
    return kept


def interleaved(closed: Sequence[Ranked], opened: Sequence[Ranked]) -> list[Ranked]:
    """Both in turn, so that cube pruning visits the best of either first."""
    missing = object()
    turns = (each for pair in zip_longest(closed, opened, fillvalue=missing) for each in pair)
    return [each for each in turns if each is not missing]  # type: ignore[misc]
