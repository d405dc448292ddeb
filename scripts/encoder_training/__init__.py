"""Training of the encoder and of what stands on it; needs the extra `train`.

treebank          trees as training sees them
texts             unlabelled sentences and pairs
tree_crf          likelihood of trees, and the distance from a teacher's marginals
shaped_parser     benepar's chart parser with the shapes of words at its input
run               optimiser, schedule, averaged weights, checkpoints
sampling          batches that the seed and the number of the step decide
gold_links        pairs of sentences with word links
link_head         word links from the middle of the encoder
joint_reader      an encoder over both sentences of a pair, and its head
pair_mixing       pairs put together from others: unrelated, half related, joined in another order
teacher_files     what teachers say about unlabelled text, kept on disk
student_tasks     the tasks of a student and their losses
graph_middle      words by the layers half way, as an output of the exported graph
exported_weights  the shipped 8-bit graph as weights to start from
"""
