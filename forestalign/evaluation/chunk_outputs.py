"""Chunk alignments of systems, held against the gold standard, and the baseline that they have to beat."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forestalign.errors import AnnotationError
from forestalign.evaluation.answer_files import check_tokens
from forestalign.evaluation.chunk_scores import HIGHEST_SCORE
from forestalign.formats.chunk_files import chunks_of
from forestalign.formats.fields import Fields
from forestalign.formats.ists import RELATIONS, ChunkAlignment, ChunkPair, read_ists
from forestalign.formats.lines import read_text_lines
from forestalign.tokens import Span

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
