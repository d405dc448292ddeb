"""Static word vectors: the shipped GloVe rows in 8 bits, or any file that gensim reads.

The shipped rows are looked up with numpy alone, since importing gensim takes longer than all the rest; gensim comes in
for the user's own files. Words are asked for as they stand, then lower-cased.

The shipped rows are sorted by frequency, so their order also gives an inverse document frequency: by Zipf's law the
r-th word has a frequency in proportion to 1/r, so that idf(word) = log(1 + r / IDF_RANK), scaled to 1 for the last
word; the constant says below which rank words stand in about every document.

The vector of a sentence is made of the words' vectors of the encoder's middle layers and of its last one:

    pooled = [mean middle, mean last, mean middle by weight, mean last by weight]

The weight of a word is its inverse document frequency, so that *the* does not drown *harbour*. A projection that was
learned (`scripts/train_verdict.py`) takes this to few dimensions, in which the cosine says how alike two sentences are.
"""

from __future__ import annotations

import gzip
import math
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.arrays import AnyArray, Float32Array, FloatArray
from forestalign.errors import GrammarError, InputError
from forestalign.grammar import grammar_root
from forestalign.inputs import kept_while_unchanged, read_arrays, read_blocks, read_lines, reading
from forestalign.tokens import Sentence

# gensim's own files are pickles, which run whatever code their author put into them
_PICKLED = frozenset({".kv", ".model"})
_CONVERSION = (
    "is a file of gensim's own, which could run code when it is read; if you trust its author, convert it to text: "
    "python -c \"from gensim.models import KeyedVectors; v = KeyedVectors.load('{path}'); "
    "getattr(v, 'wv', v).save_word2vec_format('{text}')\""
)
LARGEST_COMPACT = 1 << 30  # bytes of all arrays
LARGEST_TEXT = 1 << 34  # bytes, unpacked; the largest that are published have 6 thousand million
MOST_WORDS = 1 << 24
LONGEST_WORD = 100  # bytes, on average
NUMBER_SIZE = 4
IDF_RANK = 100.0  # r of sentence scores on stsb.dev: r .806 with 1, .810 with 10, .812 with 100, .799 with 1000


class WordVectors:
    """Words and their vectors; unit length on the way out, so that a dot product is a cosine."""

    def __init__(self, words: list[str], rows: AnyArray):
        self._index = {word: number for number, word in enumerate(words)}
        self._rows = rows
        self._idf_scale = math.log1p(len(words) / IDF_RANK)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._number(word) is not None

    def __len__(self) -> int:
        return len(self._index)

    @property
    def dimensions(self) -> int:
        """Numbers in one vector."""
        return int(self._rows.shape[1])

    def vector(self, word: str) -> Float32Array | None:
        """The word's vector, unit length, or None."""
        number = self._number(word)
        if number is None:
            return None
        row: Float32Array = self._rows[number].astype(np.float32)
        unit: Float32Array = row / np.float32(np.linalg.norm(row) or 1.0)
        return unit

    def cosine(self, left: str, right: str) -> float:
        """Cosine of two words, 0 where one is unknown."""
        left_row, right_row = self.vector(left), self.vector(right)
        return 0.0 if left_row is None or right_row is None else float(left_row @ right_row)

    def matrix(self, words: Sequence[str]) -> Float32Array:
        """One unit row per word, zeros where it is unknown."""
        find = self._index.get
        numbers = np.array(
            [find(word, -1) if word in self._index else find(word.lower(), -1) for word in words], np.int64
        )
        rows: Float32Array = self._rows[np.maximum(numbers, 0)].astype(np.float32)
        rows[numbers < 0] = 0.0
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        norms[norms == 0.0] = 1.0
        rows /= norms[:, None]
        return rows

    def idf(self, word: str) -> float:
        """Inverse document frequency by rank, in (0, 1]; unknown words count as rare."""
        number = self._number(word)
        rank = len(self) if number is None else number + 1
        return math.log1p(rank / IDF_RANK) / self._idf_scale

    def _number(self, word: str) -> int | None:
        number = self._index.get(word)
        return self._index.get(word.lower()) if number is None else number


def load_vectors(path: str = "") -> WordVectors:
    """The shipped vectors, or a word2vec, GloVe, or fastText file of the user's; read once."""
    return _load(path)


@kept_while_unchanged(2)
def _load(path: str) -> WordVectors:
    if not path:
        return read_compact(grammar_root() / "lexicon" / "vectors.npz")
    keyed = _read_with_gensim(Path(path))
    if not np.isfinite(keyed.vectors).all():
        word = keyed.index_to_key[int(np.flatnonzero(~np.isfinite(keyed.vectors).all(axis=1))[0])]
        raise InputError(path, None, f"the vector of {word!r} has a value that is not a finite number")
    return WordVectors(list(keyed.index_to_key), keyed.vectors)


