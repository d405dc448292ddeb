"""Light verbs: *made a decision* says *decided*, and the verb alone says nothing.

A verb of grammar/light_verbs.txt is light only if the noun it governs is derived from the verb of the other sentence,
or from a synonym of it. A noun that looks like its verb (*a walk*, but also *a book*) counts with an indefinite article
or none: *took the book* is about a thing. In the passive (*a decision was made*) verb and noun make a clause, which is
no partner of a verb (annotations/GUIDELINES.md, 4.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, negation_words, read_rows, read_words
from forestalign.lexicon.findings import EQUAL, Finding
from forestalign.lexicon.phrase_text import Parts
from forestalign.lexicon.phrases import OBJECT_TAGS
from forestalign.lexicon.wordnet import WordNet

MOST_BETWEEN = 4
INSIDE = frozenset({"DT", "PRP$", "JJ", "JJR", "CD", "RB", "NN"})
DIRECT, BY_SYNONYM, LOOKS_SAME = 9, 4, 6  # grades


@cache
def light_verbs() -> frozenset[tuple[str, ...]]:
    """The verbs of grammar/light_verbs.txt: a lemma, or a lemma with a particle or preposition."""
    return read_light_verbs(grammar_root() / "light_verbs.txt")


@cache
def agent_endings() -> frozenset[str]:
    """The endings of grammar/agent_endings.txt."""
    return read_words(grammar_root() / "agent_endings.txt")


@cache
def definite_words() -> frozenset[str]:
    """The words of grammar/definite_words.txt."""
    return read_words(grammar_root() / "definite_words.txt")


def read_light_verbs(path: Path) -> frozenset[tuple[str, ...]]:
    """One verb per line, of one word or two."""
    verbs: set[tuple[str, ...]] = set()
    for number, (row,) in read_rows(path, 1):
        verb = tuple(row.split())
        if verb in verbs or len(verb) > 2:
            raise GrammarError(path, number, f"{row!r}: expected a verb of one word or two, each once")
        verbs.add(verb)
    return frozenset(verbs)


def light_verb_findings(source: Parts, target: Parts, wordnet: WordNet) -> Iterator[Finding]:
    """A light verb with its noun on one side, a full verb on the other."""
    yield from _one_way(source, target, wordnet)
    yield from (finding.turned() for finding in _one_way(target, source, wordnet))


def _one_way(light: Parts, full: Parts, wordnet: WordNet) -> Iterator[Finding]:
    verbs = [i for i, tag in enumerate(full.tags) if tag[:2] == "VB" and full.lemmas[i] not in {"be", "have", "do"}]
    if not verbs:
        return
    for phrase, noun in (*_active(light), *_separated(light)):
        if any(light.forms[index] in negation_words() for index in phrase):
            continue  # *had no intention* is not *intended*
        definite = any(light.forms[index] in definite_words() for index in phrase)
        for verb in verbs:
            grade = _grade(light.lemmas[noun], full.lemmas[verb], definite, wordnet)
            words, other = light.whole_tokens(phrase), full.whole_tokens((verb,))
            is_light = (full.lemmas[verb],) in light_verbs() and grade == BY_SYNONYM
            if grade and words and other and not is_light:
                yield Finding(words, other, EQUAL, grade)


def _grade(noun: str, verb: str, is_definite: bool, wordnet: WordNet) -> int:
    if noun == verb:
        return 0 if is_definite else LOOKS_SAME
    derived = wordnet.entry(noun).derivations
    if verb in derived:
        return 0 if _is_agent(noun, verb) else DIRECT
    verbs = sorted(derived) if is_definite else sorted({noun, *derived})
    return BY_SYNONYM if any(wordnet.are_synonyms(word, verb) for word in verbs) else 0


def _is_agent(noun: str, verb: str) -> bool:
    """Who does it, or whom it is done to, is not what is done: *told the reporter*, *reported*."""
    stem = verb.removesuffix("e")
    return noun in {stem + ending for ending in agent_endings()} or noun == stem + stem[-1:] + "er"


def _active(parts: Parts) -> Iterator[tuple[Sequence[int], int]]:
    """The words of a light verb with an object that follows it, and the noun."""
    for verb, tag in enumerate(parts.tags):
        if tag[:2] != "VB":
            continue
        is_joined = (parts.lemmas[verb], *parts.forms[verb + 1 : verb + 2]) in light_verbs()
        if not is_joined and (parts.lemmas[verb],) not in light_verbs():
            continue
        first = verb + 1 + is_joined
        for index in range(first, min(first + 1 + MOST_BETWEEN, len(parts))):
            following = parts.tags[index + 1][:2] if index + 1 < len(parts) else ""
            if parts.tags[index] in {"NN", "NNS"} and following != "NN":
                yield range(verb, index + 1), index
                break
            if parts.tags[index] not in INSIDE:
                break


def _separated(parts: Parts) -> Iterator[tuple[Sequence[int], int]]:
    """`took the matter into account`: an object before the preposition."""
    for verb, tag in enumerate(parts.tags):
        if tag[:2] != "VB" or parts.lemmas[verb] not in _with_preposition():
            continue
        for at in range(verb + 2, min(verb + 2 + MOST_BETWEEN, len(parts) - 1)):
            if (parts.lemmas[verb], parts.forms[at]) in light_verbs() and parts.tags[at + 1] in {"NN", "NNS"}:
                yield (verb, at, at + 1), at + 1
                break
            if parts.tags[at - 1] not in OBJECT_TAGS:
                break


@cache
def _with_preposition() -> frozenset[str]:
    return frozenset(verb[0] for verb in light_verbs() if len(verb) > 1)
