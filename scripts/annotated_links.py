#!/usr/bin/env python
"""Word links of annotated phrases and chunks, as gold links: what the joint reader is trained on or asked about.

    python scripts/annotated_links.py annotations/train.jsonl -o runs/annotated.jsonl
    python scripts/annotated_links.py STSint.input.headlines.wa STSint.input.images.wa -o runs/chunks.jsonl

Phrases (JSON lines): a pair of single words is a link. A pair that holds no other one and has one word on one side, as
*gave up* / *quit*, is a block of links if the other side has up to three words. Chunks (`.wa`): words that stand once
in both are linked, and so are the two content words, or the two words, that are then left over, if annotators gave the
chunks at least three of five points. Cells of aligned phrases or chunks that this does not settle are `possible`, which
training passes over, and so is the punctuation of chunks. Of all else the annotators say that it has no partner.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from forestalign.formats.ists import ChunkAlignment, ChunkPair, read_ists
from forestalign.formats.lines import write_lines
from forestalign.formats.word_links import GOLD, GoldPair, LinkAnnotation, format_link_line
from forestalign.words.learned.sides import CONTENT, PUNCTUATION, kind_of

LARGEST_BLOCK = 3  # words beside a single one
LEAST_POINTS = 3  # of chunks whose last words are linked
IN_CONTEXT = "ALIC"  # a chunk whose partner already had one
UNALIGNED = "NOALI"

Span = tuple[int, int]
SpanPair = tuple[Span, Span]
Cells = set[tuple[int, int]]


def linked_pair(id: str, source: Sequence[str], target: Sequence[str], sure: Cells, possible: Cells) -> GoldPair:
    links = tuple(sorted(sure)), tuple(sorted(possible - sure))
    return GoldPair(id, (LinkAnnotation(GOLD, tuple(source), tuple(target), *links),))


def cells(source: Iterable[int], target: Sequence[int]) -> Cells:
    return {(i, j) for i in source for j in target}


# ---- phrases ----


def span_pairs(record: dict[str, Any]) -> list[SpanPair]:
    """The pairs of spans of the first annotator, each once."""
    pairs = next(iter(record["annotators"].values()))["pairs"]
    return sorted({((a[0], a[1]), (b[0], b[1])) for a, b in pairs if a is not None and b is not None})


def is_inside(inner: Span, outer: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def holds_no_other(pair: SpanPair, pairs: Sequence[SpanPair]) -> bool:
    """Whether none of the others lies in it."""
    return not any(other != pair and all(map(is_inside, other, pair)) for other in pairs)


def phrase_links(record: dict[str, Any]) -> GoldPair:
    """The links of a pair with aligned phrases."""
    pairs = span_pairs(record)
    sure: Cells = set()
    possible: Cells = set()
    for pair in pairs:
        fewer, more = sorted(end - begin for begin, end in pair)
        if holds_no_other(pair, pairs):
            found = sure if fewer == 1 and more <= LARGEST_BLOCK else possible
            found |= cells(range(*pair[0]), range(*pair[1]))
    return linked_pair(str(record["id"]), record["source"]["tokens"], record["target"]["tokens"], sure, possible)


# ---- chunks ----


def chunk_links(alignment: ChunkAlignment) -> GoldPair:
    """The links of a pair with aligned chunks."""
    source, target = ([word.lower() for word in side] for side in (alignment.source, alignment.target))
    sure: Cells = set()
    possible = {
        (i, j) for i, word in enumerate(source) for j, other in enumerate(target) if is_mark(word) and is_mark(other)
    }
    for pair in alignment.pairs:
        if pair.relation.startswith(IN_CONTEXT):
            possible |= cells(pair.source, range(len(target))) | cells(range(len(source)), pair.target)
        elif not pair.relation.startswith(UNALIGNED):
            linked, left = inside_chunks(pair, source, target)
            sure, possible = sure | linked, possible | left
    return linked_pair(alignment.id, alignment.source, alignment.target, sure, possible)


def is_mark(word: str) -> bool:
    return kind_of(word) == PUNCTUATION


def inside_chunks(pair: ChunkPair, source: Sequence[str], target: Sequence[str]) -> tuple[Cells, Cells]:
    """Links of two chunks, and the cells of which nothing is known."""
    rows, columns = list(pair.source), list(pair.target)
    left, right = [source[i] for i in rows], [target[j] for j in columns]
    sure = {
        (i, j)
        for i in rows
        for j in columns
        if source[i] == target[j] and left.count(source[i]) == right.count(target[j]) == 1
    }
    taken = tuple({cell[side] for cell in sure} for side in (0, 1))
    rows, columns = [i for i in rows if i not in taken[0]], [j for j in columns if j not in taken[1]]
    rest = cells(rows, columns)
    for chosen in (rest, {(i, j) for i, j in rest if kind_of(source[i]) == kind_of(target[j]) == CONTENT}):
        if len(chosen) == 1 and (pair.score or 0) >= LEAST_POINTS:
            sure |= chosen
    return sure, rest - sure


# ---- files ----


def read_annotated(path: Path) -> Iterator[GoldPair]:
    """The pairs of a file, in its order."""
    if path.suffix == ".wa":
        yield from map(chunk_links, read_ists(path))
    else:
        yield from (phrase_links(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="JSON lines of phrases, or .wa of chunks")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="links, as JSON lines")
    args = parser.parse_args(arguments)
    write_lines(args.output, (format_link_line(pair) for path in args.files for pair in read_annotated(path)))


if __name__ == "__main__":
    main()
