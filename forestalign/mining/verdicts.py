"""The verdict on two aligned sentences: same meaning, changed, related or unrelated, with a probability and a score.

It rests on features x (`verdict_features`; among them the cosine of the sentence vectors), on the differences d of the
alignment, and, where the parser gave vectors, on the dimensions y in which these agree. h = tanh(hidden x + bias), and

    log odds of the same meaning = linear0 . x + out0 . h + bias0 - against0 . d + trees(x, d)       with against >= 0
    likeness = 5 sigmoid(linear1 . x + out1 . h + bias1 + dimensions . y - against1 . d)

where the trees, boosted, never rise with a difference, so that one more difference never raises either. Public sets
tell little of sentences that share few words. The fewer are shared, the more the log odds are drawn to
reworded . (log odds, x, t, -d, 1), whose weights of the log odds and of -d are none below nought; t is `told_features`.
Where nothing contradicts, the log odds are drawn up to 1.5, the less the more is left out or stands elsewhere. The
score is the likeness, lowered as the probability falls (`joined_score`); the verdict follows from both. The same words
in the same order are the same by definition. `scripts/train_verdict.py` learns the weights.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.arrays import FloatArray, IntArray
from forestalign.errors import GrammarError
from forestalign.formats.fields import check_id
from forestalign.grammar import grammar_root
from forestalign.inputs import read_arrays, reading
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.lexicon.vectors import compared, pooled_vector, projected
from forestalign.lexicon.word_classes import WordClass, meaning_words, word_class
from forestalign.machine import with_one_thread
from forestalign.meaning.role_changes import RoleComparison
from forestalign.meaning.word_changes import signs_of
from forestalign.mining.verdict_features import TOLD, alignment_features, is_against, is_of_vectors, told_features
from forestalign.phrases.result.alignment import CHANGED, HIGHEST_SCORE, RELATED, SAME, UNRELATED, Alignment, Verdict
from forestalign.tokens import Sentence, standard_form

VECTOR_FEATURES = ("has vectors", "cosine", "cosine, squared", "cosine, cubed", "cosine times aligned")
FARTHEST = 4.0  # standard deviations from the mean that a feature can be
SAME_CLAIM, SAME_TOPIC = 2.6, 1.2  # the least likeness of sentences that say something about one thing, or topic
MOSTLY_ALIGNED = 0.6  # the least share of the words, by weight, that have partners in sentences about one topic
REWORDED, PARTLY = 0.45, 0.3  # the share of words up to which a pair is reworded, and how much above it is so in part
_PLAIN, _SHORT = 1.5, 12  # log odds of a pair without any difference, in so many words; in more, one may be overlooked
_SILENT = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION, WordClass.NEGATION})
_LOST = 0.3  # the share of the likeness that a pair loses that surely says something else
_SURE = 3.5  # the least score of a pair that surely says the same
_DIGITS = 5
_PARTS = {"ca": "can", "wo": "will", "n't": "not"}  # of contractions


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
    """The verdict on a result, and why: its differences, those that contradict first."""
    reasons = [each.reason for each in sorted(alignment.differences, key=lambda each: not each.contradicts)]
    if not reasons:
        what = "no difference was found" if alignment.verdict == SAME else "too little says that both mean the same"
        if alignment.verdict == CHANGED and (displaced := open_words(alignment)[0]):
            what = f"in other places: {', '.join(dict.fromkeys(displaced))}"
        reasons = ["the same words" if has_same_words(alignment) else what]
    return Similarity(*alignment.judgement, tuple(reasons))


def has_same_words(alignment: Alignment) -> bool:
    """Whether both sentences have the same words in the same order, apart from case, marks and informal spelling."""
    source, target = (_plain_words(each) for each in (alignment.source, alignment.target))
    signs = signs_of(alignment.source).keys(), signs_of(alignment.target).keys()
    return source == target and not (all(signs) and signs[0] != signs[1])


def open_words(alignment: Alignment) -> tuple[list[str], list[str]]:
    """The words of content that stand elsewhere than their partners, and those without any, with no line of the grammar
    that explains it."""
    meaning, links, displaced, bare = alignment.meaning, alignment.words, list[str](), list[str]()
    lines, turned = meaning.correspondences, [each.mirrored() for each in meaning.correspondences]
    for own, other, linked, said in (
        (meaning.source, meaning.target, links, lines),
        (meaning.target, meaning.source, links.mirrored(), turned),
    ):
        moved = set(RoleComparison.of(own, other, linked, load_wordnet(), said).displaced(said))
        told = {word for each in said if not each.is_opposite for word in each.source.words}
        told |= {link.source for link in linked}
        for k, token in enumerate(own.sentence.tokens):
            if word_class(token) not in _SILENT and (k in moved or k not in told):
                (displaced if k in moved else bare).append(token.text)
    return displaced, bare


def _plain_words(sentence: Sentence) -> str:
    """The words as one string, so that *ca n't* is *cannot*."""
    words = [_PARTS.get(word.lower(), standard_form(word).lower().replace(" ", "")) for word in sentence.words]
    return "".join(word for word in words if any(map(str.isalnum, word))) or "".join(words)


