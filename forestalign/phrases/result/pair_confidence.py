"""How likely a pair is right: a logistic model of what the scores know of it, and of where it stands in the alignment.

The share of the k best that hold a pair says how sure the search is, not how right it is: what all alternatives have in
common has share 1, wrong or not. So the model also sees the parts of the pair (`schema`), how it came about, what it
leaves null, how sure its supports and the pair above it are, and how well the whole alignment fits. Pairs of words,
of a word with a phrase and of phrases have weights of their own. No feature tells the source from the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from forestalign.arrays import AnyArray, FloatArray, IntArray
from forestalign.lexicon.word_classes import WordClass
from forestalign.phrases.scoring.features import DerivationFeatures
from forestalign.phrases.scoring.schema import CATEGORIES, PAIR, SLICE
from forestalign.phrases.scoring.score import Step
from forestalign.phrases.scoring.score_model import CONFIDENCE, LINKING, ScoreModel
from forestalign.phrases.search.hypotheses import AlignedNodes, Derivation, Found

LEAST_SHARE = 1e-3  # posteriors count within this and 1 less it
FAR = 20.0  # local scores differ by at most this, as far as margins go
SEEDS = (Step.SEED, Step.PHRASE_SEED)


def judge_derivations(found: Found, features: DerivationFeatures, model: ScoreModel) -> Found:
    """The derivations with the probability of being right in place of each pair's posterior.

    Scores that were learned without held-out pairs know no more than the posterior.
    """
    return replace(found, derivations=tuple(_judge_derivation(each, features, model) for each in found.derivations))


def _judge_derivation(derivation: Derivation, features: DerivationFeatures, model: ScoreModel) -> Derivation:
    pairs = derivation.pairs
    if not pairs:
        return derivation
    raw = np.array([pair.posterior for pair in pairs])
    if model.confidence is not None:
        raw = model.confidence(confidence_features(derivation, features, model.weights), pair_kinds(pairs, features))
    return derivation.with_posteriors(model.calibrated(raw))


def pair_kinds(pairs: Sequence[AlignedNodes], features: DerivationFeatures) -> list[int]:
    """For each pair how many of its sides have several words: the numbers of `confidence.KINDS`."""
    one, other = features.source.nodes.lengths, features.target.nodes.lengths
    return [int(one[pair.source] > 1) + int(other[pair.target] > 1) for pair in pairs]


def confidence_features(derivation: Derivation, features: DerivationFeatures, weights: FloatArray) -> FloatArray:
    """The features of all pairs of a derivation, in the order of CONFIDENCE."""
    pairs = derivation.pairs
    nodes = _nodes(pairs)
    layers = dict(zip(PAIR, features.pair[nodes].T, strict=True)) | _structure(derivation, nodes, features)
    layers |= _linking(nodes, features, weights)
    layers |= dict(zip(_SEED_NAMES, _seed_values(pairs, features).T, strict=True))
    steps = np.array([pair.step for pair in pairs])
    layers |= {f"step {step.label}": steps == step for step in Step}
    one, other = features.source.categories[nodes[0]], features.target.categories[nodes[1]]
    for number, name in enumerate(CATEGORIES):
        layers[f"category {name}"] = (one == number).astype(np.float64) + (other == number)
    found = np.empty((len(pairs), len(CONFIDENCE)))
    for number, name in enumerate(CONFIDENCE):
        found[:, number] = layers[name]
    return found


Nodes = tuple[IntArray, IntArray]


def _nodes(pairs: Sequence[AlignedNodes]) -> Nodes:
    """The nodes of both sides of each pair."""
    return np.array([pair.source for pair in pairs]), np.array([pair.target for pair in pairs])


_SEED_NAMES = tuple(name for name in CONFIDENCE if name.startswith(("word ", "phrase ")))
_SEED_COLUMNS = np.r_[SLICE["word"], SLICE["phrase"]]


def _seed_values(pairs: Sequence[AlignedNodes], features: DerivationFeatures) -> FloatArray:
    """The parts of seeds; 0 for pairs that grew."""
    seeds = features.seeds
    keys = zip(seeds.source.tolist(), seeds.target.tolist(), seeds.kind.tolist(), strict=True)
    rows = {key: k for k, key in enumerate(keys)}
    grown = [k for k, pair in enumerate(pairs) if pair.step in SEEDS]
    found = np.zeros((len(pairs), len(_SEED_NAMES)))
    own = [rows[pairs[k].source, pairs[k].target, int(pairs[k].step)] for k in grown]
    found[grown] = features.seed_features[own][:, _SEED_COLUMNS]
    return found


def _structure(derivation: Derivation, nodes: Nodes, features: DerivationFeatures) -> dict[str, FloatArray]:
    """Where pairs stand: what they leave null, how sure their supports and what they support are, the whole."""
    pairs = derivation.pairs
    one, other = features.source.nodes.lengths, features.target.nodes.lengths
    left, right = one[nodes[0]], other[nodes[1]]
    posterior = np.array([pair.posterior for pair in pairs])
    sizes = np.asarray(left + right, np.float64)
    owner = np.repeat(np.arange(len(pairs)), [len(pair.supports) for pair in pairs])
    below = np.array([place for pair in pairs for place in pair.supports], np.int64)
    place_above = np.full(len(pairs), -1)
    place_above[below] = owner
    longer = (left[below] == left[owner]) != (right[below] == right[owner])
    nulls = one[list(derivation.source_nulls)].sum() + other[list(derivation.target_nulls)].sum()
    words = float(one.max() + other.max())
    inner = np.clip(posterior, LEAST_SHARE, 1.0 - LEAST_SHARE)
    inside, has_above = 1.0 - _by_pair(np.add, sizes[below], owner, sizes) / sizes, place_above >= 0
    opened = np.array([pair.step is Step.NON_COMPOSITIONAL for pair in pairs])
    longer_above = (left == left[place_above]) != (right == right[place_above])
    return {
        "posterior": posterior,
        "log odds of the posterior": np.log(inner / (1.0 - inner)),
        "log size": np.log(sizes),
        "null inside": inside,
        "weakest support": _by_pair(np.minimum, posterior[below], owner, posterior),
        "posterior above": np.where(has_above, posterior[place_above], 1.0),
        "below a non-compositional step": has_above * opened[place_above],
        "null words of the sentences": np.full(len(pairs), nulls / words),
        "score by word": np.full(len(pairs), derivation.score / words),
        "null inside above": has_above * inside[place_above],
        "as long as a support": _by_pair(np.maximum, longer, owner, np.zeros(len(pairs))),
        "as long as the pair above": (has_above * longer_above).astype(np.float64),
    }


def _by_pair(join: np.ufunc, values: AnyArray, owner: IntArray, otherwise: FloatArray) -> FloatArray:
    """The values of each pair joined; `owner` is sorted, and a pair without values keeps what it had otherwise."""
    found = otherwise.copy()
    if len(owner):
        starts = np.append(0, (owner[1:] != owner[:-1]).nonzero()[0] + 1)
        found[owner[starts]] = join.reduceat(values, starts)
    return found


def _linking(nodes: Nodes, features: DerivationFeatures, weights: FloatArray) -> dict[str, FloatArray]:
    """What the links say of pairs: words with and without a partner inside, and how far ahead of others they are."""
    table, rows = features.pair @ weights[SLICE["pair"]], np.arange(len(nodes[0]))
    own, across, down = table[nodes], table[nodes[0]], table[:, nodes[1]].T
    across[rows, nodes[1]] = down[rows, nodes[0]] = -np.inf
    margin = own - np.maximum(np.maximum(across.max(axis=1), down.max(axis=1)), own - FAR)
    return dict(zip(LINKING, (own, np.minimum(margin, FAR), *_links_inside(nodes, features)), strict=True))


def _links_inside(nodes: Nodes, features: DerivationFeatures) -> tuple[FloatArray, ...]:
    """The values of LINKING from the third on."""
    links, one, other = features.links.links, features.source.nodes, features.target.nodes
    spans = (one.begin[nodes[0]], one.end[nodes[0]]), (other.begin[nodes[1]], other.end[nodes[1]])
    sides = _words_of_pairs(links, *spans), _words_of_pairs(links.T, *spans[::-1])
    order = np.argsort(np.concatenate([side.owner for side in sides]), kind="stable")
    owner, best, rival = (np.concatenate(parts)[order] for parts in zip(*(side[1:] for side in sides), strict=True))
    classes = np.concatenate([one.classes[sides[0].word], other.classes[sides[1].word]])[order]
    counts, ones = np.bincount(owner), np.ones(len(nodes[0]))
    content, function = classes == WordClass.CONTENT, classes == WordClass.FUNCTION
    return (
        _means(best[content], owner[content], ones),
        _by_pair(np.add, 1.0 - best[content], owner[content], np.zeros_like(ones)),
        _means(best[function], owner[function], ones),
        np.minimum(_by_pair(np.minimum, best[content], owner[content], ones), 1.0),
        np.bincount(owner, best >= rival) / counts,
        _by_pair(np.maximum, rival, owner, ones),
    )


def _means(values: FloatArray, owner: IntArray, otherwise: FloatArray) -> FloatArray:
    """The mean value of each pair."""
    counts = np.bincount(owner, minlength=len(otherwise))
    return _by_pair(np.add, values, owner, otherwise) / np.maximum(counts, 1)


class _PairWords(NamedTuple):
    """The words of one side of all pairs, the strongest link of each into its pair, and out of it."""

    word: IntArray
    owner: IntArray  # the pair
    best: FloatArray
    rival: FloatArray


def _words_of_pairs(links: FloatArray, rows: Nodes, columns: Nodes) -> _PairWords:
    """The words (rows) that begin and end somewhere in each pair, with the links to its columns."""
    lengths = rows[1] - rows[0]
    owner = np.repeat(np.arange(len(lengths)), lengths)
    word = np.arange(len(owner)) + (rows[0] - lengths.cumsum() + lengths)[owner]
    begin, end = columns[0][owner], columns[1][owner]
    before, behind = np.zeros((2, len(links), links.shape[1] + 1))
    np.maximum.accumulate(links, axis=1, out=before[:, 1:])
    np.maximum.accumulate(links[:, ::-1], axis=1, out=behind[:, -2::-1])
    places = word * before.shape[1]  # of the rows in a flat table with one more column, which bounds the last span
    flat = np.pad(links, ((0, 0), (0, 1))).ravel()
    best = np.maximum.reduceat(flat, np.stack([places + begin, places + end], axis=1).ravel())[::2]
    return _PairWords(word, owner, best, np.maximum(before[word, begin], behind[word, end]))
