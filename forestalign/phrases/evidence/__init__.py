"""What speaks for pairs of phrases, before any search.

- `phrase_evidence`: phrases that mean the same, or the opposite, though no word link says so
- `occurrence_share`: which of several occurrences such evidence is about
- `discounted_links`: word links that such evidence explains away
- `span_context`, `span_pairs`, `logistic`, `phrase_similarity`: how likely two phrases are partners, learned
"""
