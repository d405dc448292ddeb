"""What an aligned pair shows of its similarity, as numbers that do not change when the sentences are exchanged.

Weights of words are their inverse document frequencies; a word counts as aligned by the best score of its links. What
depends on the settings of the search (scores, posteriors) is left out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.lexicon import WordVectors
from forestalign.lexicon.findings import DIFFERENT, EQUAL, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE, SIMILAR
from forestalign.mining.edit_sides import EditSide, word_kind
from forestalign.mining.edits import EditKind, PairEdits
from forestalign.mining.meaning_features import ANY_REASON, meaning_features
from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.scoring.schema import WordClass

CLASSES = ("name", "number", "noun", "verb", "other content", "function")
_RELATIONS = {
    "same": ("kept",),
    "equal": (EQUAL,),
    "similar": (SIMILAR, ""),
    "wider": (MORE_GENERAL, MORE_SPECIFIC),
    "opposite": (OPPOSITE,),
    "different": (DIFFERENT,),
}
_FEW_SHARED = 0.7  # of the words; pairs that share less are not told apart by order
_LEAST_IDF = 0.02  # so that a sentence of function words has weights, too


@dataclass(frozen=True, slots=True)
class _WeighedSide:
    """One sentence with weights, classes and the aligned share of each word."""

    side: EditSide
    weights: FloatArray
    classes: tuple[str, ...]
    aligned: FloatArray

    @property
    def mass(self) -> float:
        return float(self.weights.sum()) or 1.0

    def share(self, numbers: Sequence[float] | FloatArray) -> float:
        """The weighted mean of numbers of the words."""
        return float(self.weights @ np.asarray(numbers, np.float64)) / self.mass

    def missing(self, kind: str) -> float:
        """The weight of the words of a class that have no partner, as a share of all."""
        return self.share(
            [(1 - aligned) * (each == kind) for aligned, each in zip(self.aligned, self.classes, strict=True)]
        )


def alignment_features(alignment: Alignment, edits: PairEdits, vectors: WordVectors) -> dict[str, float]:
    """Names and values of all features that need no sentence vectors."""
    source, target = _sides(alignment, vectors.idf)
    found: dict[str, float] = {"kept": edits.kept_share}
    found |= _shares(source, target)
    found |= {f"missing {kind}": source.missing(kind) + target.missing(kind) for kind in CLASSES}
    found |= {f"most missing {kind}": max(source.missing(kind), target.missing(kind)) for kind in CLASSES}
    found |= _relation_shares(edits, source, target)
    found |= _edit_counts(edits)
    found |= _lengths(source, target)
    found |= _surface(source, target)
    found |= _static_vectors(source, target, vectors)
    found |= _near_links(alignment, source, target, vectors)
    found |= meaning_features(alignment, edits.contradictions)
    return found | _gated(found)


def _gated(found: dict[str, float]) -> dict[str, float]:
    """All features once more for pairs of nearly the same words, where order decides; nought where few are shared.

    Reasons against are left out: each has one weight.
    """
    gate = min(max((found["shared words"] - _FEW_SHARED) / (1 - _FEW_SHARED), 0.0), 1.0)
    return {f"same words: {name}": gate * value for name, value in found.items() if not name.startswith(ANY_REASON)} | {
        "same words": gate
    }


def _sides(alignment: Alignment, idf: Callable[[str], float]) -> tuple[_WeighedSide, _WeighedSide]:
    sides = []
    for number, side in enumerate(
        (
            EditSide.of(alignment.source, alignment.source_tree),
            EditSide.of(alignment.target, alignment.target_tree),
        )
    ):
        weights = np.array([_weight(side, word, idf) for word in range(len(side.words))])
        aligned = np.zeros(len(side.words))
        for link in alignment.words:
            word = (link.source, link.target)[number]
            aligned[word] = max(aligned[word], link.score)
        sides.append(
            _WeighedSide(side, weights, tuple(word_kind(side, word) for word in range(len(side.words))), aligned)
        )
    return sides[0], sides[1]


def _weight(side: EditSide, word: int, idf: Callable[[str], float]) -> float:
    return 0.0 if side.classes[word] == WordClass.PUNCTUATION else _LEAST_IDF + idf(side.words[word])


def _shares(source: _WeighedSide, target: _WeighedSide) -> dict[str, float]:
    """Aligned shares: by weight, by content words, and of the side that has less of it."""
    weighted = source.share(source.aligned), target.share(target.aligned)
    mass = source.mass + target.mass
    whole = (source.mass * weighted[0] + target.mass * weighted[1]) / mass
    return {
        "aligned": whole,
        "aligned, squared": whole**2,
        "least aligned": min(weighted),
        "most aligned": max(weighted),
        "product of aligned": weighted[0] * weighted[1],
        "sure": sum(side.mass * side.share((side.aligned > 0.9).astype(np.float64)) for side in (source, target))
        / mass,
    }


def _relation_shares(edits: PairEdits, source: _WeighedSide, target: _WeighedSide) -> dict[str, float]:
    """The weight of what was kept and of what was replaced, by relation."""
    masses: dict[str, float] = defaultdict(float)
    for edit in edits.edits:
        if edit.kind in (EditKind.KEPT, EditKind.REPLACED) and edit.source and edit.target:
            relation = "kept" if edit.kind is EditKind.KEPT else edit.relation
            masses[relation] += float(source.weights[slice(*edit.source)].sum())
            masses[relation] += float(target.weights[slice(*edit.target)].sum())
    whole = source.mass + target.mass
    return {name: sum(masses[each] for each in kinds) / whole for name, kinds in _RELATIONS.items()}


def _edit_counts(edits: PairEdits) -> dict[str, float]:
    """Up to three edits of a kind, as more make no difference."""
    counts = {"moves": len(edits.of_kind(EditKind.MOVED)), "voices": len(edits.of_kind(EditKind.VOICE))}
    return {name: min(count, 3) / 3 for name, count in counts.items()}


def _lengths(source: _WeighedSide, target: _WeighedSide) -> dict[str, float]:
    counts = source.side.content_count() or 1, target.side.content_count() or 1
    return {
        "length ratio": min(counts) / max(counts),
        "mass ratio": min(source.mass, target.mass) / max(source.mass, target.mass),
        "length": math.log(sum(counts)),
        "length difference": min(abs(counts[0] - counts[1]), 20) / 20,
    }


def _surface(source: _WeighedSide, target: _WeighedSide) -> dict[str, float]:
    """Shared words, pairs of words and groups of three and four letters."""
    words = [[word.lower() for word in side.side.words if any(map(str.isalnum, word))] for side in (source, target)]
    pairs = [list(pairwise(each)) for each in words]
    texts = [f" {' '.join(each)} " for each in words]
    found = {"shared words": _dice(*words), "shared pairs of words": _dice(*pairs)}
    for size in (3, 4):
        groups = [[text[k : k + size] for k in range(len(text) - size + 1)] for text in texts]
        found[f"shared groups of {size} letters"] = _dice(*groups)
    return found


def _dice(left: Sequence[object], right: Sequence[object]) -> float:
    shared = sum((Counter(left) & Counter(right)).values())
    return 2 * shared / (len(left) + len(right)) if left or right else 1.0


def _near_links(
    alignment: Alignment, source: _WeighedSide, target: _WeighedSide, vectors: WordVectors
) -> dict[str, float]:
    """Aligned shares in which a link counts as much as its words are alike: the same, or near by static vectors."""
    near = np.zeros(len(source.weights)), np.zeros(len(target.weights))
    for link in alignment.words:
        words = source.side.words[link.source].lower(), target.side.words[link.target].lower()
        likeness = 1.0 if words[0] == words[1] else max(vectors.cosine(*words), 0.0)
        for side, word in enumerate((link.source, link.target)):
            near[side][word] = max(near[side][word], likeness * link.score)
    shares = source.share(near[0]), target.share(near[1])
    whole = (source.mass * shares[0] + target.mass * shares[1]) / (source.mass + target.mass)
    return {"near links": whole, "least near links": min(shares), "near links, squared": whole**2}


def _static_vectors(source: _WeighedSide, target: _WeighedSide, vectors: WordVectors) -> dict[str, float]:
    """Weighted means of the words' static vectors, and each word against the nearest word of the other side."""
    rows = [vectors.matrix(side.side.words).astype(np.float64) for side in (source, target)]
    cosines = rows[0] @ rows[1].T
    means = [side.weights @ each for side, each in zip((source, target), rows, strict=True)]
    norm = float(np.linalg.norm(means[0]) * np.linalg.norm(means[1]))
    nearest = (
        source.share(np.clip(cosines.max(axis=1), 0, 1)),
        target.share(np.clip(cosines.max(axis=0), 0, 1)),
    )
    return {
        "static vectors": float(means[0] @ means[1]) / norm if norm else 0.0,
        "nearest words": sum(nearest) / 2,
        "least near words": min(nearest),
    }
