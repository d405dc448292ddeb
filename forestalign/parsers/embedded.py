"""The parser that ships with the package: benepar's chart parser over a small BERT, as one 8-bit ONNX graph.

`grammar/parser/` holds the graph, the word pieces, the labels and the tags; `scripts/export_parser.py` wrote them and
says what the graph takes and gives. Words are joined by single spaces, as in most of the training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.arrays import AnyArray, IntArray
from forestalign.chart import Chart, triangle
from forestalign.errors import GrammarError
from forestalign.parsers.onnx_session import OnnxGraph
from forestalign.parsers.tag_shapes import TagShapes
from forestalign.parsers.word_pieces import PIECE_LIMIT, Pieces, WordPieces, read_lines
from forestalign.tokens import Sentence

MOST_SPANS = 24_000  # spans scored in one pass; a long sentence takes several, so that memory stays bounded
KEPT_PIECES = 1024  # sentences whose pieces are kept: they are counted first and scored a little later
FILES = ("parser.onnx", "pieces.txt", "labels.txt", "tags.txt")


class EmbeddedModel:
    """Charts and word vectors from the ONNX graph of a folder."""

    piece_limit = PIECE_LIMIT

    def __init__(self, folder: Path, threads: int = 1):
        for name in FILES:
            if not (folder / name).is_file():
                raise GrammarError(folder / name, None, "file not found; scripts/export_parser.py writes it")
        self.labels = read_lines(folder / "labels.txt")
        self.tags = read_lines(folder / "tags.txt")
        self._shapes = TagShapes(self.tags)
        self._pieces = lru_cache(maxsize=KEPT_PIECES)(WordPieces(folder / "pieces.txt"))
        self._graph = OnnxGraph(folder / "parser.onnx")
        sizes = self._graph.outputs
        if not {"span_scores", "tag_scores", "vectors"} <= sizes.keys():
            raise GrammarError(folder / "parser.onnx", None, f"gives {', '.join(sizes)}; expected a parser's scores")
        _check_size(folder / "labels.txt", self.labels, sizes["span_scores"])
        _check_size(folder / "tags.txt", self.tags, sizes["tag_scores"])
        self._sees_shapes = "shapes" in self._graph.inputs
        self.passes = threads

    def piece_count(self, sentence: Sentence) -> int:
        """Word pieces of a sentence."""
        return len(self._pieces(sentence.words).ids) - 2

    def charts(self, sentences: Sequence[Sentence]) -> list[tuple[Sentence, Chart]]:
        """One pass of the encoder, or several over the same words where the spans are too many for one."""
        batch = [self._pieces(sentence.words) for sentence in sentences]
        inputs = _padded(batch, self._sees_shapes)
        lengths = [len(sentence) for sentence in sentences]
        begins, ends = _fence_posts(lengths, inputs["word_ends"].shape[1] - 1)
        scores = []
        for first in range(0, len(begins), MOST_SPANS):
            part = slice(first, first + MOST_SPANS)
            spans, tags, *vectors = self._graph.run(inputs | {"span_begins": begins[part], "span_ends": ends[part]})
            scores.append(spans)
        return self._unpack(sentences, np.concatenate(scores) if len(scores) > 1 else scores[0], tags, *vectors)

    def _unpack(
        self, sentences: Sequence[Sentence], scores: Any, tags: Any, vectors: Any, middle: Any = None
    ) -> list[tuple[Sentence, Chart]]:
        """Cut the rows of all spans and words up into sentences; graphs that were exported earlier give no `middle`."""
        found, row, word = [], 0, 0
        for sentence in sentences:
            n = len(sentence)
            rows, words = slice(row, row + n * (n + 1) // 2), slice(word, word + n)
            potentials = np.zeros((n, n, len(self.labels)), dtype=np.float32)
            potentials[triangle(n)] = scores[rows]
            possible = self._shapes.possible(sentence.words, tags[words])
            chart = Chart(potentials, self.labels, possible, self.tags)
            half_way = None if middle is None else middle[words].copy()
            found.append((replace(sentence, vectors=vectors[words].copy(), context_vectors=half_way), chart))
            row, word = rows.stop, words.stop
        return found


def _check_size(path: Path, names: Sequence[str], expected: Any) -> None:
    """A graph may leave the number open; then nothing can be said before it is run."""
    if isinstance(expected, int) and len(names) != expected:
        raise GrammarError(path, None, f"{len(names)} lines; expected {expected}, as the graph has")


def _padded(batch: Sequence[Pieces], with_shapes: bool) -> dict[str, AnyArray]:
    """Rectangles of pieces and words with their masks, and where the real words are."""
    piece_shape = (len(batch), max(len(pieces.ids) for pieces in batch))
    word_shape = (len(batch), max(len(pieces.ends) for pieces in batch))
    ids, piece_mask = np.zeros(piece_shape, dtype=np.int64), np.zeros(piece_shape, dtype=np.float32)
    ends, word_mask = np.zeros(word_shape, dtype=np.int64), np.zeros(word_shape, dtype=np.float32)
    is_word = np.zeros(word_shape, dtype=bool)
    for i, pieces in enumerate(batch):
        ids[i, : len(pieces.ids)], piece_mask[i, : len(pieces.ids)] = pieces.ids, 1.0
        ends[i, : len(pieces.ends)], word_mask[i, : len(pieces.ends)] = pieces.ends, 1.0
        is_word[i, 1 : len(pieces.ends) - 1] = True
    words = np.flatnonzero(is_word)
    inputs: dict[str, AnyArray] = {
        "pieces": ids,
        "piece_mask": piece_mask,
        "word_ends": ends,
        "word_mask": word_mask,
        "words": words,
    }
    if with_shapes:
        inputs["shapes"] = _padded_shapes(batch, piece_shape)
    return inputs


def _padded_shapes(batch: Sequence[Pieces], size: tuple[int, int]) -> IntArray:
    rows = np.zeros(size, dtype=np.int64)
    for row, pieces in zip(rows, batch, strict=True):
        row[: len(pieces.ids)] = pieces.shapes
    return rows


def _fence_posts(lengths: Sequence[int], posts: int) -> tuple[IntArray, IntArray]:
    """Where each span of each sentence begins and ends, in the flattened fence posts of the batch."""
    begins, ends = [], []
    for i, n in enumerate(lengths):
        first, last = triangle(n)
        begins.append(first + i * posts)
        ends.append(last + 1 + i * posts)
    return np.concatenate(begins).astype(np.int64), np.concatenate(ends).astype(np.int64)
