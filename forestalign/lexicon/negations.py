"""Negation in other words: *failed to answer* is *did not answer*, *no longer smokes* is *stopped smoking*.

*Did not come unless asked* is *came only if asked*, and *unless it rains* is *if it does not rain*.

Two tables say which: grammar/negative_verbs.tsv and grammar/negation_frames.tsv. The verb that is denied has to be the
same on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.lexicon.findings import EQUAL, RELATIONS, Finding
from forestalign.lexicon.opposites import Negated, find_negated, is_passed
from forestalign.lexicon.phrase_text import Parts
from forestalign.lexicon.wordnet import WordNet

GERUND = "-ing"
SAME, OTHER = 9, 4  # grades
LONGER = ("no", "longer")
NEAR = 4  # words behind a verb in which its object is looked for
REACH = 6  # words of a clause behind its conjunction in which its verb is looked for


class NegativeVerb(NamedTuple):
    """A verb, the word behind it (or a gerund), the negation that says the same, and how well it says so."""

    verb: tuple[str, ...]
    following: str
    negation: str
    relation: str


@cache
def negative_verbs() -> tuple[NegativeVerb, ...]:
    """The rows of grammar/negative_verbs.tsv."""
    return read_negative_verbs(grammar_root() / "negative_verbs.tsv")


@cache
def _by_verb() -> dict[str, tuple[NegativeVerb, ...]]:
    rows = negative_verbs()
    return {row.verb[0]: tuple(each for each in rows if each.verb[0] == row.verb[0]) for row in rows}


@cache
def denying_lemmas() -> frozenset[str]:
    """The first words of negative verbs."""
    return frozenset(_by_verb())


def read_negative_verbs(path: Path) -> tuple[NegativeVerb, ...]:
    """Rows VERB, NEXT, NEGATION (`not`, `no longer`), RELATION."""
    rows = []
    for number, (verb, following, negation, relation) in read_rows(path, 4):
        if negation not in {"not", "no longer"} or relation not in RELATIONS or len(following.split()) > 1:
            raise GrammarError(path, number, f"{negation!r}, {relation!r}: expected not or no longer, and a relation")
        rows.append(NegativeVerb(tuple(verb.split()), following, negation, relation))
    return tuple(rows)


@cache
def negation_frames() -> dict[str, tuple[tuple[str, ...], ...]]:
    """The rows of grammar/negation_frames.tsv."""
    return read_negation_frames(grammar_root() / "negation_frames.tsv")


def read_negation_frames(path: Path) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Rows WORD, EXPRESSIONS separated by `|`."""
    table: dict[str, tuple[tuple[str, ...], ...]] = {}
    for number, (word, row) in read_rows(path, 2):
        expressions = tuple(tuple(expression.split()) for expression in row.split("|"))
        if word in table or " " in word or not all(expressions):
            raise GrammarError(path, number, f"{word!r}, {row!r}: expected a new word and expressions")
        table[word] = expressions
    return table


def negation_phrases(source: Parts, target: Parts, wordnet: WordNet) -> Iterator[Finding]:
    """Negative verbs and clauses with negations of the other side, both ways."""
    for own, other, is_turned in ((source, target, False), (target, source, True)):
        for finding in (*_negative_verbs(own, other, wordnet), *_clauses(own, other)):
            yield finding.turned() if is_turned else finding


# ---- verbs ----


def _negative_verbs(own: Parts, other: Parts, wordnet: WordNet) -> Iterator[Finding]:
    """`failed to` on this side, `did not` on the other, with the same verb, or one with the same object."""
    for row, begin, end, verb in verbs_that_deny(own):
        for words, denied in _plain(other) if row.negation == "not" else _no_longer(other):
            is_same = own.lemmas[verb] == other.lemmas[denied]
            is_like = is_same or _are_like(own, verb, other, denied, wordnet)
            tokens = own.whole_tokens(range(begin, end)), other.whole_tokens(words)
            if is_like and other.tags[denied][:2] == "VB" and all(tokens):
                yield Finding(*tokens, row.relation, SAME if is_same else OTHER)


def _are_like(own: Parts, verb: int, other: Parts, denied: int, wordnet: WordNet) -> bool:
    """Synonyms, or two verbs before nouns that are the same or synonyms: *keep her promise*, *fulfil her pledge*."""
    if wordnet.are_synonyms(own.lemmas[verb], other.lemmas[denied]):
        return True
    left, right = _nouns_after(own, verb), _nouns_after(other, denied)
    return any(one == its or _are_related(one, its, wordnet) for one in left for its in right)


