"""What an aligned pair shows of its meaning, as numbers that do not change when the sentences are exchanged.

Weights of words are their inverse document frequencies; a word counts as aligned by the best score of its links. What
depends on the settings of the search (scores, posteriors) is left out. Same words in another order can mean the same
or not: if they do, constituents stay together and words keep their heads; if not, links scatter. Features of word
vectors are nought where the parser gave none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.dependencies import Dependencies
from forestalign.lexicon import WordVectors, load_wordnet
from forestalign.lexicon.findings import EQUAL
from forestalign.lexicon.word_classes import WordClass, meaning_words, word_class
from forestalign.meaning.claims import find_negations
from forestalign.meaning.differences import ADDED, KINDS, LEFT_OUT, Difference
from forestalign.meaning.readings import Reading
from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.result.pair_relations import SMALL
from forestalign.tokens import Sentence
from forestalign.trees import Tree, preorder
from forestalign.words.alignment import WordAlignment

CLASSES = ("name", "number", "noun", "verb", "other content", "function")
AGAINST = (*(kind for kind in KINDS if kind not in (LEFT_OUT, ADDED)), "left out or added")  # one weight each
MOST = 3  # differences of a kind that are counted
TOLD = 5  # features of lines and negations
_LEAST_IDF = 0.02  # so that a sentence of function words has weights, too
_DECIDED = 12  # words of a sentence up to which a difference has its full weight


@dataclass(frozen=True, slots=True)
class _Side:
    """One sentence with weights, classes and the aligned share of each word."""

    sentence: Sentence
    tree: Tree
    weights: FloatArray
    kinds: tuple[str, ...]
    is_small: tuple[bool, ...]
    aligned: FloatArray
    dependencies: Dependencies

    @classmethod
    def of(cls, reading: Reading, words: WordAlignment, vectors: WordVectors) -> _Side:
        sentence = reading.sentence
        kinds = tuple(_kind(token.text, token.tag, word_class(token)) for token in sentence.tokens)
        weights = [
            kind != "" and _LEAST_IDF + vectors.idf(word) for kind, word in zip(kinds, sentence.words, strict=True)
        ]
        aligned = np.zeros(len(kinds))
        for link in words:
            aligned[link.source] = max(aligned[link.source], link.score)
        is_small = tuple(word_class(token) in SMALL for token in sentence.tokens)
        rows = np.array(weights, np.float64)
        return cls(sentence, reading.tree, rows, kinds, is_small, aligned, reading.dependencies)

    @property
    def mass(self) -> float:
        return float(self.weights.sum()) or 1.0

    @property
    def count(self) -> int:
        """Words that are not marks of punctuation."""
        return sum(map(bool, self.kinds)) or 1

    def share(self, numbers: FloatArray) -> float:
        """The weighted mean of numbers of the words."""
        return float(self.weights @ numbers) / self.mass


def _kind(word: str, tag: str, kind: WordClass) -> str:
    if kind == WordClass.PUNCTUATION or not word:
        return ""
    if kind == WordClass.NUMBER:
        return "number"
    if tag.startswith("NNP"):
        return "name"
    if kind == WordClass.FUNCTION:
        return "function"
    return "noun" if tag.startswith("NN") else "verb" if tag.startswith("VB") else "other content"


def alignment_features(alignment: Alignment, vectors: WordVectors) -> dict[str, float]:
    """Names and values of all features; those of AGAINST are the only ones that see the differences."""
    links = alignment.words
    source = _Side.of(alignment.meaning.source, links, vectors)
    target = _Side.of(alignment.meaning.target, links.mirrored(), vectors)
    found = _shares(source, target)
    for kind in CLASSES:
        missing = [(np.array(each.kinds) == kind) * (1 - each.aligned) for each in (source, target)]
        found[f"missing {kind}"] = sum(side.share(each) for side, each in zip((source, target), missing, strict=True))
        found[f"missing {kind}s"] = min(float(missing[0].sum() + missing[1].sum()), 3) / 3
        found[f"unequal {kind}s"] = min(abs(float(missing[0].sum() - missing[1].sum())), 3) / 3
    found |= _surface(source, target)
    found |= _static_vectors(source, target, vectors)
    found |= _word_pairs(source, target, links, vectors)
    found |= _unexplained(source, target, alignment)
    found |= _mean(_order(source, links), _order(target, links.mirrored()))
    found |= _mean(_kept_edges(source, target, links), _kept_edges(target, source, links.mirrored()))
    found |= _phrases(alignment)
    found |= _word_vectors(source, target, links)
    return found | _against(alignment.differences, min(source.count, target.count), found["aligned"])


def told_features(alignment: Alignment) -> list[float]:
    """What lines of the grammar say, negations, and kinds of telling words that stand on one side only."""
    meaning = alignment.meaning
    lines = [each for each in meaning.correspondences if each.source.has_content and each.target.has_content]
    counts = Counter("swapped" if each.swapped else "opposite" if each.is_opposite else "" for each in lines)
    negations = len(find_negations(meaning.source)) + len(find_negations(meaning.target))
    words = [{*side.lemmas, *side.sentence.lower_words} for side in (meaning.source, meaning.target)]
    kinds = sorted(map(sorted, meaning_words().telling))
    told = [min(counts[""], MOST) / MOST, min(counts["opposite"], 2) / 2, min(counts["swapped"], 2) / 2]
    told += [negations % 2, min(negations, MOST) / MOST]
    return told + [words[0].isdisjoint(kind) != words[1].isdisjoint(kind) for kind in kinds]


def is_against(name: str) -> bool:
    """Whether a feature counts differences."""
    return name.startswith("against")


def is_of_vectors(name: str) -> bool:
    """Whether a feature needs vectors of the words in their sentences."""
    return name.endswith("vectors") and name not in ("static vectors", "has vectors")


def _against(differences: Sequence[Difference], length: int, aligned: float) -> dict[str, float]:
    """How many differences of each kind; a detail of a long sentence matters less, one among words that agree more."""
    counts = Counter(each.kind for each in differences)
    counts[AGAINST[-1]] = max(counts[LEFT_OUT], counts[ADDED])
    found = {kind: min(counts[kind], MOST) / MOST for kind in AGAINST}
    found["any difference"] = float(any(each.contradicts for each in differences))
    return {f"against: {kind}": value for kind, value in found.items()} | {
        f"against, {name}: {kind}": share * value
        for name, share in (("short", min(1.0, _DECIDED / length)), ("covered", aligned**2))
        for kind, value in found.items()
    }


def _mean(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """The mean and the lesser of both directions."""
    means = {name: (value + other[name]) / 2 for name, value in one.items()}
    return means | {f"least {name}": min(value, other[name]) for name, value in one.items()}


def _shares(source: _Side, target: _Side) -> dict[str, float]:
    """Aligned shares: by weight, by words that are surely aligned, and of the side that has less of it; lengths."""
    counts = source.count, target.count
    shares = source.share(source.aligned), target.share(target.aligned)
    mass = source.mass + target.mass
    whole = (source.mass * shares[0] + target.mass * shares[1]) / mass
    sure = sum(side.mass * side.share((side.aligned > 0.9).astype(np.float64)) for side in (source, target)) / mass
    return {
        "aligned": whole,
        "aligned, squared": whole**2,
        "least aligned": min(shares),
        "most aligned": max(shares),
        "sure": sure,
        "length ratio": min(counts) / max(counts),
        "mass ratio": min(source.mass, target.mass) / max(source.mass, target.mass),
        "length": math.log(sum(counts)),
        "length difference": min(abs(counts[0] - counts[1]), 20) / 20,
    }


def _surface(source: _Side, target: _Side) -> dict[str, float]:
    """Shared words, pairs of words and groups of three letters."""
    words = [[word.lower() for word in side.sentence.words if any(map(str.isalnum, word))] for side in (source, target)]
    texts = [f" {' '.join(each)} " for each in words]
    return {
        "shared words": _dice(*words),
        "shared pairs of words": _dice(*(list(pairwise(each)) for each in words)),
        "shared groups of letters": _dice(*([text[k : k + 3] for k in range(len(text) - 2)] for text in texts)),
    }


def _dice(left: Sequence[object], right: Sequence[object]) -> float:
    shared = sum((Counter(left) & Counter(right)).values())
    return 2 * shared / (len(left) + len(right)) if left or right else 1.0


def _static_vectors(source: _Side, target: _Side, vectors: WordVectors) -> dict[str, float]:
    """Weighted means of the words' static vectors, and each word against the nearest word of the other side."""
    rows = [vectors.matrix(side.sentence.words).astype(np.float64) for side in (source, target)]
    means = source.weights @ rows[0], target.weights @ rows[1]
    norm = float(np.linalg.norm(means[0]) * np.linalg.norm(means[1]))
    nearest = _nearest(source, target, rows[0] @ rows[1].T, "near words")
    return nearest | {"static vectors": float(means[0] @ means[1]) / norm if norm else 0.0}