@dataclass(frozen=True, slots=True)
class VerdictModel:
    """Weights of the log odds and of the likeness, a row each."""

    names: tuple[str, ...]  # of the features that the two sentences alone give, then VECTOR_FEATURES
    centre: FloatArray
    scale: FloatArray
    hidden: FloatArray  # [units, features]
    hidden_bias: FloatArray
    linear: FloatArray
    out: FloatArray
    bias: FloatArray
    against: FloatArray  # [2, differences], none below nought
    projection: FloatArray
    offset: FloatArray
    dimensions: FloatArray  # what products and distances of sentence vectors add to the likeness
    tree_features: IntArray  # [trees, nodes] of features and differences; a leaf is its own child
    tree_thresholds: FloatArray  # up to which the first child is taken
    tree_children: IntArray  # [trees, nodes, 2]
    tree_values: FloatArray
    reworded: FloatArray

    @with_one_thread
    def judge(self, alignment: Alignment) -> Verdict:
        """The verdict on a result; with vectors of its words, which a line does not hold, it is more exact."""
        if has_same_words(alignment):
            return Verdict(SAME, 1.0, float(HIGHEST_SCORE))
        found = alignment_features(alignment, load_vectors())
        against = np.array([value for name, value in found.items() if is_against(name)])
        both = self._projected(alignment.source, alignment.target)
        values = [found[name] for name in self.names if name in found]
        values += vector_features(float(both[0] @ both[1]), found["aligned"]) if both else [0.0] * len(VECTOR_FEATURES)
        row = scaled(np.array(values), self.centre, self.scale, self.names, both is not None)
        units = np.tanh(self.hidden @ row + self.hidden_bias)
        log_odds, likeness = self.linear @ row + self.out @ units + self.bias - self.against @ against
        trees = self.tree_features, self.tree_thresholds, self.tree_children, self.tree_values
        log_odds += sum_trees(np.concatenate([row, against])[None], *trees)[0]
        told = told_features(alignment)
        share = reworded_share(found["shared words"])
        log_odds += share * (self.reworded @ [log_odds, *row, *told, *-against, 1.0] - log_odds)
        contradicts = any(each.contradicts for each in alignment.differences)
        is_open = not contradicts and log_odds < _PLAIN
        displaced, bare = open_words(alignment) if is_open else ([], [])
        plain = 0.5 ** (len(alignment.differences) + len(displaced + bare) / 2) if is_open else 0.0
        plain *= min(1.0, _SHORT / min(len(alignment.source), len(alignment.target)))
        log_odds += plain * min(max(_PLAIN - log_odds, 0.0), _PLAIN)
        likeness += float(self.dimensions @ compared(*both)) if both else 0.0
        probability, likeness = _sigmoid(float(log_odds)), HIGHEST_SCORE * _sigmoid(float(likeness))
        name = verdict_name(probability, likeness, contradicts, found["least aligned"])
        if name == CHANGED and not alignment.differences and not displaced:
            name = RELATED  # nothing can be shown that changed
        return Verdict(name, round(probability, _DIGITS), round(joined_score(probability, likeness), _DIGITS))

    def _projected(self, source: Sentence, target: Sentence) -> tuple[FloatArray, FloatArray] | None:
        """The vectors of two sentences; None if there are no vectors, or those of another encoder."""
        left, right = (pooled_vector(each, load_vectors()) for each in (source, target))
        if left is None or right is None or not len(left) == len(right) == len(self.projection):
            return None
        return projected(left, self.projection, self.offset), projected(right, self.projection, self.offset)


