"""Tokens and sentences: text, lemma, Penn tag and character offsets into the raw text.

The tokenizer is NLTK's, in the manner of the Penn Treebank. Four things are done around it: offsets are found by our
own alignment (NLTK rewrites double quotes, and its search for them gives up on some), NLTK is shown plain apostrophes
and letters (so that `don’t` is `do n’t`), web and e-mail addresses, `#tags`, `@names` and emoji stay
whole (NLTK is shown letters in their place), as do numbers whose thousands are set off by narrow spaces, and full
stops are settled where one text holds two sentences (`He left. "Why?"`) or ends in an abbreviation (`in the U.S.`).

A lemma is always lower case, that of a name too: lemmas are compared between sentences whose case may differ.
Only inflected forms are looked up; a tag of a base form says that the word is its own lemma.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, overload

from forestalign.arrays import Float32Array
from forestalign.errors import UsageError, shown
from forestalign.grammar import abbreviations, grammar_root, lemma_choices
from forestalign.machine import light_import

KEPT_WORDS = 1 << 12  # in each cache: most of a text, and full after some hundred pairs, so that memory is flat then


class Span(NamedTuple):
    """Half-open, in tokens: begin <= i < end."""

    begin: int
    end: int

    @property
    def start(self) -> int:
        """The first token, by the name that results use."""
        return self.begin

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return self.end - self.begin

    def covers(self, other: Span) -> bool:
        """Whether the other one lies inside, or is the same.

        >>> Span(1, 4).covers(Span(1, 2)), Span(1, 4).covers(Span(0, 2))
        (True, False)
        """
        return self.begin <= other.begin and other.end <= self.end


class TextSpan(Span):
    """A span that knows its words: it prints as text, and is equal to the span.

    >>> phrase = TextSpan.of(Span(1, 3), "a car")
    >>> print(phrase.text, phrase.start, phrase.end, phrase == (1, 3))
    a car 1 3 True
    """

    text: str

    @classmethod
    def of(cls, span: Span, text: str) -> TextSpan:
        """The span with its words."""
        phrase = cls(*span)
        phrase.text = text
        return phrase

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.begin}-{self.end} {self.text!r}>"

    def __reduce__(self) -> tuple[Callable[[Span, str], TextSpan], tuple[Span, str]]:
        return TextSpan.of, (Span(*self), self.text)


@dataclass(frozen=True, slots=True)
class Token:
    """One word, and where it stands in the text; lemma and tag are empty until the sentence is analysed."""

    text: str
    start: int
    end: int
    lemma: str = ""
    tag: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def form(self) -> str:
        """The word in its plain form, which is what all stages see and compare."""
        return self.text if self.text.isascii() else plain_form(self.text)

    @property
    def key(self) -> str:
        """What words are compared by: the lemma where there is one, in lower case."""
        return (self.lemma or self.form).lower()


@dataclass(frozen=True)
class Sentence:
    """A text and its tokens, with what the parser's encoder made of them where it gave that.

    `vectors` is its last layer, one row per token, as the parser's scorer sees it; `context_vectors` is the mean of two
    layers half way, where words of like meaning lie nearest each other, as exact as 16 bits, in which caches keep it.
    """

    text: str
    tokens: tuple[Token, ...]
    vectors: Float32Array | None = field(default=None, compare=False, repr=False)
    context_vectors: Float32Array | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)

    @overload
    def __getitem__(self, place: int) -> Token: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Token, ...]: ...
    def __getitem__(self, place: int | slice) -> Token | tuple[Token, ...]:
        return self.tokens[place]

    def __str__(self) -> str:
        return self.text

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words in their plain forms (`plain_form`), as all stages see and compare them."""
        return tuple([token.form for token in self.tokens])

    @cached_property
    def lower_words(self) -> tuple[str, ...]:
        """The same in lower case."""
        return tuple([word.lower() for word in self.words])

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """What words are compared by: `Token.key` of each."""
        return tuple([(token.lemma or word).lower() for token, word in zip(self.tokens, self.words, strict=True)])

    @property
    def written_words(self) -> tuple[str, ...]:
        """The words as they stand in the text."""
        return tuple([token.text for token in self.tokens])

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tags; empty before the analysis."""
        return tuple([token.tag for token in self.tokens])

    @cached_property
    def lemmas(self) -> tuple[str, ...]:
        """The lemmas; empty before the analysis."""
        return tuple([token.lemma for token in self.tokens])

    def span(self, begin: int, end: int) -> TextSpan:
        """The words from `begin` to before `end`, with their text."""
        phrase = TextSpan(begin, end)
        phrase.text = self.phrase(phrase)
        return phrase

    def phrase(self, span: Span) -> str:
        """The words of a span as they stand in the text (*can't*, not *ca n't*), on one line."""
        text = self.text[self.tokens[span.begin].start : self.tokens[span.end - 1].end]
        return text if self._is_on_one_line else " ".join(text.split())

    @cached_property
    def _is_on_one_line(self) -> bool:
        """Whether all that stands between words is single spaces."""
        return " ".join(self.text.split()) == self.text.strip(" ")

    @classmethod
    def from_words(cls, words: Sequence[str]) -> Sentence:
        """The user's own tokens, joined by single spaces.

        >>> Sentence.from_words(["She", "left", "."]).text
        'She left .'
        """
        if isinstance(words, str | bytes) or not isinstance(words, Iterable):
            raise UsageError(f"words is {shown(words)}; expected a list of words")
        words, tokens, begin = tuple(words), [], 0
        for word in words:
            if not isinstance(word, str):
                raise UsageError(f"word {len(tokens)} is {shown(word)}; expected a string")
            tokens.append(Token(word, begin, begin + len(word)))
            begin += len(word) + 1
        return cls(" ".join(words), tuple(tokens))

    def with_analysis(self, tags: Sequence[str], lemmas: Sequence[str]) -> Sentence:
        """The sentence with tags and lemmas."""
        tokens = tuple(
            Token(token.text, token.start, token.end, lemma, tag)
            for token, tag, lemma in zip(self.tokens, tags, lemmas, strict=True)
        )
        return self.with_fields(tokens=tokens)

    def with_fields(self, **fields: Any) -> Sentence:
        """The same words with something else about them; the forms of words are not found again."""
        other = replace(self, **fields)
        vars(other).update(words=self.words, lower_words=self.lower_words)
        return other


def tokenize(text: str) -> Sentence:
    """Penn-style tokens with exact offsets: every token is a slice of the text, and only white space lies between.

    >>> tokenize("Don't go!").words
    ('Do', "n't", 'go', '!')
    """
    if not isinstance(text, str):
        raise UsageError(f"text is {shown(text)}; expected a string")
    wholes = [found.span() for found in _WHOLE.finditer(text)] if _MAY_BE_WHOLE.search(text) else []
    shown_text = plain = text if text.isascii() else _INNER_APOSTROPHE.sub("'", text.translate(_SAME_LENGTH))
    for begin, end in wholes:
        plain = plain[:begin] + _STAND_IN * (end - begin) + plain[end:]
    spans = _cut_around(list(_slices(plain, _word_tokenizer().tokenize(plain))), wholes)
    spans = _settle_full_stops(shown_text, spans)
    return Sentence(text, tuple(Token(text[begin:end], begin, end) for begin, end in spans))


def lemmatize(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """The lemma of each word under its Penn tag."""
    return [_lemma(standard_form(word).lower(), tag) for word, tag in zip(words, tags, strict=True)]


@lru_cache(maxsize=KEPT_WORDS)
def standard_form(word: str) -> str:
    """The plain form of a word, or the standard form of an informal spelling that is no other word.

    The spellings are in grammar/paraphrases/informal-spelling.txt.

    >>> standard_form("oﬃce"), standard_form("definately")
    ('office', 'definitely')
    """
    plain = plain_form(word)
    return informal_spellings().get(plain.lower(), plain)


@lru_cache(maxsize=KEPT_WORDS)
def plain_form(word: str) -> str:
    """One form for what Unicode has several for; a plain word is its own.

    Ligatures, letters of full width, accents, digits, apostrophes, quotes, dashes, invisible characters inside a word,
    and what sets off thousands.

    >>> plain_form("oﬃce"), plain_form("nʼt"), plain_form("1\u202f000"), plain_form("com\u00admittee")
    ('office', "n't", '1000', 'committee')
    """
    if word.isascii():
        return word
    plain = "".join(map(_plain_character, unicodedata.normalize("NFC", word)))
    if any(map(str.isalnum, plain)):
        plain = "".join(character for character in plain if unicodedata.category(character) != "Cf")
    if _THOUSANDS.fullmatch(plain):
        plain = _THOUSANDS_MARK.sub("", plain)
    return plain if "".join(plain.split()) == plain != "" else word  # some characters stand for whole phrases


def _plain_character(character: str) -> str:
    """The plain character or characters; fractions and superscripts are numbers of their own and stay."""
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    return _PLAIN_MARKS.get(character) or (character if category == "No" else unicodedata.normalize("NFKC", character))


_APOSTROPHES = "‘’‛ʼʹ′＇´"
_HYPHENS = "‐‑−"
_PLAIN_MARKS = {
    **dict.fromkeys(_APOSTROPHES, "'"),
    **dict.fromkeys(_HYPHENS + "‒–—―", "-"),
    **dict.fromkeys("“”„‟″«»", '"'),
}
_THOUSANDS = re.compile(r"\d{1,3}(?:[ ']\d{3})+")
_THOUSANDS_MARK = re.compile("[ ']")
# what NLTK is shown in place of a character
_SAME_LENGTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, _HYPHENS), ord("-"))


def _is_no_other_word(informal: str, standard: str) -> bool:
    """*cant* is a word, but not one that people write."""
    return standard.endswith(" not") or not is_listed_form(informal)


@cache
def informal_spellings() -> dict[str, str]:
    """Standard forms by informal ones, lower case, of those that are no form of a listed word."""
    table: dict[str, str] = {}
    path = grammar_root() / "paraphrases" / "informal-spelling.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        informal, sign, standard = line.partition(" | ")
        if sign and " " not in informal and informal.isalnum() and _is_no_other_word(informal.lower(), standard):
            table.setdefault(informal.lower(), standard.partition(" | ")[0])
    return table


def analyse(sentence: Sentence, tags: Sequence[str]) -> Sentence:
    """The sentence with these tags and the lemmas that follow from them."""
    return sentence.with_analysis(tags, lemmatize(sentence.words, tags))


_INNER_APOSTROPHE = re.compile(rf"(?<=\w)[{_APOSTROPHES}](?=\w)")
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


_INNER_SENTENCE_END = re.compile(r"(?:[^\W\d_]+(?:['’-][^\W\d_]+)*|[\d,.:]*\d)\.")
_NEXT_SENTENCE = re.compile(r"[\s\"'`“”‘’()\[\]]+([^\W\d_])")
# U.S, B.Sc, Ph.D
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]|(?:[A-Z]\.)+[A-Z][a-z]{1,3}|[A-Z][a-z]{1,2}\.[A-Z]")


def _settle_full_stops(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cut the full stop off a word that ends a sentence; give it back to a final `U.S` or `a.m`."""
    settled: list[tuple[int, int]] = []
    for begin, end in spans:
        is_last_stop = text[begin:end] == "." and bool(settled) and settled[-1][1] == begin
        if end - begin > 1 and text[end - 1] == "." and _ends_sentence(text, begin, end):
            settled += [(begin, end - 1), (end - 1, end)]
        elif is_last_stop and _ABBREVIATION.fullmatch(text, settled[-1][0], begin):
            settled[-1] = (settled[-1][0], end)
        else:
            settled.append((begin, end))
    return settled


