"""The feature space: which weight stands where in the weight vector, and what it is called in a model file.

Blocks, in order: cells (dense layers), tag pairs, NULL (dense), NULL tags, distortion; and for the phrase model the
block copies of the cell layers, span sizes, chunk pairs and the dense layers of spans. A space `by_kind` has all of
them once more for each kind of pair: the weight of a feature is then the sum of a common weight and one of the kind,
so that gold of several kinds, whose annotators had different habits, can be learned from together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from forestalign.arrays import FloatArray, IntArray
from forestalign.errors import UsageError
from forestalign.tokens import Sentence
from forestalign.words.crf import transitions
from forestalign.words.crf.cells import CELL_FAMILIES, MIRRORED, Layers, Resources
from forestalign.words.crf.chunks import CHUNK_TYPES
from forestalign.words.crf.sentence_view import TAGS, Words, words_of

FAMILIES = (*CELL_FAMILIES, "distortion", "chunks")
ENCODER = "encoder"  # the family that needs the encoder's vectors
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
ENCODER_NULL_NAMES = ("best_encoder", "best_encoder_content")
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
ENCODER_SPAN_NAMES = ("encoder_cosine",)
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

    @property
    def is_contextual(self) -> bool:
        """Whether the encoder's vectors are looked at."""
        return ENCODER in self.families

    @property
    def null_names(self) -> tuple[str, ...]:
        """The names of the features of a word without a partner, but for its tag."""
        return NULL_NAMES + (ENCODER_NULL_NAMES if self.is_contextual else ())

    @property
    def span_names(self) -> tuple[str, ...]:
        """The names of the features that only spans have, but for their chunks; those for both directions come last."""
        return SPAN_NAMES + (ENCODER_SPAN_NAMES if self.is_contextual else ())

    @cached_property
    def blocks(self) -> dict[str, tuple[str, ...]]:
        """Block name -> feature names."""
        blocks = {
            "cell": self.cell_names,
            "tags": tuple(f"{s}>{t}" for s in TAGS for t in TAGS) if "tags" in self.families else (),
            "null": self.null_names,
            "null_tag": TAGS if "tags" in self.families else (),
            "distortion": transitions.NAMES if "distortion" in self.families else (),
        }
        if self.is_phrasal:
            blocks["block"] = self.cell_names
            sizes = ((s, t) for s in range(1, self.source_max + 1) for t in range(1, self.target_max + 1))
            blocks["size"] = tuple(f"{s}x{t}" for s, t in sizes)
            kinds = tuple(f"{s}>{t}" for s in SPAN_KINDS for t in SPAN_KINDS)
            blocks["chunks"] = kinds if "chunks" in self.families else ()
            blocks["span"] = self.span_names
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
