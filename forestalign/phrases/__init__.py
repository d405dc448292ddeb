"""Phrase alignment on parse forests: sections 3 to 5 of Arase and Tsujii (2017), in order.

- `evidence`: phrases that mean the same, or the opposite, though no word link says so
- `features`: what is known about a pair of phrases (5.2)
- `model`: the log-linear alignment probability Pr (5.2)
- `score`: what everything in an alignment is worth, as tables (5.3, 5.4)
- `seeds`: the pairs of words and of phrases that hypotheses grow from (4.1)
- `region`: the part of a forest that a derivation opens (3.3)
- `lca`: ways up a forest, and the lowest common ancestors they meet at (3.3, 4.1)
- `hypotheses`: partial alignments, and what is handed on of those that reach the roots (4.1)
- `trace`: non-compositional steps (4.2)
- `search`: the search for the best tree of phrase pairs (4.1)
- `compiled_search`: the same by the compiled twins of the last four, the .pxi files of the same names
- `stage`: both directions, the chosen trees: from two forests to a result
- `result`: the trees of phrase pairs that come out
- `legitimacy`: what makes an alignment legitimate (3.2); it judges the search and shares no code with it
"""