def sum_trees(
    rows: FloatArray, features: IntArray, thresholds: FloatArray, children: IntArray, values: FloatArray
) -> FloatArray:
    """What trees come to for rows of scaled features and differences: each adds the value of the leaf it leads to."""
    trees, places = np.arange(len(values)), np.arange(len(rows))[:, None]
    nodes = np.zeros((len(rows), len(trees)), np.int64)
    while True:
        is_above = rows[places, features[trees, nodes]] > thresholds[trees, nodes]
        below = children[trees, nodes, is_above.astype(np.int64)]
        if (below == nodes).all():
            return np.asarray(values[trees, nodes].sum(axis=1))
        nodes = below


def reworded_share(shared: Any) -> Any:
    """How far sentences that share so many words (Dice) are reworded, from 0 to 1."""
    return np.clip((REWORDED + PARTLY - shared) / PARTLY, 0.0, 1.0)


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-min(max(value, -30.0), 30.0)))


def vector_features(cosine: float, aligned: float) -> list[float]:
    """What the cosine of two sentences adds, in the order of VECTOR_FEATURES."""
    return [1.0, cosine, cosine**2, cosine**3, cosine * aligned]


def scaled(
    rows: FloatArray, centre: FloatArray, scale: FloatArray, names: Sequence[str], has_vectors: bool
) -> FloatArray:
    """Features by mean and deviation; those of vectors are nought where there are none."""
    found = np.clip((rows - centre) / scale, -FARTHEST, FARTHEST)
    if not has_vectors:
        found[..., [is_of_vectors(name) or name in VECTOR_FEATURES[1:] for name in names]] = 0.0
    return np.asarray(found)


def joined_score(probability: float, likeness: float) -> float:
    """The score of a pair: its likeness, less for what says something else, and not too little for what is the same."""
    return max(likeness * (1 - _LOST * (1 - probability)), _SURE * (2 * probability - 1))


def verdict_name(probability: float, likeness: float, contradicts: bool, aligned: float) -> str:
    """What the numbers come to; sentences about one topic that contradict each other say something about one thing.

    They are about one topic if they are alike, or if most of the words of both, `aligned` of them, have partners.
    """
    if probability >= 0.5:
        return SAME
    is_related = likeness >= SAME_TOPIC or aligned >= MOSTLY_ALIGNED
    if likeness >= SAME_CLAIM or (is_related and contradicts):
        return CHANGED
    return RELATED if is_related else UNRELATED


@cache
def load_verdicts() -> VerdictModel:
    """The shipped weights."""
    return read_verdicts(grammar_root() / "verdict.npz")


def read_verdicts(path: Path) -> VerdictModel:
    """Weights from a file of numpy's; GrammarError if their sizes do not fit together."""
    with reading(path, "file of weights of the verdict", GrammarError):
        content = read_arrays(path)
        arrays = {name: content[name] for name in VerdictModel.__dataclass_fields__}
    names = tuple(str(name) for name in arrays.pop("names"))
    whole = ("tree_features", "tree_children")
    numbers: dict[str, Any] = {name: array.astype(int if name in whole else float) for name, array in arrays.items()}
    count, units, told = len(names), np.size(numbers["hidden_bias"]), TOLD + len(meaning_words().telling)
    trees, against = numbers["tree_values"].shape[:2], np.size(numbers["against"]) // 2
    shapes: dict[str, tuple[int, ...]] = {
        "centre": (count,), "scale": (count,), "hidden": (units, count), "hidden_bias": (units,), "linear": (2, count),
        "out": (2, units), "bias": (2,), "against": (2, against), "dimensions": (2 * np.size(numbers["offset"]),),
        "tree_features": trees, "tree_thresholds": trees, "tree_children": (*trees, 2),
        "reworded": (count + told + against + 2,),
    }  # fmt: skip
    if numbers["projection"].ndim != 2 or numbers["offset"].shape != numbers["projection"].shape[1:]:
        found = numbers["projection"].shape, numbers["offset"].shape
        raise GrammarError(path, None, f"projection and offset are {found}; expected [pooled, few] and [few]")
    for name, shape in shapes.items():
        if numbers[name].shape != shape or not np.isfinite(numbers[name]).all():
            raise GrammarError(path, None, f"{name} is {numbers[name].shape}; expected finite numbers, {shape}")
    features, children = numbers["tree_features"], numbers["tree_children"]
    is_later = (np.arange(trees[1])[:, None] <= children) & (children < trees[1])
    if not ((features >= 0) & (features < count + shapes["against"][1]) & is_later.all(axis=2)).all():
        raise GrammarError(path, None, "tree_features or tree_children lead out of the tree; expected later nodes")
    return VerdictModel(names, **numbers)
