"""How likely two phrases are each other's partner: a learned score of every pair of nodes of two forests.

Word links say which words correspond; a phrase in other words has few of them (*made mincemeat of the theory*,
*demolished the theory*). The score looks at both spans as the encoder sees them, with what stands around them, and
asks how well the words of each are explained by the words of the other:

    u(s)     the unit vector of a span: a projection of its mean, its first and last word, and the words on either side
    e(s, t)  how well t explains s: the mean over the words of s, by weight, of the soft maximum of their likeness to
    words of t z(s, t)  a · u(s)·u(t) + a small network over the likeness, e(s, t), e(t, s), shares of links inside
    and leaving,
             lengths, categories; the same for (t, s)
    p        softmax of z over all spans of the other sentence and null, averaged (as logs) over both directions

The weights are grammar/span_scores.npz, learned by scripts/train_spans.py on pairs with marked phrases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from forestalign.arrays import AnyArray, Float32Array, FloatArray, IntArray
from forestalign.errors import GrammarError
from forestalign.forest import Forest
from forestalign.grammar import grammar_root
from forestalign.inputs import read_arrays, reading
from forestalign.phrases.scoring.schema import NodeArrays

LOWEST = -8.0  # log p counts with at least this
DIGITS = 4  # of log p, so that neither the processor nor the order of the sentences shows
CONTENT_WEIGHT = np.array([1.0, 0.3, 0.0, 1.0, 1.0])  # by class: content, function, punctuation, negation, number
LEAST_WEIGHT = 0.05  # of any word, so that no phrase weighs nothing
LEAST_CONTENT = 0.3
SCALE = 10.0  # of the unit vectors of words
_PARTS = 5  # of the vector of a span
FEATURE_COUNT = 18  # and three more where spans are no nodes
Shape = tuple[int | None, ...]
SpanWeights = Mapping[str, Float32Array]
SHAPES: dict[str, Shape] = {
    "word": (96, None),
    "likeness": (96, None),
    "span": (64, 480),
    "span_bias": (64,),
    "weight": (96,),
    "hidden": (32, None),
    "hidden_bias": (32,),
    "out": (32,),
    "null": (None,),
    "scalars": (5,),  # temperature, scale of u·u, biases of weight, out, null
}


@dataclass(frozen=True, slots=True, eq=False)
class SpansToScore:
    """One forest as the score sees it, before any learned weight: distinct spans, and what is known of them."""

    vectors: Float32Array  # of words
    content: FloatArray  # weight of each word
    begin: IntArray  # of each span
    end: IntArray
    category: IntArray
    is_bar: FloatArray
    place: IntArray  # the span of each node
    plausible: FloatArray | None = None  # how much each looks like a phrase, where not all are nodes

    @classmethod
    def of(cls, nodes: NodeArrays) -> SpansToScore:
        """The spans of a forest; of nodes with one span the last, which is the highest, says what the span is."""
        vectors = nodes.forest.sentence.context_vectors
        assert vectors is not None
        keys = nodes.begin * (len(nodes.classes) + 1) + nodes.end
        _, first, place = np.unique(keys[::-1], return_index=True, return_inverse=True)
        chosen, place = len(keys) - 1 - first, place[::-1]
        content = CONTENT_WEIGHT[nodes.classes]
        length = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return cls(
            (vectors / length * SCALE).astype(np.float32),
            content,
            nodes.begin[chosen],
            nodes.end[chosen],
            nodes.categories[chosen],
            nodes.bars[chosen],
            place,
        )

    @property
    def lengths(self) -> FloatArray:
        """Of each span, in words."""
        return (self.end - self.begin).astype(np.float64)

    def sums(self, rows: AnyArray) -> FloatArray:
        """The sum of rows, one per word, over each span."""
        total = np.zeros((len(rows) + 1, *rows.shape[1:]))
        np.cumsum(rows, axis=0, out=total[1:])
        return np.asarray(total[self.end] - total[self.begin])


def checked_weights(arrays: Mapping[str, AnyArray], shapes: Mapping[str, Shape] = SHAPES) -> SpanWeights:
    """The arrays of a file that have these names; ValueError where one is missing or has another shape."""
    for name, shape in shapes.items():
        size = arrays[name].shape if name in arrays else ()
        if len(size) != len(shape) or any(want not in (None, have) for want, have in zip(shape, size, strict=True)):
            raise ValueError(f"has no array {name!r} of the shape {shape}")
    return {name: arrays[name].astype(np.float32) for name in shapes}


class _Projected:
    """One side under the weights: unit vectors of spans, of words, weights of words.

    A span is the sum of five parts, each by a matrix of its own, through which each word goes once.
    """

    def __init__(self, side: SpansToScore, weights: SpanWeights):
        rows = (side.vectors @ weights["word"].T).astype(np.float64)
        size = len(weights["span_bias"])
        parts = weights["span"].reshape(size, _PARTS, -1).swapaxes(0, 1).reshape(_PARTS * size, -1)
        inner, first, last, before, behind = np.moveaxis((rows @ parts.T).reshape(len(rows), _PARTS, size), 1, 0)
        mean, nothing = side.sums(inner) / side.lengths[:, None], np.zeros((1, size))
        before, behind = np.concatenate([nothing, before]), np.concatenate([behind, nothing])
        whole = mean + first[side.begin] + last[side.end - 1] + before[side.begin] + behind[side.end]
        self.spans = _unit_rows(whole + weights["span_bias"])
        self.words = _unit_rows(side.vectors @ weights["likeness"].T)
        raw = np.tanh(3.0 * self.words) @ weights["weight"] + weights["scalars"][2]
        self.weights = np.logaddexp(0.0, raw) * np.maximum(side.content, LEAST_WEIGHT)


def _unit_rows(rows: AnyArray) -> AnyArray:
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.maximum(lengths, 1e-9))


def span_log_probs(source: NodeArrays, target: NodeArrays, links: FloatArray) -> FloatArray:
    """log p of each pair of nodes, at least LOWEST; LOWEST for all where the sentences have no vectors."""
    weights = load_span_weights()
    if not can_score(source.forest, target.forest, weights):
        return np.full((len(source.begin), len(target.begin)), LOWEST)
    one, other = SpansToScore.of(source), SpansToScore.of(target)
    scores, nulls = score_spans(one, other, links, weights)
    forth = scores - np.logaddexp(log_sums(scores), nulls[0][:, None])
    back = scores - np.logaddexp(log_sums(scores.T), nulls[1][:, None]).T
    log_probs = np.maximum(0.5 * (forth + back), LOWEST)
    return np.asarray(log_probs.round(DIGITS)[np.ix_(one.place, other.place)])


def can_score(source: Forest, target: Forest, weights: SpanWeights) -> bool:
    """Whether both sentences have vectors of the encoder that the weights were learned for."""
    vectors = source.sentence.context_vectors, target.sentence.context_vectors
    return all(rows is not None and rows.ndim == 2 and rows.shape[1] == weights["word"].shape[1] for rows in vectors)


def score_spans(
    one: SpansToScore, other: SpansToScore, links: FloatArray, weights: SpanWeights
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """z of each pair of spans, and of null on both sides."""
    left, right = _Projected(one, weights), _Projected(other, weights)
    temperature, scale, _, out_bias, null_bias = weights["scalars"].tolist()
    likeness = left.spans @ right.spans.T
    shared = np.exp(temperature * (left.words @ right.words.T - 1.0))
    forth = _explained(one, left.weights, other.sums(shared.T).T, temperature)
    back = _explained(other, right.weights, one.sums(shared).T, temperature).T
    own, their = LinkShares(one, other, links), LinkShares(other, one, links.T)
    content, their_content = np.log1p(own.content)[:, None], np.log1p(their.content)[None, :]
    layers = [
        likeness,
        *both_ways(forth, back),
        *both_ways(own.inside / own.floor[:, None], (their.inside / their.floor[:, None]).T),
        *both_ways(own.leaving / own.floor[:, None], (their.leaving / their.floor[:, None]).T),
        *both_ways(own.leaving, their.leaving.T),
        *both_ways(content, their_content),
        np.abs(np.log(one.lengths[:, None] / other.lengths)),
        one.category[:, None] == other.category,
        *both_ways((one.lengths == 1.0)[:, None] * 1.0, (other.lengths == 1.0)[None, :] * 1.0),
        *both_ways(one.is_bar[:, None], other.is_bar[None, :]),
        forth * back,
    ]
    if one.plausible is not None and other.plausible is not None:
        middles = [(side.begin + side.end) / len(side.content) for side in (one, other)]
        layers += [*both_ways(one.plausible[:, None], other.plausible), np.abs(middles[0][:, None] - middles[1])]
    features = np.empty((*likeness.shape, len(layers)), np.float32)
    for number, layer in enumerate(layers):
        features[..., number] = layer
    hidden = np.tanh(features @ weights["hidden"].T + weights["hidden_bias"])
    scores = scale * likeness + hidden @ weights["out"] + out_bias
    nulls = []
    for each, side in ((own, one), (their, other)):
        columns = [np.log1p(each.content), each.share, np.log(side.lengths)]
        columns += [] if side.plausible is None else [side.plausible]
        nulls.append(np.column_stack(columns) @ weights["null"] + null_bias)
    return np.asarray(scores, np.float64), (nulls[0], nulls[1])


def _explained(side: SpansToScore, weights: FloatArray, shared: FloatArray, temperature: float) -> FloatArray:
    """e(s, t) of each span (row) and each span of the other side (column)."""
    best = np.log(shared + 1e-6) / temperature + 1.0
    return np.asarray(side.sums(weights[:, None] * best) / side.sums(weights)[:, None])


class LinkShares:
    """Content words of each span: how many, and how many are linked into and out of each span of the other side."""

    def __init__(self, side: SpansToScore, other: SpansToScore, links: FloatArray):
        into = np.minimum(other.sums(links.T).T, 1.0)
        linked = np.minimum(links.sum(axis=1, keepdims=True), 1.0)
        weight = side.content[:, None]
        self.inside = side.sums(weight * into)
        all_linked = side.sums(weight * linked)
        self.leaving = all_linked - self.inside
        self.content = side.sums(side.content)
        self.floor = np.maximum(self.content, LEAST_CONTENT)
        self.share = all_linked[:, 0] / self.floor


def both_ways(one: AnyArray, other: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Sum and difference, which do not depend on the order."""
    return one + other, np.abs(one - other)


def log_sums(scores: FloatArray) -> FloatArray:
    """log of the sum of exponentials of each row, as a column."""
    top = scores.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))


@cache
def load_span_weights() -> SpanWeights:
    """The shipped weights."""
    return read_span_weights(grammar_root() / "span_scores.npz")


def read_span_weights(path: Path) -> SpanWeights:
    """The weights of a file, checked."""
    with reading(path, "file of span scores", GrammarError):
        return checked_weights(read_arrays(path))
