"""Links by one pass of an encoder over both sentences: `grammar/joint/`, which scripts/export_joint.py wrote.

A pair is read in an order of its own, so that swapping its sentences mirrors the result to the last bit. What the
graph gives is rounded to 16 bits: it is then the same in every batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from forestalign.arrays import Float32Array
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.parsers.onnx_session import OnnxGraph
from forestalign.parsers.word_pieces import PIECE_LIMIT, Pieces, WordPieces
from forestalign.words.joint.pair_batch import joint_batch

GRAPH, PIECES = "reader.onnx", "pieces.txt"
INPUTS = ("pieces", "shapes", "sides", "positions", "words", "source_words", "target_words")
OUTPUTS = ("links", "source_none", "target_none")
KEPT_PIECES = 1024  # sentences whose pieces are kept

Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class JointScores:
    """Logits of all links of a pair, and of having no partner for the words of either side."""

    links: Float32Array
    source_none: Float32Array
    target_none: Float32Array

    def mirrored(self) -> JointScores:
        """The scores of the pair with source and target swapped."""
        return JointScores(np.ascontiguousarray(self.links.T), self.target_none, self.source_none)


class JointReader:
    """The graph of a folder."""

    def __init__(self, folder: Path):
        for name in (GRAPH, PIECES):
            if not (folder / name).is_file():
                raise GrammarError(folder / name, None, "file not found; scripts/export_joint.py writes it")
        self._pieces = lru_cache(maxsize=KEPT_PIECES)(WordPieces(folder / PIECES))
        self._graph = OnnxGraph(folder / GRAPH)
        if set(self._graph.outputs) != set(OUTPUTS):
            given = ", ".join(sorted(self._graph.outputs))
            raise GrammarError(folder / GRAPH, None, f"gives {given}; expected {', '.join(OUTPUTS)}")

    def fits(self, source: Words, target: Words) -> bool:
        """Whether the encoder can read both sentences at once; empty ones cannot be read at all."""
        if not source or not target:
            return False
        count = sum(len(self._pieces(tuple(side)).ids) - 2 for side in (source, target))
        return count <= PIECE_LIMIT

    def read(self, pairs: Sequence[tuple[Words, Words]]) -> list[JointScores]:
        """One pass over all pairs, which must fit."""
        if not pairs:
            return []
        are_swapped = [tuple(target) < tuple(source) for source, target in pairs]
        ordered = [(pair[1], pair[0]) if swap else pair for pair, swap in zip(pairs, are_swapped, strict=True)]
        pieces = [(self._pieces(tuple(source)), self._pieces(tuple(target))) for source, target in ordered]
        links, *nones = self._graph.run(joint_batch(pieces), OUTPUTS)
        found = [_cut(pair, *rows) for pair, *rows in zip(pieces, links, *nones, strict=True)]
        return [scores.mirrored() if swap else scores for scores, swap in zip(found, are_swapped, strict=True)]


def _cut(
    pair: tuple[Pieces, Pieces], links: Float32Array, source_none: Float32Array, target_none: Float32Array
) -> JointScores:
    """One pair without padding, rounded."""
    n, m = (len(side.ends) - 2 for side in pair)
    rounded = [
        array.astype(np.float16).astype(np.float32) for array in (links[:n, :m], source_none[:n], target_none[:m])
    ]
    return JointScores(*rounded)


@lru_cache(maxsize=4)
def load_joint_reader(folder: str = "") -> JointReader:
    """The shipped reader, loaded once per process, or that of a folder."""
    return JointReader(Path(folder) if folder else grammar_root() / "joint")
