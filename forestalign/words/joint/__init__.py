"""The joint reader: an encoder that reads both sentences of a pair at once, beside what is known of each alone.

- `pair_batch`: the input of its graph, for several pairs
- `joint_reader`: the graph, loaded when it is first asked
- `joint_layers`: what it says about each pair of words, as layers of evidence
- `joint_weighing`: the model that weighs these with the probabilities of the learned aligner
"""
