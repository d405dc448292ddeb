"""Aligning with a trained CRF: links, posteriors, k-best lists, phrases and a score for the whole pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.blas import with_one_thread
from forestalign.errors import UsageError
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.crf import lattice_kernels as kernels
from forestalign.words.crf.cells import Resources
from forestalign.words.crf.kbest import Links, k_best, links_of
from forestalign.words.crf.lattice import Lattice, Segment, path_score
from forestalign.words.crf.model_file import COMBINATIONS, POSTERIOR, CrfModel, read_model
from forestalign.words.crf.pair_features import lattice_of, pair_features
from forestalign.words.crf.symmetrisation import symmetrise

STAGE = "crf"
SHIPPED = ("token", "phrase")


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one direction says about a pair, turned so that the source comes first."""

    links: Links
    posteriors: FloatArray  # [source words, target words]
    decision: float  # log-odds per word of the best path against deleting every word


class CrfAligner:
    """A model with its lexical resources; asked many times."""

    def __init__(self, model: CrfModel, resources: Resources):
        self.model = model
        self._resources = resources

    def align(self, source: Sentence, target: Sentence) -> WordAlignment:
        """Links of both directions put together as the model says; the score of a link is its mean posterior."""
        if not len(source) or not len(target):
            return WordAlignment(())
        decoded = self._decode(source, target)
        posteriors = np.mean([each.posteriors for each in decoded.values()], axis=0)
        return _word_alignment(self._combine(decoded, posteriors, self.model.combination), posteriors)

    def align_all(self, source: Sentence, target: Sentence) -> dict[str, WordAlignment]:
        """The links by every combination that the directions of the model allow, from one decoding."""
        possible = [name for name in COMBINATIONS if self.model.allows(name)]
        if not len(source) or not len(target):
            return {name: WordAlignment(()) for name in possible}
        decoded = self._decode(source, target)
        posteriors = np.mean([each.posteriors for each in decoded.values()], axis=0)
        return {name: _word_alignment(self._combine(decoded, posteriors, name), posteriors) for name in possible}

    def posteriors(self, source: Sentence, target: Sentence) -> FloatArray:
        """Mean posterior of every link over the directions of the model."""
        if not len(source) or not len(target):
            return np.zeros((len(source), len(target)))
        return np.asarray(np.mean([each.posteriors for each in self._decode(source, target).values()], axis=0))

    def k_best(self, source: Sentence, target: Sentence, count: int) -> list[tuple[float, WordAlignment]]:
        """The best alignments of one direction (source to target if the model has it) with log probabilities."""
        if count < 1:
            raise UsageError(f"{count} alignments were asked for; expected 1 or more")
        if not len(source) or not len(target):
            return [(0.0, WordAlignment(()))]
        direction, lattice = next(iter(self._lattices(source, target).items()))
        *_, log_partition = kernels.forward(lattice.segments, lattice.nulls, lattice.transitions)
        posteriors = self.posteriors(source, target)
        return [
            (score - log_partition, _word_alignment(_turned(links_of(path), direction), posteriors))
            for score, path in k_best(lattice, count)
        ]

    def phrases(self, source: Sentence, target: Sentence) -> tuple[tuple[Span, Span], ...]:
        """The span pairs of the best path of one direction; single words for a token model."""
        if not len(source) or not len(target):
            return ()
        direction, lattice = next(iter(self._lattices(source, target).items()))
        spans = [
            (Span(begin, begin + length), Span(place, place + place_length))
            for begin, length, place, place_length in _best_path(lattice)
            if place_length
        ]
        return tuple(sorted((right, left) if direction == "t2s" else (left, right) for left, right in spans))

    def decision_score(self, source: Sentence, target: Sentence) -> float:
        """How well the pair aligns as a whole, for paraphrase and entailment by a threshold.

        The decoding score of the best path less that of deleting every word, per source word; mean of the directions.
        """
        if not len(source) or not len(target):
            return 0.0
        return float(np.mean([each.decision for each in self._decode(source, target).values()]))

    def _combine(self, decoded: dict[str, Decoded], posteriors: FloatArray, combination: str) -> Links:
        if combination == POSTERIOR:
            rows, columns = np.nonzero(posteriors > self.model.threshold)
            return frozenset(zip(rows.tolist(), columns.tolist(), strict=True))
        if combination in decoded:
            return decoded[combination].links
        return frozenset(symmetrise(decoded["s2t"].links, decoded["t2s"].links, combination))

    @with_one_thread
    def _lattices(self, source: Sentence, target: Sentence) -> dict[str, Lattice]:
        both = pair_features(source, target, self._resources, self.model.space)
        features = {"s2t": both.forward, "t2s": both.backward}
        return {
            direction: lattice_of(features[direction], self.model.space, weights)
            for direction, weights in self.model.directions().items()
            if weights is not None
        }

    @with_one_thread
    def _decode(self, source: Sentence, target: Sentence) -> dict[str, Decoded]:
        return {direction: _decode(lattice, direction) for direction, lattice in self._lattices(source, target).items()}


def _decode(lattice: Lattice, direction: str) -> Decoded:
    path = _best_path(lattice)
    everything_deleted = tuple(Segment(i, 1, 0, 0) for i in range(len(lattice.nulls)))
    decision = (path_score(lattice, path) - path_score(lattice, everything_deleted)) / len(lattice.nulls)
    posteriors = link_posteriors(lattice)
    return Decoded(_turned(links_of(path), direction), posteriors.T if direction == "t2s" else posteriors, decision)


def _best_path(lattice: Lattice) -> tuple[Segment, ...]:
    _, rows = kernels.viterbi(lattice.segments, lattice.nulls, lattice.transitions)
    return tuple(Segment(*row) for row in rows.tolist())


def link_posteriors(lattice: Lattice) -> FloatArray:
    """Sum of the posteriors of all segments that hold a link, [M, N]."""
    _, segments, _, _ = kernels.marginals(lattice.segments, lattice.nulls, lattice.transitions)
    rows, source_max, columns, target_max = segments.shape
    links = np.zeros((rows, columns))
    for s, t in np.ndindex(min(source_max, rows), min(target_max, columns)):
        view = segments[: rows - s, s, : columns - t, t]
        for p, q in np.ndindex(s + 1, t + 1):
            links[p : p + rows - s, q : q + columns - t] += view
    return links


def _turned(links: Links, direction: str) -> Links:
    return frozenset((j, i) for i, j in links) if direction == "t2s" else links


def _word_alignment(links: Links, posteriors: FloatArray) -> WordAlignment:
    return WordAlignment(tuple(WordLink(i, j, float(posteriors[i, j]), STAGE) for i, j in sorted(links)))


def load_resources(ppdb: str = "", vectors: str = "") -> Resources:
    """The shipped lexicon, with the user's own vectors and pair list if given."""
    return Resources(load_wordnet(), load_vectors(vectors), load_ppdb(ppdb) if ppdb else None)


def load_crf(path: str = "token", ppdb: str = "", vectors: str = "", combination: str = "") -> CrfAligner:
    """A model file, or by its name a shipped model; `combination` overrides how the directions are put together."""
    name = path or SHIPPED[0]
    model = read_model(grammar_root() / "crf" / f"{name}.json" if name in SHIPPED else name)
    return CrfAligner(model.combined(combination) if combination else model, load_resources(ppdb, vectors))
