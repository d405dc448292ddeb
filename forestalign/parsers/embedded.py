"""The parser that ships with the package: benepar's chart parser over a small BERT, as one 8-bit ONNX graph.

`grammar/parser/` holds the graph, the word pieces, the labels and the tags; `scripts/export_parser.py` wrote them and
says what the graph takes and gives. Words are joined by single spaces, as in most of the training. The graph is opened
so that onnxruntime stays silent and small.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from forestalign.arrays import AnyArray, IntArray
from forestalign.chart import Chart, triangle
from forestalign.errors import GrammarError
from forestalign.machine import is_out_of_memory
from forestalign.parsers.encoder_words import TagShapes, ends_in_abbreviation, piece_shapes, plain_words, word_shapes
from forestalign.tokens import Sentence

PIECE_LIMIT = 510  # positions of the encoder, less the start and the stop mark
MARKS = ("[CLS]", "[SEP]", "[UNK]")

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
            found.append((sentence.with_fields(vectors=vectors[words].copy(), context_vectors=half_way), chart))
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


# ---- words cut into pieces ----


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Word pieces of a sentence between the marks, and the last piece of each word, the marks counted as words.

    `shapes` are those of the words of the pieces.
    """

    ids: IntArray
    ends: IntArray
    shapes: IntArray


class WordPieces:
    """The pieces of a file, one a line."""

    def __init__(self, path: Path):
        pieces = read_lines(path)
        for mark in MARKS:
            if mark not in pieces:
                raise GrammarError(path, None, f"no piece {mark}; expected {', '.join(MARKS)}")
        self._tokenizer = _word_piece_tokenizer(pieces)
        self._start, self._stop, self._unknown = (pieces.index(mark) for mark in MARKS)
        self._full_stop = pieces.index(".") if "." in pieces else self._unknown

    def __call__(self, given: Sequence[str]) -> Pieces:
        """A word that leaves nothing behind (control characters) is the unknown piece.

        Behind a final abbreviation the encoder is shown the full stop that it always saw there in training.
        """
        words = plain_words(given)
        encoding = self._tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        ids, word_of = np.array(encoding.ids, dtype=np.int64), np.array(encoding.word_ids, dtype=np.int64)
        counts = np.bincount(word_of, minlength=len(words))
        if not counts.all():
            ids = np.insert(ids, np.searchsorted(word_of, np.flatnonzero(counts == 0)), self._unknown)
            counts = np.maximum(counts, 1)
        has_stop = ends_in_abbreviation(words) and len(ids) < PIECE_LIMIT
        ids = np.concatenate([[self._start], ids, [self._full_stop] * has_stop, [self._stop]])
        ends = np.concatenate([[0], counts.cumsum(), [len(ids) - 1]])
        return Pieces(ids, ends, piece_shapes(word_shapes(given), ends))


def read_lines(path: Path) -> tuple[str, ...]:
    """The lines of a text file of a model."""
    try:
        return tuple(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    except UnicodeDecodeError as error:
        raise GrammarError(path, None, f"not UTF-8 ({error})") from error


def _word_piece_tokenizer(pieces: Sequence[str]) -> Tokenizer:
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


# ---- the graph ----


class OnnxGraph:
    """A graph that runs on one thread. Whatever onnxruntime says about it becomes an error that names its file."""

    def __init__(self, path: Path):
        self._path = path
        onnxruntime = _silent_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # passes run side by side instead
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # the arena never gives back what the longest sentence took
        options.log_severity_level = 4  # errors are raised as well
        with self._telling("not a graph that onnxruntime can load"):
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs = {given.name for given in self._session.get_inputs()}
        self.outputs = {given.name: given.shape[-1] for given in self._session.get_outputs()}  # with their last size

    def run(self, inputs: Mapping[str, Any], names: Sequence[str] | None = None) -> list[Any]:
        """The outputs, or those that are named."""
        with self._telling("the graph and the files beside it do not belong together"):
            found: list[Any] = self._session.run(names, inputs)
        return found

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the library has a dozen of its own, with no other base
            if is_out_of_memory(error):
                raise
            raise GrammarError(self._path, None, f"{what} ({error})") from error


def _silent_onnxruntime() -> Any:
    """onnxruntime, which must neither write an identifier into the user's cache folder nor report to its makers.

    On Linux and macOS recent versions do both unless this variable is set when they are loaded.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # where it was loaded before, and on Windows
    return onnxruntime
