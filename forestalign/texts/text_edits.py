"""The edits of two versions of a text: sentences are paired and aligned, and their differences told as edits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forestalign.aligner import Aligner
from forestalign.errors import ForestAlignError
from forestalign.mining.edits import PairEdits, one_sided
from forestalign.texts.sentence_pairing import SentencePair, pair_sentences
from forestalign.texts.sentence_split import split_sentences


@dataclass(frozen=True, slots=True)
class PairedTexts:
    """Two texts, cut into sentences that are paired."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    pairs: tuple[SentencePair, ...]

    @classmethod
    def of(cls, source: str, target: str, aligner: Aligner | None = None) -> PairedTexts:
        """The sentences of two texts, paired by the words that they share, and with an aligner by its vectors, too."""
        first, second = split_sentences(source), split_sentences(target)
        return cls(tuple(first), tuple(second), tuple(pair_sentences(first, second, aligner)))

    @property
    def both(self) -> tuple[SentencePair, ...]:
        """The pairs in which neither side is empty."""
        return tuple(pair for pair in self.pairs if pair.has_both)

    def sides(self, pair: SentencePair) -> tuple[str, str]:
        """The text of a pair; a side without a sentence is empty."""
        return " ".join(self.source[slice(*pair.source)]), " ".join(self.target[slice(*pair.target)])


def edits_of_texts(texts: PairedTexts, aligner: Aligner, jobs: int = 1) -> Iterator[PairEdits | ForestAlignError]:
    """The edits of every pair in order; ids are the numbers of its sentences, counted from 1: `1-1`, `2-2+3`, `3-`.

    A pair that cannot be aligned yields an error that names it.
    """
    aligned = aligner.pipe(map(texts.sides, texts.both), jobs, errors="yield")
    for pair in texts.pairs:
        id = "-".join("+".join(str(number + 1) for number in range(*span)) for span in (pair.source, pair.target))
        sides = texts.sides(pair)
        if not all(sides):
            yield one_sided(id, *sides)
            continue
        alignment = next(aligned)
        if isinstance(alignment, ForestAlignError):
            yield ForestAlignError(f"sentences {id}: {alignment}")
        else:
            yield alignment.edits(id)