def _are_related(one: str, other: str, wordnet: WordNet) -> bool:
    if wordnet.are_synonyms(one, other):
        return True
    return wordnet.is_hypernym(one, other) or wordnet.is_hypernym(other, one)


def _nouns_after(parts: Parts, verb: int) -> list[str]:
    near = range(verb + 1, min(verb + 1 + NEAR, len(parts)))
    return [parts.lemmas[k] for k in near if parts.tags[k][:2] == "NN"][:1]


def verbs_that_deny(parts: Parts) -> Iterator[tuple[NegativeVerb, int, int, int]]:
    """The row, where the verb begins and ends, and the verb that it denies."""
    for begin, lemma in enumerate(parts.lemmas):
        for row in _by_verb().get(lemma, ()):
            end = begin + len(row.verb)
            if parts.tags[begin][:2] != "VB" or parts.forms[begin + 1 : end] != row.verb[1:] or end >= len(parts):
                continue
            if row.following == GERUND and parts.tags[end] == "VBG":
                yield row, begin, end, end
            elif parts.forms[end] == row.following and end + 1 < len(parts) and parts.tags[end + 1][:2] == "VB":
                yield row, begin, end, end + 1


def _plain(parts: Parts) -> Iterator[tuple[Sequence[int], int]]:
    """Auxiliary and cue of each negated verb, and the verb."""
    for one in find_negated(parts):
        has_modal = one.cue > 0 and parts.tags[one.cue - 1] == "MD"
        yield range(min(one.parts) - has_modal, one.cue + 1), one.word


def _no_longer(parts: Parts) -> Iterator[tuple[Sequence[int], int]]:
    for begin in range(len(parts) - 1):
        if parts.forms[begin : begin + 2] == LONGER:
            verb = next((k for k in range(begin + 2, len(parts)) if not is_passed(parts, k)), None)
            if verb is not None:
                yield range(begin, begin + 2), verb
    for one in find_negated(parts):
        for at in range(one.word + 1, len(parts)):
            size = 1 + (parts.forms[at : at + 2] in {("any", "more"), ("any", "longer")})
            if size == 2 or parts.forms[at] == "anymore":
                yield (*range(min(one.parts), one.cue + 1), *range(at, at + size)), one.word


# ---- clauses ----


def _clauses(own: Parts, other: Parts) -> Iterator[Finding]:
    """`not ... unless` and `only if`; `unless it rains` and `if it does not rain`."""
    for at, form in enumerate(own.forms):
        if form not in negation_frames():
            continue
        before = [one for one in find_negated(own) if one.cue < at]
        denied = [one for one in find_negated(other) if _is_in_clause(own, at, other, one)]
        for begin, end in _expressions(other, negation_frames()[form]):
            if before and not denied:
                words = own.whole_tokens((*_cue(before[-1]), at))
                yield Finding(words, other.whole_tokens(range(begin, end)), EQUAL)
            for one in denied[:1] if not before else ():
                yield Finding(own.whole_tokens((at,)), other.whole_tokens((*range(begin, end), *_cue(one))), EQUAL)
        if form == "unless":
            yield from _if_not(own, at, other, denied)


def _if_not(own: Parts, at: int, other: Parts, denied: Sequence[Negated]) -> Iterator[Finding]:
    for one in denied:
        found = [k for k in range(max(0, one.cue - REACH), one.cue) if other.forms[k] == "if"]
        for k in found[-1:]:
            if k == 0 or other.forms[k - 1] != "only":
                yield Finding(own.whole_tokens((at,)), other.whole_tokens((k, *_cue(one))), EQUAL)


def _cue(one: Negated) -> Sequence[int]:
    """The negation and its auxiliary, without the negated word."""
    return range(min(one.parts), one.cue + 1)


def _is_in_clause(own: Parts, conjunction: int, other: Parts, one: Negated) -> bool:
    """Whether the word negated there follows this conjunction here."""
    return other.lemmas[one.word] in own.lemmas[conjunction + 1 : conjunction + 1 + REACH]


def _expressions(parts: Parts, expressions: Sequence[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    for words in expressions:
        for begin in range(len(parts) - len(words) + 1):
            if parts.forms[begin : begin + len(words)] == words:
                yield begin, begin + len(words)
