"""The last word about links: what the joint reader says and what the learned aligner knows, weighed together.

    p(i, j) = logistic(weights[kind] . layers(i, j) + bias[kind])

`kind` is that of the learned aligner. The weights (grammar/joint/weights.tsv) were fitted by
scripts/train_joint_words.py to pairs that neither the reader nor the aligner below had seen.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from forestalign.arrays import Float32Array
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.inputs import number
from forestalign.words.joint.joint_layers import LAYERS, joint_layers
from forestalign.words.joint.joint_reader import JointReader, JointScores, Words, load_joint_reader
from forestalign.words.learned.matching import BIAS, KINDS, MatchingModel
from forestalign.words.learned.word_evidence import Evidence

WEIGHTS = "weights.tsv"


class JointWeigher:
    """A reader and its weights."""

    def __init__(self, reader: JointReader, model: MatchingModel):
        self._reader, self._model = reader, model

    def __call__(self, source: Words, target: Words, evidence: Evidence, known: Float32Array) -> Float32Array | None:
        """Probabilities of all links of a pair; None where the pair is too long to be read at once."""
        if not self._reader.fits(source, target):
            return None
        return self.weigh(evidence, known, self._reader.read([(source, target)])[0])

    def weigh(self, evidence: Evidence, known: Float32Array, scores: JointScores) -> Float32Array:
        """Probabilities of all links of a pair that the reader has scored already."""
        layers = joint_layers(known, scores)
        return self._model.probabilities(0, layers, evidence.kinds)


@cache
def load_joint_weigher() -> JointWeigher:
    """The shipped reader with its shipped weights."""
    return JointWeigher(load_joint_reader(), read_joint_weights(grammar_root() / "joint" / WEIGHTS))


def read_joint_weights(path: Path) -> MatchingModel:
    """Rows KIND, LAYER, WEIGHT."""
    names = (*LAYERS, BIAS)
    weights = np.zeros((len(KINDS), len(names)), dtype=np.float32)
    missing = {(kind, layer) for kind in KINDS for layer in names}
    for line, (kind, layer, value) in read_rows(path, 3):
        try:
            missing.remove((kind, layer))
            weights[KINDS.index(kind), names.index(layer)] = number("weight", float(value))
        except (ValueError, KeyError) as error:
            raise GrammarError(
                path, line, f"{kind} {layer} {value}: expected each kind and layer once, with its weight"
            ) from error
    if missing:
        raise GrammarError(path, None, f"no weight for {sorted(missing)[0]}")
    return MatchingModel((weights,))


def format_joint_weights(model: MatchingModel) -> str:
    """The rows that `read_joint_weights` reads."""
    rows = ["# Weights of the joint reader's layers: KIND, LAYER, WEIGHT."]
    for kind, values in zip(KINDS, model.passes[0], strict=True):
        rows += [f"{kind}\t{layer}\t{value:.4f}" for layer, value in zip((*LAYERS, BIAS), values, strict=True)]
    return "\n".join(rows) + "\n"
