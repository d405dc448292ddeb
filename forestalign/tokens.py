"""Tokens and sentences: surface, lemma, Penn tag and character offsets into the raw text.

The tokenizer is NLTK's, in the manner of the Penn Treebank. Three things are done around it: offsets are found by our
own alignment (NLTK rewrites double quotes, and its search for them gives up on some), a typographic apostrophe inside
a word counts as a plain one (so that `don’t` is `do n’t`), and full stops are settled where one text holds two
sentences (`He left. She stayed.`) or ends in an abbreviation (`in the U.S.`).

A lemma is always lower case, that of a name too: lemmas are compared between sentences whose case may differ.
Only inflected forms are looked up; a tag of a base form says that the word is its own lemma.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Span(NamedTuple):
    """Half-open, in tokens: begin <= i < end."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Token:
    """One word as it stands in the text; lemma and tag are empty until the sentence is analysed."""

    surface: str
    begin: int
    end: int
    lemma: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and its tokens. `vectors` holds one contextual vector a token when the parser gave them."""

    text: str
    tokens: tuple[Token, ...]
    vectors: npt.NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    # asked for many times, so kept when first made
    _words: tuple[str, ...] | None = field(default=None, init=False, compare=False, repr=False)
    _tags: tuple[str, ...] | None = field(default=None, init=False, compare=False, repr=False)
    _lemmas: tuple[str, ...] | None = field(default=None, init=False, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def words(self) -> tuple[str, ...]:
        if self._words is None:
            object.__setattr__(self, "_words", tuple([token.surface for token in self.tokens]))
        assert self._words is not None
        return self._words

    @property
    def tags(self) -> tuple[str, ...]:
        if self._tags is None:
            object.__setattr__(self, "_tags", tuple([token.tag for token in self.tokens]))
        assert self._tags is not None
        return self._tags

    @property
    def lemmas(self) -> tuple[str, ...]:
        if self._lemmas is None:
            object.__setattr__(self, "_lemmas", tuple([token.lemma for token in self.tokens]))
        assert self._lemmas is not None
        return self._lemmas

    @classmethod
    def from_words(cls, words: Sequence[str]) -> Sentence:
        """The user's own tokens, joined by single spaces.

        >>> Sentence.from_words(["She", "left", "."]).text
        'She left .'
        """
        tokens, begin = [], 0
        for word in words:
            tokens.append(Token(word, begin, begin + len(word)))
            begin += len(word) + 1
        return cls(" ".join(words), tuple(tokens))

    def with_analysis(self, tags: Sequence[str], lemmas: Sequence[str]) -> Sentence:
        tokens = tuple(
            Token(token.surface, token.begin, token.end, lemma, tag)
            for token, tag, lemma in zip(self.tokens, tags, lemmas, strict=True)
        )
        return replace(self, tokens=tokens)


def tokenize(text: str) -> Sentence:
    """Penn-style tokens with exact offsets: every token is a slice of the text, and only white space lies between.

    >>> tokenize("Don't go!").words
    ('Do', "n't", 'go', '!')
    """
    plain = _INNER_APOSTROPHE.sub("'", text)
    spans = _settle_full_stops(text, list(_slices(plain, _word_tokenizer().tokenize(plain))))
    return Sentence(text, tuple(Token(text[begin:end], begin, end) for begin, end in spans))


def lemmatize(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """The lemma of each word under its Penn tag."""
    return [_lemma(word.lower().replace("’", "'"), tag) for word, tag in zip(words, tags, strict=True)]


def analyse(sentence: Sentence, tags: Sequence[str]) -> Sentence:
    """The sentence with these tags and the lemmas that follow from them."""
    return sentence.with_analysis(tags, lemmatize(sentence.words, tags))


_INNER_APOSTROPHE = re.compile(r"(?<=\w)’(?=\w)")
_DOUBLE_QUOTES = ("``", "''")  # what NLTK writes for any double quote


def _slices(text: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The slice of the text that each of NLTK's words stands for.

    NLTK changes nothing but white space and double quotes, so one walk over both finds every slice. The spaces are
    Python's, here and in NLTK.
    """
    position = 0
    for word in words:
        while text[position].isspace():
            position += 1
        begin = position
        if word in _DOUBLE_QUOTES and text[begin] == '"':
            position += 1
        else:
            position += len(word)
            assert word in _DOUBLE_QUOTES or text[begin:position] == word, (text, word, begin)
        yield begin, position


