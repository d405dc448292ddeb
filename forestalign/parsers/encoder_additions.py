"""What a trained model has beyond benepar's own: vectors of word shapes, and how words are read half way up.

`additions.npz` stands beside the files of a benepar model; a model without it is used as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forestalign.arrays import Float32Array
from forestalign.errors import GrammarError
from forestalign.inputs import read_arrays, reading
from forestalign.own_files import replaced
from forestalign.parsers.encoder_words import middle_layers
from forestalign.parsers.word_shapes import SHAPE_NAMES

FILE = "additions.npz"


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
        with replaced(folder / FILE) as file:
            np.savez(file, **arrays)
    else:
        (folder / FILE).unlink(missing_ok=True)
