"""What everything in a derivation is worth.

As the paper has it:

- `pair_features`: F, what is known about a pair of phrases (5.2)
- `model`: the log-linear alignment probability Pr (5.2)
- `score`: penalties and parse scores, as the tables that the search adds up (5.3, 5.4)
- `seeds`: the pairs of words and of phrases that hypotheses grow from (Algorithm 4.1)

Learned scores in the place of the penalties (`scoring="best"`, the default):

- `schema`: which features the parts of a derivation have, by name
- `span_scores`: how likely two phrases are partners, by the encoder's vectors and the links
- `seeds`, `features`: their values for two forests, and the tables of the search from them
- `score_model`: their weights in a file, with those that say how likely a pair is right
"""
