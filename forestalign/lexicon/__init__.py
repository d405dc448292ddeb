"""What is known about words and phrases: WordNet relations, word vectors, the user's pair lists, frequency.

The first two ship in grammar/lexicon and are read on first use; pair lists are the user's.

- `findings`: what sources of evidence read, a sentence taken apart at hyphens, and give, two phrases and their relation
- `wordnet`: relations between single words, opposites (*cheap* and *expensive*), predicates of one event from two sides
  (*sold to*, *bought from*); does a sentence look like English?
- `vectors`: static word vectors, and one vector of a sentence
- `pair_lists`: the user's lists of words and phrases
- `numbers`, `times`, `quantities`: values with units, and which of two sentences are equal or differ
- `names`: acronyms, titles, people
- `word_classes`: content, function and other words, and the small words that change a meaning
"""

from __future__ import annotations

from forestalign.lexicon.pair_lists import PairList, PhraseLists, load_phrase_lists, load_ppdb
from forestalign.lexicon.vectors import WordVectors, load_vectors
from forestalign.lexicon.wordnet import WordNet, load_wordnet

__all__ = [
    "PairList",
    "PhraseLists",
    "WordNet",
    "WordVectors",
    "load_phrase_lists",
    "load_ppdb",
    "load_vectors",
    "load_wordnet",
]
