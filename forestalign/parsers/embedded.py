"""The parser that ships with the package: benepar's chart parser over a small BERT, as one 8-bit ONNX graph.

`grammar/parser/` holds the graph, the word pieces, the labels and the tags; `scripts/export_parser.py` wrote them and
says what the graph takes and gives. Words are joined by single spaces, as in most of the training.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from forestalign.chart import Chart
from forestalign.chart.potentials import triangle
from forestalign.errors import GrammarError
from forestalign.memory import is_want_of_memory
from forestalign.parsers.encoder_words import ends_in_abbreviation, plain_words
from forestalign.parsers.tag_shapes import TagShapes
from forestalign.parsers.word_shapes import Shapes, piece_shapes, word_shapes
from forestalign.tokens import Sentence

PIECE_LIMIT = 510  # positions of the encoder, less the start and the stop mark
MOST_SPANS = 24_000  # spans scored in one pass; a long sentence takes several, so that memory stays bounded
KEPT_PIECES = 1024  # sentences whose pieces are kept: they are counted first and scored a little later
MARKS = ("[CLS]", "[SEP]", "[UNK]")
FILES = ("parser.onnx", "pieces.txt", "labels.txt", "tags.txt")

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Word pieces of a sentence between the marks, and the last piece of each word, the marks counted as words.

    `shapes` are those of the words of the pieces, where the graph asks for them.
    """

    ids: list[int]
    ends: list[int]
    shapes: Shapes | None = None


class EmbeddedModel:
    """Charts and word vectors from the ONNX graph of a folder."""

    piece_limit = PIECE_LIMIT

    def __init__(self, folder: Path, threads: int = 1):
        for name in FILES:
            if not (folder / name).is_file():
                raise GrammarError(folder / name, None, "file not found; scripts/export_parser.py writes it")
        self.labels = _read_lines(folder / "labels.txt")
        self.tags = _read_lines(folder / "tags.txt")
        self._shapes = TagShapes(self.tags)
        pieces = _read_lines(folder / "pieces.txt")
        for mark in MARKS:
            if mark not in pieces:
                raise GrammarError(folder / "pieces.txt", None, f"no piece {mark}; expected {', '.join(MARKS)}")
        self._tokenizer = _word_piece_tokenizer(pieces)
        self._start, self._stop, self._unknown = (pieces.index(mark) for mark in MARKS)
        self._full_stop = pieces.index(".") if "." in pieces else self._unknown
        self._session = _session(folder / "parser.onnx")
        sizes = {given.name: given.shape[-1] for given in self._session.get_outputs()}
        if not {"span_scores", "tag_scores", "vectors"} <= sizes.keys():
            raise GrammarError(folder / "parser.onnx", None, f"gives {', '.join(sizes)}; expected a parser's scores")
        _check_size(folder / "labels.txt", self.labels, sizes["span_scores"])
        _check_size(folder / "tags.txt", self.tags, sizes["tag_scores"])
        self._sees_shapes = any(given.name == "shapes" for given in self._session.get_inputs())
        self.passes = threads
        self._pieces = lru_cache(maxsize=KEPT_PIECES)(self._word_pieces)

    def piece_count(self, sentence: Sentence) -> int:
        """Word pieces of a sentence."""
        return len(self._pieces(sentence.words).ids) - 2

    def charts(self, sentences: Sequence[Sentence]) -> list[tuple[Sentence, Chart]]:
        """One pass of the encoder, or several over the same words where the spans are too many for one."""
        batch = [self._pieces(sentence.words) for sentence in sentences]
        inputs = _padded(batch)
        lengths = [len(sentence) for sentence in sentences]
        begins, ends = _fence_posts(lengths, inputs["word_ends"].shape[1] - 1)
        scores = []
        for first in range(0, len(begins), MOST_SPANS):
            part = slice(first, first + MOST_SPANS)
            spans, tags, *vectors = self._session.run(
                None, inputs | {"span_begins": begins[part], "span_ends": ends[part]}
            )
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
            found.append((replace(sentence, vectors=vectors[words].copy(), middle=half_way), chart))
            row, word = rows.stop, words.stop
        return found

    def _word_pieces(self, given: tuple[str, ...]) -> _Pieces:
        """A word that leaves nothing behind (control characters) is the unknown piece.

        Behind a final abbreviation the encoder is shown the full stop that it always saw there in training.
        """
        words = plain_words(given)
        encoding = self._tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        ids, ends, at = [self._start], [0], 0
        word_of, pieces = encoding.word_ids, encoding.ids
        for word in range(len(words)):
            if at == len(pieces) or word_of[at] != word:
                ids.append(self._unknown)
            while at < len(pieces) and word_of[at] == word:
                ids.append(pieces[at])
                at += 1
            ends.append(len(ids) - 1)
        if ends_in_abbreviation(words) and len(ids) <= PIECE_LIMIT:
            ids.append(self._full_stop)
        ends.append(len(ids))
        shapes = piece_shapes(word_shapes(given), ends) if self._sees_shapes else None
        return _Pieces([*ids, self._stop], ends, shapes)


def _read_lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    except UnicodeDecodeError as error:
        raise GrammarError(path, None, f"not UTF-8 ({error})") from error


def _check_size(path: Path, names: Sequence[str], expected: Any) -> None:
    """A graph may leave the number open; then nothing can be said before it is run."""
    if isinstance(expected, int) and len(names) != expected:
        raise GrammarError(path, None, f"{len(names)} lines; expected {expected}, as the graph has")


def _word_piece_tokenizer(pieces: Sequence[str]) -> Tokenizer:
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _session(path: Path) -> Any:
    onnxruntime = _silent_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # passes run side by side instead
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # the arena never gives back what the longest sentence took
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has a dozen of its own, with no other base
        if is_want_of_memory(error):
            raise
        raise GrammarError(path, None, f"not a graph that onnxruntime can load ({error})") from error


def _silent_onnxruntime() -> Any:
    """onnxruntime, which must neither write an identifier into the user's cache folder nor report to its makers.

    On Linux and macOS recent versions do both unless this variable is set when they are loaded.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # where it was loaded before, and on Windows
    return onnxruntime


def _padded(batch: Sequence[_Pieces]) -> dict[str, npt.NDArray[Any]]:
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
    inputs: dict[str, npt.NDArray[Any]] = {
        "pieces": ids,
        "piece_mask": piece_mask,
        "word_ends": ends,
        "word_mask": word_mask,
        "words": words,
    }
    if batch[0].shapes is not None:
        inputs["shapes"] = _padded_shapes(batch, piece_shape)
    return inputs


def _padded_shapes(batch: Sequence[_Pieces], size: tuple[int, int]) -> Ints:
    rows = np.zeros(size, dtype=np.int64)
    for row, pieces in zip(rows, batch, strict=True):
        assert pieces.shapes is not None
        row[: len(pieces.ids)] = pieces.shapes
    return rows


def _fence_posts(lengths: Sequence[int], posts: int) -> tuple[Ints, Ints]:
    """Where each span of each sentence begins and ends, in the flattened fence posts of the batch."""
    begins, ends = [], []
    for i, n in enumerate(lengths):
        first, last = triangle(n)
        begins.append(first + i * posts)
        ends.append(last + 1 + i * posts)
    return np.concatenate(begins).astype(np.int64), np.concatenate(ends).astype(np.int64)
