"""Aligning with a trained CRF: links, posteriors, k-best lists, phrases and a score for the whole pair.

The model file: JSON with the feature space, the weights by name, and a card. Zero weights are left out.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import InputError, UsageError, shown
from forestalign.grammar import grammar_root
from forestalign.inputs import Number, Share, as_record, read_json, reading
from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.machine import with_one_thread
from forestalign.outputs import packed_file
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.crf.cells import Resources
from forestalign.words.crf.feature_space import FAMILIES, LONGEST_SPAN, FeatureSpace, feature_space
from forestalign.words.crf.lattice import (
    Lattice,
    Links,
    Segment,
    forward,
    k_best,
    links_of,
    marginals,
    path_score,
    viterbi,
)
from forestalign.words.crf.pair_features import lattice_of, pair_features

FORMAT, VERSION = "forestalign-crf", 1
DIGITS = 5  # significant digits of a weight in the file; more do not change a score


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Where a model comes from."""

    data: tuple[str, ...] = ()  # names of the gold files
    pair_count: int = 0
    settings: str = ""


@dataclass(frozen=True)
class CrfModel:
    """Weights of both directions over one feature space; a link whose mean posterior passes the threshold counts."""

    space: FeatureSpace
    forward: FloatArray  # source to target
    backward: FloatArray  # target to source
    threshold: float = 0.45  # best in 5-fold runs on both development sets
    card: ModelCard = ModelCard()

    def directions(self) -> dict[str, FloatArray]:
        """The weights of each direction."""
        return {"s2t": self.forward, "t2s": self.backward}

    def weights_in(self, space: FeatureSpace, direction: str, otherwise: FloatArray | None = None) -> FloatArray:
        """The weights of one direction by name in another feature space; `otherwise`, or 0, where a feature is new."""
        found = np.zeros(len(space)) if otherwise is None else otherwise.copy()
        weights, own = self.directions()[direction], {name: place for place, name in enumerate(self.space.names)}
        for place, name in enumerate(space.names):
            if name in own:
                found[place] = weights[own[name]]
        return found


def format_model(model: CrfModel) -> str:
    """One feature per line, so that two models can be compared with diff."""
    space, card = model.space, model.card
    document = {
        "format": FORMAT,
        "version": VERSION,
        "families": list(space.families),
        "source_max": space.source_max,
        "target_max": space.target_max,
        "by_kind": space.by_kind,
        "threshold": model.threshold,
        "card": asdict(card),
        "weights": {direction: _name_weights(space, weights) for direction, weights in model.directions().items()},
    }
    return json.dumps(document, indent=0, ensure_ascii=False) + "\n"


def _name_weights(space: FeatureSpace, weights: FloatArray) -> dict[str, float]:
    rounded = ((name, float(f"{weight:.{DIGITS}g}")) for name, weight in zip(space.names, weights, strict=True))
    return {name: weight for name, weight in rounded if weight}


def write_model(model: CrfModel, path: str | Path) -> None:
    """Write a model file, by feature name."""
    with packed_file(path) as file:
        file.write(format_model(model).encode())


def read_model(path: str | Path) -> CrfModel:
    """A file that `write_model` has written; anything else is refused with what was expected."""
    with reading(path, "CRF model"):
        document = read_json(path)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"expected an object whose format is {FORMAT!r}")
        if document.get("version") != VERSION:
            raise InputError(path, None, f"CRF model of version {shown(document.get('version'))}; expected {VERSION}")
        return _model_of(as_record(document, _ModelFile))


class _Directions(msgspec.Struct):
    s2t: dict[str, Number]
    t2s: dict[str, Number]


class _ModelFile(msgspec.Struct):
    families: tuple[str, ...]
    source_max: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_SPAN)]
    target_max: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_SPAN)]
    threshold: Share
    card: ModelCard
    weights: _Directions
    by_kind: bool = False
    combination: Literal["posterior"] = "posterior"  # files of 0.2 could have others


def _model_of(own: _ModelFile) -> CrfModel:
    families = tuple(family for family in FAMILIES if family in own.families)
    if len(families) != len(own.families):
        raise ValueError(f"families are {shown(list(own.families))}; known are {', '.join(FAMILIES)}")
    space = feature_space(families, own.source_max, own.target_max, own.by_kind)
    weights = _vector(space, own.weights.s2t), _vector(space, own.weights.t2s)
    return CrfModel(space, *weights, own.threshold, own.card)


def _vector(space: FeatureSpace, weights: dict[str, float]) -> FloatArray:
    if unknown := sorted(set(weights) - set(space.names)):
        raise ValueError(f"no feature is called {shown(unknown[0])}")
    return np.array([weights.get(name, 0.0) for name in space.names])


