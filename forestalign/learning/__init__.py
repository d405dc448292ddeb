"""Learning: feature-enhanced Viterbi EM (section 5.1 of the paper; Berg-Kirkpatrick et al. 2010), and models from gold.

EM, without gold:

- `m_step`: the weights that make alignments most likely
- `em`: the E step, mini-batches, passes, early stopping, and the card of the model
- `checkpoints`: where a run stands, read from files that may be damaged

From gold:

- `train_scores`, `cross_validate`: the scores of phrases, and how likely pairs are right
- `crf_run`: the CRF word aligners

- `model_description`: what a model has learned, in words
"""
