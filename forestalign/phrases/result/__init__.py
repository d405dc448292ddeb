"""What comes out.

- `alignment`: the result, which everything else takes: phrase pairs, trees, links, alternatives
- `shown_pairs`: which pairs a reader is shown, by default, with all bar phrases or with none; loose ones (*by him*)
- `discontinuous_pairs`: words that belong together and are not a phrase (*turned … down*)
- `unit_pairs`: stretches of text that are partners, be they nodes or not (*The board agreed*, *the board 's agreement*)
- `pair_confidence`: how likely a pair is right
- `pair_relations`: what a pair rests on, and what its phrases are to each other
- `pair_meaning`: what contradicts in two sentences, found once: relations that rise from it, and differences
- `result_builder`: derivations of two forests as results
"""
