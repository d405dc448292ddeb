"""What kind of word a word is: content, function and so on, and the small words that change a meaning
(`grammar/meaning_words.tsv`)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cache, cached_property, lru_cache
from pathlib import Path
from unicodedata import category

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, negation_words, punctuation_tags, read_rows, stop_words
from forestalign.tokens import KEPT_WORDS, Token, plain_form

PAIRS = ("degrees", "unopposed", "denying_verbs")  # lists of pairs of words
GROUPS = ("persons", "telling")  # lists of groups of words
FUNCTION_TAGS = frozenset({"DT", "IN", "TO", "CC", "PRP", "PRP$", "MD", "WDT", "WP", "EX", "POS", "RP"})


class WordClass(IntEnum):
    """What kind of word it is to leave without a partner."""

    CONTENT = 0
    FUNCTION = 1
    PUNCTUATION = 2
    NEGATION = 3
    NUMBER = 4


def word_class(token: Token) -> WordClass:
    """The class of a tagged word."""
    return _class_of(token.text, token.tag)


@lru_cache(maxsize=KEPT_WORDS)
def _class_of(surface: str, tag: str) -> WordClass:
    form = plain_form(surface).lower()
    if tag in punctuation_tags():
        return WordClass.PUNCTUATION
    if form in negation_words():
        return WordClass.NEGATION
    if tag == "CD":
        return WordClass.NUMBER
    return WordClass.FUNCTION if form in stop_words() or tag in FUNCTION_TAGS else WordClass.CONTENT


@dataclass(frozen=True)
class MeaningWords:
    """Lower-case words by what they do; grammar/README.md says what each list is for."""

    article: frozenset[str]
    definite: frozenset[str]
    plain_negation: frozenset[str]
    before_nor: frozenset[str]
    before_harmless: frozenset[str]
    harmless: frozenset[str]
    harmless_with_than: frozenset[str]
    before_exception: frozenset[str]
    exception: frozenset[str]
    bound: frozenset[str]
    all: frozenset[str]
    less: frozenset[str]
    denying: frozenset[str]
    degrees: frozenset[frozenset[str]]  # pairs that are opposites
    unopposed: frozenset[frozenset[str]]  # pairs that are none, whatever WordNet says
    denying_verbs: frozenset[frozenset[str]]  # a lemma, and what stands before the verb that it denies: to, from, -ing
    persons: frozenset[frozenset[str]]  # pronouns of one person: she, her, hers
    telling: frozenset[frozenset[str]]  # words of a kind that change a meaning: because, since, due

    @cached_property
    def person_of(self) -> dict[str, int]:
        """The number of the person of each pronoun, from 1."""
        return {word: number for number, words in enumerate(sorted(map(sorted, self.persons)), 1) for word in words}


def read_meaning_words(path: Path) -> MeaningWords:
    """Rows LIST, WORDS, one for each list; what PAIRS and GROUPS have is separated by `|`."""
    names = [field.name for field in fields(MeaningWords)]
    lists: dict[str, frozenset[object]] = {}
    for number, (name, row) in read_rows(path, 2):
        if name not in names or name in lists:
            raise GrammarError(path, number, f"{name!r}: expected one of {', '.join(names)}, each once")
        words = [frozenset(each.split()) for each in row.split("|")] if name in PAIRS + GROUPS else row.split()
        is_right = row == row.lower() and len(set(words)) == len(words)
        if not is_right or (name in PAIRS and any(len(pair) != 2 for pair in words)):
            raise GrammarError(path, number, f"{row!r}: expected lower-case words, or pairs of them, each once")
        lists[name] = frozenset(words)
    missing = [name for name in names if name not in lists]
    if missing:
        raise GrammarError(path, None, f"no row for {', '.join(missing)}; expected one for each list")
    return MeaningWords(**lists)  # type: ignore[arg-type]


@cache
def meaning_words() -> MeaningWords:
    """The lists, loaded once."""
    return read_meaning_words(grammar_root() / "meaning_words.tsv")


def is_mark(word: str) -> bool:
    """Whether a token has neither letter nor digit and is no emoji."""
    return not any(char.isalnum() or (char > "\u2600" and category(char) == "So") for char in word)
