"""Scores of chunk alignments, as the scorer of the SemEval tasks on interpretable similarity counts them.

Aligned chunks stand for links between all their words, punctuation left out. A link weighs 1 / max(fan-out of its two
words); precision weighs by the fan-outs of the system, recall by those of the gold standard, both summed over all pairs
of sentences. Where a link is in both, it counts

    alignment     fully
    type          by the share of types that the two have in common (`SPE1_FACT` and `SPE1`: a half)
    score         less a fifth for each point that the scores differ; NIL is 0
    type + score  by the product of these

Where two aligned pairs of chunks hold the same link, the later one gives its type and score.

Chunk alignments of systems, held against the gold standard, and the baseline that they have to beat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import AnnotationError, UsageError
from forestalign.evaluation.answer_files import check_tokens
from forestalign.evaluation.scores import Evaluation, count_table, harmonic_mean, ratio
from forestalign.formats.chunk_files import RELATIONS, ChunkAlignment, ChunkPair, chunks_of, read_ists
from forestalign.formats.fields import Fields
from forestalign.formats.lines import read_text_lines
from forestalign.tokens import Span

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


BASELINE = "same words"


def read_chunk_gold(path: str | Path) -> list[ChunkAlignment]:
    """The pairs of a `.wa` file; each id once."""
    gold = list(read_ists(path))
    ids = [pair.id for pair in gold]
    for k, id in enumerate(ids):
        if id in ids[:k]:
            raise AnnotationError(path, None, f"two pairs have the id {id!r}; expected another one for each")
    if not gold:
        raise AnnotationError(path, None, "there are no pairs; expected a .wa file")
    return gold


def read_chunk_output(path: str | Path, gold: Sequence[ChunkAlignment]) -> list[ChunkAlignment | None]:
    """A `.wa` file, or JSON lines with the numbers of the chunks of GOLD; None for a pair that is missing."""
    known = {pair.id: pair for pair in gold}
    found: dict[str, ChunkAlignment] = {}
    for number, alignment in _alignments(path, known):
        if alignment.id not in known:
            raise AnnotationError(path, number, f"pair {alignment.id!r} is not in the gold standard")
        if alignment.id in found:
            raise AnnotationError(path, number, f"pair {alignment.id!r} stands there twice")
        try:
            check_tokens("source", known[alignment.id].source, alignment.source)
            check_tokens("target", known[alignment.id].target, alignment.target)
        except ValueError as error:
            raise AnnotationError(path, number, f"pair {alignment.id}: {error}") from error
        found[alignment.id] = alignment
    return [found.get(pair.id) for pair in gold]


def _alignments(path: str | Path, gold: dict[str, ChunkAlignment]) -> list[tuple[int | None, ChunkAlignment]]:
    lines = [(number, text) for number, text in read_text_lines(path) if text.strip()]
    if not lines or not lines[0][1].lstrip().startswith("{"):
        return [(None, alignment) for alignment in read_ists(path)]
    found: list[tuple[int | None, ChunkAlignment]] = []
    for number, text in lines:
        try:
            found.append((number, _of_json(Fields.parse(text), gold)))
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error
    return found


def _of_json(fields: Fields, gold: dict[str, ChunkAlignment]) -> ChunkAlignment:
    id = fields.identity("id")
    pair = gold.get(id)
    if pair is None:
        fields.complain("id", f"found {id!r}, which is not in the gold standard")
    source, target = chunks_of(pair)
    rows = []
    for row in fields.children("chunks"):
        relation, score = row.text("type"), row.number("score")
        if relation.split("_")[0] not in RELATIONS:
            row.complain("type", f"found {relation!r}; expected one of {', '.join(sorted(RELATIONS))}")
        if not 0 <= score <= HIGHEST_SCORE:
            row.complain("score", f"found {score}; expected a number from 0 to 5")
        rows.append(ChunkPair(_words(row, "source", source), _words(row, "target", target), relation, score))
    return ChunkAlignment(id, "", pair.source_text, pair.target_text, pair.source, pair.target, tuple(rows))


def _words(row: Fields, side: str, chunks: Sequence[Span]) -> tuple[int, ...]:
    numbers = row.wholes(side)
    for number in numbers:
        if not 0 <= number < len(chunks):
            row.complain(side, f"found chunk {number}; the gold standard has chunks 0 to {len(chunks) - 1}")
    return tuple(sorted(i for number in set(numbers) for i in range(*chunks[number])))


def chunk_baseline(gold: ChunkAlignment) -> ChunkAlignment:
    """The baseline of the task: chunks that share most words, each once, all EQUI with 5.

    Words are compared in lower case; of chunks that share equally many the earlier ones are taken.
    """
    source, target = chunks_of(gold)
    shared = [(-_shared(gold, left, right), a, b) for a, left in enumerate(source) for b, right in enumerate(target)]
    taken: tuple[set[int], set[int]] = (set(), set())
    rows = []
    for count, a, b in sorted(shared):
        if count < 0 and a not in taken[0] and b not in taken[1]:
            taken[0].add(a)
            taken[1].add(b)
            rows.append(ChunkPair(tuple(range(*source[a])), tuple(range(*target[b])), "EQUI", HIGHEST_SCORE))
    return ChunkAlignment(gold.id, "", gold.source_text, gold.target_text, gold.source, gold.target, tuple(rows))


def _shared(gold: ChunkAlignment, left: Span, right: Span) -> int:
    """Links between equal words of two chunks."""
    words, others = ([word.lower() for word in side] for side in (gold.source, gold.target))
    return sum(words[i] == others[j] for i in range(*left) for j in range(*right))
