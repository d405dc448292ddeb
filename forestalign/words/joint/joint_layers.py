"""What the joint reader says about each pair of words, beside the probabilities of the learned aligner.

    known     the probability of the learned aligner, and its logit
    reader    its own, its lead over other partners of either word, and both competitions, that with no partner too
    beside    whether a neighbour of one word goes with the other one too, as in *gave up* / *quit*

All layers are symmetric: exchanging the sentences transposes them.
"""

from __future__ import annotations

import numpy as np

from forestalign.arrays import Float32Array
from forestalign.words.joint.joint_reader import JointScores
from forestalign.words.learned.context_layers import rivals
from forestalign.words.learned.metric import LEARNED, competition_layers

LARGEST_LOGIT = 30.0
LOGIT = "known logit"
LOGIT_UNIT = 4.0
LAYERS = (
    "known", LOGIT, "reader probability", "reader over rival", "reader over weak rival",
    *(f"reader {name}" for name in LEARNED),
    "beside more", "beside less",
)  # fmt: skip


def joint_layers(known: Float32Array, scores: JointScores) -> Float32Array:
    """The layers of LAYERS, in its order; `known` are the probabilities of the learned aligner."""
    probability = logistic(scores.links)
    strong, weak = rivals(probability)[:2]
    logit = np.log((known + np.float32(1e-4)) / (np.float32(1.0001) - known)) / np.float32(LOGIT_UNIT)
    own = [known, logit, probability, probability - strong, probability - weak]
    competing = competition_layers(scores.links, scores.source_none, scores.target_none)
    agreed = (known + probability) / np.float32(2.0)
    layers: Float32Array = np.concatenate([np.stack(own), competing, beside(agreed)]).astype(np.float32, copy=False)
    return layers


def logistic(scores: Float32Array) -> Float32Array:
    """Probabilities of single links."""
    result: Float32Array = (1.0 / (1.0 + np.exp(-np.clip(scores, -LARGEST_LOGIT, LARGEST_LOGIT)))).astype(np.float32)
    return result


def beside(belief: Float32Array) -> Float32Array:
    """The belief in a link of one word with a neighbour of the other: the larger and the smaller of both sides."""
    padded = np.pad(belief, 1)
    in_row = np.maximum(padded[1:-1, :-2], padded[1:-1, 2:])
    in_column = np.maximum(padded[:-2, 1:-1], padded[2:, 1:-1])
    return np.stack([np.maximum(in_row, in_column), np.minimum(in_row, in_column)])