_INNER_SENTENCE_END = re.compile(r"[a-z]{3,}\.")
_ABBREVIATION = re.compile(r"(\w\.)+\w")


def _settle_full_stops(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cut the full stop off a plain word before a capital; give it back to a final `U.S` or `a.m`."""
    settled: list[tuple[int, int]] = []
    for index, (begin, end) in enumerate(spans):
        following = text[spans[index + 1][0]] if index + 1 < len(spans) else ""
        is_last_stop = text[begin:end] == "." and bool(settled) and settled[-1][1] == begin
        if following.isupper() and _INNER_SENTENCE_END.fullmatch(text, begin, end):
            settled += [(begin, end - 1), (end - 1, end)]
        elif is_last_stop and _ABBREVIATION.fullmatch(text, settled[-1][0], begin):
            settled[-1] = (settled[-1][0], end)
        else:
            settled.append((begin, end))
    return settled


@cache
def _word_tokenizer() -> Any:
    """NLTK's word tokenizer, loaded without the rest of NLTK.

    `import nltk` brings in scipy.stats and more and takes two seconds, the tokenizer alone a tenth of one. So its
    parent packages are stood in for while it is imported, and the stand-ins are taken away again.
    """
    if "nltk" in sys.modules:
        return importlib.import_module("nltk.tokenize.destructive").NLTKWordTokenizer()
    package = importlib.util.find_spec("nltk")
    assert package is not None
    assert package.submodule_search_locations is not None
    roots = list(package.submodule_search_locations)
    try:
        for name, path in (("nltk", roots), ("nltk.tokenize", [f"{root}/tokenize" for root in roots])):
            sys.modules[name] = ModuleType(name)
            sys.modules[name].__path__ = path
        module = importlib.import_module("nltk.tokenize.destructive")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
            del sys.modules[name]
    return module.NLTKWordTokenizer()


# Forms whose lemma lies outside the paradigms of the library: clitics, pronouns other than possessives, and degree
# words, which are words of their own (`most people` has nothing to do with much).
_CLOSED_CLASS = {
    ("n't", "RB"): "not",
    ("ca", "MD"): "can",
    ("wo", "MD"): "will",
    ("sha", "MD"): "shall",
    ("'ll", "MD"): "will",
    ("'d", "MD"): "would",
    ("'d", "VBD"): "have",
    ("'s", "VBZ"): "be",
    ("'m", "VBP"): "be",
    ("'re", "VBP"): "be",
    ("'ve", "VBP"): "have",
    ("'ve", "VB"): "have",
    ("an", "DT"): "a",
    ("me", "PRP"): "i",
    ("him", "PRP"): "he",
    ("her", "PRP"): "she",
    ("us", "PRP"): "we",
    ("'s", "PRP"): "we",
    ("them", "PRP"): "they",
    ("'em", "PRP"): "they",
    ("more", "JJR"): "more",
    ("more", "RBR"): "more",
    ("most", "JJS"): "most",
    ("most", "RBS"): "most",
    ("least", "JJS"): "least",
    ("least", "RBS"): "least",
}
_INFLECTED = {
    "NNS": "NOUN",
    "VBD": "VERB",
    "VBG": "VERB",
    "VBN": "VERB",
    "VBP": "VERB",
    "VBZ": "VERB",
    "JJR": "ADJ",
    "JJS": "ADJ",
    "RBR": "ADV",
    "RBS": "ADV",
}


@lru_cache(maxsize=100_000)
def _lemma(word: str, tag: str) -> str:
    """The lemma of one lower-case word.

    Of several candidates (`found`: find, found) the first that has the word as its form for this tag is taken.
    """
    if (word, tag) in _CLOSED_CLASS:
        return _CLOSED_CLASS[word, tag]
    if tag not in _INFLECTED:
        return word
    import lemminflect  # its tables are large, and many commands never ask for a lemma

    # its rules for unknown words leave nothing of some very short ones
    candidates = [lemma for lemma in lemminflect.getLemma(word, _INFLECTED[tag]) if lemma] or [word]
    if len(candidates) == 1:
        return str(candidates[0]).lower()  # without the table of inflected forms, which takes time to read
    fitting = (lemma for lemma in candidates if word in lemminflect.getInflection(lemma, tag))
    return str(next(fitting, candidates[0])).lower()