STAGE = "crf"
SHIPPED = ("token", "phrase")


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one direction says about a pair, turned so that the source comes first."""

    posteriors: FloatArray  # [source words, target words]
    decision: float  # log-odds per word of the best path against deleting every word


class CrfAligner:
    """A model with its lexical resources; asked many times."""

    def __init__(self, model: CrfModel, resources: Resources):
        self.model = model
        self._resources = resources

    def align(self, source: Sentence, target: Sentence) -> WordAlignment:
        """The links whose mean posterior over both directions passes the threshold, which is their score."""
        if not len(source) or not len(target):
            return WordAlignment(())
        posteriors = self.posteriors(source, target)
        rows, columns = np.nonzero(posteriors > self.model.threshold)
        return _word_alignment(frozenset(zip(rows.tolist(), columns.tolist(), strict=True)), posteriors)

    def posteriors(self, source: Sentence, target: Sentence) -> FloatArray:
        """Mean posterior of every link over both directions."""
        if not len(source) or not len(target):
            return np.zeros((len(source), len(target)))
        return np.asarray(np.mean([each.posteriors for each in self._decode(source, target).values()], axis=0))

    def k_best(self, source: Sentence, target: Sentence, count: int) -> list[tuple[float, WordAlignment]]:
        """The best alignments from source to target with their log probabilities."""
        if count < 1:
            raise UsageError(f"{count} alignments were asked for; expected 1 or more")
        if not len(source) or not len(target):
            return [(0.0, WordAlignment(()))]
        lattice = self._lattices(source, target)["s2t"]
        *_, log_partition = forward(lattice)
        posteriors = self.posteriors(source, target)
        return [
            (score - log_partition, _word_alignment(links_of(path), posteriors))
            for score, path in k_best(lattice, count)
        ]

    def phrases(self, source: Sentence, target: Sentence) -> tuple[tuple[Span, Span], ...]:
        """The span pairs of the best path from source to target; single words for a token model."""
        if not len(source) or not len(target):
            return ()
        path = viterbi(self._lattices(source, target)["s2t"])[1]
        spans = (
            (Span(i, i + length), Span(j, j + other_length)) for i, length, j, other_length in path if other_length
        )
        return tuple(sorted(spans))

    def decision_score(self, source: Sentence, target: Sentence) -> float:
        """How well the pair aligns as a whole, for paraphrase and entailment by a threshold.

        The decoding score of the best path less that of deleting every word, per source word; mean of the directions.
        """
        if not len(source) or not len(target):
            return 0.0
        return float(np.mean([each.decision for each in self._decode(source, target).values()]))

    @with_one_thread
    def _lattices(self, source: Sentence, target: Sentence) -> dict[str, Lattice]:
        both = pair_features(source, target, self._resources, self.model.space)
        features = {"s2t": both.forward, "t2s": both.backward}
        return {
            direction: lattice_of(features[direction], self.model.space, weights)
            for direction, weights in self.model.directions().items()
        }

    @with_one_thread
    def _decode(self, source: Sentence, target: Sentence) -> dict[str, Decoded]:
        return {direction: _decode(lattice, direction) for direction, lattice in self._lattices(source, target).items()}


def _decode(lattice: Lattice, direction: str) -> Decoded:
    path = viterbi(lattice)[1]
    everything_deleted = tuple(Segment(i, 1, 0, 0) for i in range(len(lattice.nulls)))
    decision = (path_score(lattice, path) - path_score(lattice, everything_deleted)) / len(lattice.nulls)
    posteriors = link_posteriors(lattice)
    return Decoded(posteriors.T if direction == "t2s" else posteriors, decision)


def link_posteriors(lattice: Lattice) -> FloatArray:
    """Sum of the posteriors of all segments that hold a link, [M, N]."""
    segments = marginals(lattice).segments
    rows, source_max, columns, target_max = segments.shape
    links = np.zeros((rows, columns))
    for s, t in np.ndindex(min(source_max, rows), min(target_max, columns)):
        view = segments[: rows - s, s, : columns - t, t]
        for p, q in np.ndindex(s + 1, t + 1):
            links[p : p + rows - s, q : q + columns - t] += view
    return links


def _word_alignment(links: Links, posteriors: FloatArray) -> WordAlignment:
    return WordAlignment(tuple(WordLink(i, j, float(posteriors[i, j]), STAGE) for i, j in sorted(links)))


def load_resources(ppdb: str = "", vectors: str = "") -> Resources:
    """The shipped lexicon, with the user's own vectors and pair list if given."""
    return Resources(load_wordnet(), load_vectors(vectors), load_ppdb(ppdb) if ppdb else None)


def load_crf(path: str = "token", ppdb: str = "", vectors: str = "") -> CrfAligner:
    """A model file, or by its name a shipped model."""
    name = path or SHIPPED[0]
    model = read_model(grammar_root() / "crf" / f"{name}.json" if name in SHIPPED else name)
    return CrfAligner(model, load_resources(ppdb, vectors))
