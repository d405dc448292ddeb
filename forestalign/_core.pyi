"""Types of what the compiled core offers to Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from forestalign.phrases.hypotheses import Bounds
from forestalign.phrases.score import Weights
from forestalign.phrases.seeds import Seeds

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

def bit_count(bits: npt.NDArray[np.uint64]) -> int: ...

# ---- chart ----

def chart_inside(any_label: Floats, labelled: Floats) -> tuple[Floats, Floats, Floats]: ...
def chart_shares(split: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats]: ...
def chart_best_splits(any_label: Floats, labelled: Floats) -> tuple[npt.NDArray[np.int16], float]: ...
def chart_best_through(any_label: Floats, labelled: Floats) -> tuple[Floats, Floats]: ...

class KBestLists:
    def __init__(self, potentials: npt.NDArray[np.float32], slack: Floats, k: int) -> None: ...
    def scores(self) -> Floats: ...
    def shared(self) -> tuple[Ints, Ints, Ints, Ints, Ints]: ...

# ---- forest ----

class BinarisationTables:
    def __init__(self, labels: tuple[Ints, ...], rules: tuple[object, ...], symbols: tuple[object, ...]) -> None: ...
    def plan(self, label: int, symbols: Ints) -> tuple[int, list[tuple[int, int]]]: ...

class Packer:
    def __init__(
        self,
        tables: BinarisationTables,
        potentials: npt.NDArray[np.float32],
        shared: tuple[Ints, ...],
        tags: Ints,
    ) -> None: ...
    def node_arrays(self) -> tuple[Ints, Ints, Ints, Ints, Ints, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]: ...
    def edge_arrays(self) -> tuple[Ints, Ints, Floats, npt.NDArray[np.int64]]: ...
    def roots(self, subtrees: Ints) -> Ints: ...

def forest_inside(edge_start: Ints, children: Ints, log_prob: Floats) -> Floats: ...
def forest_outside(edge_start: Ints, children: Ints, log_prob: Floats, roots: Ints, inner: Floats) -> Floats: ...
def forest_viterbi(edge_start: Ints, children: Ints, log_prob: Floats) -> tuple[Floats, Ints]: ...

# ---- lattices ----

def lattice_forward(segments: Floats, nulls: Floats, transitions: Floats) -> tuple[Floats, Floats, float]: ...
def lattice_backward(segments: Floats, nulls: Floats, transitions: Floats) -> tuple[Floats, Floats]: ...
def lattice_marginals(segments: Floats, nulls: Floats, transitions: Floats) -> tuple[float, Floats, Floats, Floats]: ...
def lattice_viterbi(segments: Floats, nulls: Floats, transitions: Floats) -> tuple[float, npt.NDArray[np.int64]]: ...
def segment_scores(
    words: Floats,
    block: Floats,
    sizes: Floats,
    source_kinds: npt.NDArray[np.int64],
    target_kinds: npt.NDArray[np.int64],
    kind_scores: Floats,
    layers: npt.NDArray[np.float32],
    span_weights: Floats,
) -> Floats: ...
def spread_segments(
    counts: Floats,
    source_kinds: npt.NDArray[np.int64],
    target_kinds: npt.NDArray[np.int64],
    kind_count: int,
    layers: npt.NDArray[np.float32],
) -> tuple[Floats, Floats, Floats, Floats, Floats]: ...

# ---- surroundings of word pairs ----

def surroundings(
    values: npt.NDArray[np.float32],
    left: npt.NDArray[np.uint8],
    right: npt.NDArray[np.uint8],
    width: int,
    near_fall: float,
    region_fall: float,
) -> npt.NDArray[np.float32]: ...
def relatives(
    values: npt.NDArray[np.float32],
    in_relation: npt.NDArray[np.uint8],
    left_heads: npt.NDArray[np.int64],
    right_heads: npt.NDArray[np.int64],
) -> npt.NDArray[np.float32]: ...
def context_layers(
    same_form: npt.NDArray[np.float32],
    similarity: npt.NDArray[np.float32],
    pipeline: npt.NDArray[np.float32],
    left: tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]],
    right: tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]],
    in_relation: npt.NDArray[np.uint8],
    near_fall: float,
    region_fall: float,
) -> npt.NDArray[np.float32]: ...
def belief_layers(
    belief: npt.NDArray[np.float32],
    coverage: float,
    left: tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]],
    right: tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]],
    in_relation: npt.NDArray[np.uint8],
    near_fall: float,
    region_fall: float,
) -> npt.NDArray[np.float32]: ...
def joint_codes(
    left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]: ...
def lexical_layers(
    codes: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]],
    flags: Sequence[npt.NDArray[np.uint8]],
    marks: npt.NDArray[np.bool_],
    likeness: npt.NDArray[np.float32],
    cosines: npt.NDArray[np.float32],
    contextual: tuple[npt.NDArray[np.float32], ...] | None,
    middle: npt.NDArray[np.float32] | None,
) -> npt.NDArray[np.float32]: ...
def rivals(belief: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]: ...
def run_lengths(same: npt.NDArray[np.float32], weight: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]: ...

# ---- phrases ----

class ForestSide:
    def __init__(
        self,
        edge_start: Ints,
        head: Ints,
        left: Ints,
        right: Ints,
        begin: Ints,
        end: Ints,
        is_root: npt.NDArray[np.uint8],
        trees: npt.NDArray[np.uint64],
    ) -> None: ...

def align_forests(
    source: ForestSide, target: ForestSide, seeds: Seeds, weights: Weights, bounds: Bounds
) -> tuple[list[tuple[Any, ...]], bool, int, int, int]: ...
