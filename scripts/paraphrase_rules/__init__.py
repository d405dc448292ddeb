"""Paraphrases by rules over gold trees, for `make_pairs.py`: the trees of both sentences are right by construction.

word_lists.json   the words that a rule asks for or stays away from
tree_edits.py     changing a tree, and numbering it anew
usage.py          how a treebank uses its words
verbs.py          clauses, verbs and their forms
voice.py          active and passive
dative.py         `gave him the book`, `gave the book to him`
nominals.py       relative clauses, coordination
order.py          adjuncts and clauses at the front and at the end
"""
