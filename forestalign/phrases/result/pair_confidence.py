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

from forestalign.arrays import FloatArray
from forestalign.lexicon.word_classes import WordClass
from forestalign.phrases.scoring.features import DerivationFeatures
from forestalign.phrases.scoring.schema import CATEGORIES, PAIR, SLICE
from forestalign.phrases.scoring.score import Step
from forestalign.phrases.scoring.score_model import CONFIDENCE, LINKING, ScoreModel
from forestalign.phrases.search.hypotheses import AlignedNodes, Derivation, Found

LEAST_SHARE = 1e-3  # posteriors count within this and 1 less it
FAR = 20.0  # local scores differ by at most this, as far as margins go
SEEDS = (Step.SEED, Step.PHRASE_SEED)


def judged(found: Found, features: DerivationFeatures, model: ScoreModel) -> Found:
    """The derivations with the probability of being right in place of each pair's posterior.

    Scores that were learned without held-out pairs know no more than the posterior.
    """
    return replace(found, derivations=tuple(_judged(each, features, model) for each in found.derivations))


def _judged(derivation: Derivation, features: DerivationFeatures, model: ScoreModel) -> Derivation:
    pairs = derivation.pairs
    if not pairs:
        return derivation
    raw = np.array([pair.posterior for pair in pairs])
    if model.confidence is not None:
        raw = model.confidence(confidence_features(derivation, features, model.weights), pair_kinds(pairs, features))
    rows = zip(pairs, model.calibrated(raw), strict=True)
    return replace(derivation, pairs=tuple(replace(pair, posterior=share) for pair, share in rows))


def pair_kinds(pairs: Sequence[AlignedNodes], features: DerivationFeatures) -> list[int]:
    """For each pair how many of its sides have several words: the numbers of `confidence.KINDS`."""
    one, other = features.source.nodes.lengths, features.target.nodes.lengths
    return [int(one[pair.source] > 1) + int(other[pair.target] > 1) for pair in pairs]


def confidence_features(derivation: Derivation, features: DerivationFeatures, weights: FloatArray) -> FloatArray:
    """The features of all pairs of a derivation, in the order of CONFIDENCE."""
    pairs = derivation.pairs
    nodes = [pair.source for pair in pairs], [pair.target for pair in pairs]
    layers = dict(zip(PAIR, features.pair[nodes].T, strict=True)) | _structure(derivation, features)
    layers |= _linking(pairs, features, weights)
    seeds = _seed_values(pairs, features)
    layers |= {name: seeds[:, k] for k, name in enumerate(_SEED_NAMES)}
    for step in Step:
        layers[f"step {step.label}"] = np.array([pair.step is step for pair in pairs], np.float64)
    one, other = features.source.categories[nodes[0]], features.target.categories[nodes[1]]
    for number, name in enumerate(CATEGORIES):
        layers[f"category {name}"] = (one == number).astype(np.float64) + (other == number)
    return np.column_stack([layers[name] for name in CONFIDENCE])


_SEED_NAMES = tuple(name for name in CONFIDENCE if name.startswith(("word ", "phrase ")))


def _seed_values(pairs: Sequence[AlignedNodes], features: DerivationFeatures) -> FloatArray:
    """The parts of seeds; 0 for pairs that grew."""
    seeds = features.seeds
    keys = zip(seeds.source.tolist(), seeds.target.tolist(), seeds.kind.tolist(), strict=True)
    rows = {key: k for k, key in enumerate(keys)}
    found = np.zeros((len(pairs), len(_SEED_NAMES)))
    for k, pair in enumerate(pairs):
        if pair.step in SEEDS:
            row = features.seed_features[rows[pair.source, pair.target, int(pair.step)]]
            found[k] = np.concatenate([row[SLICE["word"]], row[SLICE["phrase"]]])
    return found


