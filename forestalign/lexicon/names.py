"""Names: acronyms and their words, titles, shortened names of people; those of countries are lines of the grammar.

Case matters here: *US* is a country and *us* a pronoun, so words are asked for as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from forestalign.dependencies.phrase_tree import NAME_TAGS
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows, read_words
from forestalign.lexicon.findings import EQUAL, Finding
from forestalign.tokens import Sentence

ACRONYM = re.compile(r"(?:[A-Z]\.?){2,7}s?|[A-Z][a-z]?[A-Z]{1,5}s?|[A-Z]&[A-Z]")
LINKS = frozenset({"of", "the", "and", "for", "in", "on", "to", "&", "at", "a", "an", "de", "-"})
PLURALS = frozenset({"NNS", "NNPS"})
GENERATIONS = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii"})
LONGEST_NAME = 8
NOMINAL = frozenset({"NN", "JJ", "VBG"})


def _alternatives(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(name.split()) for name in text.split("|") if name.strip() != "-")


@cache
def titles() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Short form without full stops -> its full forms."""
    return read_titles(grammar_root() / "titles.tsv")


def read_titles(path: Path) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Rows SHORT, FULL FORMS separated by `|`."""
    table: dict[str, tuple[tuple[str, ...], ...]] = {}
    for number, (short, full) in read_rows(path, 2):
        forms = _alternatives(full)
        if not all(forms) or _bare(short) in table or short != short.lower():
            raise GrammarError(path, number, f"{short!r}, {full!r}: expected a new lower-case short form, full ones")
        table[_bare(short)] = forms
    return table


@cache
def person_titles() -> frozenset[str]:
    """The words of grammar/person_titles.txt."""
    return read_words(grammar_root() / "person_titles.txt")


@cache
def first_names() -> dict[str, str]:
    """Short forms of first names -> the first of their row in grammar/short_names.tsv."""
    return read_short_names(grammar_root() / "short_names.tsv")


def read_short_names(path: Path) -> dict[str, str]:
    """Rows of one name and its short forms, separated by `|`."""
    table: dict[str, str] = {}
    for number, (row,) in read_rows(path, 1):
        names = [name.strip() for name in row.split("|")]
        if len(names) < 2 or not all(names) or table.keys() & set(names):
            raise GrammarError(path, number, f"{row!r}: expected a name and short forms, each in one row only")
        table |= dict.fromkeys(names, names[0])
    return table


def _bare(word: str) -> str:
    return word.replace(".", "").lower()


# ---- acronyms and titles ----


def acronym_findings(source: Sentence, target: Sentence) -> Iterator[Finding]:
    """Acronyms of one side with the words they stand for on the other, both ways."""
    yield from _acronyms(source, target)
    yield from (finding.swap_sides() for finding in _acronyms(target, source))


def _acronyms(short: Sentence, full: Sentence) -> Iterator[Finding]:
    for index, word in enumerate(short.words):
        is_acronym = _is_acronym(word, short)
        if is_acronym:
            for tokens in _runs(word, full):
                yield Finding((index,), tokens, EQUAL)
            yield from _dotted(word, index, full)
        if is_acronym or (word.endswith(".") and word[:1].isupper()):
            for tokens in _full_titles(word, full):
                yield Finding((index,), tokens, EQUAL)


def _full_titles(word: str, full: Sentence) -> Iterator[tuple[int, ...]]:
    """Where the full forms of a title stand: *PM*, *PMs*."""
    bare = _bare(word)
    is_plural = bare not in titles() and word.endswith("s")
    forms = titles().get(bare[:-1] if is_plural else bare, ())
    words = [word.lower() for word in full.words] if forms else []
    if is_plural:
        words = [token.lemma or word for token, word in zip(full.tokens, words, strict=False)]
    for form in forms:
        for begin in _places(words, form):
            tokens = tuple(range(begin, begin + len(form)))
            has_plural = any(full.tags[token] in PLURALS for token in tokens)
            if is_plural == has_plural:
                yield tokens


def _is_acronym(word: str, sentence: Sentence) -> bool:
    """Capitals with or without full stops, in a sentence that is not all capitals."""
    if not ACRONYM.fullmatch(word):
        return False
    long_words = [other for other in sentence.words if len(other) > 4]
    return not (long_words and all(map(str.isupper, long_words)))


def _dotted(word: str, index: int, other: Sentence) -> Iterator[Finding]:
    """`US` and `U.S.`: one word each, spelt differently."""
    for number, candidate in enumerate(other.words):
        if candidate != word and _bare(candidate) == _bare(word) and ACRONYM.fullmatch(candidate):
            yield Finding((index,), (number,), EQUAL)


def _runs(acronym: str, full: Sentence) -> Iterator[tuple[int, ...]]:
    """Runs of words whose initials spell the acronym; linking words count or do not, all of a name."""
    letters = acronym.replace(".", "").replace("&", "").rstrip("s" if len(acronym) > 2 else "").lower()
    words = full.words
    for begin, word in enumerate(words):
        if word[:1].lower() == letters[0] and word.lower() not in LINKS and not ACRONYM.fullmatch(word):
            end = _spelt(letters, words, begin)
            tokens = tuple(range(begin, end))
            is_joint = "&" in acronym and full.words[begin + 1 : begin + 2] in (("and",), ("&",))
            if end and len(tokens) > 1 and (is_joint or _is_one_name(letters, tokens, full)):
                yield tokens


def _is_one_name(letters: str, tokens: Sequence[int], full: Sentence) -> bool:
    """All capitalised; or all lower case, nouns and adjectives, and three at least (*gross domestic product*)."""
    content = [token for token in tokens if full.words[token].lower() not in LINKS]
    capitals = [full.words[token][:1].isupper() for token in content]
    is_nominal = all(full.tags[token][:2] in NOMINAL for token in content)
    if len(letters) == 2 and len(content) < len(tokens):
        return False  # in a headline every word has a capital: Use in Syria
    return all(capitals) or (not any(capitals[1:]) and is_nominal and len(letters) > 2)


def _spelt(letters: str, words: Sequence[str], begin: int) -> int:
    """The end of the words from here that spell these letters, 0 if they do not; a word may not be skipped."""
    end, left = begin, letters
    while left and end < len(words) and end - begin < LONGEST_NAME:
        word = words[end].lower()
        pieces = [piece for piece in word.split("-") if piece]
        initials = "".join(piece[0] for piece in pieces)
        if not word[:1].isalpha() and word not in LINKS:
            return 0
        if initials and left.startswith(initials) and not (word in LINKS and left[0] != word[0]):
            left = left[len(initials) :]
        elif word not in LINKS:
            return 0
        end += 1
    return end if not left and words[end - 1].lower() not in LINKS else 0


def _places(words: Sequence[str], form: Sequence[str]) -> Iterator[int]:
    for begin in range(len(words) - len(form) + 1):
        if words[begin] == form[0] and tuple(words[begin : begin + len(form)]) == tuple(form):
            yield begin


# ---- people ----


def _person_names(sentence: Sentence) -> list[tuple[int, ...]]:
    """Runs of proper nouns."""
    runs: list[list[int]] = []
    for index, (tag, word) in enumerate(zip(sentence.tags, sentence.words, strict=True)):
        is_name = tag in NAME_TAGS or (word.lower() in person_titles() and word[:1].isupper())
        if is_name and runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        elif is_name:
            runs.append([index])
    return [tuple(run) for run in runs]


def name_findings(source: Sentence, target: Sentence) -> Iterator[Finding]:
    """One family name with different first names or titles before it: a title and a name, or two of which one is short.

    Two different first names (*Anna Weber*, *Max Weber*) are two people.
    """
    for own in _person_names(source):
        for other in _person_names(target):
            if len(own) + len(other) > 2 and _is_one_person(_words(source, own), _words(target, other)):
                yield Finding(own, other, EQUAL)
                bare, other_bare = _without_titles(source, own), _without_titles(target, other)
                has_both = min(len(bare), len(other_bare)) > 1 and (bare, other_bare) != (own, other)
                if has_both and _text(source, bare) != _text(target, other_bare):
                    yield Finding(bare, other_bare, EQUAL)


def _without_titles(sentence: Sentence, tokens: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(token for token in tokens if sentence.words[token].lower() not in person_titles())


def _words(sentence: Sentence, tokens: Sequence[int]) -> list[str]:
    return [sentence.words[token] for token in tokens if sentence.words[token].lower() not in GENERATIONS]


def _is_one_person(own: Sequence[str], other: Sequence[str]) -> bool:
    if not own or not other or own[-1] != other[-1] or list(own) == list(other):
        return False
    if own[-1].lower() in person_titles() or not own[-1][:1].isupper():
        return False
    first, second = (_first_names(words) for words in (own, other))
    if not any(word.lower() in person_titles() for word in (*own, *other)) and not (first and second):
        return False  # a bare family name beside a longer name: the word link says it, or it is a place
    return all(_agree(a, b) for a, b in zip(first, second, strict=False))


def _first_names(words: Sequence[str]) -> list[str]:
    return [word for word in words[:-1] if word.lower() not in person_titles()]


def _agree(left: str, right: str) -> bool:
    """Whether one name is the other, a short form or an initial of it."""
    short, long = sorted((left.rstrip("."), right.rstrip(".")), key=len)
    if short == long or (len(short) == 1 and long.startswith(short)):
        return True
    full = first_names().get(short.lower())
    return full is not None and full == first_names().get(long.lower())


def _text(sentence: Sentence, tokens: Sequence[int]) -> list[str]:
    return [sentence.words[token].lower() for token in tokens]
