"""How similar two aligned sentences are: a number from 0 to 5, the probability of a paraphrase, and the reasons.

Both see the features x of `similarity_features` and, where the parser gave vectors, the cosine c of the sentence
vectors (c, its square and cube, and c times the aligned share). The score also knows some hundred pairs z of the
training set, its landmarks, and how near a pair is to each:

    score = bias + w . x + sum over k of v(k) exp(-narrowness |x - z(k)|^2), cut to 0..5
    probability = 1 / (1 + exp(-(bias + w . x)))

Reasons against (`meaning_features.REASONS`) have weights of at most nought and are unknown to the landmarks, so that
one more reason never raises either, and one in a short sentence limits both (`limits`). The same words are 5 and 1 by
definition. There are two sets of weights, with and without sentence vectors, which `scripts/train_similarity.py`
learns.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.blas import with_one_thread
from forestalign.errors import GrammarError
from forestalign.formats.input_checks import check_id
from forestalign.grammar import grammar_root
from forestalign.inputs import read_arrays, reading
from forestalign.lexicon import load_vectors
from forestalign.mining.edits import edits_of
from forestalign.mining.meaning_features import ANY_REASON
from forestalign.mining.sentence_vectors import pooled_vector, projected_cosine
from forestalign.mining.similarity_features import alignment_features
from forestalign.mining.similarity_reasons import reasons_of
from forestalign.phrases.result.alignment import Alignment
from forestalign.tokens import Sentence

VECTOR_FEATURES = ("cosine", "cosine, squared", "cosine, cubed", "cosine times aligned")
HIGHEST = 5.0
_HIGHEST_WITH_REASON = 4.0
_DECIDED = 30  # words of a sentence in which a reason against limits the probability no more
_ARRAYS = (
    "names",
    "centre",
    "scale",
    "plain",
    "full",
    "landmarks",
    "narrowness",
    "plain_near",
    "full_near",
    "projection",
    "offset",
)
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Similarity:
    """The score from 0 (nothing in common) to 5 (the same meaning), the probability of a paraphrase, and why."""

    score: float
    paraphrase: float
    reasons: tuple[str, ...]

    def to_json(self, id: str) -> str:
        """One line of JSON."""
        check_id(id)
        fields = {"id": id, "score": self.score, "paraphrase": self.paraphrase, "reasons": self.reasons}
        return json.dumps(fields, ensure_ascii=False)

    def __str__(self) -> str:
        return f"{self.score:.2f}\t{self.paraphrase:.2f}\t{'; '.join(self.reasons)}"


@dataclass(frozen=True, slots=True)
class SimilarityModel:
    """Weights of score and paraphrase, [2, features + 1], bias last; `plain` is for pairs without sentence vectors.

    `plain_near` and `full_near` are what it adds to the score to be near each landmark.
    """

    names: tuple[str, ...]  # of the features without sentence vectors
    centre: FloatArray
    scale: FloatArray
    plain: FloatArray
    full: FloatArray
    landmarks: FloatArray  # [landmarks, features], scaled
    narrowness: FloatArray  # one number
    plain_near: FloatArray
    full_near: FloatArray
    projection: FloatArray
    offset: FloatArray

    @with_one_thread
    def judge(self, alignment: Alignment) -> Similarity:
        """The similarity of a result; with vectors of its words, which a line does not hold, it is more exact."""
        edits, vectors = edits_of(alignment), load_vectors()
        if edits.is_same:
            return Similarity(HIGHEST, 1.0, reasons_of(alignment, edits))
        found = alignment_features(alignment, edits, vectors)
        values = [found[name] for name in self.names]
        weights, near = self.plain, self.plain_near
        cosine = self._cosine(alignment.source, alignment.target)
        if cosine is not None:
            values += vector_features(cosine, found["aligned"])
            weights, near = self.full, self.full_near
        count = len(values)
        row = (np.array(values) - self.centre[:count]) / self.scale[:count]
        score, log_odds = (float(each[:-1] @ row + each[-1]) for each in weights)
        seen = without_reasons(row[None], self.names)
        score += float(nearness(seen, self.landmarks[:, :count], float(self.narrowness))[0] @ near)
        highest, likeliest = limits(edits.contradictions, found["length"])
        return Similarity(
            round(min(max(score, 0.0), highest), _DIGITS),
            round(min(1 / (1 + math.exp(-min(max(log_odds, -50.0), 50.0))), likeliest), _DIGITS),
            reasons_of(alignment, edits),
        )

    def _cosine(self, source: Sentence, target: Sentence) -> float | None:
        """The cosine of two sentences; None if there are no vectors, or those of another encoder."""
        left, right = (pooled_vector(each, load_vectors()) for each in (source, target))
        if left is None or right is None or not len(left) == len(right) == len(self.projection):
            return None
        return projected_cosine(left, right, self.projection, self.offset)


def limits(reasons: Sized, length: float) -> tuple[float, float]:
    """The highest score and probability of a pair: the shorter the sentences, the more one reason against decides.

    `length` is the logarithm of the words of both. A detail of a long sentence may differ in what people call a
    paraphrase; half of the probability is reached at 15 words.
    """
    return (_HIGHEST_WITH_REASON, min(math.exp(length) / 2 / _DECIDED, 1.0)) if len(reasons) else (HIGHEST, 1.0)


def without_reasons(rows: FloatArray, names: Sequence[str]) -> FloatArray:
    """Scaled rows as landmarks see them: reasons against are nought."""
    hidden = rows.copy()
    hidden[:, [number for number, name in enumerate(names) if name.startswith(ANY_REASON)]] = 0.0
    return hidden


def nearness(rows: FloatArray, landmarks: FloatArray, narrowness: float) -> FloatArray:
    """How near each row is to each landmark, from 0 to 1: [rows, landmarks]."""
    squares = (rows**2).sum(axis=1)[:, None] + (landmarks**2).sum(axis=1) - 2 * rows @ landmarks.T
    return np.asarray(np.exp(-narrowness * np.maximum(squares, 0.0)))


def vector_features(cosine: float, aligned: float) -> list[float]:
    """What the cosine of two sentences adds, in the order of VECTOR_FEATURES."""
    return [cosine, cosine**2, cosine**3, cosine * aligned]


@cache
def load_similarity() -> SimilarityModel:
    """The shipped weights."""
    return read_similarity(grammar_root() / "similarity.npz")


def read_similarity(path: Path) -> SimilarityModel:
    """Weights from a file of numpy's; GrammarError if their sizes do not fit together."""
    with reading(path, "file of weights of the similarity", GrammarError):
        content = read_arrays(path)
        arrays = {name: content[name] for name in _ARRAYS}
    names = tuple(str(name) for name in arrays.pop("names"))
    numbers = {name: array.astype(np.float64) for name, array in arrays.items()}
    count, more, near = len(names), len(names) + len(VECTOR_FEATURES), len(np.atleast_1d(numbers["landmarks"]))
    shapes = {"centre": (more,), "scale": (more,), "plain": (2, count + 1), "full": (2, more + 1)}
    shapes |= {"landmarks": (near, more), "narrowness": (), "plain_near": (near,), "full_near": (near,)}
    for name, shape in shapes.items():
        if numbers[name].shape != shape or not np.isfinite(numbers[name]).all():
            raise GrammarError(path, None, f"{name} is {numbers[name].shape}; expected finite numbers, {shape}")
    if numbers["projection"].ndim != 2 or numbers["offset"].shape != numbers["projection"].shape[1:]:
        found = numbers["projection"].shape, numbers["offset"].shape
        raise GrammarError(path, None, f"projection and offset are {found}; expected [pooled, few] and [few]")
    return SimilarityModel(names, **numbers)
