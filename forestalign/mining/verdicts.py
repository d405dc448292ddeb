"""How similar two aligned sentences are: a number from 0 to 5, the probability of a paraphrase, and the reasons.

Both see the features x of `similarity_features` and, where the parser gave vectors, the cosine c of the sentence
vectors (c, its square and cube, and c times the aligned share). They also know some hundred pairs z of the training
sets, the landmarks, and how near a pair is to each; the score also knows in which dimensions the vectors agree, by
their products and distances y. With weights w and v of its own each is made of

    f(x) = bias + w . x + sum over k of v(k) exp(-narrowness |x - z(k)|^2)
    score = f(x) + u . y, cut to 0..5
    probability = 1 / (1 + exp(-f(x)))

Reasons against (`meaning_features.REASONS`) have weights of at most nought and are unknown to the landmarks, so that
one more reason never raises either, and one in a short sentence limits both (`limits`). If all are taken back in a
short sentence of nearly the same words, this bounds the probability from below (`least_likely`). The same words are 5
and 1 by definition. There are two sets of weights, with and without sentence vectors, which
`scripts/train_similarity.py` learns.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import GrammarError
from forestalign.formats.fields import check_id
from forestalign.grammar import grammar_root
from forestalign.inputs import read_arrays, reading
from forestalign.lexicon import load_vectors
from forestalign.machine import with_one_thread
from forestalign.mining.edits import edits_of
from forestalign.mining.meaning_features import ANY_REASON
from forestalign.mining.sentence_vectors import compared, pooled_vector, projected
from forestalign.mining.similarity_features import alignment_features
from forestalign.mining.similarity_reasons import reasons_of
from forestalign.phrases.result.alignment import CHANGED, RELATED, SAME, UNRELATED, Alignment, Verdict
from forestalign.phrases.result.rising import is_taken_back
from forestalign.tokens import Sentence

VECTOR_FEATURES = ("cosine", "cosine, squared", "cosine, cubed", "cosine times aligned")
HIGHEST = 5.0
_SAME_CLAIM, _SAME_TOPIC = 2.5, 1.0  # the least scores of pairs that say something about the same thing, or topic
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
    "dimensions",
)
_DIGITS = 5
_FEW = 10  # words of a sentence in which reasons that are taken back decide


@dataclass(frozen=True, slots=True, repr=False)
class Similarity:
    """The verdict on a pair, the probability that both mean the same, a score from 0 to 5, and the reasons in words."""

    verdict: str
    probability: float
    score: float
    reasons: tuple[str, ...]

    def to_json(self, id: str) -> str:
        """One line of JSON."""
        check_id(id)
        return json.dumps({"id": id} | asdict(self), ensure_ascii=False)

    def __str__(self) -> str:
        return f"{self.verdict}\t{self.probability:.2f}\t{self.score:.2f}\t{'; '.join(self.reasons)}"

    def __repr__(self) -> str:
        return f"<Similarity {self.verdict} {self.probability:.2f}, score {self.score:.2f}>"

    def _repr_html_(self) -> str:
        from forestalign.terminal import lines_html

        return lines_html("\n".join([repr(self)[1:-1], *self.reasons]))


def similarity_of(alignment: Alignment) -> Similarity:
    """The verdict on a result, and why."""
    return Similarity(*alignment.judgement, reasons_of(alignment, edits_of(alignment)))


@dataclass(frozen=True, slots=True)
class VerdictModel:
    """Weights of score and paraphrase, [2, features + 1], bias last; `plain` is for pairs without sentence vectors.

    `plain_near` and `full_near`, [2, landmarks], are what it adds to each to be near a landmark.
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
    dimensions: FloatArray  # what products and distances of sentence vectors add to the score

    @with_one_thread
    def judge(self, alignment: Alignment) -> Verdict:
        """The verdict on a result; with vectors of its words, which a line does not hold, it is more exact."""
        edits, vectors = edits_of(alignment), load_vectors()
        if edits.is_same:
            return Verdict(SAME, 1.0, HIGHEST)
        found = alignment_features(alignment, edits, vectors)
        values = [found[name] for name in self.names]
        weights, near = self.plain, self.plain_near
        more = 0.0
        if (both := self._projected(alignment.source, alignment.target)) is not None:
            values += vector_features(float(both[0] @ both[1]), found["aligned"])
            weights, near, more = self.full, self.full_near, float(self.dimensions @ compared(*both))
        count = len(values)
        row = (np.array(values) - self.centre[:count]) / self.scale[:count]
        seen = without_reasons(row[None], self.names)
        nearby = nearness(seen, self.landmarks[:, :count], float(self.narrowness))[0]
        score, log_odds = map(float, weights[:, :-1] @ row + weights[:, -1] + near @ nearby)
        score += more
        highest, likeliest = limits(edits.contradictions, found["length"])
        least = least_likely(alignment, found) if not edits.contradictions else 0.0
        score = round(min(max(score, 0.0), highest), _DIGITS)
        probability = max(min(1 / (1 + math.exp(-min(max(log_odds, -50.0), 50.0))), likeliest), least)
        return Verdict(verdict_name(probability, score), round(probability, _DIGITS), score)

    def _projected(self, source: Sentence, target: Sentence) -> tuple[FloatArray, FloatArray] | None:
        """The vectors of two sentences; None if there are no vectors, or those of another encoder."""
        left, right = (pooled_vector(each, load_vectors()) for each in (source, target))
        if left is None or right is None or not len(left) == len(right) == len(self.projection):
            return None
        return projected(left, self.projection, self.offset), projected(right, self.projection, self.offset)


