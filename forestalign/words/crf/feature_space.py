"""The feature space: which weight stands where in the weight vector, and what it is called in a model file.

Blocks, in order: cells (dense layers), tag pairs, NULL (dense), NULL tags, distortion; and for the phrase model the
block copies of the cell layers, span sizes, chunk pairs and the dense layers of spans. A space `by_kind` has all of
them once more for each kind of pair: the weight of a feature is then the sum of a common weight and one of the kind,
so that gold of several kinds, whose annotators had different habits, can be learned from together.

Distortion: features of the step from the last target word e to the next first target word b (section 3.2).

The jump is b - e - 1, so that 0 is the monotone step and -1 stays on the word. Index N is NULL; N + 1 is the start of
the source sentence as e, and its end as b.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from forestalign.arrays import FloatArray, IntArray
from forestalign.errors import UsageError
from forestalign.tokens import Sentence
from forestalign.words.crf.cells import CELL_FAMILIES, CHUNK_TYPES, MIRRORED, TAGS, Layers, Resources, Words, words_of

JUMPS = (-3, -2, -1, 0, 1, 2, 3)  # the outer ones stand for everything beyond
STEPS = (
    *(f"jump{jump:+d}" for jump in JUMPS),
    "jump_forward",
    "jump_backward",
    "jump_forward_log",
    "jump_backward_log",
    "align_to_null",
    "null_to_align",
    "null_to_null",
    "start_to_null",
    "start_to_first",
    "start_to_other",
    "start_place",
    "null_to_end",
    "last_to_end",
    "other_to_end",
    "end_place",
)


@lru_cache(maxsize=8)  # of 40 words a table takes 0.3 MB, of 300 words 16 MB, and it is quickly made
def transition_features(target_count: int) -> FloatArray:
    """[N + 2, N + 2, features]; they depend on the length of the target alone."""
    n, null = target_count, target_count
    table = np.zeros((n + 2, n + 2, len(STEPS)))
    column = {name: number for number, name in enumerate(STEPS)}
    jump = np.arange(n)[None] - np.arange(n)[:, None] - 1
    words = table[:n, :n]
    clipped = np.clip(jump, JUMPS[0], JUMPS[-1])
    for size in JUMPS:
        words[:, :, column[f"jump{size:+d}"]] = clipped == size
    words[:, :, column["jump_forward"]] = np.maximum(jump, 0) / n
    words[:, :, column["jump_backward"]] = np.maximum(-1 - jump, 0) / n
    words[:, :, column["jump_forward_log"]] = np.log1p(np.maximum(jump, 0)) / 4
    words[:, :, column["jump_backward_log"]] = np.log1p(np.maximum(-1 - jump, 0)) / 4
    table[:n, null, column["align_to_null"]] = 1
    table[null, :n, column["null_to_align"]] = 1
    table[null, null, column["null_to_null"]] = 1
    table[null + 1, null, column["start_to_null"]] = 1
    table[null + 1, 0, column["start_to_first"]] = 1
    table[null + 1, 1:n, column["start_to_other"]] = 1
    table[null + 1, :n, column["start_place"]] = np.arange(n) / n
    table[null, null + 1, column["null_to_end"]] = 1
    table[n - 1, null + 1, column["last_to_end"]] = 1
    table[: n - 1, null + 1, column["other_to_end"]] = 1
    table[:n, null + 1, column["end_place"]] = np.arange(n)[::-1] / n
    return table


FAMILIES = (*CELL_FAMILIES, "distortion", "chunks")
NULL_NAMES = (
    "bias",
    "content",
    "function",
    "punctuation",
    "identical_there",
    "identical_function_there",
    "lemma_there",
    "related_there",
    "ppdb_there",
    "best_cosine",
    "best_spelling",
    "neighbours_there",
    "longer",
    "shorter",
    "uncased",
)
SPAN_NAMES = (
    "same_words",
    "same_lemmas",
    "spelling",
    "shared_source",
    "shared_target",
    "same_tags",
    "cosine",
    "ppdb",
    "left_same",
    "right_same",
    "weakest_link",
)
SPAN_KINDS = ("none", "inside", "across", *CHUNK_TYPES[1:])

EVEN, UNEVEN, UNCASED = range(3)
PAIR_KINDS = ("even", "uneven", "uncased")  # of about one length, of different lengths, without capitals
UNEVEN_RATIO = 1.5
LONGEST_SPAN = 9  # words


def pair_kind(source: Words, target: Words) -> int:
    """Lower-cased text is text of another kind (translations), and so is a premise with its short hypothesis."""
    if source.forms == source.lower and target.forms == target.lower:
        return UNCASED
    shorter, longer = sorted((len(source), len(target)))
    return UNEVEN if longer > UNEVEN_RATIO * shorter else EVEN


@dataclass(frozen=True)
class FeatureSpace:
    """Families that are switched on, and the longest spans (1 and 1 is the token CRF)."""

    families: tuple[str, ...] = FAMILIES
    source_max: int = 1
    target_max: int = 1
    by_kind: bool = False

    def __post_init__(self) -> None:
        unknown = sorted(set(self.families) - set(FAMILIES))
        if unknown:
            raise UsageError(f"no feature family is called {unknown[0]!r}; families are: {', '.join(FAMILIES)}")
        if not (1 <= self.source_max <= LONGEST_SPAN and 1 <= self.target_max <= LONGEST_SPAN):
            raise UsageError(f"span lengths are 1 to {LONGEST_SPAN} words, not {self.source_max} and {self.target_max}")

    @property
    def is_phrasal(self) -> bool:
        """Whether segments may have several words."""
        return self.source_max > 1 or self.target_max > 1

    @cached_property
    def cell_names(self) -> tuple[str, ...]:
        """The names of the features of a pair of words."""
        word = words_of(Sentence.from_words(["word"]))
        return tuple(cell_layers(word, word, Resources(), self.families))

    @cached_property
    def blocks(self) -> dict[str, tuple[str, ...]]:
        """Block name -> feature names."""
        blocks = {
            "cell": self.cell_names,
            "tags": tuple(f"{s}>{t}" for s in TAGS for t in TAGS) if "tags" in self.families else (),
            "null": NULL_NAMES,
            "null_tag": TAGS if "tags" in self.families else (),
            "distortion": STEPS if "distortion" in self.families else (),
        }
        if self.is_phrasal:
            blocks["block"] = self.cell_names
            sizes = ((s, t) for s in range(1, self.source_max + 1) for t in range(1, self.target_max + 1))
            blocks["size"] = tuple(f"{s}x{t}" for s, t in sizes)
            kinds = tuple(f"{s}>{t}" for s in SPAN_KINDS for t in SPAN_KINDS)
            blocks["chunks"] = kinds if "chunks" in self.families else ()
            blocks["span"] = SPAN_NAMES
        return blocks

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all features, in the order of the weights."""
        common = tuple(f"{block}:{name}" for block, names in self.blocks.items() for name in names)
        return common + tuple(f"{kind}/{name}" for kind in PAIR_KINDS if self.by_kind for name in common)

    @cached_property
    def common_count(self) -> int:
        """How many weights all kinds of pairs share; they come first."""
        return sum(map(len, self.blocks.values()))

    def weights_of(self, kind: int, weights: FloatArray) -> FloatArray:
        """What the features of a pair of this kind weigh."""
        common = weights[: self.common_count]
        return common + weights[self._place(kind)] if self.by_kind else common

    def counts_of(self, kind: int, counts: FloatArray) -> FloatArray:
        """Feature counts of a pair of this kind, in their places among all weights: the gradient of `weights_of`."""
        if not self.by_kind:
            return counts
        spread = np.zeros(len(self))
        spread[: self.common_count] = spread[self._place(kind)] = counts
        return spread

    def _place(self, kind: int) -> slice:
        return slice((kind + 1) * self.common_count, (kind + 2) * self.common_count)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each family of features lies among the weights."""
        slices, begin = {}, 0
        for block, names in self.blocks.items():
            slices[block] = slice(begin, begin + len(names))
            begin += len(names)
        return slices

    @cached_property
    def mirror(self) -> IntArray:
        """Order of the cell layers after source and target have changed places."""
        partner = {left: right for pair in MIRRORED for left, right in (pair, pair[::-1])}
        number = {name: k for k, name in enumerate(self.cell_names)}
        return np.array([number[partner.get(name, name)] for name in self.cell_names], np.int64)

    def __len__(self) -> int:
        return len(self.names)


@lru_cache(maxsize=16)
def feature_space(families: tuple[str, ...], source_max: int, target_max: int, by_kind: bool = False) -> FeatureSpace:
    """The feature space of these settings; one object for equal settings, so that its tables are built once."""
    return FeatureSpace(families, source_max, target_max, by_kind)


def cell_layers(source: Words, target: Words, resources: Resources, families: tuple[str, ...]) -> Layers:
    """All layers of the families that are on; `bias` is always there."""
    layers: Layers = {"bias": np.ones((len(source), len(target)), np.float32)}
    for family, function in CELL_FAMILIES.items():
        if family in families:
            layers |= function(source, target, resources)
    return layers