def _ends_sentence(text: str, begin: int, end: int) -> bool:
    """Whether the stop of a word ends a sentence: a capital follows, perhaps after quotes, and it is not abbreviated.

    A single letter is an initial (`J. Smith`), and a number at the very beginning one of a list (`1. Open the door`).
    """
    following = _NEXT_SENTENCE.match(text, end)
    if following is None or not following[1].isupper() or not _INNER_SENTENCE_END.fullmatch(text, begin, end):
        return False
    word = text[begin : end - 1]
    if word[0].isdigit():
        return begin > 0
    return len(word) > 1 and word.lower() not in abbreviations()


# What NLTK would take apart. Addresses end before punctuation that belongs to the sentence; a closing bracket is part
# of one only if it was opened there.
_IN_ADDRESS = r"[^\s<>\"“”()]"
_ADDRESS = rf"(?:{_IN_ADDRESS}|\({_IN_ADDRESS}*\))*(?:[^\s<>\"“”()'’`.,;:!?\]}}]|\({_IN_ADDRESS}*\))"
_TOP_DOMAINS = "com|org|net|edu|gov|mil|int|info|io|ai|tv|eu|uk|us|ca|au|de|fr|jp|cn|ru|in"
_EMOJI = "[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\u231a\u231b\u23e9-\u23fa]"
_MODIFIERS = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
_WHOLE = re.compile(
    rf"(?:https?|ftp)://{_ADDRESS}"
    rf"|(?<![\w.-])www\.{_ADDRESS}"
    rf"|(?<![\w.-])(?:[a-z0-9-]+\.)+(?:{_TOP_DOMAINS})/{_ADDRESS}"
    r"|(?<![\w.+-])[\w.+-]*\w@\w[\w-]*(?:\.\w[\w-]*)+"
    r"|(?<![\w#&])#\w*[^\W\d_]\w*"
    "|(?<![\\w.,])\\d{1,3}(?:[\u202f\u2009\u2007\u00a0]\\d{3})+(?![\\w])"
    "|…"
    r"|(?<![\w@.])@\w+(?:\.\w+)*"
    r"|(?<!\S)[:;=]['’]?-?[()DPp|/\\*](?!\S)"
    "|[\U0001f1e6-\U0001f1ff]{2}"
    rf"|{_EMOJI}{_MODIFIERS}*(?:\u200d{_EMOJI}{_MODIFIERS}*)*",
    re.IGNORECASE,
)
_MAY_BE_WHOLE = re.compile("[@#:;=/\u00a0\u2000-\U0010ffff]|www", re.IGNORECASE)  # most sentences have none of these
_STAND_IN = "x"


