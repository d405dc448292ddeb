"""Profile `best`: the same questions as Sultan's stages ask, weighed all at once by a trained log-linear model.

- `sides`: one sentence, prepared for questions about pairs of words
- `lexical_layers`, `context_layers`: what two words are to each other, and what surrounds them
- `metric`: how near two words are in their sentences, by a projection learned from gold links
- `word_evidence`: all of this as one array
- `occurrences`: which of several occurrences of a word a word goes with
- `matching`: the model that weighs the evidence, twice
"""
