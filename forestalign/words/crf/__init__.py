"""Supervised aligners: the token CRF and the semi-Markov phrase CRF of Yao et al. (2013), trainable and exact.

    aligner = load_crf()
    for link in aligner.align(source, target):
        print(link.source, link.target, link.score)

The way from a pair to its links:

- `cells`: a sentence as the features see it, its chunks, and the features of a word with a word
- `feature_space`: which weight stands where, and the features of steps
- `pair_features`: the features of spans and of whole pairs; from weights to a lattice
- `lattice`: exact inference
- `crf_aligner`: one set of links from both directions, and the model file

The way from gold to a model:

- `training`: gold links and phrase gold made from them, the loss and its gradient, L-BFGS
"""

from __future__ import annotations

from forestalign.words.crf.crf_aligner import CrfAligner, load_crf

__all__ = ["CrfAligner", "load_crf"]
