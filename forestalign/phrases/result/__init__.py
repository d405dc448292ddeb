"""What comes out.

- `alignment`: the result, which everything else takes: phrase pairs, trees, links, alternatives
- `shown_pairs`: which pairs a reader is shown, by default, with all bar phrases or with none
- `discontinuous_pairs`: words that belong together and are not a phrase (*turned … down*)
- `loose_phrases`: phrases that add nothing but small words to an aligned one (*by him*)
- `pair_confidence`: how likely a pair is right
- `pair_relations`: what a pair rests on, and what its phrases are to each other
- `role_frames`, `role_changes`: who does what to whom, and which words changed places
- `negated_predicates`, `denials`: negations, and which of them contradict the other sentence
- `different_values`: numbers at one place that are not the same value
- `comparisons`: what stands behind *than*, and comparisons that are made from the other end
- `contradictions`: negations, opposites, values and roles that make two sentences differ
- `rising`: what contradicts inside a pair makes the pair contradict, up to the root
- `found_differences`: all that two sentences say differently, as one list
- `result_builder`: derivations of two forests as results
"""
