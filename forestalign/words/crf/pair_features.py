"""Features of a sentence pair in one direction; from weights to a lattice, and from expected counts to a gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestalign.arrays import Float32Array, FloatArray, IntArray
from forestalign.tokens import Sentence
from forestalign.words.crf import lattice_kernels as kernels
from forestalign.words.crf.cells import Layers, Resources
from forestalign.words.crf.feature_space import SPAN_KINDS, UNCASED, FeatureSpace, cell_layers, pair_kind
from forestalign.words.crf.lattice import Lattice, Marginals
from forestalign.words.crf.segments import SpanFeatures, span_features
from forestalign.words.crf.sentence_view import CONTENT, FUNCTION, PUNCTUATION, TAGS, Words, words_of
from forestalign.words.crf.transitions import transition_features


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
    nulls = _null_features(source_words, target_words, layers, space)
    return BothDirections(
        _one_direction(source_words, target_words, cells, nulls, spans),
        _one_direction(
            target_words,
            source_words,
            np.ascontiguousarray(cells.swapaxes(0, 1)[..., space.mirror]),
            _null_features(target_words, source_words, turned, space),
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
    return span_features(source, target, resources, lemma, link, longest, space.span_names)


def _null_features(source: Words, target: Words, layers: Layers, space: FeatureSpace) -> Float32Array:
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
        "best_encoder": best("encoder_cosine"),
        "best_encoder_content": best("encoder_cosine") * (source.kinds == CONTENT),
    }
    return np.stack([columns[name] for name in space.null_names], axis=1).astype(np.float32)


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
        kernels.segment_scores(
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
    words, block, sizes, kinds, span = kernels.spread_segments(
        counts, spans.source_kinds, spans.target_kinds, len(SPAN_KINDS), spans.layers
    )
    _add_cells(result, space.slices["block"], features, block)
    result[space.slices["size"]] = sizes.ravel()
    if "chunks" in space.families:
        result[space.slices["chunks"]] = kinds.ravel()
    result[space.slices["span"]] = span
    return np.asarray(words)