def _nearest(source: _Side, target: _Side, cosines: FloatArray, name: str) -> dict[str, float]:
    """How near the words come to the nearest of the other side: their mean, that of the worse side, and the worst."""
    best = np.clip(cosines.max(axis=1), 0, 1), np.clip(cosines.max(axis=0), 0, 1)
    shares = source.share(best[0]), target.share(best[1])
    worst = sorted(
        float(value)
        for side, each in zip((source, target), best, strict=True)
        for value, kind in zip(each, side.kinds, strict=True)
        if kind not in ("", "function")
    )
    worst += [1.0] * (2 - len(worst))
    return {
        name: sum(shares) / 2,
        f"least {name}": min(shares),
        f"worst of {name}": worst[0],
        f"second of {name}": worst[1],
    }


def _word_pairs(source: _Side, target: _Side, links: WordAlignment, vectors: WordVectors) -> dict[str, float]:
    """Linked words of content that are not the same: how many, how alike, and what WordNet knows of them."""
    wordnet, length = load_wordnet(), source.count + target.count
    near = np.zeros(len(source.weights)), np.zeros(len(target.weights))
    cosines: list[float] = [1.0]
    counts = {"same word": 0, "synonyms": 0, "antonyms": 0, "general": 0, "strangers": 0, "other number": 0}
    for link in links:
        words = source.sentence.words[link.source].lower(), target.sentence.words[link.target].lower()
        lemmas = source.sentence.lemmas[link.source], target.sentence.lemmas[link.target]
        cosine = 1.0 if words[0] == words[1] else max(vectors.cosine(*words), 0.0)
        near[0][link.source] = max(near[0][link.source], cosine * link.score)
        near[1][link.target] = max(near[1][link.target], cosine * link.score)
        if source.is_small[link.source] and target.is_small[link.target]:
            continue
        if lemmas[0] == lemmas[1]:
            counts["same word"] += 1
            continue
        cosines.append(cosine)
        if "number" in (source.kinds[link.source], target.kinds[link.target]):
            counts["other number"] += 1
        if wordnet.are_synonyms(*lemmas) or wordnet.are_derivations(*lemmas):
            counts["synonyms"] += 1
        elif wordnet.are_antonyms(*lemmas):
            counts["antonyms"] += 1
        elif wordnet.is_hypernym(*lemmas) or wordnet.is_hypernym(*lemmas[::-1]):
            counts["general"] += 1
        else:
            counts["strangers"] += 1
    shares = source.share(near[0]), target.share(near[1])
    found = {f"linked {name}": 2 * count / length for name, count in counts.items()}
    found |= {f"any linked {name}": min(count, 2) / 2 for name, count in counts.items() if name != "same word"}
    return found | {
        "least cosine of a pair": min(cosines),
        "mean cosine of a pair": sum(cosines) / len(cosines),
        "near links": (source.mass * shares[0] + target.mass * shares[1]) / (source.mass + target.mass),
        "least near links": min(shares),
    }


