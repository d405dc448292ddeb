"""Features of a sentence pair in one direction; from weights to a lattice, and from expected counts to a gradient.

Features of a source span with a target span, for the phrase CRF (sections 3.3 and 3.4 of the phrase paper).

A span pair also has the features of its words: along the diagonal when both spans have the same length, so that a
phrase competes fairly with the same words aligned one by one, and the mean over the whole block times the longer
length. The layers here are those that only a span has; like the paper's they are multiplied by the longer length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from forestalign.arrays import BoolArray, Float32Array, FloatArray, IntArray
from forestalign.tokens import Sentence
from forestalign.words.crf.cells import CONTENT, FUNCTION, PUNCTUATION, TAGS, Layers, Resources, Words, chunk, words_of
from forestalign.words.crf.feature_space import (
    NULL_NAMES,
    SPAN_KINDS,
    SPAN_NAMES,
    UNCASED,
    FeatureSpace,
    cell_layers,
    pair_kind,
    transition_features,
)
from forestalign.words.crf.lattice import Lattice, Marginals, allowed_segments, segment_scores, spread_segments

NONE, INSIDE, ACROSS = (SPAN_KINDS.index(kind) for kind in ("none", "inside", "across"))


@dataclass(frozen=True, slots=True)
class SpanFeatures:
    """Span kinds of each side, and dense layers [M, Ls, N, Lt, features]."""

    source_kinds: IntArray  # [M, Ls]
    target_kinds: IntArray  # [N, Lt]
    layers: Float32Array

    def reversed(self) -> SpanFeatures:
        """Source and target in each other's place."""
        layers = self.layers.transpose(2, 3, 0, 1, 4)
        order = [SPAN_NAMES.index(_OTHER_SIDE.get(name, name)) for name in SPAN_NAMES]
        return SpanFeatures(self.target_kinds, self.source_kinds, np.ascontiguousarray(layers[..., order]))


_OTHER_SIDE = {"shared_source": "shared_target", "shared_target": "shared_source"}


def span_kinds(words: Words, longest: int) -> IntArray:
    """For each (begin, length - 1): a whole chunk of some type, inside one chunk, or across; `none` without tags."""
    kinds = np.full((len(words), longest), ACROSS if words.tags.any() else NONE, np.int64)
    for found in chunk([TAGS[tag] for tag in words.tags]):
        for begin in range(found.begin, found.end):
            for end in range(begin + 1, min(found.end, begin + longest) + 1):
                whole = (begin, end) == (found.begin, found.end)
                kinds[begin, end - begin - 1] = SPAN_KINDS.index(found.type) if whole else INSIDE
    return kinds


def span_features(
    source: Words,
    target: Words,
    resources: Resources,
    lemma: Float32Array,
    link: Float32Array,
    longest: int,
) -> SpanFeatures:
    """`lemma` says which words have one lemma, `link` how related two words are, from 0 to 1; both [M, N]."""
    source_table, target_table = _Spans(source, longest), _Spans(target, longest)
    shape = (len(source), longest, len(target), longest)
    layers = np.zeros((*shape, len(SPAN_NAMES)), np.float32)
    column = {name: number for number, name in enumerate(SPAN_NAMES)}
    layers[..., column["same_words"]] = _equal(source_table.texts, target_table.texts, shape)
    layers[..., column["same_lemmas"]] = _equal(source_table.lemmas, target_table.lemmas, shape)
    layers[..., column["same_tags"]] = _equal(source_table.tags, target_table.tags, shape)
    spelling = cdist(source_table.texts, target_table.texts, scorer=Indel.normalized_similarity, dtype=np.float32)
    layers[..., column["spelling"]] = spelling.reshape(shape)
    if resources.vectors is not None:
        rows = resources.vectors.matrix(source.lower), resources.vectors.matrix(target.lower)
        layers[..., column["cosine"]] = _cosine(*rows, longest)
    if resources.ppdb is not None:
        pairs = [(s, t) in resources.ppdb for s in source_table.texts for t in target_table.texts]
        layers[..., column["ppdb"]] = np.reshape(pairs, shape)
    _fill_from_cells(layers, column, lemma, link)
    longer = np.maximum.outer(np.arange(1, longest + 1), np.arange(1, longest + 1))
    layers *= longer[None, :, None, :, None]
    layers[:, 0, :, 0] = 0  # a word with a word has the cell layers
    layers[~allowed_segments(*shape)] = 0
    kinds = span_kinds(source, longest), span_kinds(target, longest)
    return SpanFeatures(*kinds, layers)


class _Spans:
    """The joined words, lemmas and tags of all spans, (begin, length) in row order; cut at the end of the sentence."""

    def __init__(self, words: Words, longest: int):
        spans = [(begin, begin + length) for begin in range(len(words)) for length in range(1, longest + 1)]
        tags = tuple(TAGS[tag] for tag in words.tags)
        self.texts = [" ".join(words.lower[begin:end]) for begin, end in spans]
        self.lemmas = [" ".join(words.lemmas[begin:end]) for begin, end in spans]
        self.tags = [" ".join(tags[begin:end]) for begin, end in spans]


