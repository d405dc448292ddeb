"""What is known about pairs of words: WordNet relations, word vectors, pair lists, frequency.

The first two ship in grammar/lexicon and are read on first use; pair lists are the user's.
"""

from __future__ import annotations

from forestalign.lexicon.pairs import PairList, load_ppdb
from forestalign.lexicon.vectors import WordVectors, load_vectors
from forestalign.lexicon.wordnet import WordNet, load_wordnet

__all__ = ["PairList", "WordNet", "WordVectors", "load_ppdb", "load_vectors", "load_wordnet"]
