"""The learned similarity of phrases: how likely two nodes with little or no link inside are each other's partner.

Word links, vectors, lexicon, shapes and surroundings of two spans (`span_pairs`) are weighed by a logistic model,
trained on human gold by scripts/train_phrase_similarity.py. Only spans of at most LONGEST words are asked about, at
least one of the two of several words, which hold and lose little of the word links; the few likeliest become evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from forestalign.arrays import BoolArray, FloatArray
from forestalign.errors import GrammarError
from forestalign.forest import Forest
from forestalign.grammar import grammar_root, punctuation_tags
from forestalign.lexicon.findings import EQUAL, SIMILAR
from forestalign.phrases.evidence.logistic import Weighting, logistic, read_number, read_record, read_weighting
from forestalign.phrases.evidence.phrase_evidence import SIMILARITY, PhraseEvidence
from forestalign.phrases.evidence.span_context import SpanContext, SpanSide
from forestalign.phrases.evidence.span_pairs import SYMMETRIC, SYMMETRIC_PART, span_features
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordAlignment

LONGEST = 8  # words of a phrase
ANYWHERE = 0.85  # share of the words of a phrase, by weight, that may be linked at all
INSIDE, ELSEWHERE = 0.7, 0.5  # share of the words of a phrase, by weight, that may be linked inside, or to elsewhere
LIKELY_LINK = 0.5  # probability of a link from which it counts as one
MOST_PHRASES = 4  # phrases per pair of sentences
DIGITS = 4  # of a probability, so that the order of the sentences does not show
_INSIDE, _LEAVING = SYMMETRIC.index("links, greater side"), SYMMETRIC.index("links leaving, greater")


@dataclass(frozen=True, slots=True, eq=False)
class PhraseSimilarityModel:
    """Weights of the features of two spans, and the probability above which they are evidence."""

    weighting: Weighting
    threshold: float

    def probabilities(self, features: FloatArray) -> FloatArray:
        """How likely each pair of spans is right."""
        return logistic(self.weighting(features[..., SYMMETRIC_PART]))


def similar_phrases(
    context: SpanContext, source: Sequence[Span], target: Sequence[Span], model: PhraseSimilarityModel
) -> tuple[PhraseEvidence, ...]:
    """The likeliest pairs of the spans of two sentences, apart or nested on both sides alike, sorted."""
    source, target = free_spans(context, source, target)
    if not source or not target:
        return ()
    features = span_features(context, [range(*span) for span in source], [range(*span) for span in target])
    p = np.where(is_candidate(features, source, target), model.probabilities(features), 0.0)
    rows = np.argwhere(p >= model.threshold).tolist()
    ranked = sorted((-round(float(p[a, b]), DIGITS), source[a], target[b]) for a, b in rows)
    kept: list[tuple[float, Span, Span]] = []
    for share, left, right in ranked:
        if len(kept) < MOST_PHRASES and all(_place(left, one) == _place(right, other) != 0 for _, one, other in kept):
            kept.append((-share, left, right))
    rows_found = (PhraseEvidence(tuple(range(*s)), tuple(range(*t)), SIMILARITY, SIMILAR, p) for p, s, t in kept)
    return tuple(sorted(rows_found))


def _place(one: Span, other: Span) -> int:
    """1: apart; 2: inside; 3: around; 0: the same span, or one that crosses it."""
    if one.end <= other.begin or other.end <= one.begin:
        return 1
    if one == other:
        return 0
    if other.covers(one):
        return 2
    return 3 if one.covers(other) else 0


def free_spans(
    context: SpanContext, source: Sequence[Span], target: Sequence[Span]
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Spans of which a part has no likely link at all; the others have their partners."""
    forth = _free(context.source, source, context.links.max(axis=1, initial=0.0))
    return forth, _free(context.target, target, context.links.max(axis=0, initial=0.0))


def _free(side: SpanSide, spans: Sequence[Span], linked: FloatArray) -> tuple[Span, ...]:
    left = np.concatenate([[0.0], (side.weight * (linked - ANYWHERE)).cumsum()])
    return tuple(span for span in spans if left[span.end] <= left[span.begin])


def is_candidate(features: FloatArray, source: Sequence[Span], target: Sequence[Span]) -> BoolArray:
    """Whether the similarity has anything to say about two spans."""
    several = np.logical_or.outer(
        [end - begin > 1 for begin, end in source], [end - begin > 1 for begin, end in target]
    )
    free: BoolArray = several & (features[..., _INSIDE] < INSIDE) & (features[..., _LEAVING] < ELSEWHERE)
    return free


def is_composed(row: PhraseEvidence, links: WordAlignment, evidence: Sequence[PhraseEvidence]) -> bool:
    """Whether the pair follows from what it holds: two likely links, or other evidence for a part of it.

    A seed has nothing inside, so it would cost the pairs of these parts.
    """
    own, other = set(row.source), set(row.target)
    linked = [link for link in links if link.score >= LIKELY_LINK and link.source in own and link.target in other]
    return len(linked) > 1 or any(
        own >= set(each.source) and other >= set(each.target) and (each.source, each.target) != (row.source, row.target)
        for each in evidence
        if each.relation == EQUAL
    )


def candidate_spans(forest: Forest) -> tuple[Span, ...]:
    """The phrases of a forest that are asked about: not too long, no punctuation at the edges, no bars."""
    marks = [tag in punctuation_tags() for tag in forest.sentence.tags]
    arrays = forest.arrays
    is_asked = (arrays.end - arrays.begin <= LONGEST) & ~arrays.is_bar
    spans = sorted(set(zip(arrays.begin[is_asked].tolist(), arrays.end[is_asked].tolist(), strict=True)))
    return tuple(Span(begin, end) for begin, end in spans if not marks[begin] and not marks[end - 1])


def has_vectors(source: Sentence, target: Sentence) -> bool:
    """Without vectors in context nothing was learned, and nothing is said."""
    return source.context_vectors is not None and target.context_vectors is not None


# ---- the file of weights ----


@lru_cache(maxsize=1)
def load_similarity() -> PhraseSimilarityModel:
    """The shipped weights."""
    return read_similarity(grammar_root() / "phrase_similarity.json")


def read_similarity(path: Path) -> PhraseSimilarityModel:
    """A file written by scripts/train_phrase_similarity.py."""
    record = read_record(path)
    threshold = read_number(path, "threshold", record.get("threshold"))
    if not 0.0 < threshold < 1.0:
        raise GrammarError(path, None, f"'threshold' is {threshold}; expected a number between 0 and 1")
    return PhraseSimilarityModel(read_weighting(path, "pair", record.get("pair"), SYMMETRIC), threshold)


def similarity_record(model: PhraseSimilarityModel) -> dict[str, object]:
    """The model as its file holds it."""
    return {"version": 1, "threshold": model.threshold, "pair": model.weighting.record(SYMMETRIC)}