def _unexplained(source: _Side, target: _Side, alignment: Alignment) -> dict[str, float]:
    """Words of content that neither the same word, a synonym nor other evidence for a phrase explains."""
    known: tuple[set[int], set[int]] = (set(), set())
    for pair in alignment.phrases.pairs:
        if pair.relation == EQUAL and pair.evidence != ("links",) and not set(pair.evidence) <= {"links", "similarity"}:
            known[0].update(range(*pair.source))
            known[1].update(range(*pair.target))
    for one in alignment.phrases.scattered:
        if one.relation == EQUAL:
            known[0].update(one.source)
            known[1].update(one.target)
    lemmas, wordnet = (source.sentence.lemmas, target.sentence.lemmas), load_wordnet()
    for link in alignment.words:
        words = lemmas[0][link.source], lemmas[1][link.target]
        if words[0] == words[1] or wordnet.are_synonyms(*words) or wordnet.are_derivations(*words):
            known[0].add(link.source)
            known[1].add(link.target)
    open_words = [
        np.array([not small and k not in own for k, small in enumerate(side.is_small)], np.float64)
        for side, own in zip((source, target), known, strict=True)
    ]
    shares = source.share(open_words[0]), target.share(open_words[1])
    counts = float(open_words[0].sum()), float(open_words[1].sum())
    return {
        "unexplained": sum(shares) / 2,
        "most unexplained": max(shares),
        "least unexplained": min(shares),
        "unexplained words": min(sum(counts), 6) / 6,
        "any unexplained word": min(sum(counts), 1),
        "words on both sides": min(*counts, 2) / 2,
        "words on one side": min(max(counts) - min(counts), 3) / 3,
    }


