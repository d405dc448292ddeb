"""The search of `forestalign.search` on arrays: what goes into the compiled kernel and what comes out of it."""

from __future__ import annotations

import numpy as np

from forestalign import _search_kernels as kernels
from forestalign.alignment import WordAlignment
from forestalign.config import AlignConfig
from forestalign.forest import Forest, NodeId
from forestalign.hypotheses import Derivation, Found, Hypothesis, PairTree, Root, Seeds, Step, Weights, weigh
from forestalign.lca import Ancestry, EdgeId
from forestalign.model import PairScores

STEPS = {
    kernels.SEED_STEP: Step.SEED,
    kernels.STRAIGHT: Step.STRAIGHT,
    kernels.INVERTED: Step.INVERTED,
    kernels.NON_COMPOSITIONAL: Step.NON_COMPOSITIONAL,
    kernels.PHRASE_SEED: Step.PHRASE_SEED,
    kernels.LIFT: Step.LIFT,
    kernels.COMPLETION: Step.COMPLETION,
}
MASK_BITS = 62  # trees that an edge's bit mask can tell apart in a signed 64-bit number


def fast_search(source: Forest, target: Forest, words: WordAlignment, scores: PairScores, config: AlignConfig) -> Found:
    """The same as `forestalign.search.search`, compiled."""
    weights = weigh(source, target, scores, config)
    below = Ancestry(source, weights.source_null, weights.source_edge, config.paths)
    above = Ancestry(target, weights.target_null, weights.target_edge, config.paths)
    seeds = sorted(Seeds(below, above, weights, words, config).all(), key=lambda seed: seed.source)
    source_side, source_edges = _side(source, weights.source_null, weights.source_edge)
    target_side, target_edges = _side(target, weights.target_null, weights.target_edge)
    blocks = [(count + 63) // 64 for count in (len(target.sentence), len(target), len(target_edges))]
    rows = _seed_rows(seeds, len(source), blocks, {edge: e for e, edge in enumerate(target_edges)})
    result = kernels.run(
        source_side, target_side, weights.pair, rows, _limits(weights, config), blocks[0], blocks[1], sum(blocks)
    )
    hyps, values, bits, pools, roots, completed, states, beam_cuts = result
    reader = _Reader(source, target, source_edges, target_edges, seeds, hyps, bits, pools, blocks)
    found = tuple(Root(float(values[h].sum()), reader.pairs(int(h))) for h in roots)
    return Found(
        found,
        lambda k: reader.derivation(int(roots[k]), found[k].score),
        bool(completed),
        int(states),
        int(beam_cuts),
        0,
    )


def can_run(source: Forest, target: Forest, config: AlignConfig) -> bool:
    """Strict forests of very many trees do not fit the kernel's masks."""
    if not config.strict:
        return True
    largest = max((edge.trees for forest in (source, target) for edges in forest.edges for edge in edges), default=0)
    return largest.bit_length() <= MASK_BITS


def _side(
    forest: Forest, null_values: list[float], edge_values: list[list[float]]
) -> tuple[kernels.Side, list[EdgeId]]:
    ids = [EdgeId(NodeId(v), k) for v, edges in enumerate(forest.edges) for k in range(len(edges))]
    children = np.full((len(ids), 2), -1, np.int64)
    trees = np.empty(len(ids), np.int64)
    parents: list[list[int]] = [[] for _ in forest.nodes]
    for e, (node, k) in enumerate(ids):
        edge = forest.edges[node][k]
        trees[e] = _fitting(edge.trees)
        for position, child in enumerate(edge.children):
            children[e, position] = child
            parents[child].append(e)
    return kernels.Side(
        edge_start=_starts([len(edges) for edges in forest.edges]),
        head=np.array([edge.node for edge in ids], np.int64),
        left=children[:, 0].copy(),
        right=children[:, 1].copy(),
        edge_value=np.array([value for values in edge_values for value in values], np.float64),
        edge_trees=trees,
        null_value=np.array(null_values, np.float64),
        begin=np.array([node.begin for node in forest.nodes], np.int64),
        end=np.array([node.end for node in forest.nodes], np.int64),
        is_leaf=np.array([node.is_leaf for node in forest.nodes], np.bool_),
        is_root=np.isin(np.arange(len(forest)), forest.roots),
        parent_start=_starts([len(edges) for edges in parents]),
        parent_edge=np.array([e for edges in parents for e in edges], np.int64),
    ), ids


def _fitting(trees: int) -> int:
    """A set of trees as a signed 64-bit number; sets of more trees are only asked about in strict mode."""
    return trees if trees < 0 else trees & ((1 << MASK_BITS) - 1)


def _starts(counts: list[int]) -> kernels.Ints:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _seed_rows(
    seeds: list[Hypothesis], source_count: int, blocks: list[int], edge_numbers: dict[EdgeId, int]
) -> kernels.SeedRows:
    counts = [0] * source_count
    numbers = np.full((len(seeds), kernels.HYP_COLUMNS), -1, np.int64)
    values = np.zeros((len(seeds), kernels.HYP_VALUES), np.float64)
    bits = np.zeros((len(seeds), sum(blocks)), np.uint64)
    for s, seed in enumerate(seeds):
        counts[seed.source] += 1
        step = kernels.PHRASE_SEED if seed.step is Step.PHRASE_SEED else kernels.SEED_STEP
        numbers[s, kernels.SOURCE], numbers[s, kernels.TARGET], numbers[s, kernels.STEP] = (
            seed.source,
            seed.target,
            step,
        )
        numbers[s, kernels.WORD_COUNT], numbers[s, kernels.ORIGIN] = seed.source_words.bit_count(), s
        numbers[s, kernels.SOURCE_TREES] = _fitting(seed.source_trees)
        numbers[s, kernels.TARGET_TREES] = _fitting(seed.target_trees)
        values[s] = seed.value, seed.source_value, seed.target_value
        _fill(bits[s], 0, seed.target_words)
        _fill(bits[s], blocks[0], sum(1 << edge.node for edge in seed.target_edges))
        _fill(bits[s], blocks[0] + blocks[1], sum(1 << edge_numbers[edge] for edge in seed.target_edges))
    return kernels.SeedRows(_starts(counts), numbers, values, bits)


def _fill(row: kernels.Bits, offset: int, mask: int) -> None:
    while mask:
        row[offset] = mask & 0xFFFFFFFFFFFFFFFF
        mask >>= 64
        offset += 1


def _limits(weights: Weights, config: AlignConfig) -> kernels.Limits:
    return kernels.Limits(
        beam=config.beam,
        gap=config.gap,
        paths=config.paths,
        variants=config.variants,
        cube=config.cube,
        monotonic=config.monotonic,
        lifts=config.lifts,
        strict=config.strict,
        noncompositional=weights.noncompositional,
        pair_null_word=weights.pair_null_word,
        pair_constant=weights.pair_constant,
    )


class _Reader:
    """Derivations out of the kernel's rows, by their back-pointers."""

    def __init__(
        self,
        source: Forest,
        target: Forest,
        source_edges: list[EdgeId],
        target_edges: list[EdgeId],
        seeds: list[Hypothesis],
        hyps: kernels.Ints,
        bits: kernels.Bits,
        pools: kernels.Ints,
        blocks: list[int],
    ) -> None:
        self.source, self.target, self.seeds = source, target, seeds
        self.source_edges, self.target_edges = source_edges, target_edges
        self.hyps, self.bits, self.pools, self.blocks = hyps, bits, pools, blocks
        self._known: dict[tuple[int, int], tuple[PairTree, ...]] = {}

    def derivation(self, h: int, score: float) -> Derivation:
        edges: set[EdgeId] = set()
        nulls: list[NodeId] = []
        self._source_side(h, edges, nulls)
        target_edges = self._bits(h, self.blocks[0] + self.blocks[1], sum(self.blocks))
        return Derivation(
            score=score,
            pairs=self.pairs(h),
            source_edges=frozenset(edges),
            target_edges=frozenset(self.target_edges[e] for e in target_edges),
            source_nulls=tuple(nulls),
            source_trees=int(self.hyps[h, kernels.SOURCE_TREES]),
            target_trees=int(self.hyps[h, kernels.TARGET_TREES]),
            target_words=self._mask(h),
        )

    def pairs(self, h: int) -> PairTree:
        return self._trees(h, 0)[0]

    def _trees(self, h: int, forbidden: int) -> tuple[PairTree, ...]:
        """The topmost pairs of h whose target holds no forbidden word; root hypotheses share most of them."""
        if (h, forbidden) not in self._known:
            self._known[h, forbidden] = self._trees_anew(h, forbidden)
        return self._known[h, forbidden]

    def _trees_anew(self, h: int, forbidden: int) -> tuple[PairTree, ...]:
        row = self.hyps[h]
        left, right, step = int(row[kernels.LEFT]), int(row[kernels.RIGHT]), int(row[kernels.STEP])
        node = self.target.nodes[int(row[kernels.TARGET])]
        is_alive = not ((1 << node.end) - (1 << node.begin)) & forbidden
        passed = 0 if is_alive else forbidden
        is_nested = step == kernels.NON_COMPOSITIONAL
        below: tuple[PairTree, ...] = ()
        if left >= 0:
            if step == kernels.COMPLETION and row[kernels.ORIGIN]:
                # the pair that already had a root gives way to its supports
                below = self._trees(left, 0)[0].supports
            else:
                below = self._trees(left, passed | (self._mask(right) if is_nested else 0))
        if right >= 0:
            below += self._trees(right, passed | (self._mask(left) if is_nested else 0))
        if not is_alive:
            return below
        pair = PairTree(NodeId(int(row[kernels.SOURCE])), NodeId(int(row[kernels.TARGET])), STEPS[step], below)
        return (pair,)

    def _mask(self, h: int) -> int:
        return sum(int(block) << 64 * k for k, block in enumerate(self.bits[h, : self.blocks[0]]))

    def _bits(self, h: int, begin: int, end: int) -> list[int]:
        row = self.bits[h, begin:end]
        return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()

    def _source_side(self, h: int, edges: set[EdgeId], nulls: list[NodeId]) -> None:
        row = self.hyps[h]
        if row[kernels.LEFT] < 0:
            seed = self.seeds[int(row[kernels.ORIGIN])]
            edges |= seed.source_edges
            nulls += seed.source_nulls
            return
        reached = [self._enter(int(row[kernels.LEFT_ENTRY]), edges, nulls)]
        if row[kernels.RIGHT] >= 0:
            reached.append(self._enter(int(row[kernels.RIGHT_ENTRY]), edges, nulls))
        if row[kernels.EDGE] >= 0:
            edge = self.source_edges[int(row[kernels.EDGE])]
            edges.add(edge)
            nulls += [c for c in self.source.edges[edge.node][edge.way].children if c not in reached]

    def _enter(self, entry: int, edges: set[EdgeId], nulls: list[NodeId]) -> NodeId:
        """Follow a pool entry down to its hypothesis; the node the entry belongs to."""
        top: NodeId | None = None
        while self.pools[entry, kernels.WAY_EDGE] >= 0:
            edge = self.source_edges[int(self.pools[entry, kernels.WAY_EDGE])]
            top = edge.node if top is None else top
            edges.add(edge)
            entry = int(self.pools[entry, kernels.PREVIOUS])
            below = self._node_of(entry)
            nulls += [c for c in self.source.edges[edge.node][edge.way].children if c != below]
        h = int(self.pools[entry, kernels.HYP])
        self._source_side(h, edges, nulls)
        return NodeId(int(self.hyps[h, kernels.SOURCE])) if top is None else top

    def _node_of(self, entry: int) -> NodeId:
        edge = int(self.pools[entry, kernels.WAY_EDGE])
        if edge >= 0:
            return self.source_edges[edge].node
        return NodeId(int(self.hyps[int(self.pools[entry, kernels.HYP]), kernels.SOURCE]))
