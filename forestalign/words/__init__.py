"""Word alignment after Sultan, Bethard and Sumner (2014), and the dictionary links of Arase and Tsujii (2017).

The stages stand in `published` (what their program does) and `paper` (what their paper says); our own profile, `best`,
stands in `learned`.

- `alignment`: word links, and how much of two sentences they cover
- `analysis`: what is known about a sentence: tags, lemmas, dependencies, names
- `similarity`: how alike two words are, and the links of section 6.1 of the forest paper
- `word_vectors`: centred cosines of the encoder's vectors, the learned metric, vectors as text for files
- `sultan`, `learned`, `crf`: folders of methods
- `baselines`: the methods of other programs
- `linking`: one door to all methods

The folder can be called: `forestalign.words(source, target)` gives the links of one pair by the default settings.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from forestalign.words.alignment import SentenceScores, sentence_scores
from forestalign.words.analysis import Analysis, Arc, Entity, analyse_given, analyse_parse, analyse_spacy, find_names
from forestalign.words.learned.matching import CANDIDATE
from forestalign.words.linking import PROFILES, WordAligner
from forestalign.words.similarity import dictionary_links, similarity_threshold

__all__ = [
    "CANDIDATE",
    "PROFILES",
    "Analysis",
    "Arc",
    "Entity",
    "SentenceScores",
    "WordAligner",
    "analyse_given",
    "analyse_parse",
    "analyse_spacy",
    "dictionary_links",
    "find_names",
    "sentence_scores",
    "similarity_threshold",
]

if TYPE_CHECKING:
    from forestalign.aligner import Text
    from forestalign.words.linking import LinkedPair


class _WordsModule(ModuleType):
    """This folder, which can be called as well: `forestalign.words(source, target)` stands beside `align`."""

    def __call__(self, source: Text, target: Text) -> LinkedPair:
        """The word links of one pair, by the default settings."""
        from forestalign.aligner import words  # when called, since it needs all that follows

        return words(source, target)


sys.modules[__name__].__class__ = _WordsModule