def _cut_around(spans: list[tuple[int, int]], wholes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cut words where something begins or ends that stays whole: an emoji stands beside a word without a space."""
    cuts = {place for whole in wholes for place in whole}
    if not cuts:
        return spans
    found: list[tuple[int, int]] = []
    for begin, end in spans:
        places = [begin, *sorted(place for place in cuts if begin < place < end), end]
        found += pairwise(places)
    return found


@cache
def _word_tokenizer() -> Any:
    """NLTK's word tokenizer, loaded without the rest of NLTK."""
    (module,) = light_import("nltk", ["tokenize.destructive"], bare=["tokenize"])
    return module.NLTKWordTokenizer()


@cache
def _lemmatizer() -> tuple[LemmaTable, Any]:
    """lemminflect without spaCy: its table of lemmas, and its rules for forms that are not there."""
    config, rules = light_import("lemminflect", ["config", "core.LemmatizerRules"])
    return LemmaTable(Path(config.lemma_lu_fn), Path(config.lemma_overrides_fn)), rules.LemmatizerRules()


def is_listed_form(word: str) -> bool:
    """Whether a lower-case word is a form of some word that the tables of lemmas have.

    >>> is_listed_form("went"), is_listed_form("wentish")
    (True, False)
    """
    return bool(_lemmatizer()[0].lemmas(word))


@lru_cache(maxsize=KEPT_WORDS)
def possible_lemmas(word: str) -> frozenset[str]:
    """The lemmas of a lower-case word under any tag, and the word itself.

    >>> sorted(possible_lemmas("saw"))
    ['saw', 'see']
    """
    return frozenset({word, *(lemma for found in _lemmatizer()[0].lemmas(word).values() for lemma in found)})


class LemmaTable:
    """lemminflect's two tables of forms, kept as sorted lines; those of a word are taken apart when it is asked for.

    The library takes all 80,000 apart when the first word comes, which costs a quarter of a second and 40 MB.
    """

    def __init__(self, forms: Path, corrections: Path):
        listed = gzip.decompress(forms.read_bytes()).decode("utf-8").splitlines()
        corrected = [line.strip() for line in corrections.read_text(encoding="utf-8").splitlines()]
        self._tables = sorted(listed), sorted(line for line in corrected if line and not line.startswith("#"))

    @property
    def forms(self) -> set[str]:
        """All that are listed."""
        return {line.partition(",")[0] for table in self._tables for line in table}

    def lemmas(self, word: str) -> dict[str, tuple[str, ...]]:
        """Lemmas of a lower-case form by part of speech; corrections come last and count."""
        found: dict[str, tuple[str, ...]] = {}
        for table in self._tables:
            for place in range(bisect_left(table, f"{word},"), len(table)):
                form, part, lemmas = table[place].lower().split(",")
                if form != word:
                    break
                found[_LEMMA_CATEGORIES.get(part, part.upper())] = tuple(lemmas.split("/"))
        return found


_LEMMA_CATEGORIES = {"modal": "AUX"}


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
# of inflected forms, by their tags, as the table of lemmas calls them
PARTS_OF_SPEECH = {
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


@lru_cache(maxsize=KEPT_WORDS)
def _lemma(word: str, tag: str) -> str:
    """The lemma of one lower-case word.

    Of several candidates (`found`: find, found) the first that has the word as its form for this tag is taken, which
    is nearly always the first; the library's table of forms would take a second to read, and 57 MB.
    """
    if (word, tag) in _CLOSED_CLASS:
        return _CLOSED_CLASS[word, tag]
    if tag not in PARTS_OF_SPEECH:
        return word
    table, rules = _lemmatizer()
    kind = PARTS_OF_SPEECH[tag]
    # the rules leave nothing of some very short words
    candidates = table.lemmas(word).get(kind) or (rules.lemmatize(word, kind) or word,)
    return lemma_choices().get((word, tag), str(candidates[0])).lower()
