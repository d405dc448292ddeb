"""Synthetic phrase corpora from token gold (section 4.1 of the phrase paper).

Where each word of a source chunk is aligned, in order, to words of one target chunk, and each word of that chunk to
words of the source chunk, and nothing in either is linked elsewhere, the links become one phrase: all words with all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

from forestalign.tokens import Sentence
from forestalign.words.crf.chunks import Chunk, chunk
from forestalign.words.crf.gold import Link
from forestalign.words.crf.training import TrainingPair


def synthesise(source: Sentence, target: Sentence, links: Collection[Link]) -> tuple[Link, ...]:
    """The links with every matching pair of chunks filled."""
    filled = set(links)
    target_chunks = chunk(target.tags)
    for source_chunk in chunk(source.tags):
        for target_chunk in target_chunks:
            if _match(source_chunk, target_chunk, links):
                filled.update(_block(source_chunk, target_chunk))
    return tuple(sorted(filled))


def synthetic_phrases(pair: TrainingPair) -> TrainingPair:
    """A pair whose links fill the matching chunks."""
    return replace(pair, links=synthesise(pair.source, pair.target, pair.links))


def _match(source: Chunk, target: Chunk, links: Collection[Link]) -> bool:
    """All words linked within the two chunks, none outside, in order."""
    touching = sorted((i, j) for i, j in links if source.begin <= i < source.end or target.begin <= j < target.end)
    inside = all(source.begin <= i < source.end and target.begin <= j < target.end for i, j in touching)
    rows, columns = {i for i, _ in touching}, {j for _, j in touching}
    complete = len(rows) == source.end - source.begin and len(columns) == target.end - target.begin
    monotone = all(left[1] <= right[1] for left, right in pairwise(touching))
    return bool(touching) and inside and complete and monotone


def _block(source: Chunk, target: Chunk) -> list[Link]:
    return [(i, j) for i in range(source.begin, source.end) for j in range(target.begin, target.end)]
