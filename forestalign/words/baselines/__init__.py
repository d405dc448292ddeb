"""Other ways to align words, to compare ours with: those of the papers' tables and of other programs.

- `meteor`: Meteor's matcher (Denkowski and Lavie 2014)
- `tree_edit`: tree edit distance of dependency trees (the baseline of Yao et al. 2013)
- `matchings`: argmax, itermax and the best one-to-one matching over the cosines of the encoder's vectors (SimAlign)
- `word_models`: IBM and HMM models of a whole corpus, by eflomal

None of them is trained on gold links. Gold was looked at in two places: the threshold and the default matching of
`matchings`, and the cost of unlike words in `tree_edit`, were chosen on parts of msr-rte2.dev and edinburgh.train.
"""