def _equal(left: list[str], right: list[str], shape: tuple[int, ...]) -> BoolArray:
    numbers: dict[str, int] = {"": -1}
    sides = [np.array([numbers.setdefault(text.strip(), len(numbers)) for text in side]) for side in (left, right)]
    return np.asarray((sides[0][:, None] == sides[1][None]) & (sides[0][:, None] >= 0)).reshape(shape)


def _cosine(source: Float32Array, target: Float32Array, longest: int) -> Float32Array:
    """Cosine of the sums of the word vectors, [M, Ls, N, Lt], from the rows of both sides."""
    sides = []
    for rows in (source, target):
        padded = np.concatenate([rows, np.zeros((longest, rows.shape[1]), np.float32)])
        sums = np.stack([padded[k : k + len(rows)] for k in range(longest)], axis=1).cumsum(axis=1)
        sides.append(sums / np.maximum(np.linalg.norm(sums, axis=2, keepdims=True), 1e-6))
    return np.maximum(np.tensordot(sides[0], sides[1], axes=(2, 2)), 0, dtype=np.float32)


def _fill_from_cells(layers: Float32Array, column: dict[str, int], lemma: Float32Array, link: Float32Array) -> None:
    """Layers that pool the cells of a block: shares of words with a partner, outer neighbours, the weakest link."""
    _, source_max, _, target_max, _ = layers.shape
    rows, columns = lemma.shape
    framed = np.pad(lemma, 1)
    framed[0, 0] = framed[-1, -1] = 1  # both spans begin, or end, their sentences
    for s in range(min(source_max, rows)):
        for t in range(min(target_max, columns)):
            view = layers[: rows - s, s, : columns - t, t]
            windows = np.lib.stride_tricks.sliding_window_view(lemma, (s + 1, t + 1))
            view[..., column["shared_source"]] = windows.max(axis=3).mean(axis=2)
            view[..., column["shared_target"]] = windows.max(axis=2).mean(axis=2)
            view[..., column["left_same"]] = framed[: rows - s, : columns - t]
            view[..., column["right_same"]] = framed[s + 2 :, t + 2 :]
            if s == t:
                diagonal = [link[k : rows - s + k, k : columns - s + k] for k in range(s + 1)]
                view[..., column["weakest_link"]] = np.min(diagonal, axis=0)


@dataclass(frozen=True, slots=True)
class DirectionFeatures:
    """Everything about a pair that does not depend on the weights."""

    cells: Float32Array  # [M, N, layers]
    tag_pairs: IntArray  # [M, N]
    nulls: Float32Array  # [M, layers]
    null_tags: IntArray  # [M]
    kind: int  # of the pair, one of PAIR_KINDS
    spans: SpanFeatures | None = None


@dataclass(frozen=True, slots=True)
class BothDirections:
    """The features of source to target, and of target to source."""

    forward: DirectionFeatures
    backward: DirectionFeatures


def pair_features(source: Sentence, target: Sentence, resources: Resources, space: FeatureSpace) -> BothDirections:
    """Both directions at once, since most layers are the same turned over."""
    source_words, target_words = words_of(source), words_of(target)
    layers = cell_layers(source_words, target_words, resources, space.families)
    cells = np.stack([layers[name] for name in space.cell_names], axis=-1)
    spans = _spans(source_words, target_words, resources, space, layers) if space.is_phrasal else None
    turned = {name: layer.T for name, layer in layers.items()}
    nulls = _null_features(source_words, target_words, layers)
    return BothDirections(
        _one_direction(source_words, target_words, cells, nulls, spans),
        _one_direction(
            target_words,
            source_words,
            np.ascontiguousarray(cells.swapaxes(0, 1)[..., space.mirror]),
            _null_features(target_words, source_words, turned),
            None if spans is None else spans.reversed(),
        ),
    )


def _one_direction(
    source: Words,
    target: Words,
    cells: Float32Array,
    nulls: Float32Array,
    spans: SpanFeatures | None,
) -> DirectionFeatures:
    tag_pairs = source.tags[:, None] * len(TAGS) + target.tags[None]
    return DirectionFeatures(cells, tag_pairs, nulls, source.tags, pair_kind(source, target), spans)


def _spans(source: Words, target: Words, resources: Resources, space: FeatureSpace, layers: Layers) -> SpanFeatures:
    zero = np.zeros((len(source), len(target)), np.float32)
    lemma = layers.get("lemma", layers.get("identical_any_case", zero))
    related = [layers.get(name, zero) for name in ("lemma", "identical_any_case", "synonym", "derivation", "cosine")]
    link = np.maximum.reduce(related)
    # both directions share one table, so it must hold the longer of the two limits on each side
    longest = max(space.source_max, space.target_max)
    return span_features(source, target, resources, lemma, link, longest)