def verdict_name(probability: float, score: float) -> str:
    """What the numbers come to."""
    if probability >= 0.5:
        return SAME
    return CHANGED if score >= _SAME_CLAIM else RELATED if score >= _SAME_TOPIC else UNRELATED


def limits(reasons: Sized, length: float) -> tuple[float, float]:
    """The highest score and probability of a pair: the shorter the sentences, the more one reason against decides.

    `length` is the logarithm of the words of both. A detail of a long sentence may differ in what people call a
    paraphrase; half of the probability is reached at 15 words.
    """
    return (_HIGHEST_WITH_REASON, min(math.exp(length) / 2 / _DECIDED, 1.0)) if len(reasons) else (HIGHEST, 1.0)


def least_likely(alignment: Alignment, found: Mapping[str, float]) -> float:
    """The lowest probability of a pair without reasons against: the shorter, the more it says that all are taken back.

    *Larger* and *smaller* in a comparison turned round are no accident. Word order, by which long pairs of the same
    words are told apart, would call it one; half of the probability is reached at 10 words.
    """
    words = math.exp(found["length"]) / 2
    if found["same words"] == 0 or words >= 2 * _FEW:
        return 0.0
    is_same = is_taken_back(alignment.phrases, alignment.source, alignment.target, alignment.words)
    return 1 - words / (2 * _FEW) if is_same else 0.0


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
def load_verdicts() -> VerdictModel:
    """The shipped weights."""
    return read_verdicts(grammar_root() / "similarity.npz")


def read_verdicts(path: Path) -> VerdictModel:
    """Weights from a file of numpy's; GrammarError if their sizes do not fit together."""
    with reading(path, "file of weights of the similarity", GrammarError):
        content = read_arrays(path)
        arrays = {name: content[name] for name in _ARRAYS}
    names = tuple(str(name) for name in arrays.pop("names"))
    numbers = {name: array.astype(np.float64) for name, array in arrays.items()}
    count, more, near = len(names), len(names) + len(VECTOR_FEATURES), len(np.atleast_1d(numbers["landmarks"]))
    shapes = {"centre": (more,), "scale": (more,), "plain": (2, count + 1), "full": (2, more + 1)}
    shapes |= {"landmarks": (near, more), "narrowness": (), "plain_near": (2, near), "full_near": (2, near)}
    for name, shape in shapes.items():
        if numbers[name].shape != shape or not np.isfinite(numbers[name]).all():
            raise GrammarError(path, None, f"{name} is {numbers[name].shape}; expected finite numbers, {shape}")
    if numbers["projection"].ndim != 2 or numbers["offset"].shape != numbers["projection"].shape[1:]:
        found = numbers["projection"].shape, numbers["offset"].shape
        raise GrammarError(path, None, f"projection and offset are {found}; expected [pooled, few] and [few]")
    expected = (2 * len(numbers["offset"]),)
    if numbers["dimensions"].shape != expected or not np.isfinite(numbers["dimensions"]).all():
        raise GrammarError(
            path, None, f"dimensions is {numbers['dimensions'].shape}; expected finite numbers, {expected}"
        )
    return VerdictModel(names, **numbers)
