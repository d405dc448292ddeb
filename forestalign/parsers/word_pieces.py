"""Words cut into the pieces that an encoder knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from forestalign.arrays import IntArray
from forestalign.errors import GrammarError
from forestalign.parsers.encoder_words import ends_in_abbreviation, plain_words
from forestalign.parsers.word_shapes import piece_shapes, word_shapes

PIECE_LIMIT = 510  # positions of the encoder, less the start and the stop mark
MARKS = ("[CLS]", "[SEP]", "[UNK]")


@dataclass(frozen=True, slots=True)
class Pieces:
    """Word pieces of a sentence between the marks, and the last piece of each word, the marks counted as words.

    `shapes` are those of the words of the pieces.
    """

    ids: list[int]
    ends: list[int]
    shapes: IntArray

    def word_numbers(self) -> IntArray:
        """The number of the word of each piece, -1 for the marks."""
        marked = np.arange(-1, len(self.ends) - 1)
        marked[-1] = -1
        return np.repeat(marked, np.diff(np.asarray(self.ends), prepend=-1))


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
        return Pieces([*ids, self._stop], ends, piece_shapes(word_shapes(given), ends))


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