def _null_features(source: Words, target: Words, layers: Layers) -> Float32Array:
    """What speaks for deleting a source word: its kind, and that nothing like it stands in the target."""
    zero = np.zeros((len(source), len(target)), np.float32)

    def best(*names: str) -> Float32Array:
        return np.asarray(np.maximum.reduce([layers.get(name, zero) for name in names]).max(axis=1))

    there = best("identical_any_case", "lemma")
    around = np.concatenate([[0], there, [0]])
    ratio = np.log(len(source) / len(target))
    columns = {
        "bias": np.ones(len(source)),
        "content": source.kinds == CONTENT,
        "function": source.kinds == FUNCTION,
        "punctuation": source.kinds == PUNCTUATION,
        "identical_there": best("identical_any_case"),
        "identical_function_there": best("identical_any_case") * (source.kinds != CONTENT),
        "lemma_there": there,
        "related_there": best("synonym", "derivation", "hypernym", "hyponym", "similar_sense"),
        "ppdb_there": best("ppdb"),
        "best_cosine": best("cosine"),
        "best_spelling": best("jaro_winkler"),
        "neighbours_there": (around[:-2] + around[2:]) / 2,
        "longer": np.full(len(source), max(ratio, 0.0)),
        "shorter": np.full(len(source), max(-ratio, 0.0)),
        # lower-cased text is text of another kind (translations, revisions), where more or less is aligned
        "uncased": np.full(len(source), pair_kind(source, target) == UNCASED),
    }
    return np.stack([columns[name] for name in NULL_NAMES], axis=1).astype(np.float32)


def lattice_of(features: DirectionFeatures, space: FeatureSpace, weights: FloatArray) -> Lattice:
    """The potentials of every segment, NULL and step."""
    own = space.weights_of(features.kind, weights)
    part = {block: own[place] for block, place in space.slices.items()}
    words = (features.cells @ part["cell"].astype(features.cells.dtype)).astype(np.float64)
    nulls = features.nulls.astype(np.float64) @ part["null"]
    if len(part["tags"]):
        words += part["tags"][features.tag_pairs]
        nulls += part["null_tag"][features.null_tags]
    target_count = words.shape[1]
    transitions = np.zeros((target_count + 2, target_count + 2))
    if len(part["distortion"]):
        transitions = transition_features(target_count) @ part["distortion"]
    if not space.is_phrasal:
        return Lattice(words[:, None, :, None], nulls, transitions)
    return Lattice(_segment_scores(features, space, part, words), nulls, transitions)


def _segment_scores(
    features: DirectionFeatures, space: FeatureSpace, part: dict[str, FloatArray], words: FloatArray
) -> FloatArray:
    """Psi of all span pairs."""
    assert features.spans is not None
    block = (features.cells @ part["block"].astype(features.cells.dtype)).astype(np.float64)
    kinds = len(SPAN_KINDS)
    kind_scores = part["chunks"].reshape(kinds, kinds) if len(part["chunks"]) else np.zeros((kinds, kinds))
    return np.asarray(
        segment_scores(
            words,
            block,
            part["size"].reshape(space.source_max, space.target_max),
            features.spans.source_kinds,
            features.spans.target_kinds,
            kind_scores,
            features.spans.layers,
            part["span"],
        )
    )


def feature_counts(features: DirectionFeatures, space: FeatureSpace, counts: Marginals) -> FloatArray:
    """The feature vector that belongs to (expected) counts of segments, NULLs and steps."""
    result = np.zeros(space.common_count)
    if space.is_phrasal:
        words = _spread_segments(features, space, counts.segments, result)
    else:
        words = counts.segments[:, 0, :, 0]
    _add_cells(result, space.slices["cell"], features, words)
    result[space.slices["null"]] = counts.nulls @ features.nulls
    if "tags" in space.families:
        tag_count = len(TAGS)
        result[space.slices["tags"]] = np.bincount(features.tag_pairs.ravel(), words.ravel(), tag_count**2)
        result[space.slices["null_tag"]] = np.bincount(features.null_tags, counts.nulls, tag_count)
    if "distortion" in space.families:
        table = transition_features(words.shape[1])
        result[space.slices["distortion"]] = counts.transitions.ravel() @ table.reshape(-1, table.shape[2])
    return space.counts_of(features.kind, result)


def _add_cells(result: FloatArray, place: slice, features: DirectionFeatures, words: FloatArray) -> None:
    cells = features.cells.reshape(-1, features.cells.shape[2])
    result[place] += words.ravel().astype(cells.dtype) @ cells


def _spread_segments(
    features: DirectionFeatures, space: FeatureSpace, counts: FloatArray, result: FloatArray
) -> FloatArray:
    """Add what belongs to spans to `result`; return the counts that fall on single cells through diagonals."""
    spans = features.spans
    assert spans is not None
    words, block, sizes, kinds, span = spread_segments(
        counts, spans.source_kinds, spans.target_kinds, len(SPAN_KINDS), spans.layers
    )
    _add_cells(result, space.slices["block"], features, block)
    result[space.slices["size"]] = sizes.ravel()
    if "chunks" in space.families:
        result[space.slices["chunks"]] = kinds.ravel()
    result[space.slices["span"]] = span
    return np.asarray(words)
