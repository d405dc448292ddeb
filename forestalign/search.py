"""The search for the best tree of phrase pairs: Algorithm 4.1 over forests, with a beam per source phrase.

Symbols: A `beams`, µb `beam`, µg `gap`. A[τs] keeps the µb best hypotheses of a source phrase, ranked by gain: what a
hypothesis is worth beyond leaving its target phrase null. A source node sees the hypotheses below it through a pool:
those within µg, each with the null phrases on the way down already charged, again the µb best. An edge combines the
pools of its two children; so every pair (m, n) of Algorithm 4.1 meets at its LCA, and Same-Tree holds on the source
side by itself.

This is the plain version. `forestalign.fast_search` is its fast twin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from forestalign.alignment import WordAlignment
from forestalign.config import AlignConfig
from forestalign.forest import Forest, NodeId
from forestalign.hypotheses import (
    Found,
    Hypothesis,
    Placed,
    Root,
    Seeds,
    Step,
    Weights,
    null_nodes,
    pair_value,
    weigh,
)
from forestalign.lca import UNLIMITED, Ancestry, EdgeId
from forestalign.model import PairScores
from forestalign.trace import Bound, State, place


def search(source: Forest, target: Forest, words: WordAlignment, scores: PairScores, config: AlignConfig) -> Found:
    """Align two forests. Swap the sides yourself for the other direction."""
    return _Search(source, target, words, scores, config).run()


class _Search:
    def __init__(
        self, source: Forest, target: Forest, words: WordAlignment, scores: PairScores, config: AlignConfig
    ) -> None:
        self.source, self.target, self.config = source, target, config
        self.weights: Weights = weigh(source, target, scores, config)
        self.above = Ancestry(target, self.weights.target_null, self.weights.target_edge, config.paths)
        below = Ancestry(source, self.weights.source_null, self.weights.source_edge, config.paths)
        self.beams: list[list[Hypothesis]] = [[] for _ in source.nodes]
        self.states = self.beam_cuts = 0
        self.bound = Bound(config.trace_states)
        for seed in Seeds(below, self.above, self.weights, words, config).all():
            self.beams[seed.source].append(seed)

    def run(self) -> Found:
        pools: list[list[Placed]] = []
        for i in range(len(self.source)):
            node = NodeId(i)
            grown = list(self._grow(node, pools, self.config.gap))
            self.beams[node] = self._cut(self.beams[node] + grown)
            pools.append(self._pool(node, pools, self.config.gap - 1))
        roots = self._roots()
        if not roots:
            roots = self._roots_without_gap()
        if roots:
            return self._found(roots, completed=False)
        return self._found(self._completions(), completed=True)

    # ---- growing ----

    def _grow(self, node: NodeId, pools: list[list[Placed]], gap: int) -> Iterator[Hypothesis]:
        """Everything that the pools below a node support."""
        for index, edge in enumerate(self.source.edges[node]):
            edge_id = EdgeId(node, index)
            if len(edge.children) == 2:
                left, right = edge.children
                for one in pools[left]:
                    for other in pools[right]:
                        yield from self._combine(edge_id, one, other, gap)
            if self.config.lifts and node not in self.source.roots:
                for child in edge.children:
                    yield from self._lift(edge_id, child, pools[child], gap)

    def _combine(self, edge: EdgeId, one: Placed, other: Placed, gap: int) -> Iterator[Hypothesis]:
        """ALIGN: two hypotheses under the two children of a source edge."""
        self.states += 1
        trees = one.trees & other.trees & self._edge_trees(edge)
        if not trees and self.config.strict:
            return
        first = self.target.nodes[one.hypothesis.target]
        second = self.target.nodes[other.hypothesis.target]
        if first.end <= second.begin or second.end <= first.begin:
            yield from self._compose(edge, one, other, gap)
        elif not self.config.monotonic:
            if first.end - first.begin >= second.end - second.begin:
                yield from self._nest(edge, one, other, inner=other)
            else:
                yield from self._nest(edge, one, other, inner=one)

    def _compose(self, edge: EdgeId, one: Placed, other: Placed, gap: int) -> Iterator[Hypothesis]:
        m, n = one.hypothesis, other.hypothesis
        is_straight = self.target.nodes[m.target].begin < self.target.nodes[n.target].begin
        for meeting in self.above.meetings(m.target, n.target, gap):
            hypothesis = self._pair(
                edge,
                (one, other),
                meeting.node,
                Step.STRAIGHT if is_straight else Step.INVERTED,
                State((m, n), meeting.nulls, frozenset(meeting.edges), meeting.trees),
                meeting.value + m.target_value + n.target_value,
            )
            if hypothesis is not None:
                yield hypothesis

    def _nest(self, edge: EdgeId, one: Placed, other: Placed, inner: Placed) -> Iterator[Hypothesis]:
        """⟨τs_i, τt_m⟩ by a non-compositional step: τt_n is τt_m or lies inside it."""
        outer = other if inner is one else one
        n, m = inner.hypothesis, outer.hypothesis
        for state in place(n, m, self.above, self.bound):
            edges = state.edges | m.target_edges | n.target_edges
            value = self._opened_value(edges, m.target_words | n.target_words)
            step = Step.NON_COMPOSITIONAL
            hypothesis = self._pair(edge, (one, other), m.target, step, replace(state, edges=edges), value)
            if hypothesis is not None:
                yield hypothesis

    def _lift(self, edge: EdgeId, child: NodeId, pool: list[Placed], gap: int) -> Iterator[Hypothesis]:
        """One support alone, everything off both paths null."""
        for placed in pool:
            above = self._step_up(edge, child, placed)
            if above.steps > gap:
                continue
            self.states += 1
            y = placed.hypothesis.target
            for top, paths in self.above.paths_from(y, gap).items():
                for path in paths if top != y else ():
                    state = State((placed.hypothesis,), path.nulls, frozenset(path.edges), path.trees)
                    value = path.value + placed.hypothesis.target_value
                    lifted = self._pair(None, (above,), top, Step.LIFT, state, value, node=edge.node)
                    if lifted is not None:
                        yield lifted

    def _pair(
        self,
        edge: EdgeId | None,
        below: tuple[Placed, ...],
        target: NodeId,
        step: Step,
        state: State,
        target_value: float,
        node: NodeId | None = None,
    ) -> Hypothesis | None:
        """A new hypothesis from those below it; None when no tree holds both derivations (`strict`)."""
        parts = [placed.hypothesis for placed in below]
        source = edge.node if edge is not None else node
        assert source is not None
        target_edges = state.edges.union(*(part.target_edges for part in parts))
        source_edges = frozenset({edge} if edge is not None else ()).union(*(p.edges for p in below))
        target_words = source_words = 0
        source_trees, target_trees = -1 if edge is None else self._edge_trees(edge), state.trees
        source_value = 0.0 if edge is None else self.weights.source_edge[edge.node][edge.way]
        for placed, part in zip(below, parts, strict=True):
            target_words |= part.target_words
            source_words |= part.source_words
            source_trees &= placed.trees
            target_trees &= part.target_trees
            source_value += placed.value
        if self.config.strict and not (source_trees and target_trees):
            return None
        width = self.source.nodes[source].end - self.source.nodes[source].begin
        width += self.target.nodes[target].end - self.target.nodes[target].begin
        null_words = width - source_words.bit_count() - target_words.bit_count()
        return Hypothesis(
            source=source,
            target=target,
            step=step,
            supports=state.aligned,
            value=pair_value(self.weights, source, target, null_words, step is Step.NON_COMPOSITIONAL),
            source_value=source_value,
            target_value=target_value,
            source_words=source_words,
            target_words=target_words,
            source_edges=source_edges,
            target_edges=target_edges,
            source_nulls=tuple(null for placed in below for null in placed.nulls),
            segment_nulls=state.nulls,
            source_trees=source_trees,
            target_trees=target_trees,
        )

    # ---- beams and pools ----

    def _cut(self, hypotheses: list[Hypothesis]) -> list[Hypothesis]:
        """The beam: best by gain, not too many alike."""
        ranked = sorted(hypotheses, key=lambda h: (-round(self._gain(h), 9), h.target, h.target_words))
        alike: dict[tuple[NodeId, int], int] = {}
        kept: list[Hypothesis] = []
        for hypothesis in ranked:
            key = (hypothesis.target, hypothesis.target_words)
            alike[key] = alike.get(key, 0) + 1
            if self.config.variants and alike[key] > self.config.variants:
                continue
            kept.append(hypothesis)
        if self.config.beam and len(kept) > self.config.beam:
            del kept[self.config.beam :]
        self.beam_cuts += len(hypotheses) - len(kept)
        return kept

    def _gain(self, hypothesis: Hypothesis) -> float:
        """S(h) - Snull(τt): hypotheses with different target phrases have different numbers of factors."""
        return hypothesis.score - self.weights.target_null[hypothesis.target]

    def _pool(self, node: NodeId, pools: list[list[Placed]], limit: int) -> list[Placed]:
        """The hypotheses at most `limit` steps below a node, seen from it."""
        pool = [Placed(h, 0, h.source_value, h.source_edges, h.source_nulls, h.source_trees) for h in self.beams[node]]
        for index, edge in enumerate(self.source.edges[node]):
            for child in edge.children:
                for placed in pools[child]:
                    above = self._step_up(EdgeId(node, index), child, placed)
                    if above.steps <= limit and (above.trees or not self.config.strict):
                        pool.append(above)
        pool.sort(key=lambda placed: (-round(self._placed_gain(placed), 9), placed.hypothesis.source, placed.steps))
        return pool[: self.config.beam] if self.config.beam else pool

    def _placed_gain(self, placed: Placed) -> float:
        return self._gain(placed.hypothesis) - placed.hypothesis.source_value + placed.value

    def _step_up(self, edge: EdgeId, child: NodeId, placed: Placed) -> Placed:
        """The same hypothesis one edge further up; the sibling becomes null."""
        siblings = tuple(c for c in self.source.edges[edge.node][edge.way].children if c != child)
        value = placed.value + self.weights.source_edge[edge.node][edge.way]
        value += sum(self.weights.source_null[sibling] for sibling in siblings)
        return Placed(
            placed.hypothesis,
            placed.steps + len(siblings),
            value,
            placed.edges | {edge},
            placed.nulls + siblings,
            placed.trees & self._edge_trees(edge),
        )

    # ---- roots ----

    def _roots(self) -> list[Hypothesis]:
        return [h for root in self.source.roots for h in self.beams[root] if h.target in self.target.roots]

    def _roots_without_gap(self) -> list[Hypothesis]:
        """Try the roots again with µg unbounded."""
        pools = self._unbounded_pools()
        grown = [h for root in self.source.roots for h in self._grow(root, pools, UNLIMITED)]
        return self._cut([h for h in grown if h.target in self.target.roots])

    def _unbounded_pools(self) -> list[list[Placed]]:
        pools: list[list[Placed]] = []
        for i in range(len(self.source)):
            pools.append(self._pool(NodeId(i), pools, UNLIMITED))
        return pools

    def _completions(self) -> list[Hypothesis]:
        """Lift any hypothesis to a root pair, all nulls on the way charged.

        A hypothesis that already has one of the two roots gives way to the root pair with its supports.
        """
        pools = self._unbounded_pools()
        found = [h for root in self.source.roots for placed in pools[root] for h in self._complete(root, placed)]
        return self._cut(found)

    def _complete(self, root: NodeId, placed: Placed) -> Iterator[Hypothesis]:
        h = placed.hypothesis
        replaces = h.source == root or h.target in self.target.roots
        for top, paths in self.above.paths_from(h.target, UNLIMITED).items():
            for path in paths if top in self.target.roots else ():
                aligned = h.supports if replaces else (h,)
                nulls = (h.segment_nulls if replaces else ()) + path.nulls
                state = State(aligned, nulls, frozenset(path.edges), path.trees)
                value = path.value + h.target_value
                completed = self._pair(None, (placed,), top, Step.COMPLETION, state, value, node=root)
                if completed is not None:
                    yield completed

    # ---- small things ----

    def _found(self, roots: list[Hypothesis], completed: bool) -> Found:
        ranked = sorted(roots, key=lambda h: (-round(h.score, 9), h.target, h.target_words))
        found = tuple(Root(h.score, h.pair_tree()) for h in ranked)
        return Found(found, lambda k: ranked[k].finished(), completed, self.states, self.beam_cuts, self.bound.hits)

    def _edge_trees(self, edge: EdgeId) -> int:
        return self.source.edges[edge.node][edge.way].trees

    def _opened_value(self, edges: Iterable[EdgeId], words: int) -> float:
        """Value of the target side from scratch, since a placed hypothesis may fill null phrases."""
        edges = list(edges)
        value = sum(self.weights.target_edge[edge.node][edge.way] for edge in edges)
        return value + sum(self.weights.target_null[null] for null in null_nodes(self.target, edges, words))
