"""Phrase alignment on parse forests: sections 3 to 5 of Arase and Tsujii (2017), in order.

What is known about phrases, before any search:

- `prepared_pair`: two forests and the links between their words
- `evidence`: phrases that mean the same, or the opposite, though no word link says so
- `rivals`: which of several occurrences such evidence is about
- `explained_links`: word links that such evidence explains away
- `span_context`, `span_pairs`, `span_weights`, `phrase_similarity`: how likely two phrases are partners, learned
- `features`: what is known about a pair of phrases (5.2)
- `model`: the log-linear alignment probability Pr (5.2)

What everything is worth:

- `score`: the paper's penalties and parse scores, as tables (5.3, 5.4)
- `part_kinds`, `parts`, `seed_parts`, `linear_model`: learned scores in their place (`scoring="best"`, the default)

The search:

- `seeds`: the pairs of words and of phrases that hypotheses grow from (Algorithm 4.1)
- `region`: the part of a forest that a derivation opens (4.1, 4.4)
- `lca`: ways up a forest, and the lowest common ancestors they meet at (3.3, 4.1)
- `hypotheses`: partial alignments, and what is handed on of those that reach the roots (4.2)
- `trace`: non-compositional steps (4.3)
- `search`: the search for the best tree of phrase pairs (4.2)
- `compiled_search`: the same by the compiled twins of the last four, the .pxi files of the same names
- `expected_f1`: another choice among the k best (`decode="risk"`)
- `assembly`: derivations of two forests as results, seen from the side that was asked
- `stage`: both directions, the chosen trees: from two forests to a result

What comes out:

- `result`: the trees of phrase pairs
- `scattered`: words that belong together and are no phrase (*turned … down*)
- `extended`: phrases that add nothing but small words to an aligned one (*by him*)
- `pair_relations`: what a pair rests on, and what its phrases are to each other
- `legitimacy`: what makes an alignment legitimate (3.2); it judges the search and shares no code with it

Beside the paper:

- `chunk_alignment`: a user's own chunks, many to many
- `tree_edit_search`: a baseline, the edit distance of two trees
"""
