"""What sentences claim, and how English says the same in other words.

- `rules`: the paraphrase grammar, lines of expressions with slots
- `readings`: a sentence as all that compares meanings reads it, with who does what to whom
- `matcher`: where lines are met in two sentences, and which words correspond by them
- `differences`: one thing that two sentences say differently, and the kinds of differences
- `claims`: what one sentence claims: values on scales, negations, comparisons
- `role_changes`: arguments of two sentences, and words that changed places
- `word_changes`: opposites, values, numbers and other words that stand for each other
- `contradictions`: all that makes two sentences say different things, and what takes it back
"""
