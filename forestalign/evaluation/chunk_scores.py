"""Scores of chunk alignments, as the scorer of the SemEval tasks on interpretable similarity counts them.

Aligned chunks stand for links between all their words, punctuation left out. A link weighs 1 / max(fan-out of its two
words); precision weighs by the fan-outs of the system, recall by those of the gold standard, both summed over all pairs
of sentences. Where a link is in both, it counts

    alignment     fully
    type          by the share of types that the two have in common (`SPE1_FACT` and `SPE1`: a half)
    score         less a fifth for each point that the scores differ; NIL is 0
    type + score  by the product of these

Where two aligned pairs of chunks hold the same link, the later one gives its type and score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import UsageError
from forestalign.evaluation.counts import Evaluation, count_table, harmonic_mean, ratio
from forestalign.formats.ists import ChunkAlignment

MEASURES = ("alignment", "type", "score", "type + score")
PUNCTUATION = frozenset(".,:'`?;\"-")  # tokens that the scorer leaves out
HIGHEST_SCORE = 5.0


class Labels(NamedTuple):
    """What is said of one link."""

    types: frozenset[str]
    score: float


LabelledLinks = Mapping[tuple[int, int], Labels]
Agreement = Callable[[Labels, Labels], float]


def score_chunks(gold: Sequence[ChunkAlignment], system: Sequence[ChunkAlignment | None]) -> Evaluation:
    """The four F1 scores, and precision and recall of the alignment; None is a pair that the system left out."""
    if len(gold) != len(system):
        raise UsageError(f"the gold standard has {len(gold)} pairs and the system {len(system)}")
    rows = []
    for wanted, given in zip(gold, system, strict=True):
        asked = links_of(wanted, wanted)
        got = links_of(given, wanted) if given is not None else {}
        rows.append((*_overlaps(got, asked), *_overlaps(asked, got)))
    names = ("P", "R", *(f"F1 {measure}" for measure in MEASURES))
    return Evaluation(names, count_table(rows, 2 * (1 + len(MEASURES))), _aggregate)


def links_of(alignment: ChunkAlignment, gold: ChunkAlignment) -> dict[tuple[int, int], Labels]:
    """The links between words that aligned chunks stand for; the gold standard says what is punctuation."""
    links: dict[tuple[int, int], Labels] = {}
    for pair in alignment.pairs:
        labels = Labels(frozenset(pair.relation.lower().split("_")), pair.score or 0.0)
        sources = [i for i in pair.source if gold.source[i] not in PUNCTUATION]
        targets = [j for j in pair.target if gold.target[j] not in PUNCTUATION]
        links.update({(i, j): labels for i in sources for j in targets})
    return links


def _overlaps(own: LabelledLinks, other: LabelledLinks) -> list[float]:
    """The weight of the own links, and for each measure of what they share with the others."""
    forth, back = Counter(i for i, _ in own), Counter(j for _, j in own)
    sums = [0.0] * (1 + len(MEASURES))
    for (i, j), labels in sorted(own.items()):
        weight = 1.0 / max(forth[i], back[j])
        sums[0] += weight
        if (i, j) in other:
            for k, agreement in enumerate(_AGREEMENTS, start=1):
                sums[k] += weight * agreement(labels, other[i, j])
    return sums


def _same_types(one: Labels, other: Labels) -> float:
    return len(one.types & other.types) / len(one.types | other.types)


def _same_scores(one: Labels, other: Labels) -> float:
    return 1.0 - abs(one.score - other.score) / HIGHEST_SCORE


_AGREEMENTS: tuple[Agreement, ...] = (
    lambda one, other: 1.0,
    _same_types,
    _same_scores,
    lambda one, other: _same_types(one, other) * _same_scores(one, other),
)


def _aggregate(sums: FloatArray) -> FloatArray:
    size = 1 + len(MEASURES)
    precision = ratio(sums[..., 1:size], sums[..., :1])
    recall = ratio(sums[..., size + 1 :], sums[..., size : size + 1])
    return np.concatenate([precision[..., :1], recall[..., :1], harmonic_mean(precision, recall)], axis=-1)
