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
from forestalign.tokens import KEPT_WORDS, is_listed_form

FEWEST_WORDS = 4  # fewer say nothing: "Je sais" and "Kofi Annan sneezed" look alike
FEWEST_PLAIN = 2  # words without a capital, for those with one to count
FEWEST_LETTERS = 4  # to tell a script: one Greek letter is a symbol
MOST_UNKNOWN = 0.5
SHORTEST_ENTRY = 4  # letters; WordNet's shorter entries are often abbreviations: UN, LE, El


def looks_english(words: Sequence[str]) -> bool:
    """Whether at least half of the words are known to be English, or there are too few to tell.

    Letters of another script need no dictionary. Of a short sentence words with a capital count as well, if the others
    are unknown, too: *Ich bin ein kleiner Hund*, but not *Kofi Annan sneezed*.
    """
    if _is_other_script(words):
        return False
    letters = [word for word in words if all(character.isalpha() or character in "'’-" for character in word)]
    spelt = [word for word in letters if any(map(str.isalpha, word))]
    plain = [word for word in spelt if not word[0].isupper()]
    if FEWEST_PLAIN <= len(plain) < FEWEST_WORDS and not _mostly_known(plain):
        plain = spelt
    counted = plain if plain else spelt
    return len(counted) < FEWEST_WORDS or _mostly_known(counted)


def _mostly_known(words: Sequence[str]) -> bool:
    return sum(not _is_known(word.lower().replace("’", "'")) for word in words) <= MOST_UNKNOWN * len(words)


def _is_other_script(words: Sequence[str]) -> bool:
    """Whether most letters are Cyrillic, Chinese or the like; Latin ones, with their accents, end at U+024F."""
    letters = [character for word in words for character in word if character.isalpha()]
    is_enough = len(letters) >= FEWEST_LETTERS
    return is_enough and sum(character > "\u024f" for character in letters) > MOST_UNKNOWN * len(letters)


@lru_cache(maxsize=KEPT_WORDS)
def _is_known(word: str) -> bool:
    if word in stop_words() or (len(word) >= SHORTEST_ENTRY and word in load_wordnet()):
        return True
    parts = word.split("-")
    if len(parts) > 1:
        return all(not part or _is_known(part) for part in parts)
    return is_listed_form(word)
