"""Training of the encoder and of what stands on it; needs the extra `train`.

treebank          trees as training sees them, and batches of them
shaped_parser     benepar's chart parser with the shapes of words at its input, and the likelihood of trees
word_links        pairs of sentences with word links, and links from the layers of the encoder
run               optimiser, schedule, averaged weights, checkpoints
"""
