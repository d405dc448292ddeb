"""Profile `best`: the same questions as Sultan's stages ask, weighed all at once by a trained log-linear model.

- `sides`: one sentence, prepared for questions about pairs of words
- `evidence`: what two words are to each other, and what surrounds them, as one array
- `matching`: the model that weighs the evidence, twice, and which of several occurrences of a word a word goes with
"""
