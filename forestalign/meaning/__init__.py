"""What sentences claim, and how English says the same in other words.

- `rules`: the paraphrase grammar, lines of expressions with slots
- `readings`: a sentence as all that compares meanings reads it, with who does what to whom
- `matcher`: where lines are met in two sentences, and which words correspond by them
- `differences`: one thing that two sentences say differently, and the kinds of differences
- `role_changes`, `comparisons`, `negation`: arguments, standards of comparison and negations of two sentences
- `scales`, `numbers_apart`: modals, quantifiers, weekdays, numbers and their like, compared
- `substitutions`: another word or name in the same place
- `contradictions`: all that makes two sentences say different things, and what takes it back
"""
