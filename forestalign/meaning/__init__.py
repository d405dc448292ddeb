"""What sentences claim, and how English says the same in other words.

- `rules`: the paraphrase grammar, lines of expressions with slots
- `roles`: who does what to whom in a sentence
- `matcher`: where lines are met in two sentences, and which words correspond by them
- `scales`: modals, quantifiers, weekdays and their like, compared
- `substitutions`: another word or name in the same place
- `differences`: one thing that two sentences say differently, and the kinds of differences
"""
