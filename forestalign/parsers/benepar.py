"""Any model of benepar (0.2.0), by folder or by name: its charts come through the same door as those of our own.

A model that we have trained has more than benepar's own: vectors of word shapes, and how words are read half way up.
That is `additions.npz` beside the files of the model; a model without it is used as it is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.arrays import Float32Array, IntArray
from forestalign.chart import Chart
from forestalign.errors import GrammarError, MissingExtraError, UsageError
from forestalign.inputs import read_arrays, reading
from forestalign.own_files import replace_file
from forestalign.parsers.encoder_words import (
    SHAPE_NAMES,
    TagShapes,
    middle_layers,
    piece_shapes,
    plain_words,
    word_shapes,
)
from forestalign.tokens import Sentence

MARKS = 2  # start and stop
FILE = "additions.npz"
UNSEEN = "?"  # stands in for a word of which a tokenizer leaves nothing


@dataclass(frozen=True, slots=True)
class _Example:
    """What benepar's encode() asks for."""

    words: list[str]
    space_after: list[bool]
    tree: None = None


class BeneparModel:
    """Span and tag scores before decoding, and the encoder's word vectors where the model has a pretrained encoder."""

    passes = 1  # torch has threads of its own

    def __init__(self, name: str, threads: int = 1):
        try:
            import benepar
            import torch
        except ImportError as error:
            raise MissingExtraError("the benepar backend", "benepar") from error
        if not name:
            raise UsageError("the benepar backend needs a model: a folder, or the name of an installed one")
        torch.set_num_threads(threads)
        if Path(name).is_dir() and not (Path(name) / "benepar_model.bin").is_file():
            raise UsageError(f"{name}: no benepar_model.bin in this folder; expected a model of benepar")
        try:
            self._parser = benepar.Parser(name)._parser.eval()
        except LookupError as error:
            raise UsageError(f"no benepar model is called {name!r}; expected a folder or an installed model") from error
        self._torch = torch
        self.labels = _names(self._parser.decoder.label_from_index)
        self.tags = _names(self._parser.tag_from_index) if self._parser.f_tag is not None else ("UNK",)
        self._shapes = TagShapes(self.tags)
        self.piece_limit = _piece_limit(self._parser)
        self._vectors: list[Any] = []
        self._states: list[Any] = []
        self._additions = read_additions(Path(name))
        self._shape_vectors: Any = None  # of the pieces that the encoder is given next
        if self._parser.pretrained_model is not None:
            self._parser.pretrained_model.get_input_embeddings().register_forward_hook(self._add_shapes)
            self._parser.project_pretrained.register_forward_pre_hook(self._keep_vectors)
            self._parser.pretrained_model.config.output_hidden_states = True
            self._parser.pretrained_model.register_forward_hook(self._keep_states)

    def _keep_vectors(self, module: Any, inputs: tuple[Any, ...]) -> None:
        self._vectors.append(inputs[0])

    def _add_shapes(self, module: Any, inputs: tuple[Any, ...], vectors: Any) -> Any:
        return vectors if self._shape_vectors is None else vectors + self._shape_vectors

    def _keep_states(self, module: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """The middle layers in their shares; the first of the hidden states are the embeddings."""
        hidden = getattr(output, "hidden_states", None)
        if hidden is not None:
            shares = self._additions.shares(len(hidden) - 1).tolist()
            self._states.append(sum(share * states for share, states in zip(shares, hidden, strict=True) if share))

    def piece_count(self, sentence: Sentence) -> int:
        """Word pieces of a sentence."""
        if self._parser.pretrained_model is None:
            return len(sentence)
        example = _example(sentence)
        text = "".join(word + " " * space for word, space in zip(example.words, example.space_after, strict=True))
        return len(self._parser.retokenizer.tokenizer(text, verbose=False)["input_ids"]) - MARKS

    def charts(self, sentences: Sequence[Sentence]) -> list[tuple[Sentence, Chart]]:
        """One batch: each sentence and its chart."""
        self._vectors.clear()
        self._states.clear()
        with self._torch.no_grad():
            batch = self._parser.pad_encoded([self._parser.encode(_example(sentence)) for sentence in sentences])
            self._shape_vectors = self._shapes_of(sentences, batch)
            scores, tag_scores = self._parser.forward(batch)
        found = []
        for i, sentence in enumerate(sentences):
            n = len(sentence)
            potentials = scores[i, :n, :n].cpu().numpy()
            potentials = potentials - potentials[:, :, :1]
            if tag_scores is None:
                tags = np.zeros((n, 1), dtype=np.float32)
            else:
                tags = self._shapes.possible(sentence.words, tag_scores[i, 1 : n + 1].cpu().numpy())
            if self._vectors:
                sentence = replace(sentence, vectors=self._vectors[-1][i, 1 : n + 1].cpu().numpy())
            if self._states:
                ends = batch["words_from_tokens"][i, : n + 2].cpu().numpy()
                sentence = replace(sentence, context_vectors=self._middle(self._states[-1][i].cpu().numpy(), ends))
            found.append((sentence, Chart(potentials, self.labels, tags, self.tags)))
        return found

    def _shapes_of(self, sentences: Sequence[Sentence], batch: Any) -> Any:
        """The vectors of the shapes of all pieces [batch, pieces, hidden], where the model has learned any."""
        table = self._additions.shapes
        if table is None:
            return None
        vectors = np.zeros((*batch["input_ids"].shape, table.shape[1]), dtype=np.float32)
        for row, sentence, ends in zip(vectors, sentences, batch["words_from_tokens"].numpy(), strict=True):
            shapes = piece_shapes(word_shapes(sentence.words), ends[: len(sentence) + 2])
            row[: len(shapes)] = table[shapes]
        return self._torch.from_numpy(vectors)

    def _middle(self, states: Float32Array, ends: IntArray) -> Float32Array:
        """The words half way, as exact as 16 bits."""
        means, projection = _word_means(states, ends), self._additions.projection
        return (means if projection is None else means @ projection).astype(np.float16).astype(np.float32)


def _example(sentence: Sentence) -> _Example:
    """The words with the spaces of the text."""
    ends = [token.start for token in sentence.tokens[1:]] + [sentence.tokens[-1].end]
    spaces = [token.end < begin for token, begin in zip(sentence.tokens, ends, strict=True)]
    words = [word if any(map(_is_seen, word)) else UNSEEN for word in plain_words(sentence.words)]
    return _Example(words, spaces)


def _is_seen(character: str) -> bool:
    """Whether tokenizers leave something of a character; not of controls, lone accents and what stands for errors."""
    return character.isprintable() and character != "\ufffd" and unicodedata.category(character) != "Mn"


def _word_means(states: Float32Array, ends: IntArray) -> Float32Array:
    """The mean state of the pieces of each word.

    states: [pieces, size] with the start and stop marks; ends: the last piece of each word, the marks counted as words.
    A word without a piece of its own, inside one that two words share, has the state of that piece.
    """
    last = ends[1:-1]
    first = np.minimum(ends[:-2] + 1, last)
    bounds = np.stack([first, last + 1], axis=1).ravel()
    sums = np.add.reduceat(states, bounds, axis=0)[::2]
    return np.asarray(sums / (last + 1 - first)[:, None], dtype=np.float32)


def _names(from_index: dict[int, str]) -> tuple[str, ...]:
    return tuple(from_index[i] for i in range(len(from_index)))


def _piece_limit(parser: Any) -> int:
    """The least of what the tokenizer, the encoder and benepar's own position table allow."""
    limits: list[int | None] = []
    if parser.pretrained_model is not None:
        limits.append(parser.retokenizer.tokenizer.model_max_length)
        limits.append(_positions(parser.pretrained_model))
    if parser.add_timing is not None:
        limits.append(parser.add_timing.timing_table.shape[0])
    return min(limit for limit in limits if limit) - MARKS


def _positions(encoder: Any) -> int | None:
    """Positions that text can have; some encoders begin to count behind the number of the padding."""
    count = getattr(encoder.config, "max_position_embeddings", None)
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return count if count is None or padding is None else int(count) - padding - 1


# ---- what a trained model has beyond benepar's own ----


@dataclass(frozen=True, slots=True)
class EncoderAdditions:
    """All parts may be absent.

    shapes: [shapes, hidden], added to the vectors of word pieces
    layers: [layers + 1], the share of each layer in the word vectors; the first is that of the embeddings
    projection: [hidden, size], what these vectors are multiplied by
    """

    shapes: Float32Array | None = None
    layers: Float32Array | None = None
    projection: Float32Array | None = None

    def shares(self, layer_count: int) -> Float32Array:
        """The share of each layer, by default equal shares of those half way up."""
        if self.layers is not None:
            return self.layers
        return layer_shares(middle_layers(layer_count), layer_count)


def layer_shares(layers: tuple[int, ...], layer_count: int) -> Float32Array:
    """Equal shares of the given layers, counted from 1; 0 is that of the embeddings."""
    shares = np.zeros(layer_count + 1, dtype=np.float32)
    shares[list(layers)] = 1 / len(layers)
    return shares


def read_additions(folder: Path) -> EncoderAdditions:
    """The additions of a model folder; none where there is no file."""
    path = folder / FILE
    if not path.is_file():
        return EncoderAdditions()
    with reading(path, "file of additions, which scripts/train_parser.py writes", GrammarError):
        found = {name: array.astype(np.float32) for name, array in read_arrays(path).items()}
        additions = EncoderAdditions(**found)
    if additions.shapes is not None and len(additions.shapes) != len(SHAPE_NAMES):
        raise GrammarError(path, None, f"{len(additions.shapes)} shapes; expected {len(SHAPE_NAMES)}")
    return additions


def write_additions(folder: Path, additions: EncoderAdditions) -> None:
    """Write what is there; a folder without additions has no file."""
    names = ("shapes", "layers", "projection")
    arrays = {name: getattr(additions, name) for name in names if getattr(additions, name) is not None}
    if arrays:
        with replace_file(folder / FILE) as file:
            np.savez(file, **arrays)
    else:
        (folder / FILE).unlink(missing_ok=True)
