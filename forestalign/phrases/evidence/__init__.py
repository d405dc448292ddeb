"""What speaks for pairs of phrases, before any search.

- `phrase_evidence`: phrases that mean the same, or the opposite, though no word link says so, shared among occurrences
  and what lines of the paraphrase grammar say
- `span_pairs`, `logistic`: what is weighed about the user's own chunks
"""
