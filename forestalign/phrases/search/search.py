"""The search for the best tree of phrase pairs: Algorithm 4.1 over forests, with a beam per source phrase.

Symbols: A `beams`, µb `beam`, µg `gap`. A[τs] keeps the µb best hypotheses of a source phrase, ranked by gain: what a
hypothesis is worth beyond leaving its target phrase null; a share of the places goes by prospect. A
source node sees the hypotheses below it through a pool: those within µg, each with the null phrases on the way down
already charged, again the µb best, closed and open ones in turn. An edge combines the pools of its two children; so
every pair (m, n) of Algorithm 4.1 meets at its LCA, and Same-Tree holds on the source side by itself. `cube` > 0 visits
only combinations (a, b) of two ranked pools with (a+1)(b+1) <= cube (cube pruning without a queue).

Ties: a beam is ordered by gain, then by target node, then by covered target words, a pool by gain, then by target node,
then by source node, then by steps, both by prospect first where they go by that; what is still equal stays in the order
in which it was made. Values count as equal when they are closer than `GRAIN` tells apart.

This is the reference, which runs with `plain`. `_search.pyx` is its compiled twin, with the same options and the same
order of ties; where the two differ, this one is right.

Prospects rank by what hypotheses may still become. Where the target phrase of a pair has a gap, a later
non-compositional step can fill it (4.3), and the pair gives way. As it stands such a pair is worth little, since links
leave it, so that a beam by gain alone cuts it, and with it the whole alignment: even `A and B` / `B and A`. So

    prospect(h) = gain(h) + hope(h),   hope(h) = ω Σ rest(τs, j) - value(h)

over the target words j that lie in τt, are not covered, and have a link to a word outside τs: what h is worth without
its own pair, and a share ω of what these links would bring. rest(τs, j) is the value of the best such link beyond
leaving both its words null. A hypothesis is open if it has such words and hope; others have no prospect but their gain.

The estimate is neither an upper nor a lower bound: filling a gap brings pairs of phrases as well, and a link may be
wanted elsewhere. With ω = 1, and in place of the gain, open hypotheses crowd out the closed ones. So both rankings
share the places: `shared_places`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from forestalign.arrays import FloatArray, Int32Array
from forestalign.forest import Forest, NodeId
from forestalign.phrases.scoring.score import Step, Weights
from forestalign.phrases.scoring.seeds import Seeds
from forestalign.phrases.search.hypotheses import (
    Bounds,
    Found,
    Hypothesis,
    Placed,
    distinct,
    finished,
    grains,
    posteriors,
)
from forestalign.phrases.search.lca import UNLIMITED, Ancestry, EdgeId, Region, null_nodes, span_mask, unopened
from forestalign.phrases.search.trace import Bound, State, place


def search(source: Forest, target: Forest, seeds: Seeds, weights: Weights, bounds: Bounds) -> Found:
    """Align two forests. Swap the sides yourself for the other direction."""
    seeds.check(source, target)
    return Search(source, target, seeds, weights, bounds).run()


class Search:
    """One search, with its beams."""

    def __init__(self, source: Forest, target: Forest, seeds: Seeds, weights: Weights, bounds: Bounds) -> None:
        self.source, self.target, self.weights, self.bounds = source, target, weights, bounds
        self.above = Ancestry(target, weights.target_null, weights.target_edge, bounds.paths)
        self.below = Ancestry(source, weights.source_null, weights.source_edge, bounds.paths)
        self.prospects = Prospects(source, target, seeds, weights, bounds.prospect_links)
        self.beams: list[list[Hypothesis]] = [[] for _ in source.nodes]
        self.states = self.beam_cuts = 0
        self.bound = Bound(bounds.trace_states)
        for k in range(len(seeds)):
            self._seed(NodeId(int(seeds.source[k])), NodeId(int(seeds.target[k])), seeds.value[k], Step(seeds.kind[k]))

    def run(self) -> Found:
        """Beams bottom-up, then the roots: as they are, else without a gap, else completed."""
        pools: list[list[Placed]] = []
        for i in range(len(self.source)):
            node = NodeId(i)
            self.beams[node] = self._cut(self.beams[node] + list(self._grow(node, pools, self.bounds.gap)))
            pools.append(self._pool(node, pools, self.bounds.gap - 1))
        roots = self._roots() or self._roots_without_gap()
        if roots:
            return self._found(roots, completed=False)
        return self._found(self._completions(), completed=True)

    def _seed(self, source: NodeId, target: NodeId, value: float, step: Step) -> None:
        hypothesis = Hypothesis(
            source=source,
            target=target,
            step=step,
            supports=(),
            value=self._pair_value(source, target, step) + float(value),
            source_words=span_mask(self.source, source),
            target_words=span_mask(self.target, target),
            source_region=Region(float(self.weights.source_inside[source])),
            target_region=Region(float(self.weights.target_inside[target])),
        )
        self.beams[source].append(hypothesis)

    # ---- growing ----

    def _grow(self, node: NodeId, pools: list[list[Placed]], gap: int) -> Iterator[Hypothesis]:
        """Everything that the pools below a node support."""
        for way, edge in enumerate(self.source.edges[node]):
            edge_id = EdgeId(node, way)
            if len(edge.children) == 2:
                left, right = edge.children
                for a, one in enumerate(pools[left], 1):
                    width = self.bounds.cube // a if self.bounds.cube else len(pools[right])
                    for other in pools[right][:width]:
                        yield from self._combine(edge_id, one, other, gap)
            if self.bounds.lifts and node not in self.source.roots:
                for child in edge.children:
                    yield from self._lift(edge_id, child, pools[child], gap)

    def _combine(self, edge: EdgeId, one: Placed, other: Placed, gap: int) -> Iterator[Hypothesis]:
        """ALIGN: two hypotheses under the two children of a source edge."""
        self.states += 1
        region = one.region + other.region + self.below.edge(edge)
        m, n = one.hypothesis, other.hypothesis
        first, second = self.target.nodes[m.target], self.target.nodes[n.target]
        if first.end <= second.begin or second.end <= first.begin:
            yield from self._compose(edge.node, m, n, region, gap)
        elif not self.bounds.monotonic:
            if first.end - first.begin >= second.end - second.begin:
                yield from self._nest(edge.node, m, n, region)
            else:
                yield from self._nest(edge.node, n, m, region)

    def _compose(self, node: NodeId, m: Hypothesis, n: Hypothesis, region: Region, gap: int) -> Iterator[Hypothesis]:
        is_straight = self.target.nodes[m.target].begin < self.target.nodes[n.target].begin
        step = Step.STRAIGHT if is_straight else Step.INVERTED
        for meeting in self.above.meetings(m.target, n.target, gap):
            state = State((m, n), meeting.region.nulls)
            opened = meeting.region + m.target_region + n.target_region
            yield from self._pair(node, meeting.node, step, (m, n), state, region, opened)

    def _nest(self, node: NodeId, outer: Hypothesis, inner: Hypothesis, region: Region) -> Iterator[Hypothesis]:
        """⟨τs_i, τt_m⟩ by a non-compositional step: τt_n, of `inner`, is τt_m or lies inside it."""
        for state in place(inner, outer, self.above, self.bound):
            opened = outer.target_region + inner.target_region + state.gaps
            opened = self._reopen(opened, outer.target_words | inner.target_words)
            yield from self._pair(node, outer.target, Step.NON_COMPOSITIONAL, (outer, inner), state, region, opened)

    def _reopen(self, region: Region, words: int) -> Region:
        """The target side anew from its edges, since a placed hypothesis may fill null phrases."""
        value = 0.0
        for edge in sorted(region.edges):
            value += self.above.edge(edge).value
        for node in unopened(self.target, region.edges):
            is_covered = words >> self.target.nodes[node].begin & 1
            value += float((self.weights.target_inside if is_covered else self.weights.target_null)[node])
        return Region(value, region.edges, null_nodes(self.target, region.edges, words))

    def _lift(self, edge: EdgeId, child: NodeId, pool: list[Placed], gap: int) -> Iterator[Hypothesis]:
        """One support alone, everything off both paths null."""
        for placed in pool:
            above = self._step_up(edge, child, placed)
            if above.steps > gap:
                continue
            self.states += 1
            h = placed.hypothesis
            for top, paths in self.above.paths_from(h.target, gap).items():
                for path in paths if top != h.target else ():
                    state = State((h,), path.region.nulls)
                    opened = path.region + h.target_region
                    yield from self._pair(edge.node, top, Step.LIFT, (h,), state, above.region, opened)

    def _pair(
        self,
        source: NodeId,
        target: NodeId,
        step: Step,
        below: tuple[Hypothesis, ...],
        state: State,
        source_region: Region,
        target_region: Region,
    ) -> Iterator[Hypothesis]:
        """A new hypothesis with the words of those below it, as placed."""
        source_words = target_words = 0
        for part in below:
            source_words |= part.source_words
            target_words |= part.target_words
        value = self._pair_value(source, target, step)
        yield Hypothesis(
            source=source,
            target=target,
            step=step,
            supports=tuple(sorted(state.aligned, key=lambda part: self.source.nodes[part.source].begin)),
            value=value,
            source_words=source_words,
            target_words=target_words,
            source_region=source_region,
            target_region=target_region,
            hope=self.prospects.hope(source, target, step, target_words, value),
            segment_nulls=state.nulls,
        )

    def _pair_value(self, source: NodeId, target: NodeId, step: Step) -> float:
        """What a pair itself is worth."""
        weights = self.weights
        return float(
            weights.pair[source, target] + weights.source_step[step, source] + weights.target_step[step, target]
        )

    # ---- beams and pools ----

    def _cut(self, hypotheses: list[Hypothesis]) -> list[Hypothesis]:
        """The beam: best by gain and by prospect, not too many alike."""
        by_gain = self._distinct(sorted(hypotheses, key=lambda h: (-grains(self._gain(h)), h.target, h.target_words)))
        kept = by_gain
        if self.bounds.beam:
            opened = [h for h in hypotheses if h.hope > 0.0] if self.bounds.prospect_share else []
            opened.sort(key=lambda h: (-grains(self._gain(h) + h.hope), h.target, h.target_words))
            kept = shared_places(by_gain, self._distinct(opened), self.bounds.beam, self.bounds.prospect_share)
        self.beam_cuts += len(hypotheses) - len(kept)
        return kept

    def _distinct(self, ranked: list[Hypothesis]) -> list[Hypothesis]:
        """Without those that have enough better ones with the same target phrase and target words."""
        alike: dict[tuple[NodeId, int], int] = {}
        kept: list[Hypothesis] = []
        for hypothesis in ranked:
            key = (hypothesis.target, hypothesis.target_words)
            alike[key] = alike.get(key, 0) + 1
            if not self.bounds.variants or alike[key] <= self.bounds.variants:
                kept.append(hypothesis)
        return kept

    def _gain(self, hypothesis: Hypothesis) -> float:
        """S(h) - Snull(τt): hypotheses with different target phrases have different numbers of factors."""
        return hypothesis.score - float(self.weights.target_null[hypothesis.target])

    def _pool(self, node: NodeId, pools: list[list[Placed]], limit: int) -> list[Placed]:
        """The hypotheses at most `limit` steps below a node, seen from it."""
        pool = [Placed(h, 0, h.source_region) for h in self.beams[node]]
        for way, edge in enumerate(self.source.edges[node]):
            for child in edge.children:
                for placed in pools[child]:
                    above = self._step_up(EdgeId(node, way), child, placed)
                    if above.steps <= limit:
                        pool.append(above)
        pool.sort(key=self._pool_order)
        opened = [placed for placed in pool if placed.hypothesis.hope > 0.0] if self.bounds.prospect_share else []
        opened.sort(key=lambda placed: -grains(self._placed_gain(placed) + placed.hypothesis.hope))
        if self.bounds.beam:
            kept = {id(placed) for placed in shared_places(pool, opened, self.bounds.beam, self.bounds.prospect_share)}
            pool, opened = ([placed for placed in each if id(placed) in kept] for each in (pool, opened))
        are_open = {id(placed) for placed in opened}
        return interleaved([placed for placed in pool if id(placed) not in are_open], opened)

    def _pool_order(self, placed: Placed) -> tuple[int, int, int, int]:
        h = placed.hypothesis
        return -grains(self._placed_gain(placed)), h.target, h.source, placed.steps

    def _placed_gain(self, placed: Placed) -> float:
        """The gain, less what the way down to the hypothesis leaves null."""
        h = placed.hypothesis
        return self._gain(h) - h.source_region.value + placed.region.value

    def _step_up(self, edge: EdgeId, child: NodeId, placed: Placed) -> Placed:
        """A hypothesis seen from one edge further up; the sibling becomes null."""
        region, steps = placed.region + self.below.edge(edge), placed.steps
        for sibling in self.source.edges[edge.node][edge.way].children:
            if sibling != child:
                region, steps = region + self.below.null(sibling), steps + 1
        return Placed(placed.hypothesis, steps, region)

    # ---- roots ----

    def _roots(self) -> list[Hypothesis]:
        return [h for root in self.source.roots for h in self.beams[root] if h.target in self.target.roots]

    def _roots_without_gap(self) -> list[Hypothesis]:
        """Try the roots again with µg unbounded; each has its own beam, as every source phrase has."""
        pools, found = self._unbounded_pools(), []
        for root in self.source.roots:
            grown = self._grow(root, pools, UNLIMITED)
            found += self._cut([h for h in grown if h.target in self.target.roots])
        return found

    def _unbounded_pools(self) -> list[list[Placed]]:
        pools: list[list[Placed]] = []
        for i in range(len(self.source)):
            pools.append(self._pool(NodeId(i), pools, UNLIMITED))
        return pools

    def _completions(self) -> list[Hypothesis]:
        """Lift any hypothesis to a root pair, all nulls on the way charged."""
        pools, found = self._unbounded_pools(), []
        for root in self.source.roots:
            found += self._cut([h for placed in pools[root] for h in self._complete(root, placed)])
        return found

    def _complete(self, root: NodeId, placed: Placed) -> Iterator[Hypothesis]:
        """A hypothesis that already has one of the two roots gives way to the root pair with its supports.

        The root pair then covers its words; those of a seed, too.
        """
        h = placed.hypothesis
        gives_way = h.source == root or h.target in self.target.roots
        aligned = h.supports if gives_way else (h,)
        kept = h.segment_nulls if gives_way else ()
        for top, paths in self.above.paths_from(h.target, UNLIMITED).items():
            for path in paths if top in self.target.roots else ():
                state = State(aligned, kept + path.region.nulls)
                opened = path.region + h.target_region
                yield from self._pair(root, top, Step.COMPLETION, (h,), state, placed.region, opened)

    # ---- what was found, and how beams are kept ----

    def _found(self, roots: list[Hypothesis], completed: bool) -> Found:
        ranked = sorted(roots, key=lambda h: (-grains(h.score), h.target, h.target_words))
        shares = posteriors(ranked) if ranked else {}
        derivations = tuple(
            finished(h, shares, null_nodes(self.target, h.target_region.edges, h.target_words))
            for h in distinct(ranked, self.bounds.kbest)
        )
        return Found(derivations, completed, self.states, self.beam_cuts, self.bound.hits)


# ---- prospects: what hypotheses may still become ----


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