def _structure(derivation: Derivation, features: DerivationFeatures) -> dict[str, FloatArray]:
    """Where pairs stand: what they leave null, how sure their supports and what they support are, the whole."""
    pairs = derivation.pairs
    one, other = features.source.nodes.lengths, features.target.nodes.lengths
    left, right = one[[pair.source for pair in pairs]], other[[pair.target for pair in pairs]]
    posterior = np.array([pair.posterior for pair in pairs])
    sizes = np.asarray(left + right, np.float64)
    covered, weakest, same = sizes.copy(), posterior.copy(), np.zeros(len(pairs))
    place_above = np.full(len(pairs), -1)
    for k, pair in enumerate(pairs):
        if pair.supports:
            below = list(pair.supports)
            covered[k], weakest[k] = sizes[below].sum(), posterior[below].min()
            same[k] = np.any((left[below] == left[k]) != (right[below] == right[k]))
            place_above[below] = k
    nulls = one[list(derivation.source_nulls)].sum() + other[list(derivation.target_nulls)].sum()
    words = float(one.max() + other.max())
    inner = np.clip(posterior, LEAST_SHARE, 1.0 - LEAST_SHARE)
    inside, has_above = 1.0 - covered / sizes, place_above >= 0
    opened = np.array([pair.step is Step.NON_COMPOSITIONAL for pair in pairs])
    longer = (left == left[place_above]) != (right == right[place_above])
    return {
        "posterior": posterior,
        "log odds of the posterior": np.log(inner / (1.0 - inner)),
        "log size": np.log(sizes),
        "null inside": inside,
        "weakest support": weakest,
        "posterior above": np.where(has_above, posterior[place_above], 1.0),
        "below a non-compositional step": has_above * opened[place_above],
        "null words of the sentences": np.full(len(pairs), nulls / words),
        "score by word": np.full(len(pairs), derivation.score / words),
        "null inside above": has_above * inside[place_above],
        "as long as a support": same,
        "as long as the pair above": (has_above * longer).astype(np.float64),
    }


def _linking(pairs: Sequence[AlignedNodes], features: DerivationFeatures, weights: FloatArray) -> dict[str, FloatArray]:
    """What the links say of pairs: words with and without a partner inside, and how far ahead of others they are."""
    links = _Links.of(features)
    found = np.array([links.of_pair(pair) for pair in pairs]).T
    table = features.pair @ weights[SLICE["pair"]]
    own = np.array([table[pair.source, pair.target] for pair in pairs])
    others = np.array([_best_other(table[p.source], p.target, table[:, p.target], p.source) for p in pairs])
    margin = own - np.maximum(others, own - FAR)
    return dict(zip(LINKING, (own, np.minimum(margin, FAR), *found), strict=True))


def _best_other(row: FloatArray, place: int, column: FloatArray, other: int) -> float:
    """The largest value of a row and a column, apart from where they cross."""
    parts = row[:place], row[place + 1 :], column[:other], column[other + 1 :]
    return max(float(part.max(initial=-np.inf)) for part in parts)


class _Links(NamedTuple):
    """The links of the words of two sentences, and the strongest one of each word before and behind every place."""

    features: DerivationFeatures
    forth: tuple[FloatArray, FloatArray, FloatArray]
    back: tuple[FloatArray, FloatArray, FloatArray]

    @classmethod
    def of(cls, features: DerivationFeatures) -> _Links:
        links = features.links.links
        return cls(features, _around(links), _around(links.T))

    def of_pair(self, pair: AlignedNodes) -> tuple[float, ...]:
        """The values of LINKING from the third on."""
        one, other = self.features.source.nodes, self.features.target.nodes
        rows = slice(one.begin[pair.source], one.end[pair.source])
        columns = slice(other.begin[pair.target], other.end[pair.target])
        left, right = _inside_and_out(self.forth, rows, columns), _inside_and_out(self.back, columns, rows)
        best, rival = np.concatenate([left[0], right[0]]), np.concatenate([left[1], right[1]])
        classes = np.concatenate([one.classes[rows], other.classes[columns]])
        content, function = best[classes == WordClass.CONTENT], best[classes == WordClass.FUNCTION]
        return (
            float(content.mean()) if len(content) else 1.0,
            float((1.0 - content).sum()),
            float(function.mean()) if len(function) else 1.0,
            float(content.min(initial=1.0)),
            float((best >= rival).mean()),
            float(rival.max()),
        )


def _around(links: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The links, the strongest one of each row before each column, and from it on; 0 where there is none."""
    before, behind = np.zeros((2, len(links), links.shape[1] + 1))
    np.maximum.accumulate(links, axis=1, out=before[:, 1:])
    np.maximum.accumulate(links[:, ::-1], axis=1, out=behind[:, -2::-1])
    return links, before, behind


def _inside_and_out(
    around: tuple[FloatArray, FloatArray, FloatArray], rows: slice, columns: slice
) -> tuple[FloatArray, FloatArray]:
    """The strongest link of each row into these columns, and out of them."""
    links, before, behind = around
    out: FloatArray = np.maximum(before[rows, columns.start], behind[rows, columns.stop])
    return links[rows, columns].max(axis=1), out
