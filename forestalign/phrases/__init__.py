"""Phrase alignment on parse forests: sections 3 to 5 of Arase and Tsujii (2017), in four rooms.

- `evidence`: what speaks for pairs of phrases beside the word links
- `scoring`: what pairs, steps and null phrases are worth: the paper's Pr and penalties, or learned scores (5.2 to 5.4)
- `search`: the search for the best tree of phrase pairs (section 4), and what judges it (3.2)
- `result`: the trees of phrase pairs, and what is said about them
- `stage`: from two forests and the links between their words (`PreparedPair`) to a result, through all rooms

Beside the paper:

- `chunk_alignment`: a user's own chunks, many to many
"""
