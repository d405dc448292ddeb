"""Does a sentence look like English? By its words: those that a dictionary of English forms, WordNet or the stop words
do not know are unknown.

Vectors and word pieces would not do: both know *der*, *que* and *pour*, since English text on the web quotes them.
Words with a capital are left out where others are there, since names are foreign in any language.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from forestalign.grammar import stop_words
from forestalign.lexicon.wordnet import load_wordnet
from forestalign.tokens import KEPT_WORDS

FEWEST_WORDS = 4  # fewer say nothing: "Je sais" and "Kofi Annan sneezed" look alike
MOST_UNKNOWN = 0.5
SHORTEST_ENTRY = 4  # letters; WordNet's shorter entries are often abbreviations: UN, LE, El


def looks_english(words: Sequence[str]) -> bool:
    """Whether at least half of the words are known to be English, or there are too few to tell."""
    letters = [word for word in words if all(character.isalpha() or character in "'’-" for character in word)]
    spelt = [word for word in letters if any(map(str.isalpha, word))]
    plain = [word for word in spelt if not word[0].isupper()]
    counted = plain if plain else spelt
    if len(counted) < FEWEST_WORDS:
        return True
    return sum(not _is_known(word.lower().replace("’", "'")) for word in counted) <= MOST_UNKNOWN * len(counted)


@lru_cache(maxsize=KEPT_WORDS)
def _is_known(word: str) -> bool:
    if word in stop_words() or (len(word) >= SHORTEST_ENTRY and word in load_wordnet()):
        return True
    parts = word.split("-")
    if len(parts) > 1:
        return all(not part or _is_known(part) for part in parts)
    import lemminflect  # its tables are large, and many commands never ask

    return bool(lemminflect.getAllLemmas(word))