def read_compact(path: Path) -> WordVectors:
    """A file written by scripts/build_vectors.py."""
    with reading(path, "file of compact vectors", GrammarError):
        arrays = read_arrays(path, LARGEST_COMPACT)
        words = arrays["words"].tobytes().decode("utf-8").split("\n")
        codes, scales = arrays["codes"], arrays["scales"]
    if len(words) != len(codes) or len(words) != len(scales):
        counts = f"words: {len(words)}, vectors: {len(codes)}, scales: {len(scales)}"
        raise GrammarError(path, None, f"{counts}; expected as many of each")
    return WordVectors(words, codes)  # directions alone are asked for, so that scales do not matter


def _read_with_gensim(path: Path) -> Any:
    """By the look of the file: fastText's or word2vec's binary, or text with or without a header line."""
    if not path.is_file():
        found = "is not a regular file, which is expected" if path.exists() else "the vector file does not exist"
        raise InputError(path, None, found)
    if path.suffix in _PICKLED or _is_pickle(path):
        raise InputError(path, None, _CONVERSION.format(path=path, text=path.with_suffix(".txt")))
    with reading(path, "file of word vectors that gensim can read"):
        is_text, is_fasttext, promise = _is_text(path), _is_fasttext(path), _promised(path)
        if is_text:
            _check_text(path, promise)
        elif not is_fasttext:
            _check_binary(path, promise)
        from gensim.models import KeyedVectors
        from gensim.models.fasttext import load_facebook_vectors

        try:
            if is_fasttext:
                return load_facebook_vectors(str(path))
            return KeyedVectors.load_word2vec_format(str(path), binary=not is_text, no_header=promise is None)
        except (struct.error, AssertionError) as error:
            raise ValueError(str(error)) from error


def _is_pickle(path: Path) -> bool:
    """Pickles of all protocols since 2 begin with the number of their protocol."""
    with path.open("rb") as file:
        return re.match(rb"\x80[\x02-\x05]", file.read(2)) is not None


def _promised(path: Path) -> tuple[int, int] | None:
    """The count and the size in the first line of word2vec's files; GloVe's begin with the first word.

    Memory is taken for them before one number is read.
    """
    fields = _first_lines(path)[0].split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 20 for field in fields):
        return None
    words, size = map(int, fields)
    if words > MOST_WORDS or words * size * NUMBER_SIZE > LARGEST_TEXT:
        raise InputError(path, 1, f"promises {words:,} words of {size:,} numbers, more than a file can hold")
    return words, size


def _check_text(path: Path, promise: tuple[int, int] | None) -> None:
    """Neither a line nor the file may be without an end, and what the header promises has to be there."""
    count = 0
    for count, _ in read_lines(path, LARGEST_TEXT):
        if count > MOST_WORDS + 1:
            raise ValueError(f"it has more than {MOST_WORDS:,} lines, which is the limit")
    if promise is not None and promise[0] >= count:
        words, size = promise
        raise InputError(
            path, 1, f"promises {words:,} words of {size:,} numbers, more than its {count:,} lines can hold"
        )


def _check_binary(path: Path, promise: tuple[int, int] | None) -> None:
    """The bytes of the words and numbers that the header promises, and not many more."""
    if promise is None:
        raise ValueError("its first line is neither a word with numbers nor the count and size of vectors")
    words, size = promise
    count = sum(map(len, read_blocks(path, words * (size * NUMBER_SIZE + LONGEST_WORD) + LONGEST_WORD)))
    if words * size * NUMBER_SIZE > count:
        raise InputError(path, 1, f"promises {words:,} words of {size:,} numbers, more than the file can hold")


def _first_lines(path: Path) -> list[bytes]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        return [file.readline(100_000) for _ in range(2)]


def _is_text(path: Path) -> bool:
    """The second line of a text file is a word and numbers."""
    numbers = _first_lines(path)[1].split()[1:]
    try:
        list(map(float, numbers))
    except ValueError:
        return False
    return bool(numbers)


def _is_fasttext(path: Path) -> bool:
    """fastText's binary files start with a magic number."""
    with path.open("rb") as file:
        return file.read(4) == (793712314).to_bytes(4, "little")


# ---- of sentences ----


PRODUCTS, DISTANCES = 30.0, 10.0
_LEAST_WEIGHT = 0.02


def pooled_vector(sentence: Sentence, vectors: WordVectors) -> FloatArray | None:
    """The means of a sentence, one after the other; None if the parser gave no vectors."""
    if sentence.context_vectors is None or sentence.vectors is None or not len(sentence):
        return None
    weights = np.array([vectors.idf(word) + _LEAST_WEIGHT for word in sentence.words])
    weights /= weights.sum()
    layers = sentence.context_vectors.astype(np.float64), sentence.vectors.astype(np.float64)
    return np.concatenate([*(layer.mean(axis=0) for layer in layers), *(weights @ layer for layer in layers)])


def projected(pooled: FloatArray, projection: FloatArray, offset: FloatArray) -> FloatArray:
    """Pooled vectors, one or a row each, after projecting: of length 1, or nought."""
    rows = pooled @ projection + offset
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(norms, norms, 1.0))


def compared(left: FloatArray, right: FloatArray) -> FloatArray:
    """Products and distances of projected vectors by dimension; they vary about as much as scaled features."""
    return np.concatenate([PRODUCTS * left * right, DISTANCES * np.abs(left - right)], axis=-1)