def _order(side: _Side, links: WordAlignment) -> dict[str, float]:
    """Of the constituents with several linked words, those whose partners stand together; of pairs, those in order."""
    pairs = sorted((link.source, link.target) for link in links if not side.is_small[link.source])
    together = whole = 0
    for node in preorder(side.tree):
        if node.word is not None:
            continue
        inside = [target for source, target in pairs if node.begin <= source < node.end]
        if len(inside) < 2 or len(inside) == len(pairs):
            continue
        low, high = min(inside), max(inside)
        whole += 1
        together += not any(low < target < high and not node.begin <= source < node.end for source, target in pairs)
    steps = [(one[1] < other[1]) for one, other in combinations(pairs, 2) if one[0] != other[0] and one[1] != other[1]]
    return {
        "constituents together": together / whole if whole else 1.0,
        "kept order": sum(steps) / len(steps) if steps else 1.0,
    }


def _kept_edges(side: _Side, other: _Side, links: WordAlignment) -> dict[str, float]:
    """Of the dependencies between words with partners, those that hold between the partners, and with their label."""
    own, its = side.dependencies, other.dependencies
    partner = {link.source: link.target for link in sorted(links, key=lambda link: (link.score, -link.target))}
    edges = [
        (partner[word], partner[head], own.relations[word], word)
        for word, head in enumerate(own.heads)
        if head in partner and word in partner and not side.is_small[word]
    ]
    kept = [its.heads[word] == head for word, head, *_ in edges]
    named = [its.heads[word] == head and its.relations[word] == name for word, head, name, _ in edges]
    count = len(edges) or 1
    lost = (own.relations[word] for (*_, word), is_kept in zip(edges, kept, strict=True) if not is_kept)
    return {
        "kept heads": sum(kept) / count if edges else 1.0,
        "kept roles": sum(named) / count if edges else 1.0,
        "no lost argument": float(
            not any(name.startswith(("nsubj", "obj", "iobj", "amod", "nummod")) for name in lost)
        ),
    }


def _phrases(alignment: Alignment) -> dict[str, float]:
    """Shares of pairs that are not composed, turned round, discontinuous or loose."""
    found, length = alignment.phrases, len(alignment.source) + len(alignment.target)
    inner = [pair for pair in found.pairs if pair.supports] or list(found.pairs)
    count = len(inner) or 1
    return {
        "composed phrases": sum(pair.compositional for pair in inner) / count,
        "inverted phrases": sum(pair.inverted for pair in inner) / count,
        "phrases per word": 2 * len(found.pairs) / length,
        "discontinuous pairs": min(len(found.joined), MOST) / MOST,
        "pairs by evidence": sum(pair.evidence != ("links",) for pair in inner) / count,
        "reached root": float(found.reached_root and not found.completed),
    }


def _word_vectors(source: _Side, target: _Side, links: WordAlignment) -> dict[str, float]:
    """How near words come in the sentences they stand in, by two kinds of vectors."""
    found: dict[str, float] = {}
    for name in ("context_vectors", "vectors"):
        rows = getattr(source.sentence, name), getattr(target.sentence, name)
        is_known = rows[0] is not None and rows[1] is not None and rows[0].shape[1] == rows[1].shape[1]
        cosines = _unit(rows[0]) @ _unit(rows[1]).T if is_known else np.zeros((len(source.kinds), len(target.kinds)))
        found |= _nearest(source, target, cosines, f"near {name}")
        pairs = [
            float(cosines[link.source, link.target])
            for link in links
            if not (source.is_small[link.source] and target.is_small[link.target])
        ] or [0.0]
        found[f"least linked {name}"] = min(pairs)
        found[f"mean linked {name}"] = sum(pairs) / len(pairs)
    return found


def _unit(rows: FloatArray) -> FloatArray:
    wide = np.asarray(rows, np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-9))
